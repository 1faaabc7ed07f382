"""What an engine is: it runs one approved query, and describes tables and queries."""

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
    """An expression and the SQL it compiled to, which has passed the second gate."""

    table: ir.Table
    sql: str


class Engine(Protocol):
    """Any number of threads may call it at once. A scope that ends stops the query and raises."""

    backend: SQLBackend

    def run(self, query: Query, scope: CancelScope) -> pa.Table: ...

    def table(self, name: str, scope: CancelScope) -> ir.Table: ...

    def schema(self, sql: str, scope: CancelScope) -> sch.Schema:
        """The columns that a query gives, without running it."""
        ...

    def close(self) -> None: ...


def first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
