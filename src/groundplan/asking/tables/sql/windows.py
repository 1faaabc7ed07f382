"""Windows over groups: shares, changes, running totals and moving averages; and places in a ranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql import time_spans
from groundplan.asking.tables.sql.correlated import alike
from groundplan.asking.tables.sql.derived import under_all
from groundplan.asking.tables.sql.query import Ordering, same
from groundplan.asking.tables.sql.scope import Scope, peeled
from groundplan.asking.tables.sql.statement import named, shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    Aggregate,
    Arithmetic,
    Change,
    Column,
    Constant,
    Correlation,
    Expression,
    Moving,
    Overall,
    Rows,
    Running,
    Share,
    Ties,
    columns_of,
    level,
    walk,
)

TIES: Mapping[type[Any], Ties] = {exp.RowNumber: "cut", exp.Rank: "kept", exp.DenseRank: "as_one"}
PLACES = (*TIES,)


def _window(node: Any, scope: Scope) -> Expression:
    """A running total or a moving average of a measure, along the group that orders it."""
    if isinstance(node.this, PLACES):
        raise Untranslatable(f"{named(node.this)} as a column", "compare it: QUALIFY ROW_NUMBER() OVER (…) <= 3")
    if isinstance(node.this, exp.Lag):
        of, change = _lag(node, scope)
        if scope.nullable(of):
            raise Untranslatable("LAG by itself", f"{shown(node)}; subtract it from the measure")
        return Arithmetic(operator="-", left=of, right=change)
    if not node.args.get("order") and (beside := _alike(node, scope)) is not None:
        return beside
    if not node.args.get("order"):
        raise Untranslatable("a window without an order", f"{shown(node)}; divide a measure by SUM(measure) OVER ()")
    of = _measure(node.this.this, scope)
    spec = node.args.get("spec")
    _refuse_other_order(node, scope)
    if isinstance(node.this, exp.Sum) and (spec is None or _frame(spec) == ("UNBOUNDED", "CURRENT ROW")):
        return Running(of=of)
    if isinstance(node.this, exp.Avg) and spec is not None:
        start, end = _frame(spec)
        days = spec.args.get("start")
        if spec.args.get("kind") == "RANGE":
            along = scope.value(node.args["order"].expressions[0].this)
            length = time_spans.interval(days) if isinstance(days, exp.Interval) else (0, "")
            start = str(length[0]) if length[1] == "DAY" and _is_gapless(along, scope) else ""
        if end == "CURRENT ROW" and start.isdigit() and int(start) >= 1:
            return Moving(of=of, periods=int(start) + 1)
    raise Untranslatable("this window", shown(node))


def _alike(node: Any, scope: Scope) -> Expression | None:
    """`AVG(fare) OVER (PARTITION BY region)` beside each row; None over groups."""
    if scope.kept is None or scope.groups is not None or node.args.get("spec"):
        return None
    of = under_all(scope.value(node.this), scope.kept)
    if not isinstance(of, Rows | Aggregate):
        return None
    by = tuple(scope.value(part) for part in node.args.get("partition_by") or ())
    if not by:
        return Overall(of=of)
    return alike(of, by)


def _is_gapless(along: Expression, scope: Scope) -> bool:
    """Whether each day between the first and the last is there, whatever range of days is kept."""
    column = scope.described(along) if isinstance(along, Column) and along.table is None else None
    if column is None or scope.has_clock(along) or not column.least or not column.greatest or column.nulls != 0:
        return False
    if any({*columns_of(condition)} != {column.name} for condition in scope.session.kept):
        return False
    days = date.fromisoformat(str(column.greatest)[:10]) - date.fromisoformat(str(column.least)[:10])
    return not column.sampled and column.cardinality == days.days + 1


def _frame(spec: Any) -> tuple[str, str]:
    start, end = (spec.args.get(side) for side in ("start", "end"))
    before = start.name if isinstance(start, exp.Literal) else str(start)
    if spec.args.get("start_side") not in (None, "PRECEDING") or spec.args.get("exclude"):
        before = ""
    return before, str(end) if end is not None else "CURRENT ROW"


def _measure(node: Any, scope: Scope) -> Expression:
    if node is None or isinstance(node, exp.Star):
        raise Untranslatable("COUNT(*) OVER", "count in a grouped subquery first")
    value = scope.value(node)
    if level(value) != "group":
        raise Untranslatable("a window over single rows", f"{shown(node)}; group the rows first")
    return value


def _refuse_other_order(node: Any, scope: Scope) -> None:
    """A series runs upwards along one group, and all other groups separate it from the next."""
    ordered = node.args["order"].expressions
    groups = scope.groups or ()
    along = scope.value(ordered[0].this)
    by = [scope.value(part) for part in node.args.get("partition_by") or ()]
    others = [group for group in groups if not same(group, along)]
    if len(ordered) != 1 or ordered[0].args.get("desc") or len(others) == len(groups):
        raise Untranslatable("a window in another order than one group, ascending", shown(node))
    if len(by) != len(others) or not all(any(same(one, other) for one in by) for other in others):
        raise Untranslatable("a window that is not separated by all other groups", shown(node))
    scope.session.along.append(along)


def _lag(node: Any, scope: Scope) -> tuple[Expression, Change]:
    """The measure, and its change from the period before."""
    lag = node.this
    offset = lag.args.get("offset")
    if (offset is not None and offset.name != "1") or lag.args.get("default") is not None:
        raise Untranslatable("LAG by other than one", shown(node))
    of = _measure(lag.this, scope)
    if not node.args.get("order") or node.args.get("spec"):
        raise Untranslatable("LAG without an order", shown(node))
    _refuse_other_order(node, scope)
    return of, Change(of=of)


def compared(node: Any, scope: Scope) -> Expression | None:
    """A measure beside its total or its earlier value: a share, a change, a growth; None if it is neither."""
    if isinstance(node, exp.Sub):
        return _change(node, scope)
    if isinstance(node, exp.Div):
        return _share(node, scope) or _growth(node, scope)
    return None


def _unwrapped(node: Any, scope: Scope) -> tuple[Any, Scope]:
    """Without the guards and casts of a divisor."""
    inner, within = peeled(node, scope)
    while (isinstance(inner, exp.Nullif) and inner.expression.name == "0") or (
        isinstance(inner, exp.Cast) and inner.to.this.value in ("DOUBLE", "FLOAT")
    ):
        inner, within = peeled(inner.this, within)
    return inner, within


def _change(node: Any, scope: Scope) -> Expression | None:
    right, within = _unwrapped(node.expression, scope)
    if not (isinstance(right, exp.Window) and isinstance(right.this, exp.Lag)):
        return None
    of, change = _lag(right, within)
    return change if same(scope.value(node.this), of) else None


def _factors(node: Any, scope: Scope) -> list[tuple[Any, Scope]]:
    """The factors of a product, as written."""
    inner, within = _unwrapped(node, scope)
    if isinstance(inner, exp.Mul):
        return [*_factors(inner.this, within), *_factors(inner.expression, within)]
    return [(inner, within)]


def _scaled(made: Expression, factors: list[tuple[Any, Scope]]) -> Expression:
    for inner, within in factors:
        value = within.value(inner)
        if not isinstance(value, Constant):
            raise Untranslatable("a product with a share", shown(inner))
        if value.value != 1:
            made = Arithmetic(operator="*", left=value, right=made)
    return made


def _share(node: Any, scope: Scope) -> Expression | None:
    """`100.0 * SUM(x) / SUM(SUM(x)) OVER ()` is 100 times a share."""
    right, within = _unwrapped(node.expression, scope)
    total = right.this if isinstance(right, exp.Window) and not right.args.get("order") else None
    if not isinstance(total, exp.Sum) or right.args.get("spec") or _alike(right, within) is not None:
        return None
    of = _measure(total.this, within)
    factors = _factors(node.this, scope)
    hit = next((one for one in factors if same(one[1].value(one[0]), of)), None)
    if hit is None:
        raise Untranslatable("a total of other groups beside a measure", shown(node))
    share = Share(of=of, within=tuple(within.value(part) for part in right.args.get("partition_by") or ()))
    return _scaled(share, [one for one in factors if one is not hit])


def _growth(node: Any, scope: Scope) -> Expression | None:
    """`(x - LAG(x)) / LAG(x)` is a growth, `x / LAG(x)` one and the growth."""
    right, within = _unwrapped(node.expression, scope)
    if not (isinstance(right, exp.Window) and isinstance(right.this, exp.Lag)):
        return None
    of, change = _lag(right, within)
    growth = Change(of=of, ratio=True)
    factors = _factors(node.this, scope)
    for one in factors:
        value = one[1].value(one[0])
        rest = [other for other in factors if other is not one]
        if value == change:
            return _scaled(growth, rest)
        if level(value) == "group" and same(value, of):
            return _scaled(Arithmetic(operator="+", left=growth, right=Constant(value=1)), rest)
    return None


def place(node: Any, scope: Scope) -> Ordering | None:
    """`ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC) <= 3` as a ranking; None if it is something else."""
    if not isinstance(node, exp.LT | exp.LTE | exp.EQ | exp.GT | exp.GTE):
        return None
    left, right = node.this, node.expression
    upward = isinstance(node, exp.GT | exp.GTE)
    if upward:
        left, right = right, left
    window, within = peeled(left, scope)
    limit, _ = peeled(right, scope)
    if not (isinstance(window, exp.Window) and isinstance(window.this, PLACES)):
        other, _ = peeled(right, scope)
        if isinstance(other, exp.Window) and isinstance(other.this, PLACES):
            raise Untranslatable("the rest of a ranking", shown(node))
        return None
    if not isinstance(limit, exp.Literal) or not limit.name.isdigit():
        raise Untranslatable("a place that is no whole number", shown(node))
    most = int(limit.name) - (1 if isinstance(node, exp.LT | exp.GT) else 0)
    if isinstance(node, exp.EQ) and most != 1:
        raise Untranslatable("one place of a ranking other than the first", shown(node))
    if most < 1:
        raise Untranslatable("a ranking of no rows", shown(node))
    return _ranking(window, most, within)


def _ranking(window: Any, limit: int, scope: Scope) -> Ordering:
    if not window.args.get("order"):
        raise Untranslatable("a ranking without an order", shown(window))
    keys = tuple(order_key(one, scope) for one in window.args["order"].expressions)
    within = tuple(scope.value(part) for part in window.args.get("partition_by") or ())
    return Ordering(keys, limit, within, TIES[type(window.this)])


def order_key(node: Any, scope: Scope) -> tuple[Expression, bool]:
    """The keys of the order, each with True if it descends; missing values come last."""
    value = time_spans.span(node.this, scope) or scope.value(node.this)
    if any(isinstance(part, Correlation) for part in walk(value)):
        raise Untranslatable("an order by a correlation", "of values that are all alike it is no number")
    if node.args.get("nulls_first") and scope.nullable(value):
        raise Untranslatable("NULLS FIRST", shown(node))
    return value, bool(node.args.get("desc"))


READERS: Mapping[type[Any], Callable[[Any, Scope], Expression]] = {exp.Window: _window}
