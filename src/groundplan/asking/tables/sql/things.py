"""A grouped subquery that is aggregated again: one row for each thing, with measures of its own."""

from __future__ import annotations

from groundplan.asking.tables.sql.derived import value_of
from groundplan.asking.tables.sql.grouping import of_groups
from groundplan.asking.tables.sql.names import free_name
from groundplan.asking.tables.sql.query import Query, Things, same
from groundplan.asking.tables.sql.scope import Fact, Output, Scope
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    Aggregate,
    Column,
    Condition,
    Correlation,
    Expression,
    Node,
    Rows,
    level,
    walk,
)
from groundplan.contracts.normal_form import mapped


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
    keys: list[str] = []
    for name, value in groups:
        if not isinstance(value, Column) or value.table is not None:
            raise Untranslatable("a subquery grouped by a computed column, then aggregated", name)
        keys.append(value.name)
    if not keys:
        raise Untranslatable("an aggregate of one row")
    root = query.scope.root
    measures: dict[str, Expression] = {}
    own: dict[str, Fact] = {}
    outputs: list[Output] = []
    for output in query.outputs:
        value = value_of(output)
        if level(value) == "row":
            if not {part.name for part in walk(value) if isinstance(part, Column)} <= {*keys}:
                raise Untranslatable("a column that is no group", output.name)
            outputs.append(Output(output.name, expression=value))
            continue
        known = next((name for name, one in measures.items() if same(one, value)), None)
        name = known or ""
        if known is None:
            name = free_name(output.name, [*(column.name for column in root.columns), *measures])
            measures[name] = value
            own[name] = query.scope.fact(value)
        outputs.append(Output(output.name, expression=Column(name=name)))
    by = [value for _, value in groups]
    measures = {name: of_groups(value, by, query.scope, name) for name, value in measures.items()}
    where = tuple(_of_things(condition, measures, own, query.scope) for condition in query.having)
    scope = Scope(query.scope.session, root, {}, own=own)
    things = Things(tuple(keys), measures, where)
    return Query(scope, tuple(outputs), where=query.where, things=things)


def _of_things(condition: Condition, measures: dict[str, Expression], own: dict[str, Fact], scope: Scope) -> Condition:
    """The condition over the columns of measures."""

    def change(part: Node) -> Node:
        if isinstance(part, Rows | Aggregate | Correlation):
            name = next((name for name, one in measures.items() if same(one, part)), None)
            if name is None:
                name = free_name("measure", [*(column.name for column in scope.root.columns), *measures])
                measures[name] = part
                own[name] = scope.fact(part)
            return Column(name=name)
        return mapped(part, change)

    return change(condition)  # type: ignore[return-value]
