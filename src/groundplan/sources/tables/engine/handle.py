"""A table between steps: a lazy expression and what is known of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir

from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.facts import Item, TableColumn
from groundplan.errors import ToolError

Params = Mapping[str, Any]
Order = tuple[tuple[str, bool], ...]
"""Columns to sort by, each with whether it descends."""

Ask = Callable[[ir.Table], list[dict[str, Any]]]
"""Runs a small query at once: for what must be known before the next expression can be built."""

Told = tuple["Handle", tuple[Item, ...]]


@dataclass(frozen=True)
class Handle:
    table: ir.Table
    columns: tuple[TableColumn, ...]
    order: Order = ()  # how a person would expect to read it, where nothing else is asked

    def column(self, name: str) -> ir.Column:
        self.find(name)
        return self.table[name]

    def find(self, name: str) -> TableColumn:
        for column in self.columns:
            if column.name == name:
                return column
        has = ", ".join(column.name for column in self.columns)
        raise ToolError(f"there is no column {name!r} here; the table has {has}")

    def kind(self, name: str) -> ColumnKind:
        return self.find(name).kind


def handle_on(table: ir.Table, known: Iterable[TableColumn] = (), order: Order = ()) -> Handle:
    """A handle whose columns keep the unit and grain known of a column with the same name and kind."""
    told = {column.name: column for column in known}
    columns = tuple(_described(name, dtype, told) for name, dtype in table.schema().items())
    return Handle(table, columns, tuple(item for item in order if item[0] in table.columns))


def kind_of(dtype: dt.DataType) -> ColumnKind:
    if dtype.is_numeric() and not dtype.is_boolean():
        return "number"
    if dtype.is_date() or dtype.is_timestamp():
        return "time"
    if dtype.is_string():
        return "text"
    return "boolean" if dtype.is_boolean() else "other"


def widened(handle: Handle, added: Mapping[str, ir.Value]) -> Handle:
    """The same rows with further columns; a name that is taken is refused, never replaced."""
    for name in added:
        if name in handle.table.columns:
            raise ToolError(f"the table already has a column {name!r}; give the new one another name")
    return handle_on(handle.table.mutate(**added), handle.columns, handle.order)


def arranged(table: ir.Table, order: Order) -> ir.Table:
    """Sorted, rows without a value last."""
    return table.order_by([sort_key(table[name], descending) for name, descending in order]) if order else table


def sort_key(column: ir.Column, descending: bool = False) -> ir.Value:
    make = ibis.desc if descending else ibis.asc
    return make(column, nulls_first=False)


def ascending(names: Iterable[str]) -> Order:
    return tuple((name, False) for name in names)


def orderable(handle: Handle) -> list[str]:
    return [column.name for column in handle.columns if column.kind != "other"]


def steady(handle: Handle, first: str, groups: Sequence[str]) -> list[str]:
    """The column to sort by, then all others to break ties: the same data gives the same rows."""
    return [first, *(name for name in orderable(handle) if name not in (first, *groups))]


def _described(name: str, dtype: dt.DataType, told: Mapping[str, TableColumn]) -> TableColumn:
    kind = kind_of(dtype)
    before = told.get(name)
    if before is not None and before.kind == kind:
        return before
    return TableColumn(name=name, kind=kind)
