"""Bounded samples of large tables: they are described, and searched for values, without reading all of their rows."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ibis.expr.schema as sch
import pyarrow as pa
import pyarrow.compute as pc

from groundplan.errors import DeadlineExceeded, WorldError
from groundplan.sources.tables.engine.cancel_scope import Cancelled, CancelScope
from groundplan.sources.tables.engine.engines import open_scratch
from groundplan.sources.tables.engine.executing import Executor
from groundplan.sources.tables.engine.handle import Handle, handle_on
from groundplan.sources.tables.engine.interface import Query
from groundplan.sources.tables.schema.statistics import Numbers, statistics

WHOLE_ROWS = 200_000  # tables with at most so many rows are read whole
SAMPLED_ROWS = 10_000
SECONDS = 2.0  # for the sample of a table; one that is slower is known by its names and types alone
POINTERS = 200  # values of a column that are looked up in another table
FEW_VALUES = 300  # different texts that are kept


@dataclass(frozen=True)
class Sample:
    rows: int  # of the table, about
    told_rows: int | None = None  # as the engine estimates them, if it does
    numbers: Numbers = field(default_factory=dict)  # scaled to all rows
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of texts with few different values
    pointers: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # some values of numbers and texts
    unrepeated: frozenset[str] = frozenset()  # columns with a value in each row, and none twice: likely keys


class Samples:
    """Of the tables of a source. Each is kept as long as the table has the same columns."""

    def __init__(self) -> None:
        self.taken: dict[str, Sample] = {}
        self._schemas: dict[str, sch.Schema] = {}
        self._guard = threading.Lock()

    def find(self, name: str, handle: Handle, executor: Executor, scope: CancelScope) -> Sample | None:
        """None for a table that is read whole: it is small, or made of a file that has been read already."""
        schema = handle.table.schema()
        if name in self.taken and self._schemas.get(name) == schema:
            return self.taken[name]
        if executor.engine.loaded:
            return None
        rows = _rows_of(handle, executor, scope.within(SECONDS))
        if rows is not None and rows <= WHOLE_ROWS:
            return None
        sample = _take(name, handle, rows, executor, scope)
        with self._guard:
            self.taken[name], self._schemas[name] = sample, schema
        return sample


def _rows_of(handle: Handle, executor: Executor, scope: CancelScope) -> int | None:
    """By the engine's estimate, or by counting as far as is read whole; None for more."""
    sql = executor.compile(handle.table)
    executor.approve(sql)
    estimated = executor.engine.estimate(sql, scope)
    if estimated is not None:
        return estimated
    first = handle.table.select(handle.table.columns[0]).limit(WHOLE_ROWS + 1)
    try:
        counted = int(executor.run(first.aggregate(rows=first.count()), 1, scope).table["rows"][0].as_py())
    except DeadlineExceeded:
        scope.check()
        return None
    return counted if counted <= WHOLE_ROWS else None


def _take(name: str, handle: Handle, rows: int | None, executor: Executor, scope: CancelScope) -> Sample:
    about = rows or WHOLE_ROWS + 1
    try:
        fetched, is_spread = _fetch(name, handle, about, executor, scope.within(SECONDS))
        numbers = {name: dict(known) for name, known in _numbers(fetched, scope).items()}
    except Cancelled:
        raise
    except WorldError:
        scope.check()
        return Sample(about, rows)
    if not is_spread and fetched.num_rows < SAMPLED_ROWS:  # all rows of a view that reads many
        about, rows, is_spread = fetched.num_rows, fetched.num_rows, True
    for column in handle.columns:
        if column.kind == "time" and column.name in numbers:
            ends = _ends(handle, column.name, executor, scope.within(SECONDS))
            numbers[column.name] |= ends or ({} if is_spread else {"least": None, "greatest": None})
    kept = {column.name: fetched[column.name].drop_null() for column in handle.columns if column.name in numbers}
    return Sample(
        rows=about,
        told_rows=rows,
        numbers={name: _scaled(known, kept[name], fetched.num_rows, about) for name, known in numbers.items()},
        values={
            column.name: tuple(sorted(text for text in kept[column.name].unique().to_pylist() if text))
            for column in handle.columns
            if column.kind == "text" and numbers.get(column.name, {}).get("distinct", FEW_VALUES + 1) <= FEW_VALUES
        },
        pointers={
            column.name: tuple(kept[column.name].unique().slice(0, POINTERS).to_pylist())
            for column in handle.columns
            if column.kind in ("number", "text") and column.name in kept
        },
        unrepeated=frozenset(
            name for name, known in numbers.items() if known.get("distinct") == fetched.num_rows == known["values"]
        ),
    )


def _fetch(name: str, handle: Handle, about: int, executor: Executor, scope: CancelScope) -> tuple[pa.Table, bool]:
    """The rows, and whether they come from all over the table. Values of other kinds are not looked at."""
    names = [column.name for column in handle.columns if column.kind != "other"]
    wanted = handle.table.select(names)
    spread = executor.engine.spread(name, names, about, SAMPLED_ROWS)
    try:
        parts = [executor.engine.run(Query(wanted, sql), scope) for sql in spread]
        found = _together(parts, wanted.schema())
    except (Cancelled, DeadlineExceeded):
        raise
    except (WorldError, pa.ArrowException):  # of a view, which has no places; or of files that do not fit together
        found = pa.table({})
    return (found, True) if found.num_rows else (executor.run(wanted, SAMPLED_ROWS, scope).table, False)


def _together(parts: Sequence[pa.Table], schema: sch.Schema) -> pa.Table:
    """In the types of the whole table, where those of its parts differ, as those of names of folders may."""
    if any(part.schema.types != parts[0].schema.types for part in parts):
        parts = [part.cast(schema.to_pyarrow()) for part in parts]
    return pa.concat_tables(parts) if parts else pa.table({})


def _numbers(rows: pa.Table, scope: CancelScope) -> Numbers:
    scratch = open_scratch()
    try:
        scratch.take("sample", rows)
        local = Executor(scratch, ["sample"])
        taken = handle_on(scratch.table("sample", scope))
        return statistics(taken, rows.num_rows, lambda asked: local.run(asked, 1, scope).table.to_pylist())
    finally:
        scratch.close()


def _ends(handle: Handle, name: str, executor: Executor, scope: CancelScope) -> dict[str, Any]:
    """The first and the last value, where the engine knows them by an index or by its statistics."""
    column = handle.table[name]
    asked = handle.table.aggregate(least=column.min(), greatest=column.max())
    sql = executor.compile(asked)
    executor.approve(sql)
    try:
        reads = executor.engine.estimate(sql, scope)
        is_cheap = reads is not None and reads <= WHOLE_ROWS
        found: list[dict[str, Any]] = executor.run(asked, 1, scope).table.to_pylist() if is_cheap else []
    except DeadlineExceeded:
        scope.check()
        return {}
    return found[0] if found else {}


def _scaled(known: Mapping[str, Any], values: pa.ChunkedArray, sampled: int, rows: int) -> dict[str, Any]:
    """Different values as Haas and Stokes estimate them: from those that the sample has once."""
    counts = {
        name: round(known[name] * rows / max(sampled, 1)) for name in ("values", "days", "codes") if name in known
    }
    distinct, held = known.get("distinct"), known["values"]
    if distinct and held:
        once = pc.sum(pc.equal(pc.struct_field(values.value_counts(), "counts"), 1)).as_py() or 0
        left = held - once + once * held / max(counts["values"], 1)
        counts["distinct"] = min(round(held * distinct / left), counts["values"])
    return {**known, **counts}
