"""Half-open spans of days, and the calendar units they are made of."""

from __future__ import annotations

from calendar import monthrange
from datetime import MAXYEAR, MINYEAR, date
from typing import Literal, NamedTuple

Unit = Literal["day", "week", "month", "quarter", "half", "year"]

DAYS: dict[Unit, int] = {"day": 1, "week": 7}
MONTHS: dict[Unit, int] = {"month": 1, "quarter": 3, "half": 6, "year": 12}


class Span(NamedTuple):
    """`start` is included, `end` is not; `date.min` and `date.max` mean an open side."""

    start: date
    end: date


class Named(NamedTuple):
    """A numbered unit, such as the third quarter; `year` is None if the words do not give it."""

    unit: Unit
    number: int
    month: int = 0  # of a day
    year: int | None = None

    def in_year(self, year: int) -> Span | None:
        """The unit in that year; None if the year has no such day."""
        if self.unit != "day":
            return unit_around(date(year, (self.number - 1) * MONTHS[self.unit] + 1, 1), self.unit)
        if self.number > monthrange(year, self.month)[1]:
            return None
        return unit_around(date(year, self.month, self.number), "day")


def unit_around(day: date, unit: Unit, week_start: int = 0) -> Span:
    """The calendar unit that contains the day; a week starts on `week_start`, 0 for Monday."""
    if unit in DAYS:
        start = shift(day, "day", -((day.weekday() - week_start) % 7)) if unit == "week" else day
    else:
        start = date(day.year, (day.month - 1) // MONTHS[unit] * MONTHS[unit] + 1, 1)
    return Span(start, shift(start, unit, 1))


def year_span(first: int, last: int | None = None) -> Span:
    return Span(date(first, 1, 1), shift(date(last or first, 1, 1), "year", 1))


def rolling(today: date, unit: Unit, count: int) -> Span:
    """A negative count of units ends today, which is included; a positive one starts tomorrow."""
    tomorrow = shift(today, "day", 1)
    edge = shift(tomorrow, unit, count)
    return Span(min(edge, tomorrow), max(edge, tomorrow))


def latest(named: Named, today: date) -> Span | None:
    """The latest such unit that started today or earlier; None for a day that no year has."""
    for year in range(today.year, max(today.year - 9, MINYEAR - 1), -1):
        span = named.in_year(year)
        if span and span.start <= today:
            return span
    return None


def shift(day: date, unit: Unit, count: int) -> date:
    """The day `count` units later: the 31st becomes the last day of a shorter month; stays within the calendar."""
    if unit in DAYS:
        ordinal = day.toordinal() + count * DAYS[unit]
        return date.fromordinal(min(max(ordinal, date.min.toordinal()), date.max.toordinal()))
    year, month = divmod(day.year * 12 + day.month - 1 + count * MONTHS[unit], 12)
    if not MINYEAR <= year <= MAXYEAR:
        return date.max if count > 0 else date.min
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def touching(left: Span, right: Span) -> bool:
    return left.end == right.start or right.end == left.start
