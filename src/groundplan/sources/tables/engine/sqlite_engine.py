"""SQLite files, opened read-only, without access to other files. Each query has a connection of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.operations as ops
import ibis.expr.schema as sch
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.sql import SQLBackend

from groundplan.errors import SourceError, ToolError, TransientError, UsageError
from groundplan.sources.tables.engine.arrow import from_rows
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.connection_pool import ConnectionPool
from groundplan.sources.tables.engine.interface import PLACES, Constraints, Query, constraints_from, first_line, windows
from groundplan.sources.tables.engine.sqlite_dialect import SQLiteBackend, stored_type
from groundplan.sources.tables.files.quoting import literal, quoted

CONNECTIONS = 4
WAIT = 5.0  # seconds for a lock that another program holds
SAMPLED = 10_000  # rows whose types are looked at
DAY, MOMENT = "????-??-??", "????-??-?? ??:??:??"
TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view') ORDER BY name"
COLUMNS = f"SELECT t.name, c.name, c.type FROM ({TABLES}) AS t, pragma_table_info(t.name) AS c ORDER BY t.name, c.cid"  # noqa: S608
KEYS = f"SELECT t.name, c.name FROM ({TABLES}) AS t, pragma_table_info(t.name) AS c WHERE c.pk ORDER BY t.name, c.pk"  # noqa: S608
FOREIGN = (
    f'SELECT t.name, f.id, f."from", f."table", f."to" '  # noqa: S608
    f"FROM ({TABLES}) AS t, pragma_foreign_key_list(t.name) AS f ORDER BY t.name, f.id, f.seq"
)


def open_sqlite(path: Path) -> SQLite:
    path = path.expanduser()
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")

    def connect() -> SQLBackend:
        try:
            return SQLiteBackend.from_connection(_connected(path))
        except sqlite3.Error as error:
            raise SourceError(f"{path}: cannot be opened read-only: {error}") from error

    return SQLite(connect)


def open_sqlite_backend(backend: SQLBackend) -> SQLite:
    """The file of this connection, or a connection in memory that other threads may use."""
    if (path := _file_of(backend)) is not None:
        return open_sqlite(path)
    shared = SQLiteBackend.from_connection(backend.con)
    return SQLite(lambda: shared, private=False)


class SQLite:
    """A few connections, each with one query at a time."""

    loaded = False

    def __init__(self, connect: Callable[[], SQLBackend], private: bool = True) -> None:
        self.backend = connect()
        self._private = private
        self._pool: ConnectionPool[SQLBackend] = (
            ConnectionPool(connect, CONNECTIONS) if private else ConnectionPool(lambda: self.backend, 1)
        )

    def run(self, query: Query, scope: CancelScope) -> pa.Table:
        rows = self._rows(query.sql, scope)
        try:
            return from_rows(query.table.schema(), rows)
        except (ValueError, TypeError, ArithmeticError, pa.ArrowException) as error:
            raise ToolError("SQLite: a value is not of the type of its column, and SQLite lets it") from error

    def table(self, name: str, scope: CancelScope) -> ir.Table:
        with self._lent(scope) as lent:
            try:
                declared = lent.get_schema(name)
            except ibis.common.exceptions.TableNotFound as error:
                raise SourceError(f"the table {name!r} cannot be read: SQLite does not find it") from error
            types = _stored(lent.con, quoted(name), declared)
        return ops.DatabaseTable(name, schema=types, source=self.backend).to_expr()

    def schema(self, sql: str, scope: CancelScope) -> sch.Schema:
        """By the values: SQLite knows no types of results."""
        with self._lent(scope) as lent:
            shape = lent.con.execute(f"SELECT * FROM ({sql}) LIMIT 0").description  # noqa: S608 - it passed the gate
            return _stored(lent.con, f"({sql})", ibis.schema({name: "timestamp" for name, *_ in shape}))

    def columns(self, scope: CancelScope) -> list[tuple[str, str, str]]:
        return [(table, column, type_ or "TEXT") for table, column, type_ in self._rows(COLUMNS, scope)]

    def first_rows(self, queries: Iterable[str], scope: CancelScope) -> Iterator[list[tuple[object, ...]]]:
        with self._lent(scope) as lent:
            for sql in queries:
                yield lent.con.execute(sql).fetchall()

    def constraints(self, scope: CancelScope) -> Constraints:
        keys: dict[str, list[str]] = {}
        for table, column in self._rows(KEYS, scope):
            keys.setdefault(table, []).append(column)
        links: dict[tuple[str, int, str], list[tuple[str, str]]] = {}
        for table, number, column, to_table, to_column in self._rows(FOREIGN, scope):
            ends = links.setdefault((table, number, to_table), [])
            ends.append((column, to_column or dict(enumerate(keys.get(to_table, []))).get(len(ends), "")))
        found = constraints_from(
            [
                *((table, columns, None, None) for table, columns in keys.items()),
                *(
                    (table, [own for own, _ in ends], to_table, [other for _, other in ends])
                    for (table, _, to_table), ends in links.items()
                    if all(other for _, other in ends)
                ),
            ]
        )
        return Constraints(keys=found.keys, declared=found.foreign)  # SQLite enforces no foreign keys unless told to

    def estimate(self, sql: str, scope: CancelScope) -> int | None:
        return None  # its plans have no numbers

    def spread(self, table: str, columns: Sequence[str], about: int, rows: int) -> Sequence[str]:
        last = f"(SELECT max(rowid) FROM {quoted(table)})"  # noqa: S608 - quoted
        return windows(table, columns, [f"{last} * {place} / {PLACES}" for place in range(PLACES)], rows)

    def close(self) -> None:
        if self._private:
            for lent in (*self._pool.idle, self.backend):
                lent.con.close()

    def _rows(self, sql: str, scope: CancelScope) -> list[tuple[Any, ...]]:
        with self._lent(scope) as lent:
            rows: list[tuple[Any, ...]] = lent.con.execute(sql).fetchall()
            return rows

    @contextmanager
    def _lent(self, scope: CancelScope) -> Iterator[SQLBackend]:
        """A backend on a connection from the pool; its queries are interrupted when the scope ends."""
        with self._pool.lend(scope) as lent, scope.watch(lent.con.interrupt):
            try:
                yield lent
            except sqlite3.Error as error:
                scope.check()
                raise _failure(error) from error


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=WAIT, check_same_thread=False, isolation_level=None
    )
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("SELECT name FROM sqlite_master LIMIT 1")
    connection.set_authorizer(_authorized)
    return connection


def _authorized(action: int, first: str | None, second: str | None, *_: object) -> int:
    is_outside = action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH) or second == "load_extension"
    return sqlite3.SQLITE_DENY if is_outside else sqlite3.SQLITE_OK


def _file_of(backend: SQLBackend) -> Path | None:
    """The file by what the connection was made with, or as it says itself; None for a database in memory."""
    given = [*backend._con_args, backend._con_kwargs.get("database")] if backend._can_reconnect else []
    named = next((one for one in given if one is not None), None)
    if named is not None and str(named) not in ("", ":memory:"):
        return Path(named)
    try:
        found = [file for _, name, file in backend.con.execute("PRAGMA database_list") if name == "main"]
    except sqlite3.ProgrammingError as error:
        raise UsageError(
            "this SQLite database in memory belongs to the thread that made it; make it with "
            "ibis.sqlite.from_connection(sqlite3.connect(':memory:', check_same_thread=False)), or save it to a file"
        ) from error
    return Path(found[0]) if found and found[0] else None


def _stored(connection: sqlite3.Connection, rows: str, declared: sch.Schema) -> sch.Schema:
    """The types of the columns by their first rows."""
    kinds = ("integer", "real", "text", "blob")
    asked = []
    for name in declared.names:
        column = quoted(name)
        asked += [f"max(typeof({column}) = {literal(kind)})" for kind in kinds]
        asked += [
            f"min({column} GLOB {literal(pattern)}) FILTER (WHERE typeof({column}) = 'text')"
            for pattern in (DAY, MOMENT)
        ]
    width = len(kinds) + 2
    found = connection.execute(f"SELECT {', '.join(asked)} FROM (SELECT * FROM {rows} LIMIT {SAMPLED})").fetchone()  # noqa: S608
    types = {}
    for place, (name, dtype) in enumerate(declared.items()):
        *holds, is_day, is_moment = found[place * width : (place + 1) * width]
        held = {kind for kind, has in zip(kinds, holds, strict=True) if has}
        types[name] = stored_type(dtype, held, "day" if is_day else "moment" if is_moment else "")
    return ibis.schema(types)


def _failure(error: sqlite3.Error) -> Exception:
    message = first_line(error)
    if "locked" in message or "busy" in message:
        return TransientError(f"SQLite: {message}")
    if "stack overflow" in message:
        return ToolError("SQLite: the conditions are nested more deeply than it can read; ask for less at once")
    if "overflow" in message:
        return ToolError("SQLite: a total is too large for a whole number")
    return ToolError(f"SQLite: {message}")
