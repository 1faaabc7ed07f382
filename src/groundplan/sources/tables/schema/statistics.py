"""Statistics of the columns of a table, by queries that read all of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir

from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.facts import TableColumn
from groundplan.sources.tables.engine.handle import Ask, Handle, narrowed
from groundplan.sources.tables.tools.dates import ISO_DAY

EXACT_ROWS = 1_000_000  # in larger tables, distinct values are estimated
COLUMNS_AT_ONCE = 10  # whose statistics one query takes; to plan one for many takes far longer than several
WIDE, CELLS_AT_ONCE = 100, 40_000  # columns of a wide table; and values of its columns that one query reads
TYPES = tuple(map(dt.dtype, ("string", "int64", "float64", "boolean", "date", "timestamp(6)")))
CODE = r"^[^\s:,;%()+]*[0-9][^\s:,;%()+]*$"  # one word with digits; engines differ in what a letter is
SPACES = "[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"  # that TRIM takes away, as characters
UNTRIMMED = f"^$|^{SPACES}|{SPACES}$"
Numbers = Mapping[str, Mapping[str, Any]]
"""By column: its values, different values, first and last ones, and texts of some forms."""


def statistics(handle: Handle, rows: int, ask: Ask) -> Numbers:
    """In one scan for each few columns: distinct values of hundreds at once take gigabytes."""
    if not rows:
        return {
            column.name: _none(_measures(handle.table[column.name], column.kind, rows)) for column in handle.columns
        }
    found: dict[str, dict[str, Any]] = {}
    for columns in _alike(handle, rows):
        values = _one_below_the_other(handle.table, [column.name for column in columns])
        for row in ask(values.group_by("place").aggregate(**_measures(values["v"], columns[0].kind, rows))):
            found[columns[row.pop("place")].name] = row
    left = [column for column in handle.columns if column.name not in found]
    for start in range(0, len(left), COLUMNS_AT_ONCE):
        known = left[start : start + COLUMNS_AT_ONCE]
        table, asked = narrowed(handle.table, [column.name for column in known]), dict[str, ir.Value]()
        for place, column in enumerate(known):
            measures = _measures(table[column.name], column.kind, rows)
            asked |= {f"{measure}_{place}": value for measure, value in measures.items()}
        for key, value in ask(table.aggregate(**asked))[0].items():
            measure, _, place_ = key.rpartition("_")
            found.setdefault(known[int(place_)].name, {})[measure] = value
    return found


def _alike(handle: Handle, rows: int) -> Iterator[Sequence[TableColumn]]:
    """Of a short and wide table, columns of one type: one query reads many of them, one below the other."""
    at_once = CELLS_AT_ONCE // rows
    if handle.table.get_backend().name != "duckdb" or not at_once > COLUMNS_AT_ONCE or len(handle.columns) <= WIDE:
        return
    for type_ in TYPES:
        columns = [column for column in handle.columns if handle.table[column.name].type() == type_]
        for start in range(0, len(columns), at_once):
            yield columns[start : start + at_once]


def _one_below_the_other(table: ir.Table, names: Sequence[str]) -> ir.Table:
    few = narrowed(table, names)
    values = ibis.array([few[name] for name in names])
    return few.select(place=ibis.array([*range(len(names))]).unnest(), v=values.unnest())


def _none(measures: Iterable[str]) -> dict[str, Any]:
    return {measure: None if measure in ("least", "greatest") else 0 for measure in measures}


def _measures(column: Any, kind: ColumnKind, rows: int) -> dict[str, ir.Value]:
    measures: dict[str, ir.Value] = {"values": column.count()}
    if kind != "other":
        measures["distinct"] = column.nunique() if rows <= EXACT_ROWS else column.approx_nunique()
    if kind in ("number", "time"):
        measures["least"], measures["greatest"] = column.min(), column.max()
    if kind == "text":
        measures["days"] = column.count(where=column.re_search(ISO_DAY))
        measures["codes"] = column.count(where=column.re_search(CODE))
        measures["untrimmed"] = column.count(where=column.re_search(UNTRIMMED))
    return measures
