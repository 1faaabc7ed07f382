"""The result of a typed query in terms of the table tools, so that the same sentences describe both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from groundplan.answering.writing.display import condition
from groundplan.answering.writing.phrases import JOINED
from groundplan.contracts.contract import Language, thaw
from groundplan.contracts.plan import CheckedPlan, Step
from groundplan.contracts.query import MeasureField, Query, QueryFilter, TableCalcField, output_name
from groundplan.contracts.query_meaning import OURS, groups, rankings, row_conditions

KindAndParams = tuple[Literal["shares", "ranking", "measured"], Mapping[str, Any]]


def query_of(plan: CheckedPlan, step: Step | None) -> Query | None:
    """The query of a step whose tool takes one."""
    tool = plan.tools.get(step.tool or "") if step else None
    if step is None or tool is None or tool.output.columns != "query":
        return None
    return Query.model_validate(thaw(step.params["query"]))


def grouped_by(query: Query) -> tuple[str, ...]:
    return tuple(output_name(field) for field in query.fields if groups(field))


def measured_in(query: Query) -> Iterator[tuple[str, str | None, str]]:
    """For each result column that is a measure, its function and the source's column."""
    for field in query.fields:
        if isinstance(field, MeasureField) and not groups(field):
            yield output_name(field), OURS.get(field.function), field.field_caption


def kind_and_params(query: Query, row_limit: int | None) -> KindAndParams:
    """The kind of the result, and the params of a table tool that returns this kind."""
    measures = [name for name, _, _ in measured_in(query)]
    for field in query.fields:
        calculated = isinstance(field, TableCalcField) and field.table_calculation
        if calculated and calculated.table_calc_type == "PERCENT_OF_TOTAL" and measures:
            return "shares", {"column": measures[0], "as": output_name(field)}
    for ranked in rankings(query, row_limit):
        if ranked.by:
            return "ranking", {"by": ranked.by, "direction": ranked.direction, "limit": ranked.limit}
    return "measured", {}


def filters_of(query: Query) -> Iterator[int]:
    """The indexes of the filters on rows."""
    return (place for place, filter_ in enumerate(query.filters) if row_conditions(filter_))


def filtered(raw: object, language: Language) -> str:
    """A filter of the query in words."""
    found = row_conditions(_reader().validate_python(thaw(raw)))
    told = [{"column": one.column, "operator": one.operator, "values": one.values} for one in found]
    return JOINED[language].join(condition(_single(one), language) for one in told)


def _single(told: dict[str, Any]) -> dict[str, Any]:
    same = {"in": "=", "not in": "!="}
    return {**told, "operator": same.get(told["operator"], told["operator"])} if len(told["values"]) == 1 else told


@cache
def _reader() -> TypeAdapter[QueryFilter]:
    return TypeAdapter(QueryFilter)
