"""Rows of other sources as tables of a scratch database."""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass

import pyarrow as pa

from groundplan.sources.arrow_columns import columns_of
from groundplan.sources.by_run import ByRun
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.duckdb_engine import Scratch
from groundplan.sources.tables.engine.executing import Executor
from groundplan.sources.tables.engine.handle import Handle, handle_on


@dataclass(frozen=True)
class _Guest:
    rows: pa.Table  # kept alive so that `id(rows)` stays unique
    name: str
    handle: Handle


class GuestTables:
    """Each run has its own tables; they are dropped with the run."""

    def __init__(self, executor: Executor, engine: Scratch) -> None:
        self._executor, self._engine = executor, engine
        self.prefix = "rows_"  # of the names of the tables
        self._guests: ByRun[int, _Guest] = ByRun()
        self._numbers = itertools.count(1)
        self._one_at_a_time = threading.Lock()

    def take(self, run: str, rows: pa.Table, scope: CancelScope) -> Handle:
        with scope.holding(self._one_at_a_time):
            guest = self._guests.find(run, id(rows))
            if guest is None:
                guest = self._load(rows, scope)
                self._drop(self._guests.keep(run, id(rows), guest, rows.nbytes))
            return guest.handle

    def _load(self, rows: pa.Table, scope: CancelScope) -> _Guest:
        name = f"{self.prefix}{next(self._numbers)}"
        self._engine.take(name, rows)
        try:
            handle = handle_on(self._engine.table(name, scope), columns_of(rows))
        except BaseException:
            self._engine.drop(name)
            raise
        self._executor.tables |= {name}
        return _Guest(rows, name, handle)

    def _drop(self, guests: list[_Guest]) -> None:
        self._executor.tables -= {guest.name for guest in guests}
        for guest in guests:
            self._engine.drop(guest.name)
