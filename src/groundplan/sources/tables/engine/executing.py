"""Executes every query: compile, pass the second gate, run once per run, cache the result."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import ibis.expr.operations as ops
import ibis.expr.types as ir
import pyarrow as pa

from groundplan.sources.by_run import ByRun
from groundplan.sources.tables.engine.arrow import compact, in_calendar
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.ibis_equality import make_comparisons_thread_safe
from groundplan.sources.tables.engine.interface import Engine, Query
from groundplan.sources.tables.engine.sql_gate import approve

COMPILED = 256  # queries whose SQL and approval are cached


@dataclass(frozen=True)
class Fetched:
    table: pa.Table
    complete: bool  # these are all rows


@dataclass
class _Turn:
    """A lock for threads of one run with the same query: one runs it, the others wait."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    threads: int = 0


class Executor:
    """Shared by all threads of a source."""

    def __init__(self, engine: Engine, tables: Collection[str]) -> None:
        make_comparisons_thread_safe()  # for the expressions that are keys of `_compiled`
        self.engine = engine
        self.tables = frozenset(tables)  # the tables that a query may read
        self._results: ByRun[str, Fetched] = ByRun()  # by SQL
        self._turns: dict[tuple[str, str], _Turn] = {}
        self._guard = threading.Lock()
        self._compiled = lru_cache(maxsize=COMPILED)(self._compile)
        self.approve = lru_cache(maxsize=COMPILED)(self._approve)

    def compile(self, table: ir.Table) -> str:
        return self._compiled(table.op())

    def _compile(self, operation: ops.Relation) -> str:
        return str(self.engine.backend.compile(operation.to_expr()))

    def _approve(self, sql: str) -> None:
        """Approvals are cached by SQL; a refused query is checked and refused again each time."""
        approve(sql, self.engine.backend.name, self.tables)

    def fetch(self, run: str, table: ir.Table, rows: int, scope: CancelScope) -> Fetched:
        """At most `rows` rows. Steps of one run with the same query share one execution, even if concurrent."""
        sql = self.compile(table)
        with self._turn(run, sql, scope):
            known = self.recall(run, sql)
            if known is None or not (known.complete or known.table.num_rows >= rows):
                known = self.run(table, rows, scope)
                self.remember(run, sql, known)
        return Fetched(known.table.slice(0, rows), known.complete and known.table.num_rows <= rows)

    def run(self, table: ir.Table, rows: int, scope: CancelScope) -> Fetched:
        """Fetches one row more than wanted, to find out whether there are more."""
        scope.check()
        limited = table.limit(rows + 1)
        sql = self.compile(limited)
        self.approve(sql)
        got = self.engine.run(Query(limited, sql), scope)
        got = in_calendar(got.rename_columns(list(table.columns)))  # an engine may shorten long names
        return Fetched(got.slice(0, rows), got.num_rows <= rows)

    def remember(self, run: str, sql: str, fetched: Fetched) -> None:
        rows = compact(fetched.table)
        self._results.keep(run, sql, Fetched(rows, fetched.complete), rows.get_total_buffer_size())

    def recall(self, run: str, sql: str) -> Fetched | None:
        """The cached rows, from which this run's facts were made."""
        return self._results.find(run, sql)

    @contextmanager
    def _turn(self, run: str, sql: str, scope: CancelScope) -> Iterator[None]:
        """If the first thread fails or is cancelled, the next one runs the query itself."""
        with self._guard:
            turn = self._turns.setdefault((run, sql), _Turn())
            turn.threads += 1
        try:
            with scope.holding(turn.lock):
                yield
        finally:
            with self._guard:
                turn.threads -= 1
                if not turn.threads:
                    del self._turns[run, sql]


@dataclass(frozen=True)
class Work:
    """Runs the queries of one call, within its time and its row limit."""

    executor: Executor
    run: str
    rows: int
    scope: CancelScope

    def fetch(self, table: ir.Table) -> Fetched:
        return self.executor.fetch(self.run, table, self.rows, self.scope)

    def ask(self, table: ir.Table) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.fetch(table).table.to_pylist()
        return found

    def count(self, table: ir.Table) -> int:
        return int(self.ask(table.aggregate(rows=table.count()))[0]["rows"])

    def total(self, table: ir.Table, fetched: Fetched) -> int:
        return fetched.table.num_rows if fetched.complete else self.count(table)
