"""Subqueries that choose groups or rows: those whose measures meet HAVING, and the first of an order."""

from __future__ import annotations

from typing import Any

from groundplan.asking.tables.sql.grouping import of_group, of_groups
from groundplan.asking.tables.sql.query import Query, same
from groundplan.asking.tables.sql.scope import Scope
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    Aggregate,
    Column,
    Constant,
    Expression,
    FoundGroup,
    Sort,
    columns_of,
    level,
    misplaced,
)
from groundplan.contracts.normal_form import both, settled_ties

Keys = tuple[Expression, ...]


def takes_groups(inner: Query) -> bool:
    """Whether it keeps some groups by their measures, or the first groups or rows of an order."""
    return inner.is_cut or (inner.groups is not None and bool(inner.having))


def found_group(inner: Query, wanted: Expression, value: Expression, scope: Scope, node: Any) -> FoundGroup:
    """That the value is among the keys of those groups; raises Untranslatable."""
    refuse_unlike(inner.scope, wanted, value, scope, node)
    ordering = inner.ordering if inner.is_cut else None
    if inner.things is not None or (ordering is not None and ordering.within):
        raise Untranslatable("this subquery in a condition", f"{shown(node)}; use the groups of one table's rows")
    keys = _keys(inner, wanted, node)
    having = [of_groups(one, keys, inner.scope, "HAVING") for one in inner.having]
    made = FoundGroup(
        of=value,
        table=inner.scope.root.name,
        keys=keys,
        where=both(*inner.where),
        having=both(*having),
        order=tuple(_sort(by, down, inner, keys) for by, down in ordering.keys) if ordering else (),
        limit=ordering.limit if ordering else None,
        ties=settled_ties(ordering.limit, ordering.ties) if ordering else "cut",
    )
    why = misplaced(made)
    if why is not None:
        raise Untranslatable("this subquery in a condition", f"{shown(node)}: {why}")
    return made


def refuse_unlike(inner: Scope, wanted: Expression, value: Expression, scope: Scope, node: Any) -> None:
    """A value of each row is looked for among values of its own type."""
    if level(value) != "row" or isinstance(value, Constant) or columns_of(value) & {*scope.own}:
        raise Untranslatable("a subquery that no column of a row links", shown(node))
    clocks = inner.has_clock(wanted), scope.has_clock(value)
    if inner.kind(wanted) != scope.kind(value) or clocks[0] != clocks[1]:
        raise Untranslatable("a subquery linked by values of another type", shown(node))


def _keys(inner: Query, wanted: Expression, node: Any) -> Keys:
    """What makes the groups, the key that is shown first; rows that are cut are groups by the key of their table."""
    if inner.distinct or (inner.groups is None and not inner.is_cut):
        return (wanted,)
    if inner.groups is None:
        root = inner.scope.root
        own = next((key for key in root.keys if not any(_may_lack(inner.scope, name) for name in key)), None)
        if own is None:
            raise Untranslatable("a LIMIT in a subquery over rows without a key", shown(node))
        return (wanted, *(Column(name=name) for name in own if Column(name=name) != wanted))
    groups = [value for _, value in inner.groups]
    if not any(same(wanted, group) for group in groups):
        raise Untranslatable("a column that is no group in a subquery", shown(node))
    return (wanted, *(group for group in groups if not same(wanted, group)))


def _may_lack(scope: Scope, name: str) -> bool:
    return scope.nullable(Column(name=name))


def _sort(by: Expression, descends: bool, inner: Query, keys: Keys) -> Sort:
    """By a key, by a measure, or by what all rows of a group have."""
    key = next((key for key in keys if same(key, by)), None)
    if (
        key is None
        and inner.groups is None
        and not inner.distinct
        and inner.scope.kind(by) in ("number", "text", "time")
    ):
        key = Aggregate(function="min", of=by)  # of one row
    if key is None and level(by) == "row":
        key = of_group(by, keys, inner.scope, "ORDER BY")
    made = key if key is not None else of_groups(by, keys, inner.scope, "ORDER BY")
    return Sort(by=made, direction="top" if descends else "bottom")
