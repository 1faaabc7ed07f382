"""One typed query over a table, as Tableau's VizQL Data Service would answer it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import ibis.expr.types as ir

from groundplan.contracts.contract import thaw
from groundplan.contracts.facts import TableColumn
from groundplan.contracts.query import (
    DayFilter,
    FieldReference,
    NumberFilter,
    Query,
    QueryField,
    QueryFilter,
    TableCalcField,
    output_name,
)
from groundplan.contracts.query_meaning import aggregates, grain_of, groups
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import Handle, Order, Params, arranged, ascending, handle_on
from groundplan.sources.tables.tools.query_filters import filtered, within
from groundplan.sources.tables.tools.query_values import aggregate_of, named, value_of
from groundplan.sources.tables.tools.query_windows import Window, calculated


def query_table(handle: Handle, params: Params) -> Handle:
    """Rows with a null key form their own group."""
    query = Query.model_validate(thaw(params["query"]))
    grouped = _grouped(filtered(handle, query.filters), query)
    made = grouped.select(**dict(_columns(grouped, query)))
    order = _order(query)
    if "rowLimit" in params:
        made = arranged(made, order).limit(params["rowLimit"])
    return handle_on(made, [_output_column(handle, field) for field in query.fields], order)


def _grouped(handle: Handle, query: Query) -> ir.Table:
    """The groups that pass the filters on aggregates; the filtered aggregates get unused column names."""
    keys = {output_name(field): value_of(handle, field) for field in query.fields if groups(field)}
    measures = {output_name(field): aggregate_of(handle, field) for field in query.fields if not groups(field)}
    filters = _named_apart({*keys, *measures}, [one for one in query.filters if aggregates(one.field)])
    measures |= {name: aggregate_of(handle, one.field) for name, one in filters.items()}
    if not keys:
        table = handle.table.aggregate(**measures)
    elif measures:
        table = handle.table.group_by(**keys).aggregate(**measures)
    else:
        table = handle.table.select(**keys).distinct()
    return table.filter([_passed(table[name], one) for name, one in filters.items()]) if filters else table


def _named_apart(taken: set[str], filters: list[QueryFilter]) -> dict[str, QueryFilter]:
    names = (name for number in count() if (name := f"filter_{number}") not in taken)
    return dict(zip(names, filters, strict=False))


def _passed(value: Any, one: QueryFilter) -> ir.BooleanValue:
    if isinstance(one, NumberFilter | DayFilter):
        return within(value, one)
    raise ToolError(f"a {one.filter_type} filter looks at single rows; remove its function")


def _columns(table: ir.Table, query: Query) -> Iterator[tuple[str, Any]]:
    for field in query.fields:
        value: Any = table[output_name(field)]
        if isinstance(field, TableCalcField):
            value = _windowed(table, query, field)
        if field.max_decimal_places is not None and value.type().is_floating():
            value = value.round(field.max_decimal_places)
        yield output_name(field), value


def _windowed(table: ir.Table, query: Query, field: TableCalcField) -> Any:
    if field.nested_table_calculations:
        raise ToolError("nested table calculations are not supported; write one query for each")
    columns = {named(one): table[output_name(one)] for one in query.fields if groups(one)}
    along = [_referred(columns, one) for one in field.table_calculation.dimensions]
    apart = [column for key, column in columns.items() if key not in map(named, field.table_calculation.dimensions)]
    return calculated(field.table_calculation, Window(table[output_name(field)], along, apart))


def _referred(columns: dict[tuple[str, str | None], ir.Column], reference: FieldReference) -> ir.Column:
    key = (reference.field_caption, reference.function)
    if key not in columns:
        raise ToolError(f"a table calculation uses {key[0]!r}, but the query does not group by it; add that field")
    return columns[key]


def _order(query: Query) -> Order:
    """By priority, then by the group columns, so that the same data gives the same order."""
    sorting = sorted((f for f in query.fields if f.sort_priority), key=lambda field: field.sort_priority or 0)
    order = tuple((output_name(field), field.sort_direction == "DESC") for field in sorting)
    named = {name for name, _ in order}
    return (*order, *ascending(output_name(f) for f in query.fields if groups(f) and output_name(f) not in named))


def _output_column(handle: Handle, field: QueryField) -> TableColumn:
    """A total or an average keeps the unit of its column; a count has none."""
    source, function = handle.find(field.field_caption), getattr(field, "function", None)
    counted = function in ("COUNT", "COUNTD") or isinstance(field, TableCalcField)
    return source.model_copy(
        update={
            "name": output_name(field),
            "unit": None if counted else source.unit,
            "grain": grain_of(field) or (source.grain if function is None else None),
        }
    )
