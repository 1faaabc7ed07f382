"""Converts rows to Arrow tables, and sorts and copies them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import ibis.expr.datatypes as dt
import ibis.expr.schema as sch
import pyarrow as pa
import pyarrow.compute as pc

from groundplan.sources.tables.engine.handle import Order


def from_rows(schema: sch.Schema, rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Converts rows of a database driver; engines widen numbers, so values are cast to the column's type."""
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [_array(dtype, values) for dtype, values in zip(schema.types, columns, strict=True)]
    return pa.Table.from_arrays(arrays, names=list(schema.names))


def sort(table: pa.Table, order: Order) -> pa.Table:
    """Sorted, with nulls last."""
    if not order:
        return table
    keys = [(name, "descending" if descending else "ascending") for name, descending in order]
    return table.take(pc.sort_indices(table, sort_keys=keys))


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
    if dtype.is_date() or dtype.is_timestamp():
        return (lambda value: value), dtype.to_pyarrow()
    return str, pa.string()


def _is_huge(value: Any) -> bool:
    return value is not None and bool(abs(value) >= 2**63)
