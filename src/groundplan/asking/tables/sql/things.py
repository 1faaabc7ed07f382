"""A grouped subquery that is aggregated again: one row for each thing, with measures of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from groundplan.asking.tables.plan_query import called
from groundplan.asking.tables.sql.derived import value_of
from groundplan.asking.tables.sql.grouping import is_decided, of_groups
from groundplan.asking.tables.sql.names import free_name
from groundplan.asking.tables.sql.query import Query, Things, same
from groundplan.asking.tables.sql.scope import Fact, Output, Scope
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    Aggregate,
    Cases,
    Column,
    Correlation,
    Expression,
    Holds,
    Node,
    Rows,
    level,
)
from groundplan.contracts.normal_form import CONDITIONS, mapped_here
from groundplan.contracts.schema import Table

N = TypeVar("N", bound=Node)


def as_things(query: Query) -> Query:
    """Groups as rows of their own: keys, and measures under names that other requirements use as columns."""
    if query.things is not None:
        raise Untranslatable("aggregates of aggregates of aggregates", "use two levels")
    if query.series:
        raise Untranslatable("an aggregate over a window")
    if query.is_cut:
        raise Untranslatable("an aggregate over a LIMIT")
    groups = query.groups
    if groups is None:
        groups = tuple((output.name, value_of(output)) for output in query.outputs)
    root = query.scope.root
    own: dict[str, Fact] = {}
    keys: dict[str, Expression] = {}
    for name, value in groups:
        plain = isinstance(value, Column) and value.table is None
        name = value.name if plain and isinstance(value, Column) else free_name(name, [*_names(root), *keys])
        keys[name] = value
        if not plain:
            own[name] = query.scope.fact(value)
    if not keys:
        raise Untranslatable("an aggregate of one row")
    measures: dict[str, Expression] = {}
    outputs: list[Output] = []
    for output in query.outputs:
        value = value_of(output)
        if level(value) == "row":
            if not is_decided(value, [*keys.values()]):
                raise Untranslatable("a column that is no group", output.name)
            outputs.append(Output(output.name, expression=_by_key(value, keys)))
            continue
        if isinstance(value, Holds | Cases):  # a condition on measures of the thing, each of which has a name
            over = _by_key(_of_things(value, measures, own, query.scope), keys)
            outputs.append(Output(output.name, expression=over))
            continue
        known = next((name for name, one in measures.items() if same(one, value)), None)
        name = known or ""
        if known is None:
            name = free_name(output.name, [*_names(root), *keys, *measures])
            measures[name] = value
            own[name] = query.scope.fact(value)
        outputs.append(Output(output.name, expression=Column(name=name)))
    by = [value for _, value in groups]
    measures = {name: of_groups(value, by, query.scope, name) for name, value in measures.items()}
    where = tuple(_of_things(condition, measures, own, query.scope) for condition in query.having)
    scope = Scope(query.scope.session, root, {}, own=own)
    where = tuple(_by_key(condition, keys) for condition in where)
    computed = {name: value for name, value in keys.items() if name in own}
    things = Things(tuple(keys), measures, where, computed)
    return Query(scope, tuple(outputs), where=query.where, things=things)


def _names(root: Table) -> list[str]:
    return [column.name for column in root.columns]


def _by_key(node: N, keys: Mapping[str, Expression]) -> N:
    """The same over the columns of keys."""
    if not isinstance(node, CONDITIONS):
        name = next((name for name, value in keys.items() if same(node, value)), None)
        if name is not None:
            return Column(name=name)  # type: ignore[return-value]
    return mapped_here(node, lambda part: _by_key(part, keys))


def _of_things(node: N, measures: dict[str, Expression], own: dict[str, Fact], scope: Scope) -> N:
    """The same over the columns of measures."""

    def change(part: Node) -> Node:
        if isinstance(part, Rows | Aggregate | Correlation):
            name = next((name for name, one in measures.items() if same(one, part)), None)
            if name is None:
                name = free_name(called(part), [*_names(scope.root), *measures])
                measures[name] = part
                own[name] = scope.fact(part)
            return Column(name=name)
        return mapped_here(part, change)

    return change(node)  # type: ignore[return-value]
