"""What the table of a query is, in the language of readings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from groundplan.checking.relation import Relation, Unknown, read_filter, read_param
from groundplan.contracts.contract import thaw
from groundplan.contracts.expression import Aggregate, Column, Condition, DateCut, Expression
from groundplan.contracts.meaning import Sorting
from groundplan.contracts.normal_form import both, normal_expression
from groundplan.contracts.plan import Step
from groundplan.contracts.query import DimensionField, MeasureField, Query, QueryField, TopFilter, output_name
from groundplan.contracts.query_meaning import OURS, grain_of, groups, rankings, row_conditions


def queried(given: Relation, step: Step) -> Relation:
    """Raises `Unknown` for bins, calculations, and filters that no reading can ask for."""
    query = read_param(Query.model_validate, thaw(step.params.get("query")))
    if given.groups is not None or given.limit is not None or given.columns or query.parameters:
        raise Unknown
    columns = {output_name(field): normal_expression(_value(field)) for field in query.fields}
    made = replace(
        given,
        columns=columns,
        where=both(given.where, *_conditions(query)),
        groups=frozenset(columns[output_name(field)] for field in query.fields if groups(field)),
        order=_order(query, columns),
    )
    return _ranked(made, query, step.params.get("rowLimit"))


def _value(field: QueryField) -> Expression:
    grain = grain_of(field)
    if grain is not None:
        return DateCut(of=Column(name=field.field_caption), grain=grain)
    if isinstance(field, DimensionField):
        return Column(name=field.field_caption)
    if isinstance(field, MeasureField) and field.function in OURS:
        return Aggregate(function=OURS[field.function], of=Column(name=field.field_caption))
    raise Unknown


def _conditions(query: Query) -> Iterator[Condition]:
    """Beside a TOP filter, the others must be applied before it."""
    ranks = any(isinstance(one, TopFilter) for one in query.filters)
    for one in query.filters:
        if isinstance(one, TopFilter):
            continue
        told = row_conditions(one)
        if not told or (ranks and not one.context):
            raise Unknown
        for part in told:
            filter_ = {"column": part.column, "operator": part.operator, "values": part.values}
            yield read_param(read_filter, filter_)


def _order(query: Query, columns: dict[str, Expression]) -> tuple[Sorting, ...]:
    sorted_by = sorted((f for f in query.fields if f.sort_priority), key=lambda f: f.sort_priority or 0)
    return tuple((columns[output_name(field)], field.sort_direction == "DESC") for field in sorted_by)


def _ranked(relation: Relation, query: Query, most: object) -> Relation:
    found = list(rankings(query, most if isinstance(most, int) else None))
    if not found:
        return relation
    if len(found) > 1 or found[0].by is None:
        raise Unknown
    cut_by = ((relation.column(found[0].by), found[0].direction == "top"),)
    return replace(relation, limit=found[0].limit, cut_by=cut_by, order=relation.order or cut_by)
