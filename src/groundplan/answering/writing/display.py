"""Formats values for people: numbers by size, dates by grain, and names so that they cannot act as markup."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, cast

from groundplan.answering.writing.phrases import (
    AGES,
    BOOLEANS,
    EMPTY,
    MONTHS_OF_DAYS,
    NOTHING,
    PERIOD,
    PERIODS,
    SCALES,
    SIGNS,
    TEXT,
    WEEK,
)
from groundplan.contracts.contract import Language, Scalar, thaw
from groundplan.contracts.expression import Condition, read_condition
from groundplan.contracts.facts import Item
from groundplan.contracts.meaning import DAY
from groundplan.contracts.normal_form import of_filter
from groundplan.contracts.reading import Filter
from groundplan.contracts.wording import Wording, in_words
from groundplan.text.names import worded
from groundplan.text.period_names import Whole, period_name, whole_period
from groundplan.text.rounding import rounded
from groundplan.text.safe import ACTIVE, as_code, plain

BARE = re.compile(r"[\w.@+:/#-]+")  # a text that needs no quotes
QUOTES = str.maketrans(dict.fromkeys('"«»“”„', "'"))
NO_LABELS: Mapping[str, str] = {}
ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?")


def exact(value: float, language: Language) -> str:
    """Whole numbers without decimals, others to two decimals, small ones to three significant digits."""
    if isinstance(value, int) or value.is_integer():
        return decimals(value, 0, language)
    return decimals(value, 2 if abs(value) >= 1 else 2 - math.floor(math.log10(abs(value))), language)


def decimals(value: float, places: int, language: Language) -> str:
    text = rounded(value, places)
    return _grouped(text if text.strip("-0.,") else text.lstrip("-"), language)


def brief(value: float, language: Language) -> str:
    """Three digits and a word from a million up; whole numbers from ten thousand up."""
    for scale, word in SCALES[language].items():
        if abs(value) >= scale:
            scaled = value / scale
            places = 2 if abs(scaled) < 9.995 else 1 if abs(scaled) < 99.95 else 0
            return f"{decimals(scaled, places, language)} {word}"
    return decimals(value, 0, language) if abs(value) >= 10_000 else exact(value, language)


def with_unit(number: str, unit: str | None, language: Language) -> str:
    """`£1,250`, `-£5`, `12%`, `20 kWh`; in Russian `1 250 £`."""
    if not unit:
        return number
    if unit not in SIGNS:
        return f"{number} {unit}"
    if language == "ru":
        return f"{number} {unit}"
    if unit == "%":
        return number + unit
    sign = number[0] if number[0] in "+-" else ""
    return sign + unit + number.removeprefix(sign)


def percent(ratio: float, language: Language, *, signed: bool = False, fine: bool = False) -> str:
    """Two digits or more; `fine` has at least one decimal, for a rate that is itself the answer."""
    hundredths = ratio * 100
    places = 0 if abs(hundredths) >= 9.95 or hundredths == 0 else 1 if abs(hundredths) >= 0.95 else 2
    if fine and hundredths not in (0, 100):
        places = max(places, 1)
    number = rounded(hundredths, places, "+" if signed else "")
    return _grouped(number, language) + ("%" if language == "en" else "\u00a0%")


def moment(value: str, grain: str | None, language: Language) -> str:
    """`January 2024`, `Q3 2025`, `2025`, `the week of 3 March 2025`, `3 March 2025`, `3 March 2025, 14:00`."""
    at = datetime.fromisoformat(value)
    if grain in ("year", "quarter", "month"):
        return period_name(at.date(), cast(Whole, grain), language)
    day = f"{at.day} {MONTHS_OF_DAYS[language][at.month - 1]} {at.year}"
    if grain == "week":
        return WEEK[language] + day
    has_time = grain in ("hour", "minute") or (grain is None and len(value) > len("2024-01-01"))
    return f"{day}, {at:%H:%M}" if has_time else day


def period(start: str, end: str, language: Language) -> str:
    """A half-open period: the name of its year, quarter or month if it is one, else its first and last day."""
    if grain := whole_period(start, end):
        return moment(start, grain, language)
    first, last = date.fromisoformat(start[:10]), date.fromisoformat(end[:10]) - timedelta(days=1)
    if last == first:
        return moment(start[:10], "day", language)
    return PERIOD[language].format(*(moment(day.isoformat(), "day", language) for day in (first, last)))


def named(
    value: Scalar, language: Language, grain: str | None = None, *, is_time: bool = False, column: str | None = None
) -> str:
    """A value as a name: `(no region)` if the column has none. Markup is shown as code, and long text is truncated."""
    match value:
        case None if column and language == "en":
            return f"(no {worded(column)})"
        case None:
            return NOTHING[language]
        case bool():
            return BOOLEANS[language][value]
        case int() | float() if grain == "hour":
            return f"{int(value):02}:00"
        case int() | float():
            return str(int(value)) if value == int(value) else str(value)
        case str() if is_time and _is_moment(value):
            return moment(value, grain, language)
        case str():
            return _quoted(plain(value), language)


def as_given(value: Scalar, language: Language) -> str:
    """A param value unchanged, except that long text is truncated, markup is shown as code and phrases are quoted."""
    if not isinstance(value, str) or not (text := plain(value)) or ACTIVE.search(text):
        return named(value, language)
    return text if BARE.fullmatch(text) else TEXT[language].format(text.translate(QUOTES))


def as_field(item: Item, language: Language) -> str:
    """`subject "Thank you"`."""
    title = as_code(item.title) if ACTIVE.search(item.title) else plain(item.title)
    return " ".join(filter(None, (title, as_given(item.value, language), item.unit)))


def age(seconds: float, language: Language) -> str:
    scale, word = next((item for item in AGES[language].items() if seconds >= item[0]), (1.0, AGES[language][1]))
    return f"{_grouped(rounded(seconds / scale, 1), language)} {word}"


def condition(told: Mapping[str, Any], language: Language) -> str:
    """A filter in its short form, in words."""
    return where(of_filter(Filter.model_validate(thaw(told))), language)


def condition_of(path: str, told: Mapping[str, Any]) -> Condition:
    """The condition at a path of the plan, which ends in `where` or holds a filter in its short form."""
    return read_condition(told) if path.endswith(".where") else of_filter(Filter.model_validate(thaw(told)))


def where(condition: Condition, language: Language, labels: Mapping[str, str] = NO_LABELS) -> str:
    """A condition in words; a period of days by its name, or by its first and last day.

    `labels` say what columns are called that the plan itself has made.
    """

    def name(column: str) -> str:
        if column in labels:
            return labels[column]
        return TEXT[language].format(worded(column)) if language == "ru" else worded(column)

    def value(given: Scalar) -> str:
        return named(given, language, is_time=True)

    def days(words: str, start: Scalar, end: Scalar) -> str | None:
        return _days(words, str(start), str(end), language)

    return in_words(condition, Wording(language, name, value=value, period=days))


def _days(words: str, start: str, end: str, language: Language) -> str | None:
    """None if the range is not one of whole days."""
    if not all(DAY.fullmatch(day) and _is_moment(day) for day in (start, end)):
        return None
    last = (date.fromisoformat(end) - timedelta(days=1)).isoformat()
    if last == start:
        return PERIODS[language]["day"].format(words, moment(start, "day", language))
    if grain := whole_period(start, end):
        return PERIODS[language]["whole"].format(words, moment(start, grain, language))
    return PERIODS[language]["days"].format(words, *(moment(day, "day", language) for day in (start, last)))


def _grouped(text: str, language: Language) -> str:
    return text if language == "en" else text.replace(",", "\u00a0").replace(".", ",")


def _quoted(text: str, language: Language) -> str:
    if not text:
        return EMPTY[language]
    if ACTIVE.search(text):
        return as_code(text)
    return text if language == "en" else f"«{text}»"


def _is_moment(value: str) -> bool:
    """Whether a text is a valid ISO date; `2026-02-30` is not."""
    try:
        return bool(ISO.fullmatch(value)) and bool(datetime.fromisoformat(value))
    except ValueError:
        return False


def joined_by(on: Sequence[Mapping[str, str]]) -> str:
    """The columns of the left table that a join goes by."""
    return ", ".join(as_code(pair["left"]) for pair in on)


def escaped(text: str) -> str:
    """For a cell of a Markdown table."""
    return text.replace("\\", "\\\\").replace("|", "\\|")
