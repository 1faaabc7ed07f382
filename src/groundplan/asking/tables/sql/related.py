"""Measures over the many side of a LEFT JOIN: what points at each row of the root."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from groundplan.asking.tables.sql.conditions import all_of
from groundplan.asking.tables.sql.joins import Many, is_many
from groundplan.asking.tables.sql.scope import MANY, Scope
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.columns import DUPLICATE_PROOF
from groundplan.contracts.expression import (
    Aggregate,
    Arithmetic,
    Column,
    Compare,
    Condition,
    Constant,
    Correlation,
    Expression,
    Missing,
    Node,
    Related,
    Rows,
    walk,
)
from groundplan.contracts.join_paths import SEPARATOR, name_of
from groundplan.contracts.normal_form import mapped_here

N = TypeVar("N", bound=Node)


def many_in(node: Node) -> set[str]:
    """The aliases of many sides whose columns it uses."""
    return {alias for part in walk(node) if isinstance(part, Column) and (alias := is_many(part))}


def without_partner(condition: Condition, many: Mapping[str, Many], scope: Scope) -> Condition | None:
    """`WHERE other.key IS NULL` after a LEFT JOIN: rows that nothing points at."""
    if not isinstance(condition, Missing) or not isinstance(condition.of, Column):
        return None
    alias = is_many(condition.of)
    column = many[alias].table.find(condition.of.name) if alias else None
    if any(side.above for side in many.values()):
        return None
    if alias is None or column is None or column.nulls != 0 or condition.of.via != f"{MANY}{alias}":
        return None
    count = Related(table=many[alias].table.name, of=Rows(where=_on(alias, many, scope)), via=name_of(many[alias].path))
    return Compare(left=count, operator="=", right=Constant(value=0))


def _on(alias: str, many: Mapping[str, Many], scope: Scope) -> Condition | None:
    conditions = [scope.condition(part) for part in many[alias].on]
    if any(many_in(condition) != {alias} for condition in conditions):
        raise Untranslatable("a condition between two tables in the ON of a LEFT JOIN")
    return all_of([_own(condition, alias) for condition in conditions])


def _own(node: N, alias: str) -> N:
    """As seen from the rows of the many side."""
    if isinstance(node, Column):
        begin = f"{MANY}{alias}"
        if node.via == begin:
            return Column(name=node.name)  # type: ignore[return-value]
        if (node.via or "").startswith(begin + SEPARATOR):
            return node.model_copy(update={"via": (node.via or "")[len(begin + SEPARATOR) :]})
        raise Untranslatable("one value of both sides of a LEFT JOIN")
    return mapped_here(node, lambda part: _own(part, alias))


def related(node: N, many: Mapping[str, Many], scope: Scope, by_key: bool) -> N:
    """Aggregates over the joined rows as measures of each root row; summed up if groups hold several of these."""

    def change(part: Node) -> Node:
        if isinstance(part, Rows | Aggregate | Correlation):
            return _measure(part, many, scope, by_key)
        if isinstance(part, Column) and is_many(part):
            raise Untranslatable("a column of the many side of a LEFT JOIN outside an aggregate", part.name)
        return mapped_here(part, change)

    return change(node)  # type: ignore[return-value]


def _measure(node: Rows | Aggregate | Correlation, many: Mapping[str, Many], scope: Scope, by_key: bool) -> Expression:
    aliases = many_in(node)
    if not aliases:
        return _of_root(node, many, by_key)
    if len(aliases) > 1 or isinstance(node, Correlation):
        raise Untranslatable("one aggregate over two joined tables")
    (alias,) = aliases
    if isinstance(node, Rows):
        raise Untranslatable("COUNT(*) over a LEFT JOIN", "count a column of the joined table")
    above = many[alias].above
    if any(many[one].on for one in above):
        raise Untranslatable("a condition in the ON of a LEFT JOIN before another")
    if {*many} - {alias, *above} and node.function not in DUPLICATE_PROOF:
        raise Untranslatable("sums over two LEFT JOINs at once", "each repeats the rows of the other")
    inner = _own(node, alias)
    where = all_of([one for one in (inner.where, _on(alias, many, scope)) if one is not None])
    inner = inner.model_copy(update={"where": where})
    table = many[alias].table
    plain = isinstance(inner.of, Column) and inner.of.table is None
    column = table.find(inner.of.name) if plain and isinstance(inner.of, Column) else None
    known = column is not None and column.nulls == 0
    measure: Rows | Aggregate = inner
    if inner.function == "count" and known:
        measure = Rows(where=where)
    elif inner.function == "count_distinct" and column is not None and (column.name,) in table.keys:
        measure = Rows(where=where) if known else inner
    made = Related(table=table.name, of=measure, via=name_of(many[alias].path))
    if by_key:
        return made
    match inner.function:
        case "sum" | "count":
            return Aggregate(function="sum", of=made)
        case "min" | "max":
            return Aggregate(function=inner.function, of=made)
        case "count_distinct" if isinstance(measure, Rows):
            return Aggregate(function="sum", of=made)
        case "mean":
            whole = Related(table=table.name, of=Aggregate(function="sum", of=inner.of, where=where), via=made.via)
            count = Related(table=table.name, of=Aggregate(function="count", of=inner.of, where=where), via=made.via)
            return Arithmetic(
                operator="/", left=Aggregate(function="sum", of=whole), right=Aggregate(function="sum", of=count)
            )
    raise Untranslatable(f"{inner.function} over a LEFT JOIN, grouped by no key", table.name)


def _of_root(node: Rows | Aggregate | Correlation, many: Mapping[str, Many], by_key: bool) -> Expression:
    """A measure of the root's own rows, which the join repeats."""
    if not isinstance(node, Aggregate) or node.function not in DUPLICATE_PROOF:
        raise Untranslatable(
            "an aggregate of rows that a LEFT JOIN repeats", "count or add up a column of the joined table"
        )
    if not by_key:
        return node
    if node.function in ("min", "max") and node.where is None:
        return node.of
    raise Untranslatable("an aggregate of rows that a LEFT JOIN repeats")
