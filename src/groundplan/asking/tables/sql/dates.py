"""Dates: parts, periods, differences and shifts."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.scope import Scope, peeled
from groundplan.asking.tables.sql.statement import named, shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.columns import Grain
from groundplan.contracts.expression import (
    Aggregate,
    All,
    AnyOf,
    Arithmetic,
    Cases,
    Compare,
    ComparisonOperator,
    Condition,
    Constant,
    DateCut,
    DatePart,
    Elapsed,
    Expression,
    Part,
    Unit,
)
from groundplan.contracts.normal_form import MIRRORED

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
WEEKDAYS = tuple(calendar.day_name)
MONTH_NAMES = tuple(calendar.month_name)[1:]
SHORT = len("2025-12-31")


def unit_of(node: Any) -> str:
    """`day`, `DAYS` and `'day'` are DAY."""
    name: str = (node.name if node is not None else "DAY").upper()
    return name[:-1] if name.endswith("S") else name


def _moment(node: Any, scope: Scope) -> Expression:
    """A date or a time; raises Untranslatable."""
    value = scope.value(node)
    if not scope.is_moment(value):
        raise Untranslatable(f"a date function of {scope.kind(value)} values", shown(node))
    if "TIME ZONE" in scope.fact(value).type or "TZ" in scope.fact(value).type:
        raise Untranslatable("a date function of a time with a time zone", shown(node))
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


def _today(node: Any, scope: Scope) -> Expression:
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
    return part_of(name, _moment(node.this, scope), scope, node)


def _extract(node: Any, scope: Scope) -> Expression:
    name, of = str(node.this.name).upper(), node.expression
    return _part(name, of, scope, node)


def _part(name: str, of: Any, scope: Scope, node: Any) -> Expression:
    inner, within = peeled(of, scope)
    if name == "EPOCH":
        return _epoch(inner, within, node)
    if isinstance(inner, exp.Anonymous) and inner.name.lower() == "age" and name == "YEAR":
        return _age(inner, within, node)
    if isinstance(inner, exp.Sub) and name == "DAY" and (whole := _difference(inner, within)) is not None:
        return whole
    return part_of(name, _moment(of, scope), scope, node)


def _age(node: Any, scope: Scope, whole: Any) -> Expression:
    """Whole years from a date to a given day: one fewer before the birthday."""
    ends = [_moment(one, scope) for one in node.expressions]
    end, start = ends if len(ends) == 2 else (Constant(value=scope.session.today.isoformat()), ends[0])
    if not isinstance(end, Constant) or isinstance(start, Constant) or scope.has_clock(start):
        raise Untranslatable("AGE of other than a day and a given day", shown(whole))
    day = _date(end)
    month, monthday = DatePart(of=start, part="month"), DatePart(of=start, part="day")
    later = Compare(left=month, operator=">", right=Constant(value=day.month))
    same = Compare(left=month, operator="=", right=Constant(value=day.month))
    after = Compare(left=monthday, operator=">", right=Constant(value=day.day))
    before = Cases(conditions=(AnyOf(parts=(later, All(parts=(same, after)))),), values=(1,), otherwise=0)
    years = Arithmetic(operator="-", left=Constant(value=day.year), right=DatePart(of=start, part="year"))
    return Arithmetic(operator="-", left=years, right=before)


def span(node: Any, scope: Scope) -> Expression | None:
    """A difference of two times, to be ordered or compared: INTERVALs are told in hours; None if it is none."""
    inner, within = peeled(node, scope)
    if not isinstance(inner, exp.Sub):
        return None
    sides = [peeled(side, within) for side in (inner.expression, inner.this)]
    if any(isinstance(side, exp.Interval) for side, _ in sides):
        return None
    start, end = (there.value(side) for side, there in sides)
    if not (within.is_moment(start) and within.is_moment(end) and (within.has_clock(start) or within.has_clock(end))):
        return None
    return Elapsed(start=start, end=end, unit="hour")


def _epoch(node: Any, scope: Scope, whole: Any) -> Expression:
    """`EXTRACT(epoch FROM b - a)`: the seconds between two times."""
    if isinstance(node, exp.Sub):
        start, end = scope.value(node.expression), scope.value(node.this)
        if scope.is_moment(start) and scope.is_moment(end) and (scope.has_clock(start) or scope.has_clock(end)):
            return _seconds(start, end)
    raise Untranslatable("EPOCH", shown(whole))


def _seconds(start: Expression, end: Expression) -> Expression:
    return Arithmetic(operator="*", left=Elapsed(start=start, end=end, unit="minute"), right=Constant(value=60))


def _unix(node: Any, scope: Scope) -> Expression:
    inner, within = peeled(node.this, scope)
    return _epoch(inner, within, node)


def _anonymous(node: Any, scope: Scope) -> Expression:
    name = node.name.lower()
    if name in ("now", "today"):
        return _today(node, scope)
    if name == "date_part" and len(node.expressions) == 2 and isinstance(node.expressions[0], exp.Literal):
        return _part(node.expressions[0].name.upper(), node.expressions[1], scope, node)
    raise Untranslatable(f"the function {node.name}", shown(node))


def _weekday_name(node: Any, scope: Scope) -> Expression:
    return _by_weekday(_moment(node.this, scope), WEEKDAYS)


def _month_name(node: Any, scope: Scope) -> Expression:
    month = DatePart(of=_moment(node.this, scope), part="month")
    conditions = tuple(Compare(left=month, operator="=", right=Constant(value=one)) for one in range(1, 13))
    return Cases(conditions=conditions, values=MONTH_NAMES)


def _cut(node: Any, scope: Scope) -> Expression:
    grain, of = GRAINS.get(unit_of(node.args.get("unit"))), _moment(node.this, scope)
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
        return cut(_moment(node.this, scope), FORMATS[form], scope)
    if form in FORMAT_PARTS:
        return part_of(FORMAT_PARTS[form].upper(), _moment(node.this, scope), scope, node)
    if form == "%A":
        return _by_weekday(_moment(node.this, scope), WEEKDAYS)
    raise Untranslatable(f"the format {form}", shown(node))


def _date_diff(node: Any, scope: Scope) -> Expression:
    """The number of boundaries between two times: of days, months or years."""
    unit, start, end = unit_of(node.args.get("unit")), _moment(node.expression, scope), _moment(node.this, scope)
    if unit == "SECOND":
        return _seconds(start, end)
    if unit in SECONDS and unit != "WEEK":
        grain = GRAINS[unit]
        first, last = (
            one if isinstance(one, Constant) and grain == "day" and not scope.has_clock(one) else cut(one, grain, scope)
            for one in (start, end)
        )
        if grain in ("minute", "hour") and any(
            isinstance(one, Constant) and scope.has_clock(one) for one in (start, end)
        ):
            raise Untranslatable(f"DATE_DIFF by {unit} with a time of day", shown(node))
        return Elapsed(start=first, end=last, unit=_unit(unit))
    if unit in MONTHS:
        return Arithmetic(
            operator="-", left=_count_of(unit, end, scope, node), right=_count_of(unit, start, scope, node)
        )
    raise Untranslatable(f"DATE_DIFF by {unit}", shown(node))


def _unit(name: str) -> Unit:
    return name.lower()  # type: ignore[return-value]


def _count_of(unit: str, of: Expression, scope: Scope, node: Any) -> Expression:
    """The number of years, quarters or months since the year 0."""
    year = part_of("YEAR", of, scope, node)
    if unit == "YEAR":
        return year
    part = part_of(unit, of, scope, node)
    size = 12 // MONTHS[unit]
    if isinstance(year, Constant) and isinstance(part, Constant):
        return Constant(value=int(year.value) * size + int(part.value))
    return Arithmetic(operator="+", left=Arithmetic(operator="*", left=year, right=Constant(value=size)), right=part)


def arithmetic(node: Any, scope: Scope) -> Expression | None:
    """A difference of dates in days, or a date some time from a constant one; None if it is no date."""
    right, _ = peeled(node.expression, scope)
    left, _ = peeled(node.this, scope)
    if isinstance(node, exp.Add | exp.Sub) and (isinstance(right, exp.Interval) or isinstance(left, exp.Interval)):
        return _shifted(node, scope)
    return _difference(node, scope) if isinstance(node, exp.Add | exp.Sub) else None


def _difference(node: Any, scope: Scope) -> Expression | None:
    left, right = scope.value(node.this), scope.value(node.expression)
    if not scope.is_moment(left):
        return None
    if isinstance(node, exp.Sub) and scope.is_moment(right):
        if isinstance(left, Constant) and isinstance(right, Constant):
            return Constant(value=(_date(left) - _date(right)).days)
        if scope.has_clock(left) or scope.has_clock(right):
            raise Untranslatable("a difference of times", f"{shown(node)}; use DATE_DIFF('hour', …)")
        return Elapsed(start=right, end=left, unit="day")
    if isinstance(left, Constant) and isinstance(right, Constant) and isinstance(right.value, int):
        days = right.value if isinstance(node, exp.Add) else -right.value
        return Constant(value=(_date(left) + timedelta(days=days)).isoformat())
    if isinstance(left, Constant):
        return None
    raise Untranslatable("a shifted date", f"{shown(node)}; compare it with another date instead")


def _date(node: Constant) -> date:
    return date.fromisoformat(str(node.value)[:SHORT])


def _shifted(node: Any, scope: Scope) -> Expression:
    sides = (node.this, node.expression)
    span, base = (sides[1], sides[0]) if isinstance(peeled(sides[1], scope)[0], exp.Interval) else sides
    amount, unit = interval(peeled(span, scope)[0])
    value = scope.value(base)
    if isinstance(value, Constant) and scope.is_moment(value):
        return Constant(value=moved(str(value.value), -amount if isinstance(node, exp.Sub) else amount, unit))
    raise Untranslatable("a shifted date", f"{shown(node)}; compare it with another date instead")


def interval(node: Any) -> tuple[int, str]:
    try:
        return int(node.this.name if not isinstance(node.this, exp.Paren) else node.this.this.name), unit_of(
            node.args.get("unit")
        )
    except (ValueError, AttributeError):
        raise Untranslatable("an interval of an expression", shown(node)) from None


def moved(moment: str, amount: int, unit: str) -> str:
    """The moment some units later; the last day of a shorter month stands for those it lacks."""
    at = datetime.fromisoformat(moment)
    try:
        if unit in MONTHS:
            months = at.year * 12 + at.month - 1 + amount * MONTHS[unit]
            year, month = divmod(months, 12)
            at = at.replace(year=year, month=month + 1, day=min(at.day, calendar.monthrange(year, month + 1)[1]))
        elif unit in SECONDS:
            at += timedelta(seconds=amount * SECONDS[unit])
        else:
            raise Untranslatable(f"an interval in {unit}")
    except (ValueError, OverflowError):
        raise Untranslatable("a date out of range", f"{moment} and {amount} {unit}") from None
    return at.date().isoformat() if (at.hour, at.minute, at.second) == (0, 0, 0) else at.isoformat()


def _date_add(node: Any, scope: Scope) -> Expression:
    span = (
        node.expression
        if isinstance(node.expression, exp.Interval)
        else exp.Interval(this=node.expression, unit=node.args.get("unit"))
    )
    made = exp.Sub if isinstance(node, exp.DateSub) else exp.Add
    return _shifted(made(this=node.this, expression=span), scope)


def compared_shift(left: Any, operator: ComparisonOperator, right: Any, scope: Scope) -> Condition | None:
    """`shipped > ordered + INTERVAL 3 DAY` compares the time between them with 3 days."""
    for one, other, sign in ((left, right, operator), (right, left, MIRRORED[operator])):
        length, _ = peeled(other, scope)
        if isinstance(length, exp.Interval) and (elapsed := span(one, scope)) is not None:
            amount, unit = interval(length)
            if unit not in SECONDS:
                raise Untranslatable("a comparison of a time span with months", shown(length))
            return Compare(left=elapsed, operator=sign, right=Constant(value=amount * SECONDS[unit] / 3_600))
    for one, other, sign in ((left, right, operator), (right, left, MIRRORED[operator])):
        inner, within = peeled(other, scope)
        if not isinstance(inner, exp.Add | exp.Sub):
            continue
        shift, _ = peeled(inner.expression, within)
        base = within.value(inner.this) if isinstance(shift, exp.Interval) or _is_number(shift) else None
        if base is None or isinstance(base, Constant) or not within.is_moment(base):
            continue
        amount, unit = interval(shift) if isinstance(shift, exp.Interval) else (int(shift.name), "DAY")
        amount = -amount if isinstance(inner, exp.Sub) else amount
        moment = scope.value(one)
        if unit not in SECONDS or not scope.is_moment(moment):
            raise Untranslatable("a comparison with a date some months from another", shown(other))
        elapsed = Elapsed(start=base, end=moment, unit="minute" if unit == "SECOND" else _unit(unit))
        size = amount / 60 if unit == "SECOND" else amount
        return Compare(left=elapsed, operator=sign, right=Constant(value=size))
    return None


def _is_number(node: Any) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and str(node.name).isdigit()


READERS: Mapping[type[Any], Callable[[Any, Scope], Expression]] = {
    exp.CurrentDate: _today,
    exp.CurrentTimestamp: _today,
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
    exp.Extract: _extract,
    exp.Dayname: _weekday_name,
    exp.Monthname: _month_name,
    exp.TimestampTrunc: _cut,
    exp.DateTrunc: _cut,
    exp.DateDiff: _date_diff,
    exp.DateAdd: _date_add,
    exp.DateSub: _date_add,
    exp.TimeToStr: _formatted,
    exp.TimeToUnix: _unix,
    exp.Anonymous: _anonymous,
}
