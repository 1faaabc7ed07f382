"""Subqueries as values that speak of the row around them: `(SELECT COUNT(*) FROM orders WHERE client_id = c.id)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlglot import exp

from groundplan.asking.tables.sql.derived import Seen, under, under_all, value_of
from groundplan.asking.tables.sql.links import whole_link
from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.outside import sources, tied
from groundplan.asking.tables.sql.query import Query
from groundplan.asking.tables.sql.scope import Output, Scope
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    ALIKE,
    Aggregate,
    Alike,
    Column,
    Compare,
    Condition,
    Constant,
    Correlation,
    Expression,
    Missing,
    Node,
    Not,
    Related,
    Rows,
    is_count,
    level,
    walk,
)
from groundplan.contracts.join_paths import SEPARATOR, name_of
from groundplan.contracts.normal_form import CONDITIONS, mapped

N = TypeVar("N", bound=Node)


@dataclass(frozen=True)
class _Pair:
    """Two columns that are equal, of the subquery and around it; `null_safe`: also where both are missing."""

    own: Column
    other: Column
    null_safe: bool


def around(node: Any, scope: Scope) -> Expression | None:
    """The measure of the rows that belong to each row around the subquery; None if it names nothing from outside."""
    select = node.unnest()
    if not is_tied(node):
        return None
    asked, outer = tied(select)
    query = scope.session.query(asked, scope.session, scope.ctes)
    if query.groups != () or query.having or query.series or query.things or len(query.outputs) != 1:
        raise Untranslatable("a subquery as a value", f"{shown(node)}; it has to be one aggregate of a table's rows")
    equal = [_equal(part, sources(select), query, scope) for part in outer]
    return _of_each(value_of(query.outputs[0]), query, equal, scope)


def is_tied(node: Any) -> bool:
    """Whether the subquery names something from outside."""
    select = node.unnest()
    return isinstance(select, exp.Select) and bool(tied(select)[1])


def _equal(part: Any, inside: set[str], query: Query, scope: Scope) -> _Pair:
    """A column of the subquery's rows, and the one of the row around it that it equals."""
    sides = [part.this, part.expression] if isinstance(part, exp.EQ | exp.NullSafeEQ) else []
    if not sides or not all(isinstance(side, exp.Column) for side in sides):
        raise Untranslatable("a subquery that is tied to its row by more than equal columns", shown(part))
    there, here = sides if not sides[0].table or normal(sides[0].table) in inside else reversed(sides)
    own, other = query.scope.value(there), scope.value(here)
    if not isinstance(own, Column) or not isinstance(other, Column):
        raise Untranslatable("a subquery that is tied to its row by a computed value", shown(part))
    return _Pair(own, other, isinstance(part, exp.NullSafeEQ))


def beside_alike(query: Query, by: tuple[Column, ...], optional: bool) -> Seen:
    """`JOIN (SELECT k, MIN(x) FROM t GROUP BY k) f ON f.k = t.k`: measures of the rows of t that are alike."""
    if {value for _, value in query.groups or ()} != {*by}:
        raise Untranslatable("a join with a subquery that has more groups than the join", ", ".join(c.name for c in by))
    if optional and query.having:
        raise Untranslatable("a LEFT JOIN with a subquery that has HAVING")
    known: list[Condition] = [Not(part=Missing(of=one)) for one in by if query.scope.nullable(one)]

    def seen(node: N) -> N:
        return _measured(under_all(under(node, query), known), lambda part: alike(part, by))

    outputs = {}
    for output in query.outputs:
        value = value_of(output)
        if optional and (level(value) == "row" or any(map(is_count, walk(value)))):  # type: ignore[arg-type]
            continue  # missing where there is no such row
        made = value if level(value) == "row" else seen(value)
        outputs[normal(output.name)] = Output(output.name, expression=made)
    if optional:
        return Seen(outputs, [])
    some: Condition = Compare(left=Rows(), operator=">", right=Constant(value=0))
    return Seen(outputs, [*known, *([seen(some)] if query.where else []), *map(seen, query.having)])


def _of_each(value: Expression, query: Query, equal: list[_Pair], scope: Scope) -> Expression:
    if query.scope.root == scope.root and all(pair.own == pair.other for pair in equal):
        return _of_alike(value, query, equal, scope)
    via, table = _path(query, equal, scope), query.scope.root.name
    return _measured(under(value, query), lambda part: Related(table=table, of=part, via=via))


def _of_alike(value: Expression, query: Query, equal: list[_Pair], scope: Scope) -> Expression:
    """Over the rows of the same table that share the values; a missing one equals none."""
    by = tuple(pair.own for pair in equal)
    known = [Not(part=Missing(of=one.own)) for one in equal if not one.null_safe and scope.nullable(one.own)]
    return _measured(under_all(under(value, query), known), lambda part: alike(part, by))


def alike(of: Rows | Aggregate | Correlation, by: tuple[Expression, ...]) -> Alike:
    """The measure of all rows that have the same values as this one; raises Untranslatable."""
    if isinstance(of, Correlation) or (isinstance(of, Aggregate) and of.function not in ALIKE):
        raise Untranslatable(f"{getattr(of, 'function', of.kind)} of the rows that share a value")
    return Alike(of=of, by=by)


def _measured(value: N, made: Callable[[Rows | Aggregate | Correlation], Expression]) -> N:
    """With what is made of each measure in its place."""

    def change(part: Node) -> Node:
        if isinstance(part, Rows | Aggregate | Correlation):
            return made(part)
        if not isinstance(part, (Constant, *CONDITIONS)) and level(part) == "row":
            raise Untranslatable("a value of single rows beside a measure in a subquery")
        return mapped(part, change)

    return change(value)  # type: ignore[return-value]


def _path(query: Query, equal: list[_Pair], scope: Scope) -> str:
    """How the subquery's rows point at the rows around it."""
    begins = {(pair.own.table or query.scope.root.name, pair.own.via) for pair in equal}
    others = any(pair.other.table is not None or pair.null_safe for pair in equal)
    if len(begins) != 1 or scope.own or others:
        raise Untranslatable("a subquery about another row than the one that the query is about")
    ((table, via),) = begins
    ends = {pair.own.name: pair.other.name for pair in equal}
    link = whole_link(scope.session, table, scope.root, ends.items())
    if link is None:
        raise Untranslatable("a subquery that is tied to its row by no key", f"{scope.root.name}: {', '.join(ends)}")
    return SEPARATOR.join(filter(None, (via, name_of((link,)))))
