"""Any other Ibis backend. It is as safe as the connection that was passed."""

from __future__ import annotations

import threading

import ibis.expr.schema as sch
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.sql import SQLBackend

from groundplan.errors import ToolError
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.interface import Constraints, Query


class Other:
    """One connection, one query at a time. It cannot be cancelled: a query past its deadline is abandoned."""

    def __init__(self, backend: SQLBackend) -> None:
        self.backend = backend
        self._one_at_a_time = threading.Lock()

    def run(self, query: Query, scope: CancelScope) -> pa.Table:
        outcome: list[pa.Table | Exception] = []
        ended = threading.Event()

        def work() -> None:
            try:
                with scope.holding(self._one_at_a_time):
                    outcome.append(query.table.to_pyarrow())
            except Exception as error:  # noqa: BLE001 - raised again below, in the caller's thread
                outcome.append(error)
            ended.set()

        threading.Thread(target=work, name="groundplan-query", daemon=True).start()
        with scope.watch(ended.set):
            ended.wait()
        if not outcome or isinstance(outcome[0], Exception):
            scope.check()
            raise ToolError(f"{self.backend.name} could not run the query: {outcome[0]}") from outcome[0]
        return outcome[0]

    def table(self, name: str, scope: CancelScope) -> ir.Table:
        with scope.holding(self._one_at_a_time):
            return self.backend.table(name)

    def schema(self, sql: str, scope: CancelScope) -> sch.Schema:
        with scope.holding(self._one_at_a_time):
            return self.backend.sql(sql).schema()

    def columns(self, scope: CancelScope) -> list[tuple[str, str, str]]:
        return []

    def first_rows(self, sql: str, scope: CancelScope) -> list[tuple[object, ...]]:
        return []

    def constraints(self, scope: CancelScope) -> Constraints:
        return Constraints()

    def close(self) -> None:
        """The caller closes the connection."""
