"""Compares the rows of two results, regardless of column names and order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice, product
from typing import Any

Rows = Sequence[Sequence[Any]]
Cell = str | float | bool | None
Alike = Callable[[Cell, Cell], bool]
NEAR = 1e-6  # relative tolerance, because engines sum in different orders
ROUGH = 100  # a whole number below this is no rounding: 12 is not 12.3
MOST_CHOICES = 1_000  # pairings of columns that are tried


def same_rows(got: Rows, wanted: Rows, alike: Alike | None = None) -> bool:
    """True if the row counts match and each expected column is in the result, which may have more columns."""
    if len(got) != len(wanted):
        return False
    if not wanted:
        return True
    alike = alike or _close
    found, expected = _columns(got), _columns(wanted)
    fitting = [[place for place, column in enumerate(found) if _equal([column], [other], alike)] for other in expected]
    choices = islice(product(*fitting), MOST_CHOICES)
    return any(
        len(set(places)) == len(places) and _equal([found[place] for place in places], expected, alike)
        for places in choices
    )


def tell_the_same(one: Rows, other: Rows) -> bool:
    """True if two results say the same: shares beside percentages, rounded numbers, and more columns do not count."""
    wide, narrow = sorted((one, other), key=lambda rows: -len(rows[0]) if rows else 0)
    return same_rows(wide, narrow, _told_alike)


def _columns(rows: Rows) -> list[list[Cell]]:
    return [[_plain(cell) for cell in column] for column in zip(*rows, strict=True)]


def _equal(columns: Sequence[Sequence[Cell]], others: Sequence[Sequence[Cell]], alike: Alike) -> bool:
    """Whether the columns have equal rows in any order."""
    one, other = (sorted(zip(*table, strict=True), key=_sortable) for table in (columns, others))
    return all(
        alike(left, right) for row, twin in zip(one, other, strict=True) for left, right in zip(row, twin, strict=True)
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


def _told_alike(one: Cell, other: Cell) -> bool:
    """Equal, a share beside its percentage, or one rounded to fewer decimals than the other."""
    if not (isinstance(one, float) and isinstance(other, float)):
        return _close(one, other)
    return any(_close(one * scale, other) or _is_rounded(one * scale, other) for scale in (1, 100, 0.01))


def _is_rounded(one: float, other: float) -> bool:
    """True if the number with fewer decimals is the other one rounded, and still says something."""
    decimals, number = min((len(f"{number:.9f}".rstrip("0").partition(".")[2]), number) for number in (one, other))
    tells = decimals >= 1 or abs(number) >= ROUGH
    return tells and abs(one - other) <= 0.5 * 10**-decimals * (1 + NEAR)


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
