"""The interface of engines: run an approved query, describe tables and queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import ibis.expr.schema as sch
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.sql import SQLBackend

from groundplan.contracts.relationship import Relationship
from groundplan.sources.tables.engine.cancel_scope import CancelScope


@dataclass(frozen=True)
class Query:
    """An expression and its compiled SQL, which has passed the second gate."""

    table: ir.Table
    sql: str


@dataclass(frozen=True)
class Constraints:
    """What the database enforces: keys by table, and foreign keys."""

    keys: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    foreign: tuple[Relationship, ...] = ()


def constraints_from(rows: Iterable[tuple[str, Sequence[str], str | None, Sequence[str] | None]]) -> Constraints:
    """From rows of table, columns, referenced table and referenced columns; a key references nothing."""
    keys: dict[str, tuple[tuple[str, ...], ...]] = {}
    foreign: list[Relationship] = []
    for table, columns, to_table, to_columns in rows:
        if to_table is None:
            keys[table] = (*keys.get(table, ()), tuple(columns))
        else:
            link = {"table": table, "columns": columns, "to_table": to_table, "to_columns": to_columns}
            foreign.append(Relationship.model_validate({**link, "known": "proven"}))
    return Constraints(keys, tuple(foreign))


class Engine(Protocol):
    """Thread-safe. When the scope ends, the query is stopped and an error is raised."""

    backend: SQLBackend

    def run(self, query: Query, scope: CancelScope) -> pa.Table: ...

    def table(self, name: str, scope: CancelScope) -> ir.Table: ...

    def schema(self, sql: str, scope: CancelScope) -> sch.Schema:
        """The columns of a query's result, without running it."""
        ...

    def constraints(self, scope: CancelScope) -> Constraints: ...

    def columns(self, scope: CancelScope) -> list[tuple[str, str, str]]:
        """Table, column and type of all columns, in order, by one query; empty where an engine cannot tell."""
        ...

    def first_rows(self, sql: str, scope: CancelScope) -> list[tuple[object, ...]]:
        """The rows of an approved query as they are, without Arrow; empty where an engine cannot tell."""
        ...

    def close(self) -> None: ...


def first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
