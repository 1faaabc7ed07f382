"""Converts rows to Arrow tables, and sorts and copies them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import ibis.expr.datatypes as dt
import ibis.expr.schema as sch
import pyarrow as pa
import pyarrow.compute as pc

from groundplan.sources.tables.engine.handle import Order

FIRST, LAST = ((day - date(1970, 1, 1)).days for day in (date.min, date.max))


def from_rows(schema: sch.Schema, rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Converts rows of a database driver; engines widen numbers, so values are cast to the column's type."""
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [_array(dtype, values) for dtype, values in zip(schema.types, columns, strict=True)]
    return pa.Table.from_arrays(arrays, names=list(schema.names))


def as_declared(schema: sch.Schema, rows: pa.Table) -> pa.Table:
    """Moments without a zone where none is declared: some engines give those that they compute the zone UTC."""
    for place, (column, dtype) in enumerate(zip(rows.columns, schema.types, strict=True)):
        if pa.types.is_timestamp(column.type) and column.type.tz and not (dtype.is_timestamp() and dtype.timezone):
            rows = rows.set_column(place, rows.field(place).name, column.cast(pa.timestamp(column.type.unit)))
    return rows


def sort(table: pa.Table, order: Order) -> pa.Table:
    """Sorted, with nulls last, and infinite numbers among them."""
    if not order:
        return table
    keys = [(name, "descending" if descending else "ascending") for name, descending in order]
    return table.take(pc.sort_indices(pa.table({name: _finite(table[name]) for name, _ in order}), sort_keys=keys))


def _finite(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_floating(column.type):
        return column
    finite = pc.is_finite(column)
    return column if pc.all(finite).as_py() is not False else pc.if_else(finite, column, pa.scalar(None, column.type))


def in_calendar(table: pa.Table) -> pa.Table:
    """With null for times that no calendar has: databases have dates such as infinity, Python has none."""
    for place, column in enumerate(table.columns):
        a_day = _a_day(column.type)
        if a_day:
            number = column.cast(pa.int32()).cast(pa.int64()) if a_day == 1 else column.cast(pa.int64())
            ends = pc.min_max(number).as_py()  # a comparison with a number of Python would import pandas
            if ends["min"] is not None and not FIRST * a_day <= ends["min"] <= ends["max"] < (LAST + 1) * a_day:
                known = pc.and_(pc.greater_equal(number, FIRST * a_day), pc.less(number, (LAST + 1) * a_day))
                shown = pc.if_else(known, column, pa.scalar(None, column.type))
                table = table.set_column(place, table.field(place), shown)
    return table


def _a_day(type_: pa.DataType) -> int:
    """How many of its units a day has; 0 for what can hold no time beyond a calendar."""
    if pa.types.is_timestamp(type_):
        return {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000}.get(type_.unit, 0)
    return 1 if pa.types.is_date32(type_) else 0


def compact(table: pa.Table) -> pa.Table:
    """A copy with only these rows: engines allocate more memory, and a slice keeps its whole table alive."""
    return table.take(pa.arange(0, table.num_rows, 1))


def _array(dtype: dt.DataType, values: Sequence[Any]) -> pa.Array:
    if dtype.is_decimal() or (dtype.is_integer() and any(_is_huge(value) for value in values)):
        exact = [None if value is None or not Decimal(value).is_finite() else Decimal(value) for value in values]
        return pa.array(exact) if any(value is not None for value in exact) else pa.array(exact, pa.float64())
    convert, type_ = _conversion(dtype)
    return pa.array([value if value is None else convert(value) for value in values], type=type_)


def _conversion(dtype: dt.DataType) -> tuple[Callable[[Any], Any], pa.DataType]:
    if dtype.is_boolean():
        return bool, pa.bool_()
    if dtype.is_integer():
        return int, pa.int64()
    if dtype.is_floating():
        return float, pa.float64()
    if dtype.is_date():
        return (lambda value: date.fromisoformat(value) if isinstance(value, str) else value), dtype.to_pyarrow()
    if dtype.is_timestamp():
        return (lambda value: datetime.fromisoformat(value) if isinstance(value, str) else value), dtype.to_pyarrow()
    return str, pa.string()


def _is_huge(value: Any) -> bool:
    return value is not None and bool(abs(value) >= 2**63)
