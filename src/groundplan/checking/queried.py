"""What the table of a query is, in the language of readings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from groundplan.checking.relation import Relation, Unknown, read_filter, read_param
from groundplan.contracts.contract import thaw
from groundplan.contracts.expression import (
    Aggregate,
    Column,
    Compare,
    Condition,
    Constant,
    Contains,
    DateCut,
    Expression,
    Running,
    Share,
)
from groundplan.contracts.meaning import Sorting
from groundplan.contracts.normal_form import both, normal_condition, normal_expression
from groundplan.contracts.plan import Step
from groundplan.contracts.query import (
    ConditionFilter,
    DimensionField,
    FieldReference,
    MatchFilter,
    MeasureField,
    NamedFilterField,
    PercentOfTotal,
    Query,
    QueryField,
    RunningTotal,
    TableCalcField,
    TopFilter,
    output_name,
)
from groundplan.contracts.query_meaning import OURS, grain_of, groups, rankings, row_conditions


def queried(given: Relation, step: Step) -> Relation:
    """Raises `Unknown` for bins, calculations, and filters that no reading can ask for."""
    query = read_param(Query.model_validate, thaw(step.params.get("query")))
    if given.groups is not None or given.limit is not None or given.columns or query.parameters:
        raise Unknown
    grouped = [field for field in query.fields if groups(field)]
    columns = {output_name(field): normal_expression(_value(field, grouped)) for field in query.fields}
    series = [calculation for field in query.fields if (calculation := _running(field))]
    made = replace(
        given,
        columns=columns,
        where=both(given.where, *_conditions(query)),
        having=both(*_conditions_on_groups(query, grouped)),
        groups=frozenset(columns[output_name(field)] for field in grouped),
        order=_order(query, columns),
        along=normal_expression(_value(_followed(series[0], grouped), grouped)) if series else None,
    )
    return _ranked(made, query, step.params.get("rowLimit"))


def _value(field: QueryField, grouped: Sequence[QueryField]) -> Expression:
    if isinstance(field, TableCalcField):
        return _calculated(field, grouped)
    grain = grain_of(field)
    if grain is not None:
        return DateCut(of=Column(name=field.field_caption), grain=grain)
    if isinstance(field, DimensionField):
        return Column(name=field.field_caption)
    if isinstance(field, MeasureField) and field.function in OURS:
        return Aggregate(function=OURS[field.function], of=Column(name=field.field_caption))
    raise Unknown


def _calculated(field: TableCalcField, grouped: Sequence[QueryField]) -> Expression:
    """A share of all groups, or a running total of a sum or a count along one of them."""
    if field.function not in OURS or field.calculation or field.nested_table_calculations:
        raise Unknown
    of = Aggregate(function=OURS[field.function], of=Column(name=field.field_caption))
    match field.table_calculation:
        case PercentOfTotal(dimensions=dimensions, level_address=None, custom_sort=None):
            if {*map(_key, dimensions)} == {*map(_key, grouped)}:
                return Share(of=of)
        case RunningTotal(aggregation="SUM", restart_every=None, custom_sort=None, secondary_table_calculation=None):
            _followed(field.table_calculation, grouped)
            return Running(of=of)
    raise Unknown


def _running(field: QueryField) -> RunningTotal | None:
    calculation = field.table_calculation if isinstance(field, TableCalcField) else None
    return calculation if isinstance(calculation, RunningTotal) else None


def _followed(calculation: RunningTotal, grouped: Sequence[QueryField]) -> QueryField:
    """The time axis that the total runs along."""
    found = [field for field in grouped if [_key(field)] == [*map(_key, calculation.dimensions)] and grain_of(field)]
    if len(found) != 1:
        raise Unknown
    return found[0]


def _key(field: QueryField | FieldReference) -> tuple[str, str | None]:
    return field.field_caption, getattr(field, "function", None)


def _conditions_on_groups(query: Query, grouped: Sequence[QueryField]) -> Iterator[Condition]:
    """Members of the only group by what their rows add up to, once all other filters are applied."""
    for one in (one for one in query.filters if isinstance(one, ConditionFilter)):
        told = one.condition
        first = all(other.context for other in query.filters if other is not one)
        same = [*map(_key, grouped)] == [(getattr(one.field, "field_caption", None), None)]
        if told is None or told.function not in OURS or not first or not same or isinstance(told.value, str):
            raise Unknown
        measured = Aggregate(function=OURS[told.function], of=Column(name=told.field_caption))
        operator: Any = "!=" if told.comparison == "<>" else told.comparison
        yield normal_condition(Compare(left=measured, operator=operator, right=Constant(value=told.value)))


def _conditions(query: Query) -> Iterator[Condition]:
    """Beside a TOP filter, the others must be applied before it."""
    ranks = any(isinstance(one, TopFilter) for one in query.filters)
    for one in query.filters:
        if isinstance(one, TopFilter | ConditionFilter):
            continue
        if ranks and not one.context:
            raise Unknown
        match one:
            case MatchFilter(contains=None, starts_with=str() as text, ends_with=None, exclude=False):
                yield normal_condition(Contains(of=_plain(one), text=text, place="start"))
                continue
            case MatchFilter(contains=None, starts_with=None, ends_with=str() as text, exclude=False):
                yield normal_condition(Contains(of=_plain(one), text=text, place="end"))
                continue
        told = row_conditions(one)
        if not told:
            raise Unknown
        for part in told:
            filter_ = {"column": part.column, "operator": part.operator, "values": part.values}
            yield read_param(read_filter, filter_)


def _plain(filter_: MatchFilter) -> Column:
    if not isinstance(filter_.field, NamedFilterField):
        raise Unknown
    return Column(name=filter_.field.field_caption)


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
