"""A grouped subquery that is aggregated again: one row for each thing, with measures of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from groundplan.asking.tables.sql.derived import value_of
from groundplan.asking.tables.sql.grouping import is_decided, of_groups
from groundplan.asking.tables.sql.names import free_name
from groundplan.asking.tables.sql.query import Query, Things, same
from groundplan.asking.tables.sql.scope import Fact, Output, Scope
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.asking.tables.steps.names import called
from groundplan.contracts.expression import (
    Aggregate,
    Arithmetic,
    Cases,
    Column,
    Condition,
    Correlation,
    Expression,
    Holds,
    Missing,
    Node,
    Not,
    Rows,
    level,
)
from groundplan.contracts.normal_form import CONDITIONS, both, mapped_here
from groundplan.contracts.schema import Table

N = TypeVar("N", bound=Node)


def as_things(query: Query) -> Query:
    """Groups as rows of their own: keys, and measures under names that other requirements use as columns."""
    _refuse_levels(query)
    groups = query.groups
    if groups is None:
        groups = tuple((output.name, value_of(output)) for output in query.outputs)
    own: dict[str, Fact] = {}
    keys = _keys(groups, query.scope, own)
    measures: dict[str, Expression] = {}
    outputs = [Output(one.name, expression=_output(one, keys, measures, own, query.scope)) for one in query.outputs]
    by = [value for _, value in groups]
    measures = {name: of_groups(value, by, query.scope, name) for name, value in measures.items()}
    where = tuple(_of_things(condition, measures, own, query.scope) for condition in query.having)
    scope = Scope(query.scope.session, query.scope.root, {}, own=own)
    where = tuple(_by_key(condition, keys) for condition in where)
    computed = {name: value for name, value in keys.items() if name in own}
    things = Things(tuple(keys), measures, where, computed)
    return Query(scope, tuple(outputs), where=query.where, things=things)


def _refuse_levels(query: Query) -> None:
    """A query whose groups cannot be rows of their own."""
    if query.things is not None:
        raise Untranslatable("aggregates of aggregates of aggregates", "use two levels")
    if query.series:
        raise Untranslatable("an aggregate over a window")
    if query.is_cut:
        raise Untranslatable("an aggregate over a LIMIT")


def _keys(groups: Sequence[tuple[str, Expression]], scope: Scope, own: dict[str, Fact]) -> dict[str, Expression]:
    """The groups by name: a column of the root keeps its own, others get a free one and are added to `own`."""
    keys: dict[str, Expression] = {}
    for name, value in groups:
        if isinstance(value, Column) and value.table is None:
            keys[value.name] = value
            continue
        name = free_name(name, [*_names(scope.root), *keys])
        keys[name], own[name] = value, scope.fact(value)
    if not keys:
        raise Untranslatable("an aggregate of one row")
    return keys


def _output(
    output: Output,
    keys: Mapping[str, Expression],
    measures: dict[str, Expression],
    own: dict[str, Fact],
    scope: Scope,
) -> Expression:
    """The output over the columns of things; a measure that has no name yet gets one."""
    value = value_of(output)
    if level(value) == "row":
        if not is_decided(value, [*keys.values()]):
            raise Untranslatable("a column that is no group", output.name)
        return _by_key(value, keys)
    if isinstance(value, Holds | Cases):  # a condition on measures of the thing, each of which has a name
        return _by_key(_of_things(value, measures, own, scope), keys)
    name = next((name for name, one in measures.items() if same(one, value)), None)
    if name is None:
        name = free_name(output.name, [*_names(scope.root), *keys, *measures])
        measures[name], own[name] = value, scope.fact(value)
    return Column(name=name)


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


def over_groups(value: Expression, query: Query) -> Expression:
    """A sum of the groups' sums is that of all rows; an average of their counts is all rows by the number of groups."""
    things = query.things
    match value:
        case Aggregate(function="sum" | "mean" as function, of=Column(name=name, table=None), where=None) if (
            things is not None and not things.where and name in things.measures
        ):
            measure = things.measures[name]
            adds_up = isinstance(measure, Rows) or (
                isinstance(measure, Aggregate) and measure.function in ("count", "sum")
            )
            if adds_up and function == "sum":
                return measure
            keys = [things.computed.get(key, Column(name=key)) for key in things.keys]
            if adds_up and len(keys) == 1:
                return Arithmetic(operator="/", left=measure, right=_groups_with(measure, keys[0], query))
    raise Untranslatable("a subquery as a value", "it has to be one aggregate of a table's rows")


def _groups_with(measure: Expression, key: Expression, query: Query) -> Expression:
    """The number of groups in which the measure has a value; rows without a key are a group as well."""
    where: Condition | None = None
    if isinstance(measure, Aggregate) and measure.function == "sum":
        lacks = [Not(part=Missing(of=measure.of))] if query.scope.nullable(measure.of) else []
        where = both(*([measure.where] if measure.where else []), *lacks)
    number = Aggregate(function="count_distinct", of=key, where=where)
    if not query.scope.nullable(key) or Not(part=Missing(of=key)) in query.where:
        return number
    one_more = Cases(conditions=(Missing(of=key),), values=(1,), otherwise=0)
    return Arithmetic(operator="+", left=number, right=Aggregate(function="max", of=one_more, where=where))
