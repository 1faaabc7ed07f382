"""Finds values that a question may name: columns with few values are read whole, others are searched by its words.

The values are matched against the question and end up in filters, never in a plan's text.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import ibis.expr.types as ir
from sqlglot import exp

from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.errors import DeadlineExceeded, QueryRefused, WorldError
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.executing import Executor
from groundplan.sources.tables.engine.handle import Handle, narrowed
from groundplan.sources.tables.schema.named_values import LOOKUP_SECONDS, NamedValues, lookup
from groundplan.sources.tables.schema.samples import Sample

FEW = 300  # columns with at most this many distinct values are read whole
MOST_VALUES = 20_000  # of a table: a reading learns in a second how they are said
LONGEST = 6  # the most words in a value that is searched for
SECONDS = 10.0  # for the values of one table; those that are left are not known
SLOW_FOR = 600.0  # seconds for which a table that took longer is not tried again
FIRST_ROWS = 200  # of each table, whose values are searched for tables
FIRST_SECONDS = 5.0  # for the first rows of all tables together; the tables that are left have no values there
LONGEST_VALUE = 40  # characters; longer texts are no names
FRESH = 60.0  # seconds for which questions share the values


def find_values(
    question: str,
    schema: SourceSchema,
    table: Callable[[str, CancelScope], Handle],
    executor: Executor,
    scope: CancelScope,
    slow: dict[str, float],
    samples: Mapping[str, Sample],
) -> dict[str, dict[str, tuple[str, ...] | None]]:
    """The values of each text column: all if there are few, otherwise those that the question names.

    Of large tables, those that their samples hold, and those that the question names with words that mean nothing else.
    None for a column that could not be read in time. `slow` holds until when such tables are not tried again.
    """
    phrases = _phrases(question)
    shared = f"values read in minute {time.monotonic() // FRESH:.0f}"  # used in place of a run id

    def find(known: Table, column: Column, within: CancelScope) -> tuple[str, ...] | None:
        if slow.get(known.name, 0.0) > time.monotonic():
            return None
        try:
            distinct = _distinct(table(known.name, within).table, column, phrases)
            fetched = executor.fetch(shared, distinct, FEW, within)
        except DeadlineExceeded:
            scope.check()
            slow[known.name] = time.monotonic() + SLOW_FOR
            return None
        return tuple(value for value in fetched.table.column(0).to_pylist() if value)

    named = NamedValues(question, schema, samples, slow)

    def look_up(known: Table, texts: list[str]) -> dict[str, tuple[str, ...] | None]:
        columns = [column.name for column in known.columns if column.kind == "text"]
        within = scope.within(LOOKUP_SECONDS)
        found = executor.fetch(shared, lookup(table(known.name, within).table, columns, texts), FEW, within).table
        return {name: tuple(filter(None, held.to_pylist())) for name, held in zip(columns, found.columns, strict=True)}

    def read_whole(known: Table, texts: list[str], within: CancelScope) -> dict[str, tuple[str, ...] | None]:
        if slow.get(known.name, 0.0) > time.monotonic():
            return dict.fromkeys(texts)
        try:
            rows = executor.fetch(shared, table(known.name, within).table.select(texts), FEW, within).table
        except DeadlineExceeded:
            scope.check()
            slow[known.name] = time.monotonic() + SLOW_FOR
            return dict.fromkeys(texts)
        return {name: tuple(sorted({*rows[name].to_pylist()} - {None, ""})) for name in texts}

    def of_table(known: Table) -> dict[str, tuple[str, ...] | None]:
        if known.name in samples:
            return named.of_table(known, partial(look_up, known), SLOW_FOR, scope)
        within = scope.within(SECONDS)
        texts = [column for column in known.columns if column.kind == "text"]
        if texts and known.row_count is not None and known.row_count <= FEW:
            found = read_whole(known, [column.name for column in texts], within)
        else:
            found = {column.name: find(known, column, within) for column in texts}
        return _bounded(found, frozenset(phrases))

    return {known.name: of_table(known) for known in schema.tables}


def _bounded(found: dict[str, tuple[str, ...] | None], named: frozenset[str]) -> dict[str, tuple[str, ...] | None]:
    """Of a table with very many values, those of columns that have more than their share if the question names them."""
    if sum(len(values or ()) for values in found.values()) <= MOST_VALUES:
        return found
    share = MOST_VALUES // len(found)
    return {
        column: tuple(value for value in values if value.lower() in named) if values and len(values) > share else values
        for column, values in found.items()
    }


def first_values(schema: SourceSchema, executor: Executor, scope: CancelScope) -> dict[str, set[str]]:
    """The short texts in the first rows of each table."""
    found: dict[str, set[str]] = {}
    within = scope.within(FIRST_SECONDS)
    left = deque(table for table in schema.tables if any(column.kind == "text" for column in table.columns))

    def queries() -> Iterator[str]:
        while left:
            within.check()
            sql = _first_rows(left[0], executor)
            if sql is None:
                left.popleft()
            else:
                yield sql

    while left:
        try:
            for rows in executor.engine.first_rows(queries(), within):
                name = left.popleft().name
                found[name] = {str(cell) for row in rows for cell in row if cell and len(str(cell)) <= LONGEST_VALUE}
            break  # of all tables, or the engine cannot tell
        except DeadlineExceeded:
            scope.check()
            break
        except WorldError:  # of the next table, such as a view that no longer fits its tables
            scope.check()
            left.popleft()
    return found


def _first_rows(table: Table, executor: Executor) -> str | None:
    """The approved query; None for a table that may not be read."""
    texts = [column.name for column in table.columns if column.kind == "text"]
    query = exp.select(*(exp.column(name, quoted=True) for name in texts))
    query = query.from_(exp.to_identifier(table.name, quoted=True)).limit(FIRST_ROWS)
    sql = query.sql(executor.engine.backend.name)
    try:
        executor.approve(sql)
    except QueryRefused:
        return None
    return sql


def _distinct(rows: ir.Table, column: Column, phrases: list[str]) -> ir.Table:
    rows = narrowed(rows, [column.name])
    if (column.cardinality or 0) > FEW:
        rows = rows.filter(rows[column.name].lower().isin(phrases))
    return rows.select(value=rows[column.name]).distinct().order_by("value")  # by another name, or it is SELECT *


def _phrases(question: str) -> list[str]:
    """Every sequence of up to six words, in lower case. No value has a zero byte, and no statement may have one."""
    words = re.findall(r"[^\s,;?!()\"«»\0]+", question.lower())[:60]
    words = [word.strip(".'’:") for word in words]
    runs = [words[i:j] for i in range(len(words)) for j in range(i + 1, min(i + LONGEST, len(words)) + 1)]
    return sorted({" ".join(run) for run in runs if any(run)})
