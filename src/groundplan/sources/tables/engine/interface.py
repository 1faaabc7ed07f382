"""The interface of engines: run an approved query, describe tables and queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import ibis.expr.schema as sch
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.sql import SQLBackend

from groundplan.contracts.relationship import Relationship
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.files.quoting import quoted

PLACES = 10  # of a table from which rows are taken


@dataclass(frozen=True)
class Query:
    """An expression and its compiled SQL, which has passed the second gate."""

    table: ir.Table
    sql: str


@dataclass(frozen=True)
class Constraints:
    """What the database enforces: keys by table, and foreign keys; and the foreign keys that it only declares."""

    keys: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    foreign: tuple[Relationship, ...] = ()
    declared: tuple[Relationship, ...] = ()


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
    loaded: bool  # its tables were made of files, all of whose rows have been read already

    def run(self, query: Query, scope: CancelScope) -> pa.Table: ...

    def table(self, name: str, scope: CancelScope) -> ir.Table: ...

    def schema(self, sql: str, scope: CancelScope) -> sch.Schema:
        """The columns of a query's result, without running it."""
        ...

    def constraints(self, scope: CancelScope) -> Constraints: ...

    def columns(self, scope: CancelScope) -> list[tuple[str, str, str]]:
        """Table, column and type of all columns, in order, by one query; empty where an engine cannot tell."""
        ...

    def first_rows(self, queries: Iterable[str], scope: CancelScope) -> Iterator[list[tuple[object, ...]]]:
        """The rows of approved queries as they are, on one connection; nothing where an engine cannot tell."""
        ...

    def estimate(self, sql: str, scope: CancelScope) -> int | None:
        """The rows that the engine expects to read for an approved query, which is not run; None: it cannot tell."""
        ...

    def spread(self, table: str, columns: Sequence[str], about: int, rows: int) -> Sequence[str]:
        """Queries that together give so many rows from all over a table of about so many, without reading it whole.

        Nothing where an engine has no places. They run one after the other: a union of them can hang DuckDB for good.
        """
        ...

    def close(self) -> None: ...


def windows(table: str, columns: Sequence[str], starts: Sequence[str], rows: int) -> list[str]:
    """Queries for runs of rows, each from another place; the table has row numbers."""
    listed, each = ", ".join(map(quoted, columns)), rows // len(starts)
    return [f"SELECT {listed} FROM {quoted(table)} WHERE rowid >= {start} LIMIT {each}" for start in starts]  # noqa: S608


def first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
