"""The time grain: given by the plan, or chosen from the data's span and density."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta
from typing import Any, cast

import ibis.expr.types as ir

from groundplan.contracts.columns import Grain
from groundplan.contracts.facts import Item, PartialPeriod
from groundplan.contracts.ranges import READABLE_POINTS, readable_grain
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import Ask, Handle

UNITS: Mapping[str, str] = {
    "minute": "m",
    "hour": "h",
    "day": "D",
    "week": "W",
    "month": "M",
    "quarter": "Q",
    "year": "Y",
}
MONTHS = {"month": 1, "quarter": 3, "year": 12}


def cut(handle: Handle, name: str, grain: Grain) -> ir.Column:
    """The column's periods by their first day (or hour, or minute)."""
    return cut_at(handle.column(name), grain, f"column {name!r}")


def cut_at(column: Any, grain: Grain, called: str = "it") -> Any:
    if grain not in ("minute", "hour"):
        # on some engines DATE_TRUNC returns a timestamp even for a date: the casts fix the type
        return column.cast("timestamp").truncate(UNITS[grain]).cast("date")
    if column.type().is_date():
        raise ToolError(f"{called} holds days, which have no {grain}s; use day or a coarser grain")
    return column.cast("timestamp").truncate(UNITS[grain])


def choose(handle: Handle, name: str, ask: Ask) -> tuple[Grain, Item]:
    """The grain for a readable series, and a fact that explains the choice."""
    column = handle.column(name)
    days = column.cast("date")
    span = ask(handle.table.aggregate(least=column.min(), greatest=column.max(), points=days.nunique()))[0]
    if span["least"] is None:
        return "day", _grain_fact("day", f"{name} has no dates")
    first, last = _day(span["least"]), _day(span["greatest"])
    if column.type().is_timestamp() and span["greatest"] - span["least"] <= timedelta(days=2):
        return "hour", _grain_fact("hour", f"from {span['least']} to {span['greatest']}")
    grain = readable_grain((last - first).days, span["points"])
    return grain, _grain_fact(grain, f"{_length(first, last, span['points'])} from {first} to {last}")


def partial_periods(table: ir.Table, column: Any, grain: Grain, ask: Ask) -> tuple[PartialPeriod, ...]:
    """The first and the last period, if the data leaves out more of them than the usual gaps between its dates."""
    if grain not in ("week", *MONTHS):
        return ()
    days = column.cast("date")
    span = ask(table.aggregate(least=days.min(), greatest=days.max(), points=days.nunique()))[0]
    if span["points"] < 3:
        return ()
    first, last = _day(span["least"]), _day(span["greatest"])
    if first.year == MINYEAR or last.year == MAXYEAR:
        return ()  # placeholders, and no calendar goes beyond them
    usual = 2 * (last - first).days / (span["points"] - 1)
    found = []
    if (first - _start(first, grain)).days > usual:
        found.append(PartialPeriod(period=_start(first, grain).isoformat(), edge="starts", at=first.isoformat()))
    if (_start(last, grain, 1) - last).days - 1 > usual:
        found.append(PartialPeriod(period=_start(last, grain).isoformat(), edge="ends", at=last.isoformat()))
    return tuple(found)


def _start(day: date, grain: Grain, later: int = 0) -> date:
    """The first day of the period of a day, or of a later period."""
    if grain == "week":
        return day - timedelta(days=day.weekday() - 7 * later)
    month = (day.month - 1) // MONTHS[grain] * MONTHS[grain] + MONTHS[grain] * later
    return date(day.year + month // 12, month % 12 + 1, 1)


def _length(first: date, last: date, points: int) -> str:
    days = (last - first).days + 1
    return f"{points:,} different days" if points <= READABLE_POINTS < days else f"{days:,} days"


def _grain_fact(grain: Grain, why: str) -> Item:
    return Item(kind="grain", title="time grain", value=grain, text=why)


def _day(value: Any) -> date:
    return value.date() if isinstance(value, datetime) else cast("date", value)
