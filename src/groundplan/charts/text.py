"""Formats names and numbers for charts, and quotes data for Vega expressions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from groundplan.contracts.facts import TableColumn
from groundplan.text.names import spaced

MISSING = "(none)"
LARGE = 1_000_000


def quoted(value: object) -> str:
    """A value as a literal in a Vega expression; ASCII only, so that no character can end it."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c")


def datum(column: str) -> str:
    return f"datum[{quoted(column)}]"


def human(name: str) -> str:
    """`product_category` as a label: Product category."""
    text = inner(name)
    return text[:1].upper() + text[1:]


def inner(name: str) -> str:
    """A name inside a sentence; short upper-case words are abbreviations and stay upper-case."""
    return " ".join(map(_word, spaced(name).split())) or name


def _word(word: str) -> str:
    if word.lower() == "id":
        return "ID"
    return word if word.isupper() and len(word) <= 4 else word.lower()


def titled(column: TableColumn) -> str:
    return f"{human(column.name)} ({column.unit})" if column.unit else human(column.name)


def number_format(column: TableColumn, values: Iterable[float]) -> str:
    """Percent for shares, SI only when large, thousands separators otherwise."""
    if re.search(r"(^|_)(share|ratio)$", column.name):
        return ".0%"
    numbers = list(values)
    if is_years(numbers):
        return "d"
    largest = max(map(abs, numbers), default=0)
    if largest >= LARGE:
        return "~s"
    return ",.2~f" if largest >= 0.1 or largest == 0 else ".3~g"


def number_axis(column: TableColumn, values: Iterable[float], title: str | None = None) -> dict[str, Any]:
    return {"title": title or titled(column), **labels(number_format(column, values))}


def labels(pattern: str) -> dict[str, Any]:
    """The number format of an axis or a legend; replaces SI's G with B for billions."""
    if not pattern.endswith("s"):
        return {"format": pattern}
    return {"format": pattern, "labelExpr": f'replace(format(datum.value, "{pattern}"), "G", "B")'}


def is_years(numbers: list[float]) -> bool:
    """Whether the numbers are years, which have no thousands separator."""
    return bool(numbers) and all(number == int(number) and 1800 <= number <= 2200 for number in numbers)
