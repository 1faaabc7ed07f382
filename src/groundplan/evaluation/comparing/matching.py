"""Checks whether an answer has the expected rows, regardless of column names and order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import product
from typing import Any

Rows = Sequence[Sequence[Any]]
Cell = str | float | bool | None
NEAR = 1e-6  # relative tolerance, because engines sum in different orders


def same_rows(got: Rows, wanted: Rows) -> bool:
    """Whether the row counts match and each expected column is in the answer, which may have more columns."""
    if len(got) != len(wanted):
        return False
    if not wanted:
        return True
    found, expected = _columns(got), _columns(wanted)
    alike = [[place for place, column in enumerate(found) if _equal([column], [other])] for other in expected]
    return any(
        len(set(places)) == len(places) and _equal([found[place] for place in places], expected)
        for places in product(*alike)
    )


def _columns(rows: Rows) -> list[list[Cell]]:
    return [[_plain(cell) for cell in column] for column in zip(*rows, strict=True)]


def _equal(columns: Sequence[Sequence[Cell]], others: Sequence[Sequence[Cell]]) -> bool:
    """Whether the columns have equal rows in any order."""
    one, other = (sorted(zip(*table, strict=True), key=_sortable) for table in (columns, others))
    return all(
        _close(left, right) for row, twin in zip(one, other, strict=True) for left, right in zip(row, twin, strict=True)
    )


def _sortable(row: Sequence[Cell]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """A sort key with text first, so that rounding differences in numbers do not change the order."""
    return tuple(_kind(cell) for cell in row), tuple(cell for cell in row if isinstance(cell, float))


def _kind(cell: Cell) -> str:
    return "number" if isinstance(cell, float) else repr(cell)


def _close(one: Cell, other: Cell) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=NEAR, abs_tol=NEAR)
    return type(one) is type(other) and one == other


def _plain(cell: Any) -> Cell:
    """Numbers as numbers, dates as ISO text, midnight as its day."""
    match cell:
        case bool() | None:
            return cell
        case int() | float() | Decimal():
            return float(cell)
        case datetime() | date():
            return cell.isoformat().removesuffix("T00:00:00")
        case _:
            return str(cell).removesuffix("T00:00:00")
