"""Every query goes this way: compiled, approved by the second gate, run once per run, remembered."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ibis.expr.operations as ops
import ibis.expr.types as ir
import pyarrow as pa

from groundplan.errors import DeadlineExceeded
from groundplan.sources.tables.engine.engines import Engine, Query
from groundplan.sources.tables.engine.sql_gate import approve

COMPILED = 256  # queries whose text and approval are remembered
REMEMBERED = 64  # results
REMEMBERED_ROWS = 500_000  # of all of them together


@dataclass(frozen=True)
class Fetched:
    table: pa.Table
    complete: bool  # there were no more rows than these


class Executor:
    def __init__(self, engine: Engine, tables: Collection[str]) -> None:
        self.engine = engine
        self.tables = set(tables)  # those that a query may read
        self._memo: OrderedDict[tuple[str, str], Fetched] = OrderedDict()
        self._busy: dict[tuple[str, str], threading.Lock] = {}
        self._guard = threading.Lock()

        self._compiled = lru_cache(maxsize=COMPILED)(self._compile)
        self.approve = lru_cache(maxsize=COMPILED)(self._approve)

    def compile(self, table: ir.Table) -> str:
        return self._compiled(table.op())

    def _compile(self, operation: ops.Relation) -> str:
        return str(self.engine.backend.compile(operation.to_expr()))

    def _approve(self, sql: str) -> None:
        """Remembered by the text itself, and only when it passed: a refusal is raised again each time."""
        approve(sql, self.engine.backend.name, frozenset(self.tables))

    def fetch(self, run: str, table: ir.Table, rows: int, until: float) -> Fetched:
        """At most so many rows. Steps of one run that ask the same share one execution, also side by side."""
        key = (run, self.compile(table))
        with self._guard:
            busy = self._busy.setdefault(key, threading.Lock())
        if not busy.acquire(timeout=max(until - time.monotonic(), 0)):
            raise DeadlineExceeded("the same query of another step took all the time; allow more time")
        try:
            known = self._memo.get(key)
            if known is None or not (known.complete or known.table.num_rows >= rows):
                known = self.run(table, rows, until)
                self.remember(run, key[1], known)
        finally:
            busy.release()
            with self._guard:
                self._busy.pop(key, None)
        return Fetched(known.table.slice(0, rows), known.complete and known.table.num_rows <= rows)

    def run(self, table: ir.Table, rows: int, until: float) -> Fetched:
        """One more row is asked for than wanted, to know whether there are more."""
        limited = table.limit(rows + 1)
        sql = self.compile(limited)
        self.approve(sql)
        got = self.engine.run(Query(limited, sql), until - time.monotonic())
        got = got.rename_columns(list(table.columns))  # an engine may shorten long names
        return Fetched(got.slice(0, rows), got.num_rows <= rows)

    def remember(self, run: str, sql: str, fetched: Fetched) -> None:
        with self._guard:
            self._memo[run, sql] = fetched
            self._memo.move_to_end((run, sql))
            while len(self._memo) > 1 and self._full():
                self._memo.popitem(last=False)

    def recall(self, sql: str) -> Fetched | None:
        """What the latest run that asked this got: the rows its facts were made from."""
        with self._guard:
            return next((self._memo[key] for key in reversed(self._memo) if key[1] == sql), None)

    def _full(self) -> bool:
        rows = sum(fetched.table.num_rows for fetched in self._memo.values())
        return len(self._memo) > REMEMBERED or rows > REMEMBERED_ROWS


@dataclass(frozen=True)
class Work:
    """One call's way to the engine, within its time and its number of rows."""

    executor: Executor
    run: str
    rows: int
    until: float

    def fetch(self, table: ir.Table) -> Fetched:
        return self.executor.fetch(self.run, table, self.rows, self.until)

    def ask(self, table: ir.Table) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.fetch(table).table.to_pylist()
        return found

    def count(self, table: ir.Table) -> int:
        return int(self.ask(table.aggregate(rows=table.count()))[0]["rows"])

    def total(self, table: ir.Table, fetched: Fetched) -> int:
        return fetched.table.num_rows if fetched.complete else self.count(table)
