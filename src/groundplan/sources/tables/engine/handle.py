"""A table between steps: a lazy expression with its columns and order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import ibis.expr.schema as sch
import ibis.expr.types as ir

from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.facts import Item, TableColumn
from groundplan.errors import ToolError

Params = Mapping[str, Any]
Order = tuple[tuple[str, bool], ...]
"""Columns to sort by, each with True for descending."""

Ask = Callable[[ir.Table], list[dict[str, Any]]]
"""Runs a small query immediately, for values needed to build the next expression."""

ToolOutput = tuple["Handle", tuple[Item, ...]]


@dataclass(frozen=True)
class Handle:
    table: ir.Table
    columns: tuple[TableColumn, ...]
    order: Order = ()  # the natural reading order, used unless another order is given

    def column(self, name: str) -> ir.Column:
        self.find(name)
        return self.table[name]

    def find(self, name: str) -> TableColumn:
        for column in self.columns:
            if column.name == name:
                return column
        has = ", ".join(column.name for column in self.columns)
        raise ToolError(f"the table has no column {name!r}; its columns are {has}")

    def kind(self, name: str) -> ColumnKind:
        return self.find(name).kind


def handle_on(table: ir.Table, known: Iterable[TableColumn] = (), order: Order = ()) -> Handle:
    """A handle to the table. A column keeps the unit and grain of a known column with the same name and kind."""
    by_name = {column.name: column for column in known}
    columns = tuple(_described(name, dtype, by_name) for name, dtype in table.schema().items())
    return Handle(table, columns, tuple(item for item in order if item[0] in table.columns))


def kind_of(dtype: dt.DataType) -> ColumnKind:
    if dtype.is_numeric() and not dtype.is_boolean():
        return "number"
    if dtype.is_date() or dtype.is_timestamp():
        return "time"
    if dtype.is_string():
        return "text"
    return "boolean" if dtype.is_boolean() else "other"


def of_kinds(schema: sch.Schema, columns: Iterable[TableColumn]) -> sch.Schema:
    """The schema with types of the kinds that the columns are known to have: not every engine types its results."""
    types: dict[ColumnKind, str] = {"number": "float64", "time": "timestamp", "boolean": "boolean", "text": "string"}
    given = [c for c in columns if c.name in schema and c.kind in types]
    wanted = {c.name: types[c.kind] for c in given if kind_of(schema[c.name]) != c.kind}
    return ibis.schema({**schema, **wanted})


def widened(handle: Handle, added: Mapping[str, ir.Value]) -> Handle:
    """The same rows with additional columns; a name that already exists is refused."""
    for name in added:
        if name in handle.table.columns:
            raise ToolError(f"the table already has a column {name!r}; give the new one another name")
    return handle_on(handle.table.mutate(**added), handle.columns, handle.order)


def narrowed(table: ir.Table, names: Iterable[str]) -> ir.Table:
    """The rows with these columns alone, to be computed with: Ibis looks at each column of a table for every query.

    Not to be shown as they are: `SELECT *` would be all columns.
    """
    known = table.op()
    if not isinstance(known, ops.DatabaseTable):
        return table.select(*names)
    narrow = {name: known.schema[name] for name in names}
    return known.copy(schema=ibis.schema(narrow)).to_expr()


def arranged(table: ir.Table, order: Order) -> ir.Table:
    """Sorted, with nulls last."""
    return table.order_by([sort_key(table[name], descending) for name, descending in order]) if order else table


def sort_key(column: ir.Column, descending: bool = False) -> ir.Value:
    """Nulls come last, and so do infinite and undefined numbers, which no answer shows."""
    make = ibis.desc if descending else ibis.asc
    if isinstance(column, ir.FloatingValue):
        column = ibis.ifelse(column.isnan() | column.isinf(), ibis.null(column.type()), column)
    return make(column, nulls_first=False)


def ascending(names: Iterable[str]) -> Order:
    return tuple((name, False) for name in names)


def orderable(handle: Handle) -> list[str]:
    return [column.name for column in handle.columns if column.kind != "other"]


def steady(handle: Handle, first: str, groups: Sequence[str]) -> list[str]:
    """The column to sort by, then all others to break ties, so that the same data gives the same order."""
    return [first, *(name for name in orderable(handle) if name not in (first, *groups))]


def _described(name: str, dtype: dt.DataType, known: Mapping[str, TableColumn]) -> TableColumn:
    kind = kind_of(dtype)
    before = known.get(name)
    if before is not None and before.kind == kind:
        return before
    return TableColumn(name=name, kind=kind)
