"""Column kinds, and which aggregate functions apply to them."""

from __future__ import annotations

from typing import Literal

ColumnKind = Literal["number", "text", "time", "boolean", "other"]
Role = Literal["temporal", "measure", "dimension", "id"]
Grain = Literal["minute", "hour", "day", "week", "month", "quarter", "year"]
Meaning = Literal["amount", "count", "rate", "identifier", "flag", "date", "year", "category", "name", "text"]
"""What a column holds. It decides what is summed, averaged or only counted."""
Function = Literal["sum", "mean", "median", "min", "max", "count", "count_distinct", "std", "defined"]
"""`defined`: the value that a data source computes for each group by a formula of its own."""

DUPLICATE_PROOF: frozenset[Function] = frozenset({"min", "max", "count_distinct"})
"""Functions whose result stays correct when a join repeats rows."""


def fits(function: Function, kind: ColumnKind) -> bool:
    """Whether the function applies to columns of this kind."""
    match function:
        case "sum" | "mean" | "median" | "std" | "defined":
            return kind == "number"
        case "min" | "max":
            return kind in ("number", "time", "text")
        case "count" | "count_distinct":
            return True


def kind_after(function: Function, kind: ColumnKind) -> ColumnKind:
    """The kind of the function's result."""
    return kind if function in ("min", "max") else "number"
