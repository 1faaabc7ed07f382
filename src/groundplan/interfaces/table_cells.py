"""Columns of shown tables as people read them: one number of decimals, in the language of the question."""

from __future__ import annotations

import math
from collections.abc import Sequence

from groundplan.answering.writing.display import decimals, named
from groundplan.contracts.answer import Answer
from groundplan.contracts.contract import Language, Scalar
from groundplan.contracts.facts import TableColumn

LENGTHS = {"year": 4, "month": 7}  # 2025 and 2025-03: characters of a date that its grain leaves
SIGNIFICANT = 3  # digits of the largest number of a column below one, and of each that would be 0.00
PERCENT = {"en": "%", "ru": "\u00a0%"}


def language_of(answer: Answer) -> Language:
    """The language of the question."""
    return "ru" if answer.reading and answer.reading.language == "ru" else "en"


def heading(name: str, column: TableColumn | None) -> str:
    """`revenue (€)`"""
    return f"{name} ({column.unit})" if column and column.unit else name


def cells(values: Sequence[Scalar], column: TableColumn | None, language: Language) -> list[str]:
    """The cells of one column. Shares are percentages, dates are as long as their grain."""
    if column and column.ratio:
        return [_percentage(value, language) for value in values]
    places = _places([abs(value) for value in values if isinstance(value, float) and math.isfinite(value)])
    return [_cell(value, column, places, language) for value in values]


def _percentage(value: Scalar, language: Language) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return _cell(value, None, 0, language)
    return decimals(value * 100, 1, language) + PERCENT[language]


def _places(sizes: Sequence[float]) -> int:
    """None for whole numbers, two where one is above one, else as many as the largest needs."""
    if not any(size % 1 for size in sizes):
        return 0
    return 2 if max(sizes) >= 1 else _needed(max(sizes))


def _needed(size: float) -> int:
    return SIGNIFICANT - 1 - math.floor(math.log10(size))


def _cell(value: Scalar, column: TableColumn | None, places: int, language: Language) -> str:
    match value:
        case None:
            return ""
        case bool():
            return named(value, language)
        case int() if column and column.grain == "hour":
            return f"{value:02}:00"
        case int():
            return decimals(value, 0, language)
        case float() if not math.isfinite(value):
            return str(value)
        case float():
            size = abs(value)
            return decimals(value, places if not size or size >= 10**-places else _needed(size), language)
        case str() if column and column.grain in LENGTHS:
            return value[: LENGTHS[column.grain]]
        case str():
            return value
