"""The values that a question may name: few distinct ones are read whole, others are looked up by the question's words.

What comes back is matched against the question's own words and ends up in filters, never in a plan's text.
"""

from __future__ import annotations

import re
import time

from groundplan.contracts.schema import SourceSchema, Table
from groundplan.sources.tables.engine.executing import Executor
from groundplan.sources.tables.engine.handle import Handle

FEW = 300  # distinct values of a column that are read whole
LONGEST = 6  # words of a value that is looked up
SECONDS = 10.0


def find_values(
    question: str, schema: SourceSchema, handles: dict[str, Handle], executor: Executor
) -> dict[str, dict[str, tuple[str, ...]]]:
    """By table and text column: all values where there are few, else those that the question names."""
    phrases = _phrases(question)
    return {
        table.name: {
            column.name: _values(table, column.name, (column.cardinality or 0) <= FEW, phrases, handles, executor)
            for column in table.columns
            if column.kind == "text"
        }
        for table in schema.tables
    }


def _values(
    table: Table, column: str, few: bool, phrases: list[str], handles: dict[str, Handle], executor: Executor
) -> tuple[str, ...]:
    rows = handles[table.name].table
    if not few:
        rows = rows.filter(rows[column].lower().isin(phrases))
    distinct = rows.select(column).distinct().order_by(column)
    fetched = executor.fetch("values", distinct, FEW, time.monotonic() + SECONDS)
    return tuple(value for value in fetched.table.column(0).to_pylist() if value)


def _phrases(question: str) -> list[str]:
    """Every run of up to six words, in lower case."""
    words = re.findall(r"[^\s,;?!()\"«»]+", question.lower())[:60]
    words = [word.strip(".'’:") for word in words]
    runs = [words[i:j] for i in range(len(words)) for j in range(i + 1, min(i + LONGEST, len(words)) + 1)]
    return sorted({" ".join(run) for run in runs if any(run)})
