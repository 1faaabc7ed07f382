"""Finds values that a question may name: columns with few values are read whole, others are searched by its words.

The values are matched against the question and end up in filters, never in a plan's text.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import ibis.expr.types as ir

from groundplan.contracts.schema import Column, SourceSchema
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.executing import Executor
from groundplan.sources.tables.engine.handle import Handle

FEW = 300  # columns with at most this many distinct values are read whole
LONGEST = 6  # the most words in a value that is searched for
SECONDS = 10.0
FRESH = 60.0  # seconds for which questions share the values


def find_values(
    question: str,
    schema: SourceSchema,
    table: Callable[[str, CancelScope], Handle],
    executor: Executor,
    scope: CancelScope,
) -> dict[str, dict[str, tuple[str, ...]]]:
    """The values of each text column: all if there are few, otherwise those that the question names."""
    phrases = _phrases(question)
    shared = f"values read in minute {time.monotonic() // FRESH:.0f}"  # used in place of a run id

    def find(rows: ir.Table, column: Column) -> tuple[str, ...]:
        distinct = _distinct(rows, column, phrases)
        fetched = executor.fetch(shared, distinct, FEW, scope.within(SECONDS))
        return tuple(value for value in fetched.table.column(0).to_pylist() if value)

    return {
        known.name: {
            column.name: find(table(known.name, scope).table, column)
            for column in known.columns
            if column.kind == "text"
        }
        for known in schema.tables
    }


def _distinct(rows: ir.Table, column: Column, phrases: list[str]) -> ir.Table:
    if (column.cardinality or 0) > FEW:
        rows = rows.filter(rows[column.name].lower().isin(phrases))
    return rows.select(column.name).distinct().order_by(column.name)


def _phrases(question: str) -> list[str]:
    """Every sequence of up to six words, in lower case."""
    words = re.findall(r"[^\s,;?!()\"«»]+", question.lower())[:60]
    words = [word.strip(".'’:") for word in words]
    runs = [words[i:j] for i in range(len(words)) for j in range(i + 1, min(i + LONGEST, len(words)) + 1)]
    return sorted({" ".join(run) for run in runs if any(run)})
