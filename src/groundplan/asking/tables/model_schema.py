"""What a model is asked to hear in a question: which words mean which column, and what to take of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.asking.tables.scan import Scan
from groundplan.contracts.contract import Contract
from groundplan.contracts.schema import Column

ROWS = "rows"
UNSAID = "unsaid"
LONGEST_QUOTE, QUOTES = 4, 400  # words of one quote, and quotes to choose from


class Measured(Contract):
    """A number that is asked for."""

    words: str
    column: str  # of the table, or `rows`
    function: Literal["sum", "mean", "median", "min", "max", "count", "count_distinct", "unsaid"]


class Grouped(Contract):
    words: str
    column: str


class Heard(Contract):
    """Every quote is words of the question, every column one of the table: the schema has no others to choose."""

    measures: Annotated[tuple[Measured, ...], Field(max_length=3)]
    groups: Annotated[tuple[Grouped, ...], Field(max_length=3)]
    chart: Literal["unsaid", "bar", "line", "area", "scatter", "histogram", "box", "heatmap"]


def choices_for(scan: Scan) -> dict[str, list[str]]:
    """The names that may be said, by the path of the field."""
    quotes, columns = quotes_of(scan), [column.name for column in scan.table.columns]
    return {
        "measures.words": quotes,
        "measures.column": [*columns, ROWS],
        "groups.words": quotes,
        "groups.column": columns,
    }


def quotes_of(scan: Scan) -> list[str]:
    """Runs of the question's words, shorter ones first: a long question is quoted in shorter runs."""
    count = len(scan.words)
    runs = [(size, first) for size in range(1, LONGEST_QUOTE + 1) for first in range(count - size + 1)]
    return list(dict.fromkeys(scan.spoken(first, first + size)[0] for size, first in runs[:QUOTES]))


def described(column: Column) -> str:
    """A column as the prompt shows it: its name and what it holds, never a value."""
    kind = "date" if column.kind == "time" or column.role == "temporal" else column.kind
    return f"{column.name} ({kind})"
