"""Ranges that values are grouped in: the labels of bins, and the period that suits a span of time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from groundplan.contracts.columns import Grain

READABLE_POINTS = 60
YEAR = 365.25


def bin_labels(edges: Sequence[float], *, whole: bool) -> list[str]:
    """Whole numbers from 18 up to 40 are `18-39`, from 40 on `40+`; others are `18 to 40`."""
    shown = [f"{edge:,.10g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(shown)]
    if whole and all(float(edge).is_integer() for edge in edges):
        between = [f"{low:,.0f}-{high - 1:,.0f}" if high - low > 1 else f"{low:,.0f}" for low, high in pairwise(edges)]
        return [f"under {shown[0]}", *between, f"{shown[-1]}+"]
    return [f"under {shown[0]}", *between, f"{shown[-1]} and over"]


def readable_grain(days: int, points: int) -> Grain:
    """The grain of a readable series over so many days, of which `points` have rows."""
    if days < 90 or points <= READABLE_POINTS:
        return "day"
    steps: tuple[tuple[float, Grain], ...] = (
        (365, "week"),
        (8 * YEAR, "month"),
        (25 * YEAR, "quarter"),
    )
    return next((grain for limit, grain in steps if days <= limit), "year")
