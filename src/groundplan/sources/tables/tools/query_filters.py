"""The filters of a typed query, in Tableau's order: context first, then TOP and CONDITION, then the others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import ibis
import ibis.expr.types as ir

from groundplan.contracts.query import (
    ConditionFilter,
    DayFilter,
    MatchFilter,
    NumberFilter,
    QueryFilter,
    SetFilter,
    TopFilter,
)
from groundplan.contracts.query_meaning import aggregates, row_conditions
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import Handle, sort_key
from groundplan.sources.tables.engine.values import bound, is_day
from groundplan.sources.tables.tools.expressions import COMPARISONS
from groundplan.sources.tables.tools.query_values import aggregate_of, value_of
from groundplan.sources.tables.tools.shape import filter_rows

Bounded = NumberFilter | DayFilter


def filtered(handle: Handle, filters: Sequence[QueryFilter]) -> Handle:
    """TOP and CONDITION apply to the rows that context filters keep, independently of all other filters."""
    of_rows = [one for one in filters if not aggregates(one.field)]
    inside = handle
    for one in sorted((one for one in of_rows if one.context), key=_of_members):
        inside = _kept(inside, inside, one)
    kept = inside
    for one in of_rows:
        if not one.context:
            kept = _kept(kept, inside, one)
    return kept


def _of_members(one: QueryFilter) -> bool:
    return isinstance(one, TopFilter | ConditionFilter)


def _kept(handle: Handle, inside: Handle, one: QueryFilter) -> Handle:
    if isinstance(one, TopFilter | ConditionFilter):
        return _with_members(handle, inside, one)
    simple = row_conditions(one)
    if simple:
        conditions = [{"column": c.column, "operator": c.operator, "values": c.values} for c in simple]
        return filter_rows(handle, {"conditions": conditions})
    return Handle(handle.table.filter(_met(handle, one)), handle.columns, handle.order)


def _met(handle: Handle, one: QueryFilter) -> ir.BooleanValue:
    """Whether a row passes a filter that `filter_rows` cannot express."""
    match one:
        case SetFilter():
            return ~_among(handle, one)
        case MatchFilter():
            return ~_matches(handle, one) if one.exclude else _matches(handle, one)
        case NumberFilter() | DayFilter():
            return within(value_of(handle, one.field), one)
        case _:
            raise ToolError(
                f"this {one.filter_type} filter is not supported; see `groundplan catalog show query_table`"
            )


def within(value: Any, one: Bounded) -> ir.BooleanValue:
    """Both bounds are included."""
    least, greatest = (one.min, one.max) if isinstance(one, NumberFilter) else map(_day, (one.min_date, one.max_date))
    match one.quantitative_filter_type:
        case "ONLY_NULL":
            return value.isnull()
        case "ONLY_NON_NULL":
            return value.notnull()
        case _:
            bounds = [value >= least] if least is not None else []
            bounds += [value <= greatest] if greatest is not None else []
            return ibis.and_(*bounds)


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _among(handle: Handle, one: SetFilter) -> Any:
    """Never null: a null is not among the values."""
    name = one.field.field_caption  # type: ignore[union-attr]
    column = handle.column(name)
    if column.type().is_timestamp() and all(is_day(value) for value in one.values):
        column = column.cast("date")
    return column.isin([bound(handle, name, value) for value in one.values]).fill_null(False)


def _matches(handle: Handle, one: MatchFilter) -> Any:
    """Case-insensitive; a null matches nothing."""
    name = one.field.field_caption  # type: ignore[union-attr]
    if handle.kind(name) != "text":
        raise ToolError(f"a MATCH filter needs a text column and {name!r} is of kind {handle.kind(name)}")
    text: Any = handle.column(name).lower()
    inside, start, end = ((word or "").lower() for word in (one.contains, one.starts_with, one.ends_with))
    met = [text.contains(inside)] if inside else []
    met += [text.startswith(start)] if start else []
    met += [text.right(len(end)) == end] if end else []
    return ibis.and_(*met).fill_null(False)


def _with_members(handle: Handle, inside: Handle, one: TopFilter | ConditionFilter) -> Handle:
    """The rows whose member is selected by an aggregate over the rows of `inside`."""
    member = value_of(inside, one.field)
    if isinstance(one, TopFilter):
        measure = aggregate_of(inside, one.field_to_measure)
        grouped = inside.table.group_by(member=member).aggregate(measure=measure)
        keys = [sort_key(grouped["measure"], one.direction == "TOP"), sort_key(grouped["member"])]
        picked = grouped.order_by(keys).limit(one.how_many)
    else:
        picked = _meeting(inside, member, one)
    same = value_of(handle, one.field).identical_to(picked["member"])
    return Handle(handle.table.semi_join(picked, same), handle.columns, handle.order)


def _meeting(inside: Handle, member: ir.Column, one: ConditionFilter) -> ir.Table:
    if one.condition is None:
        raise ToolError("formulas are not supported; write the CONDITION filter with `condition`")
    measure = aggregate_of(inside, one.condition)
    grouped = inside.table.group_by(member=member).aggregate(measure=measure)
    operator = {"<>": "!="}.get(one.condition.comparison, one.condition.comparison)
    return grouped.filter(COMPARISONS[operator](grouped["measure"], ibis.literal(one.condition.value)))
