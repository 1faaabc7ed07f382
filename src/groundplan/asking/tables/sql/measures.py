"""Aggregates: functions of the rows of a group, under conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.grouping import is_decided
from groundplan.asking.tables.sql.scope import Scope, peeled
from groundplan.asking.tables.sql.statement import named, shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.columns import Function, fits
from groundplan.contracts.expression import (
    Aggregate,
    All,
    AnyOf,
    Arithmetic,
    Cases,
    Column,
    Condition,
    Constant,
    Correlation,
    Expression,
    Filled,
    Holds,
    Not,
    Rows,
    level,
)
from groundplan.contracts.join_paths import name_of

FUNCTIONS: Mapping[type[Any], Function] = {
    exp.Sum: "sum",
    exp.Avg: "mean",
    exp.Min: "min",
    exp.Max: "max",
    exp.Median: "median",
    exp.Stddev: "std",
    exp.StddevSamp: "std",
    exp.Agg: "defined",
}


def both(first: Condition | None, second: Condition | None) -> Condition | None:
    if first is None or second is None:
        return first or second
    parts = [
        *(first.parts if isinstance(first, All) else (first,)),
        *(second.parts if isinstance(second, All) else (second,)),
    ]
    return All(parts=tuple(dict.fromkeys(parts))) if len(set(parts)) > 1 else parts[0]


def read_measure(node: Any, scope: Scope, where: Condition | None = None) -> Expression:
    """The aggregate, over the rows that meet the condition."""
    match node:
        case exp.IgnoreNulls():
            return read_measure(node.this, scope, where)
        case exp.Filter():
            return read_measure(node.this, scope, both(where, scope.condition(node.expression.this)))
        case exp.Count():
            return _count(node, scope, where)
        case exp.CountIf():
            return Rows(where=both(where, scope.condition(node.this)))
        case exp.PercentileCont() | exp.Quantile():
            return _percentile(node.this, node.expression or node.args.get("quantile"), scope, where, node)
        case exp.WithinGroup(this=exp.PercentileCont()):
            ordered = node.expression.expressions[0]
            if ordered.args.get("desc"):
                raise Untranslatable("a percentile of a descending order", shown(node))
            return _percentile(ordered.this, node.this.this, scope, where, node)
        case exp.Corr():
            return Correlation(left=_row(node.this, scope), right=_row(node.expression, scope), where=where)
    if isinstance(node, exp.AnyValue | exp.First | exp.Mode):
        return _any(node, scope, where)
    function = FUNCTIONS.get(type(node))
    if function is None:
        raise Untranslatable(named(node), shown(node))
    return _function(function, node.this, scope, where)


def _row(node: Any, scope: Scope) -> Expression:
    """A value of single rows."""
    value = scope.value(node)
    if level(value) != "row":
        raise Untranslatable("an aggregate of an aggregate", f"{shown(node)}; group in a subquery first")
    return value


def _count(node: Any, scope: Scope, where: Condition | None) -> Expression:
    of = node.this
    if of is None or isinstance(of, exp.Star | exp.Literal):
        return Rows(where=where)
    if isinstance(of, exp.Distinct):
        if len(of.expressions) != 1 or isinstance(of.expressions[0], exp.Tuple):
            raise Untranslatable("COUNT(DISTINCT …) of several columns", shown(node))
        return _function("count_distinct", of.expressions[0], scope, where)
    return _function("count", of, scope, where)


def _function(function: Function, of: Any, scope: Scope, where: Condition | None) -> Expression:
    if isinstance(of, exp.Distinct):
        if function not in ("min", "max") or len(of.expressions) != 1:
            raise Untranslatable(f"{function} of DISTINCT values", shown(of))
        of = of.expressions[0]
    inner, within = peeled(of, scope)
    while (
        isinstance(inner, exp.Cast | exp.TryCast)
        and isinstance(peeled(inner.this, within)[0], exp.Case | exp.If)
        and inner.to.this.value in ("DOUBLE", "FLOAT")
    ):
        inner, within = peeled(inner.this, within)
    if isinstance(inner, exp.Case | exp.If):
        chosen = _conditional(function, inner, within, where)
        if chosen is not None:
            return chosen
    value = _row(of, scope)
    if isinstance(value, Holds) or (isinstance(value, Cases) and isinstance(value.values[0], bool | int | float)):
        counted = _counted(function, value, where)
        if counted is not None:
            return counted
    if isinstance(value, Constant):
        return _of_constant(function, value, where, of)
    if not fits(function, scope.kind(value)) and scope.kind(value) != "other":
        raise Untranslatable(f"{function} of {scope.kind(value)} values", shown(of))
    return Aggregate(function=function, of=value, where=where)


def _of_constant(function: Function, value: Constant, where: Condition | None, node: Any) -> Expression:
    if function == "count":
        return Rows(where=where)
    if function == "sum" and isinstance(value.value, int | float) and not isinstance(value.value, bool):
        return Rows(where=where) if value.value == 1 else Arithmetic(operator="*", left=value, right=Rows(where=where))
    raise Untranslatable(f"{function} of a constant", shown(node))


def _constant(node: Any, value: float) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and float(node.name) == value


def _conditional(function: Function, node: Any, scope: Scope, where: Condition | None) -> Expression | None:
    """`SUM(CASE WHEN c THEN x END)` is the sum of x where c; so is `ELSE 0` in a sum."""
    branch = node if isinstance(node, exp.If) else node.args["ifs"][0]
    default = node.args.get("false" if isinstance(node, exp.If) else "default")
    if isinstance(node, exp.Case) and len(node.args["ifs"]) != 1:
        return None
    zero = function == "sum" and default is not None and _constant(default, 0)
    if default is not None and not isinstance(default, exp.Null) and not zero:
        return None
    plain = isinstance(node, exp.If) or node.this is None
    test = branch.this if plain else exp.EQ(this=node.this, expression=branch.this)
    made = _function(function, branch.args["true"], scope, both(where, scope.condition(test)))
    return Filled(of=made, otherwise=Constant(value=0)) if zero and isinstance(made, Aggregate) else made


def _counted(function: Function, value: Holds | Cases, where: Condition | None) -> Expression | None:
    """Flags are counted: a sum of 1 and 0, or their average as a rate."""
    if isinstance(value, Holds):
        yes, whole = value.condition, where
    else:
        match value:
            case Cases(conditions=(condition,), values=(1,), otherwise=0):
                yes, whole = condition, where
            case Cases(conditions=(condition, Not(part=other)), values=(1, 0), otherwise=None) if condition == other:
                yes, whole = condition, both(where, AnyOf(parts=(condition, Not(part=condition))))
            case Cases(conditions=(condition,), values=(int() | float() as size,), otherwise=0) if (
                function == "mean" and not isinstance(size, bool)
            ):
                rate = Arithmetic(operator="/", left=Rows(where=both(where, condition)), right=Rows(where=where))
                return Arithmetic(operator="*", left=Constant(value=size), right=rate)
            case _:
                return None
    if function == "sum":  # where the flag may be missing, a sum of none is missing too
        return Rows(where=both(where, yes)) if whole is where else None
    if function == "mean":
        return Arithmetic(operator="/", left=Rows(where=both(where, yes)), right=Rows(where=whole))
    return None


def _any(node: Any, scope: Scope, where: Condition | None) -> Expression:
    """Any value of a group is its highest where the group has only one."""
    value = _row(node.this, scope)
    if where is None and scope.kind(value) in ("number", "text", "time") and _has_one(value, scope):
        return Aggregate(function="max", of=value)
    raise Untranslatable(named(node), f"{shown(node)}: a group may have several; use MIN or MAX, or group by it")


def _has_one(value: Expression, scope: Scope) -> bool:
    """Whether the rows of a group all point at one row that has the value, or the groups decide it otherwise."""
    if is_decided(value, scope.groups or ()):
        return True
    if not isinstance(value, Column):
        return False
    column = scope.described(value)
    if column is None:
        return False
    groups = [one for one in scope.groups or () if isinstance(one, Column)]
    beside = {one.name for one in groups if (one.table, one.via) == (value.table, value.via)}
    if column.same_for_each in beside:
        return True
    own = {one.name for one in groups if one.table is None}
    links = [link for link in scope.session.links if value.via is not None and name_of((link,)) == value.via]
    table = scope.session.schema.find(value.table) if value.table else scope.root
    keyed = table is not None and any({*key} <= beside for key in table.keys)
    return keyed or any({*link.columns} <= own for link in links)


def _percentile(of: Any, share: Any, scope: Scope, where: Condition | None, node: Any) -> Expression:
    if not isinstance(share, exp.Literal) or share.is_string or not 0 < float(share.name) < 1:
        raise Untranslatable("a percentile that is no constant between 0 and 1", shown(node))
    value, percent = _row(of, scope), round(float(share.name) * 100, 9)
    if scope.kind(value) != "number":
        raise Untranslatable(f"a percentile of {scope.kind(value)} values", shown(node))
    if percent == 50:
        return Aggregate(function="median", of=value, where=where)
    return Aggregate(function="percentile", of=value, percent=percent, where=where)


def is_measure(node: Any) -> bool:
    """Whether the SQL aggregates, outside windows and subqueries."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, exp.Window):
            waiting.extend(
                part
                for part in (*one.this.iter_expressions(), *one.args.get("partition_by", ()), one.args.get("order"))
                if part
            )
        elif type(one) in READERS or isinstance(one, exp.LogicalOr | exp.LogicalAnd):
            return True
        elif not isinstance(one, exp.Query | exp.Subquery):
            waiting.extend(one.iter_expressions())
    return False


def _read(node: Any, scope: Scope) -> Expression:
    return read_measure(node, scope)


OTHERS = (exp.PercentileCont, exp.Quantile, exp.WithinGroup, exp.Corr, exp.Filter, exp.AnyValue, exp.First, exp.Mode)
READERS: Mapping[type[Any], Callable[[Any, Scope], Expression]] = dict.fromkeys(
    (*FUNCTIONS, *OTHERS, exp.Count, exp.CountIf), _read
)
