"""The names of months, weekdays and whole periods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Literal

from groundplan.contracts.contract import Language
from groundplan.text.periods.calendar import unit_around

MONTHS: Mapping[Language, tuple[str, ...]] = {
    "en": tuple(
        re.findall(r"\w+", "January February March April May June July August September October November December")
    ),
    "ru": tuple(re.findall(r"\w+", "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь")),
}
WEEKDAYS: Mapping[Language, tuple[str, ...]] = {
    "en": tuple(re.findall(r"\w+", "Monday Tuesday Wednesday Thursday Friday Saturday Sunday")),
    "ru": tuple(re.findall(r"\w+", "понедельник вторник среда четверг пятница суббота воскресенье")),
}
QUARTER: Mapping[Language, str] = {"en": "Q{} {}", "ru": "{}-й квартал {}"}
Whole = Literal["year", "quarter", "month"]
WHOLES: tuple[Whole, ...] = ("year", "quarter", "month")


def whole_period(start: str, end: str) -> Whole | None:
    """The grain of a half-open period that is exactly one year, quarter or month."""
    first, after = date.fromisoformat(start[:10]), date.fromisoformat(end[:10])
    return next((grain for grain in WHOLES if unit_around(first, grain) == (first, after)), None)


def period_name(first: date, grain: Whole, language: Language) -> str:
    """`2025`, `Q3 2025`, `December 2025`: the period that begins on this day."""
    match grain:
        case "year":
            return f"{first:%Y}"
        case "quarter":
            return QUARTER[language].format((first.month + 2) // 3, first.year)
        case "month":
            return f"{MONTHS[language][first.month - 1]} {first.year}"
