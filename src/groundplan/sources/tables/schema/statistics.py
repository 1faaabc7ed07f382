"""Statistics of the columns of a table, by queries that read all of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ibis.expr.types as ir

from groundplan.contracts.columns import ColumnKind
from groundplan.sources.tables.engine.handle import Ask, Handle, narrowed
from groundplan.sources.tables.tools.dates import ISO_DAY

EXACT_ROWS = 1_000_000  # in larger tables, distinct values are estimated
COLUMNS_AT_ONCE = 10  # whose statistics one query takes; to plan one for many takes far longer than several
CODE = r"^[^\s:,;%()+]*[0-9][^\s:,;%()+]*$"  # one word with digits; engines differ in what a letter is
SPACES = "[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"  # that TRIM takes away, as characters
UNTRIMMED = f"^$|^{SPACES}|{SPACES}$"
Numbers = Mapping[str, Mapping[str, Any]]
"""By column: its values, different values, first and last ones, and texts of some forms."""


def statistics(handle: Handle, rows: int, ask: Ask) -> Numbers:
    """In one scan for each few columns: distinct values of hundreds at once take gigabytes."""
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(handle.columns), COLUMNS_AT_ONCE):
        known = handle.columns[start : start + COLUMNS_AT_ONCE]
        table, asked = narrowed(handle.table, [column.name for column in known]), dict[str, ir.Value]()
        for place, column in enumerate(known):
            measures = _measures(table[column.name], column.kind, rows)
            asked |= {f"{measure}_{place}": value for measure, value in measures.items()}
        for key, value in ask(table.aggregate(**asked))[0].items():
            measure, _, place_ = key.rpartition("_")
            found.setdefault(known[int(place_)].name, {})[measure] = value
    return found


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
