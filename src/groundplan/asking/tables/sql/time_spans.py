"""Times between dates: differences, ages, intervals, and dates some time from others."""

from __future__ import annotations

import calendar
import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.dates import GRAINS, MONTHS, SECONDS, SHORT, cut, moment_of, part_of, today, unit_of
from groundplan.asking.tables.sql.scope import Scope, peeled
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    All,
    AnyOf,
    Arithmetic,
    Cases,
    Compare,
    ComparisonOperator,
    Condition,
    Constant,
    DatePart,
    Elapsed,
    Expression,
    Unit,
)
from groundplan.contracts.normal_form import MIRRORED

SIZES: Mapping[Unit, float] = {
    "second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800,
    "month": 86_400 * 30.436875, "year": 86_400 * 365.2425,
}  # fmt: skip
"""Seconds of each unit, as the language counts them."""


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
    return part_of(name, moment_of(of, scope), scope, node)


def _age(node: Any, scope: Scope, whole: Any) -> Expression:
    """Whole years from a date to a given day: one fewer before the birthday."""
    ends = [moment_of(one, scope) for one in node.expressions]
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
    if any(isinstance(side, exp.Interval | exp.Window) for side, _ in sides):
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
    return Elapsed(start=start, end=end, unit="second")


def longer_unit(unit: Unit, count: object) -> Unit | None:
    """The unit that is so many of another: 3600 seconds are an hour; None if none is."""
    if isinstance(count, bool) or not isinstance(count, int | float) or count <= 1:
        return None
    return next((one for one, size in SIZES.items() if math.isclose(size, SIZES[unit] * count)), None)


def _unix(node: Any, scope: Scope) -> Expression:
    inner, within = peeled(node.this, scope)
    return _epoch(inner, within, node)


def _anonymous(node: Any, scope: Scope) -> Expression:
    name = node.name.lower()
    if name in ("now", "today"):
        return today(node, scope)
    if name == "date_part" and len(node.expressions) == 2 and isinstance(node.expressions[0], exp.Literal):
        return _part(node.expressions[0].name.upper(), node.expressions[1], scope, node)
    raise Untranslatable(f"the function {node.name}", shown(node))


def _date_diff(node: Any, scope: Scope) -> Expression:
    """The number of boundaries between two times: of days, months or years."""
    unit, start, end = unit_of(node.args.get("unit")), moment_of(node.expression, scope), moment_of(node.this, scope)
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
        elapsed = Elapsed(start=base, end=moment, unit=_unit(unit))
        return Compare(left=elapsed, operator=sign, right=Constant(value=amount))
    return None


def _is_number(node: Any) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and str(node.name).isdigit()


READERS: Mapping[type[Any], Callable[[Any, Scope], Expression]] = {
    exp.Extract: _extract,
    exp.DateDiff: _date_diff,
    exp.DateAdd: _date_add,
    exp.DateSub: _date_add,
    exp.TimeToUnix: _unix,
    exp.Anonymous: _anonymous,
}
