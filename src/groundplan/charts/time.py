"""Time on a chart: parsed from ISO text, formatted by grain, with calendar ticks, independent of the local zone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from groundplan.charts.text import WORDS, datum, quoted
from groundplan.contracts.contract import Language

MOST_STEPS = 1_000
MONTHS: Mapping[Language, tuple[str, ...]] = {
    "en": ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    "ru": ("янв", "фев", "мар", "апр", "май", "июн", "июл", "авг", "сен", "окт", "ноя", "дек"),
}
FORMATS = {
    "second": "%-d %b %Y %H:%M:%S",
    "minute": "%-d %b %Y %H:%M",
    "hour": "%-d %b %Y %H:%M",
    "day": "%-d %b %Y",
    "week": "%-d %b %Y",
    "month": "%b %Y",
    "quarter": "Q%q %Y",
    "year": "%Y",
}
EVERY: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "second": "By second",
        "minute": "By minute",
        "hour": "Hourly",
        "day": "Daily",
        "week": "Weekly",
        "month": "Monthly",
        "quarter": "Quarterly",
        "year": "Yearly",
    },
    "ru": {
        "second": "по секундам",
        "minute": "по минутам",
        "hour": "по часам",
        "day": "по дням",
        "week": "по неделям",
        "month": "по месяцам",
        "quarter": "по кварталам",
        "year": "по годам",
    },
}
ORDER = tuple(FORMATS)
FIXED = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
}
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
LADDER = (
    *(("second", step) for step in (1, 15)),
    *(("minute", step) for step in (1, 5, 15, 30)),
    *(("hour", step) for step in (1, 3, 6, 12)),
    *(("day", step) for step in (1, 2)),
    *(("week", step) for step in (1, 2)),
    *(("month", step) for step in (1, 2)),
    *(("quarter", step) for step in (1, 2)),
    *(("year", step) for step in (1, 2, 5, 10, 25, 100, 500)),
)


@dataclass(frozen=True)
class Timeline:
    """The points in time of a column, in order, and their grain."""

    moments: tuple[datetime, ...]
    grain: str
    language: Language = "en"

    @property
    def span(self) -> str:
        first, last = (written(moment, self.grain, self.language) for moment in (self.moments[0], self.moments[-1]))
        return first if first == last else WORDS[self.language]["to"].format(first, last)

    def steps(self) -> tuple[datetime, ...]:
        """The points in time with gaps filled, so that a missing month leaves a hole."""
        filled: list[datetime] = []
        moment = self.moments[0]
        while moment <= self.moments[-1] and len(filled) < MOST_STEPS:
            filled.append(moment)
            moment = _after(moment, self.grain, 1)
        return tuple(filled) if set(self.moments) <= set(filled) else self.moments

    def holes(self) -> tuple[tuple[datetime, ...], ...]:
        """The runs of steps between two points in time that have no row."""
        known, found = set(self.moments), list[tuple[datetime, ...]]()
        run: list[datetime] = []
        for step in self.steps():
            if step not in known:
                run.append(step)
            elif run:
                found.append(tuple(run))
                run = []
        return tuple(found)

    def step_beside(self, moment: datetime, later: int) -> datetime:
        """The step before a point in time (-1), or after it (1)."""
        return _after(moment, self.grain, later)

    def ticks(self, most: int) -> tuple[tuple[datetime, ...], str]:
        """At most `most` ticks on calendar boundaries, and their grain."""
        first, last = self.moments[0], self.moments[-1]
        for unit, step in LADDER:
            if ORDER.index(unit) < ORDER.index(self.grain):
                continue
            ticks = tuple(_boundaries(first, last, unit, step, most))
            if 0 < len(ticks) <= most:
                return ticks, "month" if unit == "quarter" and self.grain != "quarter" else unit
        return (first,), self.grain


def timeline(values: Iterable[object], grain: str | None, language: Language = "en") -> Timeline | None:
    """The timeline of a column; None if it is empty or has a value that is not a date or timestamp."""
    moments = [moment(value) for value in values if value is not None]
    known = sorted({item for item in moments if item is not None})
    if not known or None in moments:
        return None
    return Timeline(tuple(known), grain if grain in FORMATS else _apparent_grain(known), language)


def moment(value: object) -> datetime | None:
    """The wall-clock time of a value, ignoring its zone."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None, microsecond=0)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    try:
        return datetime.fromisoformat(str(value)).replace(tzinfo=None, microsecond=0)
    except ValueError:
        return None


def written(value: datetime, grain: str, language: Language = "en") -> str:
    """The value formatted by grain, exactly as Vega's `utcFormat` does it in the chart's locale."""
    month = MONTHS[language][value.month - 1]
    day = f"{value.day} {month} {value.year:04d}"
    match grain:
        case "year":
            return f"{value.year:04d}"
        case "quarter":
            return f"Q{(value.month + 2) // 3} {value.year:04d}"
        case "month":
            return f"{month} {value.year:04d}"
        case "minute" | "hour":
            return f"{day} {value:%H:%M}"
        case "second":
            return f"{day} {value:%H:%M:%S}"
        case _:
            return day


def milliseconds(value: datetime) -> int:
    return int(value.replace(tzinfo=UTC).timestamp() * 1000)


def parsed(column: str) -> str:
    """An expression that parses the column's ISO text as UTC; a date is midnight."""
    return f'utcParse(slice({datum(column)} + "T00:00:00", 0, 19), "%Y-%m-%dT%H:%M:%S")'


def labelled(column: str, grain: str) -> str:
    """An expression that formats the column's ISO text by grain."""
    return f"utcFormat({parsed(column)}, {quoted(FORMATS[grain])})"


def _apparent_grain(moments: list[datetime]) -> str:
    if any(item.second for item in moments):
        return "second"
    if any(item.hour or item.minute for item in moments):
        return "minute"
    if len(moments) == 1 or any(item.day != 1 for item in moments):
        return "day"
    return "year" if all(item.month == 1 for item in moments) else "month"


def _boundaries(first: datetime, last: datetime, unit: str, step: int, most: int) -> Iterator[datetime]:
    tick, count = _floor(first, unit, step), 0
    while tick <= last and count <= most:
        if tick >= first:
            count += 1
            yield tick
        tick = _after(tick, unit, step)


def _floor(value: datetime, unit: str, step: int) -> datetime:
    if unit in MONTHS_IN:
        months = (value.year * 12 + value.month - 1) // (MONTHS_IN[unit] * step) * MONTHS_IN[unit] * step
        return datetime(max(months // 12, 1), months % 12 + 1, 1)
    if unit in ("day", "week"):  # start at the data's first value
        return value
    midnight = value.replace(hour=0, minute=0, second=0)
    return midnight + (value - midnight) // (FIXED[unit] * step) * FIXED[unit] * step


def _after(value: datetime, unit: str, step: int) -> datetime:
    try:
        if unit in FIXED:
            return value + FIXED[unit] * step
        months = value.year * 12 + value.month - 1 + MONTHS_IN[unit] * step
        return value.replace(year=months // 12, month=months % 12 + 1, day=1)
    except (ValueError, OverflowError):
        return datetime.max
