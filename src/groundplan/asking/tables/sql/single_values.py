"""Subqueries that give one value of one row: the first of an order, or the row of a key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql import semi_joins
from groundplan.asking.tables.sql.correlated import is_tied
from groundplan.asking.tables.sql.derived import value_of
from groundplan.asking.tables.sql.query import Query, same
from groundplan.asking.tables.sql.scope import Output, Scope, peeled
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.columns import Function
from groundplan.contracts.expression import Aggregate, Column, Compare, Condition, Constant, Expression, level

ORDERED = ("number", "text", "time")


def as_aggregate(query: Query) -> Query:
    """`(SELECT x FROM t ORDER BY x DESC LIMIT 1)` is the highest, and the value of the row of a key is the lowest."""
    if query.groups is not None or query.things is not None or query.series or len(query.outputs) != 1:
        return query
    (output,) = query.outputs
    value = value_of(output)
    function = _function(query, value)
    if function is None or level(value) != "row" or query.scope.kind(value) not in ORDERED:
        return query
    made = Output(output.name, expression=Aggregate(function=function, of=value))
    return replace(query, outputs=(made,), groups=(), ordering=None, distinct=False)


def _function(query: Query, value: Expression) -> Function | None:
    ordering = query.ordering
    if ordering is not None and ordering.limit is not None:
        by, descends = ordering.keys[0]
        first = ordering.limit == 1 and not ordering.within and same(by, value)
        return ("max" if descends else "min") if first else None
    pinned = {
        one.left.name
        for one in query.where
        if isinstance(one, Compare)
        and one.operator == "="
        and isinstance(one.left, Column)
        and one.left.table is None
        and isinstance(one.right, Constant)
    }
    return "min" if any({*key} <= pinned for key in query.scope.root.keys) else None


def equal_to_first(left: Any, right: Any, scope: Scope) -> Condition | None:
    """`x = (SELECT k … ORDER BY m LIMIT 1)`: that it is among those of the first place; None if it is another value."""
    for side, other in ((left, right), (right, left)):
        inner, within = peeled(side, scope)
        if not isinstance(inner, exp.Subquery) or not isinstance(inner.this, exp.Select) or is_tied(inner):
            continue
        query = within.session.query(inner, within.session, within.ctes)
        if not query.is_cut or as_aggregate(query) is not query:
            continue
        if query.ordering is None or query.ordering.limit != 1 or len(query.outputs) != 1:
            raise Untranslatable("a subquery of several rows as a value", shown(inner))
        if not semi_joins.is_plain(left.parent):
            raise Untranslatable("the first of an order where its lack decides", f"{shown(inner)}; use NOT IN")
        return semi_joins.among(query, value_of(query.outputs[0]), scope.value(other), scope, left.parent)
    return None
