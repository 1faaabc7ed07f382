"""Any other Ibis backend. It is as safe as the connection that was passed."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import ibis.expr.schema as sch
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.sql import SQLBackend
from ibis.backends.sql.compilers.base import SQLGlotCompiler
from ibis.common.exceptions import TableNotFound

from groundplan.errors import SourceError, ToolError
from groundplan.sources.tables.engine.by_place import with_places
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.interface import Constraints, Query, first_line


class Other:
    """One connection, and unless told otherwise one query at a time.

    A query past its deadline is stopped if the engine can, or abandoned.
    """

    loaded = False

    def __init__(
        self, backend: SQLBackend, private: bool = False, compiler: SQLGlotCompiler | None = None, at_once: int = 1
    ) -> None:
        self.backend = backend
        self.backend.compiler = compiler or with_places(backend.compiler)
        self._private = private
        self._turns = threading.BoundedSemaphore(at_once)

    def run(self, query: Query, scope: CancelScope) -> pa.Table:
        outcome: list[pa.Table | Exception] = []
        ended = threading.Event()
        mark = f"groundplan-{uuid.uuid4().hex}"

        def work() -> None:
            try:
                with scope.holding(self._turns):
                    outcome.append(self._fetch(query, mark))
            except Exception as error:  # noqa: BLE001 - raised again below, in the caller's thread
                outcome.append(error)
            ended.set()

        def stop() -> None:
            self._stop(mark)
            ended.set()

        threading.Thread(target=work, name="groundplan-query", daemon=True).start()
        with scope.watch(stop):
            ended.wait()
        if not outcome or isinstance(outcome[0], Exception):
            scope.check()
            raise self._failure(outcome[0]) from outcome[0]
        return outcome[0]

    def table(self, name: str, scope: CancelScope) -> ir.Table:
        with scope.holding(self._turns):
            try:
                return self.backend.table(name)
            except TableNotFound as error:
                raise SourceError(f"the table {name!r} cannot be read: {self.backend.name} does not find it") from error

    def schema(self, sql: str, scope: CancelScope) -> sch.Schema:
        with scope.holding(self._turns):
            return self.backend.sql(sql).schema()

    def columns(self, scope: CancelScope) -> list[tuple[str, str, str]]:
        return []

    def first_rows(self, queries: Iterable[str], scope: CancelScope) -> Iterator[list[tuple[object, ...]]]:
        return iter(())

    def constraints(self, scope: CancelScope) -> Constraints:
        return Constraints()

    def estimate(self, sql: str, scope: CancelScope) -> int | None:
        return None

    def spread(self, table: str, columns: Sequence[str], about: int, rows: int) -> Sequence[str]:
        return ()

    def close(self) -> None:
        """A connection that the caller passed is closed by the caller."""
        if self._private:
            with suppress(Exception):  # each driver has errors of its own, and the source is closed anyway
                self.backend.disconnect()

    def _fetch(self, query: Query, mark: str) -> pa.Table:
        """`mark` names the query where an engine can stop it by name."""
        return query.table.to_pyarrow()

    def _stop(self, mark: str) -> None:
        """Most drivers cannot stop a query from another thread."""

    def _failure(self, error: Exception) -> Exception:
        return ToolError(f"{self.backend.name} could not run the query: {first_line(error)}")
