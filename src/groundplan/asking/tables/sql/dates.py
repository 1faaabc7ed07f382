"""Dates: parts, periods, differences and shifts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.scope import Scope
from groundplan.asking.tables.sql.statement import named, shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.columns import Grain
from groundplan.contracts.expression import (
    Aggregate,
    Cases,
    Compare,
    Constant,
    DateCut,
    DatePart,
    Expression,
    Part,
)

GRAINS: Mapping[str, Grain] = {
    "MINUTE": "minute", "HOUR": "hour", "DAY": "day", "WEEK": "week", "MONTH": "month",
    "QUARTER": "quarter", "YEAR": "year",
}  # fmt: skip
PARTS: Mapping[str, Part] = {
    "YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "WEEK": "week", "DAY": "day", "HOUR": "hour",
    "ISODOW": "weekday", "DAYOFWEEKISO": "weekday", "DAYOFMONTH": "day", "WEEKOFYEAR": "week",
}  # fmt: skip
SECONDS: Mapping[str, int] = {"SECOND": 1, "MINUTE": 60, "HOUR": 3_600, "DAY": 86_400, "WEEK": 604_800}
MONTHS: Mapping[str, int] = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
FORMATS: Mapping[str, Grain] = {"%Y-%m": "month", "%Y-%m-%d": "day"}
FORMAT_PARTS: Mapping[str, Part] = {"%Y": "year", "%m": "month", "%d": "day", "%H": "hour"}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")  # not the locale's
MONTHS_NAMED = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
SHORT = len("2025-12-31")


def unit_of(node: Any) -> str:
    """`day`, `DAYS` and `'day'` are DAY."""
    name: str = (node.name if node is not None else "DAY").upper()
    return name[:-1] if name.endswith("S") else name


def moment_of(node: Any, scope: Scope) -> Expression:
    """A date or a time, by the clock of UTC where it has a time zone; raises Untranslatable."""
    value = scope.value(node)
    if not scope.is_moment(value):
        raise Untranslatable(f"a date function of {scope.kind(value)} values", shown(node))
    return value


def as_day(value: Expression, scope: Scope) -> Expression:
    """A time without its clock; the day of the latest time is the latest day."""
    if isinstance(value, Aggregate) and value.function in ("min", "max"):
        return value.model_copy(update={"of": as_day(value.of, scope)})
    if isinstance(value, Constant) and scope.is_moment(value):
        return Constant(value=str(value.value)[:SHORT])
    if scope.kind(value) != "time":
        raise Untranslatable(f"CAST of {scope.kind(value)} values to DATE")
    if isinstance(value, DateCut) and value.grain not in ("minute", "hour"):
        return value
    return DateCut(of=value, grain="day") if scope.has_clock(value) else value


def as_moment(value: Expression, scope: Scope) -> Expression:
    if isinstance(value, Constant) and scope.is_moment(value):
        return value
    if scope.kind(value) != "time":
        raise Untranslatable(f"CAST of {scope.kind(value)} values to TIMESTAMP")
    return value


def today(node: Any, scope: Scope) -> Expression:
    return Constant(value=scope.session.today.isoformat())


def _day(node: Any, scope: Scope) -> Expression:
    return as_day(scope.value(node.this), scope)


def part_of(name: str, of: Expression, scope: Scope, node: Any) -> Expression:
    name = name.upper()
    if isinstance(of, Constant):
        return _part_of_constant(name, of, node)
    if name in ("DOW", "DAYOFWEEK", "WEEKDAY"):
        return _by_weekday(of, (1, 2, 3, 4, 5, 6, 0))
    part = PARTS.get(name)
    if part is None:
        raise Untranslatable(f"the date part {name}", shown(node))
    if part == "hour" and not scope.has_clock(of):
        raise Untranslatable("the hour of a day", shown(node))
    return DatePart(of=of.of if isinstance(of, DateCut) and of.grain == part else of, part=part)


def _part_of_constant(name: str, of: Constant, node: Any) -> Expression:
    day = date.fromisoformat(str(of.value)[:SHORT])
    found = {
        "YEAR": day.year,
        "QUARTER": (day.month + 2) // 3,
        "MONTH": day.month,
        "WEEK": day.isocalendar().week,
        "DAY": day.day,
        "ISODOW": day.isoweekday(),
    }
    if name not in found:
        raise Untranslatable(f"the date part {name}", shown(node))
    return Constant(value=found[name])


def _by_weekday(of: Expression, values: tuple[str | int, ...]) -> Expression:
    weekday = DatePart(of=of, part="weekday")
    conditions = tuple(Compare(left=weekday, operator="=", right=Constant(value=day)) for day in range(1, 8))
    return Cases(conditions=conditions, values=values)


def _named_part(node: Any, scope: Scope) -> Expression:
    name = (
        "DOW"
        if isinstance(node, exp.DayOfWeek)
        else "ISODOW"
        if isinstance(node, exp.DayOfWeekIso)
        else node.key.upper()
    )
    return part_of(name, moment_of(node.this, scope), scope, node)


def _named_weekday(node: Any, scope: Scope) -> Expression:
    return _by_weekday(moment_of(node.this, scope), WEEKDAYS)


def _named_month(node: Any, scope: Scope) -> Expression:
    month = DatePart(of=moment_of(node.this, scope), part="month")
    conditions = tuple(Compare(left=month, operator="=", right=Constant(value=one)) for one in range(1, 13))
    return Cases(conditions=conditions, values=MONTHS_NAMED)


def _cut(node: Any, scope: Scope) -> Expression:
    grain, of = GRAINS.get(unit_of(node.args.get("unit"))), moment_of(node.this, scope)
    if grain is None:
        raise Untranslatable(named(node), shown(node))
    return cut(of, grain, scope)


def cut(of: Expression, grain: Grain, scope: Scope) -> Expression:
    if isinstance(of, Aggregate) and of.function in ("min", "max"):
        return of.model_copy(update={"of": cut(of.of, grain, scope)})
    if isinstance(of, Constant):
        return Constant(value=_beginning(date.fromisoformat(str(of.value)[:SHORT]), grain).isoformat())
    if grain in ("minute", "hour") and not scope.has_clock(of):
        return of
    if grain == "day" and not scope.has_clock(of):
        return of
    if isinstance(of, DateCut):
        if of.grain == grain or (of.grain == "day" and grain not in ("minute", "hour")):
            return of.model_copy(update={"grain": grain})
        raise Untranslatable("a period of a period", f"{of.grain} and {grain}")
    return DateCut(of=of, grain=grain)


def _beginning(day: date, grain: Grain) -> date:
    match grain:
        case "year":
            return day.replace(month=1, day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "month":
            return day.replace(day=1)
        case "week":
            return day - timedelta(days=day.weekday())
    return day


def _formatted(node: Any, scope: Scope) -> Expression:
    """`strftime(day, '%Y-%m')` stands for the month, `'%Y'` for the year."""
    form = node.args["format"].name
    if form in FORMATS:
        return cut(moment_of(node.this, scope), FORMATS[form], scope)
    if form in FORMAT_PARTS:
        return part_of(FORMAT_PARTS[form].upper(), moment_of(node.this, scope), scope, node)
    if form == "%A":
        return _by_weekday(moment_of(node.this, scope), WEEKDAYS)
    raise Untranslatable(f"the format {form}", shown(node))


READERS: Mapping[type[Any], Callable[[Any, Scope], Expression]] = {
    exp.CurrentDate: today,
    exp.CurrentTimestamp: today,
    exp.Date: _day,
    exp.TsOrDsToDate: _day,
    exp.Year: _named_part,
    exp.Quarter: _named_part,
    exp.Month: _named_part,
    exp.Week: _named_part,
    exp.WeekOfYear: _named_part,
    exp.Day: _named_part,
    exp.DayOfMonth: _named_part,
    exp.Hour: _named_part,
    exp.DayOfWeek: _named_part,
    exp.DayOfWeekIso: _named_part,
    exp.Dayname: _named_weekday,
    exp.Monthname: _named_month,
    exp.TimestampTrunc: _cut,
    exp.DateTrunc: _cut,
    exp.TimeToStr: _formatted,
}
