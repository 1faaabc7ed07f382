"""Subqueries as values that speak of the row around them: `(SELECT COUNT(*) FROM orders WHERE client_id = c.id)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.derived import under, under_all, value_of
from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.query import Query
from groundplan.asking.tables.sql.scope import Scope, conjuncts
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    ALIKE,
    Aggregate,
    Alike,
    Column,
    Constant,
    Correlation,
    Expression,
    Missing,
    Node,
    Not,
    Related,
    Rows,
    level,
)
from groundplan.contracts.join_paths import SEPARATOR, name_of
from groundplan.contracts.normal_form import mapped
from groundplan.contracts.relationship import Relationship


@dataclass(frozen=True)
class _Pair:
    """Two columns that are equal, of the subquery and around it; `null_safe`: also where both are missing."""

    own: Column
    other: Column
    null_safe: bool


def around(node: Any, scope: Scope) -> Expression | None:
    """The measure of the rows that belong to each row around the subquery; None if it names nothing from outside."""
    select = node.unnest()
    own, outer = _conditions(select)
    if not outer:
        return None
    inside = _sources(select)
    asked = select.copy()
    asked.set("where", exp.Where(this=exp.and_(*own, copy=True)) if own else None)
    query = scope.session.query(asked, scope.session, scope.ctes)
    if query.groups != () or query.having or query.series or query.things or len(query.outputs) != 1:
        raise Untranslatable("a subquery as a value", f"{shown(node)}; it has to be one aggregate of a table's rows")
    equal = [_equal(part, inside, query, scope) for part in outer]
    return _of_each(value_of(query.outputs[0]), query, equal, scope)


def is_tied(node: Any) -> bool:
    """Whether the subquery names something from outside."""
    return bool(_conditions(node.unnest())[1])


def _sources(select: Any) -> set[str]:
    return {normal(one.alias or one.name) for one in select.find_all(exp.Table, exp.Subquery)}


def _conditions(select: Any) -> tuple[list[Any], list[Any]]:
    """Those of its own rows, and those that name something from outside."""
    own: list[Any] = []
    outer: list[Any] = []
    if not isinstance(select, exp.Select) or not select.args.get("from_") or not select.args.get("where"):
        return own, outer
    inside = _sources(select)
    for part in conjuncts(select.args["where"].this):
        named = {normal(column.table) for column in part.find_all(exp.Column) if column.table}
        (outer if named - inside else own).append(part)
    return own, outer


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


def _of_each(value: Expression, query: Query, equal: list[_Pair], scope: Scope) -> Expression:
    if query.scope.root == scope.root and all(pair.own == pair.other for pair in equal):
        return _of_alike(value, query, equal, scope)
    via = _path(query, equal, scope)
    table = query.scope.root.name

    def change(part: Node) -> Node:
        if isinstance(part, Rows | Aggregate | Correlation):
            return Related(table=table, of=part, via=via)
        if not isinstance(part, Constant) and level(part) == "row":
            raise Untranslatable("a value of single rows beside a measure in a subquery")
        return mapped(part, change)

    return change(under(value, query))  # type: ignore[return-value]


def _of_alike(value: Expression, query: Query, equal: list[_Pair], scope: Scope) -> Expression:
    """Over the rows of the same table that share the values; a missing one equals none."""
    by = tuple(pair.own for pair in equal)
    known = [Not(part=Missing(of=one.own)) for one in equal if not one.null_safe and scope.nullable(one.own)]

    def change(part: Node) -> Node:
        if isinstance(part, Rows | Aggregate):
            if isinstance(part, Aggregate) and part.function not in ALIKE:
                raise Untranslatable(f"{part.function} of the rows that share a value")
            return Alike(of=part, by=by)
        if not isinstance(part, Constant) and level(part) == "row":
            raise Untranslatable("a value of single rows beside a measure in a subquery")
        return mapped(part, change)

    return change(under_all(under(value, query), known))  # type: ignore[return-value]


def _path(query: Query, equal: list[_Pair], scope: Scope) -> str:
    """How the subquery's rows point at the rows around it."""
    begins = {(pair.own.table or query.scope.root.name, pair.own.via) for pair in equal}
    others = any(pair.other.table is not None or pair.null_safe for pair in equal)
    if len(begins) != 1 or scope.own or others:
        raise Untranslatable("a subquery about another row than the one that the query is about")
    ((table, via),) = begins
    ends = {pair.own.name: pair.other.name for pair in equal}
    for link in scope.session.links:
        if (link.table, link.to_table) == (table, scope.root.name) and ends == dict(
            zip(link.columns, link.to_columns, strict=True)
        ):
            break
    else:
        if not any({*key} == {*ends.values()} for key in scope.root.keys):
            raise Untranslatable(
                "a subquery that is tied to its row by no key", f"{scope.root.name}: {', '.join(ends)}"
            )
        columns, to_columns = tuple(ends), tuple(ends.values())
        link = Relationship(table=table, columns=columns, to_table=scope.root.name, to_columns=to_columns)
    link = scope.session.adopt(link)
    return SEPARATOR.join(filter(None, (via, name_of((link,)))))
