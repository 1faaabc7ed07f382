"""Checks that a text shows a value by parsing the text. Formatting the value again would repeat a formatting bug."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from groundplan.answering.writing.phrases import AGES, MONTHS_OF_DAYS, SCALES, SIGNS, WEEK
from groundplan.contracts.contract import Language
from groundplan.text.period_names import MONTHS

DIGITS: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(r"([+-]?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?"),
    "ru": re.compile(r"([+-]?)(\d{1,3}(?:\u00a0\d{3})+|\d+)(?:,(\d+))?"),
}
QUARTERS: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(r"Q([1-4]) (\d{4})"),
    "ru": re.compile(r"([1-4])-й квартал (\d{4})"),
}
CLOCK = re.compile(r", (\d\d:\d\d)$")


def shows_number(text: str, value: float, unit: str | None, language: Language) -> bool:
    """Whether the number matches within half of its last digit, with the column's unit."""
    if unit:
        bare = _without_unit(text, unit, language)
        if bare is None:
            return False
        text = bare
    scale = next((scale for scale, word in SCALES[language].items() if text.endswith(f" {word}")), 1.0)
    return _shows(text.rpartition(" ")[0] if scale > 1 else text, value / scale, language)


def _without_unit(text: str, unit: str, language: Language) -> str | None:
    """The number beside its unit: `£5`, `-£5`, `12%`, `5 kWh`."""
    if unit in SIGNS and language == "en" and unit != "%":
        found = re.fullmatch(rf"([+-]?){re.escape(unit)}(\d.*)", text)
        return found[1] + found[2] if found else None
    gap = " " if unit not in SIGNS else "" if language == "en" else "\u00a0"
    return text.removesuffix(gap + unit) if text.endswith(gap + unit) else None


def shows_percent(text: str, ratio: float, language: Language) -> bool:
    sign = "%" if language == "en" else "\u00a0%"
    return text.endswith(sign) and _shows(text.removesuffix(sign), ratio * 100, language)


def shows_age(text: str, seconds: float, language: Language) -> bool:
    number, _, word = text.partition(" ")
    scale = next((scale for scale, known in AGES[language].items() if known == word), None)
    return scale is not None and _shows(number, seconds / scale, language)


def shows_moment(text: str, value: str, grain: str | None, language: Language) -> bool:
    """Whether the text is the same point in time at exactly this grain."""
    at = datetime.fromisoformat(value)
    if grain == "year":
        return text == str(at.year)
    if grain == "quarter":
        found = QUARTERS[language].fullmatch(text)
        return found is not None and (int(found[1]), int(found[2])) == ((at.month + 2) // 3, at.year)
    if grain == "month":
        word, _, year = text.partition(" ")
        return _month(word, MONTHS[language]) == at.month and year == str(at.year)
    return _shows_day(text, at, grain or ("minute" if len(value) > len("2024-01-01") else "day"), language)


def _shows_day(text: str, at: datetime, grain: str, language: Language) -> bool:
    if grain == "week":
        if not text.startswith(WEEK[language]):
            return False
        text = text.removeprefix(WEEK[language])
    clock = CLOCK.search(text)
    if (clock is not None) != (grain in ("hour", "minute")) or (clock and clock[1] != f"{at.hour:02}:{at.minute:02}"):
        return False
    day, _, rest = CLOCK.sub("", text).partition(" ")
    word, _, year = rest.partition(" ")
    return (day, _month(word, MONTHS_OF_DAYS[language]), year) == (str(at.day), at.month, str(at.year))


def _month(word: str, names: tuple[str, ...]) -> int | None:
    return names.index(word) + 1 if word in names else None


def _shows(text: str, value: float, language: Language) -> bool:
    digits = DIGITS[language].fullmatch(text)
    if digits is None:
        return False
    sign, whole, decimals = digits.groups()
    number = float(f"{sign}{whole.replace(',', '').replace(chr(160), '')}.{decimals or 0}")
    half = 0.5 * 10.0 ** -len(decimals or "")
    exact = isinstance(value, int)
    return number == value if exact else abs(number - value) <= half * (1 + 1e-6) + abs(value) * 1e-12
