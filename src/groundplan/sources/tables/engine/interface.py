"""The interface of engines: run an approved query, describe tables and queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import ibis.expr.schema as sch
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.sql import SQLBackend

from groundplan.sources.tables.engine.cancel_scope import CancelScope


@dataclass(frozen=True)
class Query:
    """An expression and its compiled SQL, which has passed the second gate."""

    table: ir.Table
    sql: str


class Engine(Protocol):
    """Thread-safe. When the scope ends, the query is stopped and an error is raised."""

    backend: SQLBackend

    def run(self, query: Query, scope: CancelScope) -> pa.Table: ...

    def table(self, name: str, scope: CancelScope) -> ir.Table: ...

    def schema(self, sql: str, scope: CancelScope) -> sch.Schema:
        """The columns of a query's result, without running it."""
        ...

    def close(self) -> None: ...


def first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
