"""DuckDB. Files are opened read-only, without access to other files, and the configuration is locked."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import ibis.expr.operations as ops
import ibis.expr.schema as sch
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.duckdb import Backend
from ibis.backends.sql import SQLBackend
from ibis.common.exceptions import TableNotFound

from groundplan.errors import SourceError, ToolError, TransientError
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.connection_pool import ConnectionPool
from groundplan.sources.tables.engine.duckdb_limits import limits
from groundplan.sources.tables.engine.interface import Constraints, Query, constraints_from, first_line

CURSORS = 8  # queries that run concurrently
COLUMNS = """
    SELECT table_name, column_name, data_type FROM duckdb_columns()
    WHERE database_name = current_database() AND schema_name = current_schema()
    ORDER BY table_name, column_index
"""
CONSTRAINTS = """
    SELECT table_name, constraint_column_names, referenced_table, referenced_column_names FROM duckdb_constraints()
    WHERE database_name = current_database() AND schema_name = current_schema()
    AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')
    ORDER BY table_name, constraint_index
"""
CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
}


def open_scratch() -> Scratch:
    """An empty database in memory for rows of other sources, without access to files."""
    connection = duckdb.connect(":memory:", config=CLOSED | limits())
    _lock(connection)
    return Scratch(LockedBackend.from_connection(connection), private=True)


def open_duckdb(path: Path, folder: TemporaryDirectory[str] | None = None) -> DuckDB:
    """A database file, opened read-only and without access to other files."""
    try:
        connection = duckdb.connect(str(path), read_only=True, config=CLOSED | limits())
    except duckdb.Error as error:
        raise SourceError(
            f"{path}: cannot be opened read-only: {error}; if this process already has it open, pass "
            "that connection: Tables.open(ibis.duckdb.from_connection(connection))"
        ) from error
    _lock(connection)
    _refuse_redefined(connection, path)
    return DuckDB(LockedBackend.from_connection(connection), private=True, folder=folder)


class DuckDB:
    """Two threads must not use a connection at once, not even to describe a table.

    In a private database, each query gets a cursor. A caller's connection is used directly, by one query at a time:
    only that connection sees its temporary tables and views.
    """

    def __init__(self, backend: SQLBackend, private: bool, folder: TemporaryDirectory[str] | None = None) -> None:
        self.backend = backend
        self._private = private
        self._folder = folder
        self._shared = threading.Lock()  # held while `backend.con` itself is used
        self._pool: ConnectionPool[SQLBackend] = (
            ConnectionPool(self._cursor, CURSORS) if private else ConnectionPool(lambda: backend, 1)
        )

    def run(self, query: Query, scope: CancelScope) -> pa.Table:
        with self._lent(scope) as lent:
            return lent.con.execute(query.sql).to_arrow_table()

    def table(self, name: str, scope: CancelScope) -> ir.Table:
        try:
            with self._lent(scope) as lent:
                schema = lent.table(name).schema()
        except (ToolError, TransientError, TableNotFound) as error:
            why = str(error.__context__ or error).partition("\n")[0]  # ibis only repeats the name
            raise SourceError(f"the table {name!r} cannot be read: {why}") from error
        return ops.DatabaseTable(name, schema=schema, source=self.backend).to_expr()

    def schema(self, sql: str, scope: CancelScope) -> sch.Schema:
        with self._lent(scope) as lent:
            return lent.sql(sql).schema()

    def columns(self, scope: CancelScope) -> list[tuple[str, str, str]]:
        with self._lent(scope) as lent:
            found: list[tuple[str, str, str]] = lent.con.execute(COLUMNS).fetchall()
            return found

    def first_rows(self, sql: str, scope: CancelScope) -> list[tuple[object, ...]]:
        with self._lent(scope) as lent:
            rows: list[tuple[object, ...]] = lent.con.execute(sql).fetchall()
            return rows

    def constraints(self, scope: CancelScope) -> Constraints:
        with self._lent(scope) as lent:
            return constraints_from(lent.con.execute(CONSTRAINTS).fetchall())

    def close(self) -> None:
        if self._private:
            self.backend.disconnect()  # closes the cursors too
        if self._folder is not None:
            self._folder.cleanup()

    @contextmanager
    def _lent(self, scope: CancelScope) -> Iterator[SQLBackend]:
        """A backend on a connection from the pool; its queries are interrupted when the scope ends."""
        with self._pool.lend(scope) as lent, scope.watch(lent.con.interrupt):
            try:
                yield lent
            except duckdb.Error as error:
                scope.check()
                raise _failure(error) from error

    def _cursor(self) -> SQLBackend:
        with self._shared:
            return LockedBackend.from_connection(self.backend.con.cursor())


class Scratch(DuckDB):
    """The only engine that accepts rows from outside."""

    def take(self, name: str, rows: pa.Table) -> None:
        with self._shared:
            self.backend.con.register("incoming", rows)
            try:
                self.backend.con.execute(f'CREATE TABLE "{name}" AS SELECT * FROM incoming')  # noqa: S608 - our own name
            finally:
                self.backend.con.unregister("incoming")

    def drop(self, name: str) -> None:
        with self._shared:
            self.backend.con.execute(f'DROP TABLE "{name}"')


class LockedBackend(Backend):  # type: ignore[misc]
    """Skips the options that Ibis sets on every connection: a locked database refuses them."""

    def _post_connect(self, extensions: Sequence[str] | None = None) -> None:
        self._record_batch_readers_consumed: dict[str, object] = {}


def _refuse_redefined(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """A database file may hold a macro `sum` that our own queries would call."""
    found = connection.execute(
        "SELECT function_name FROM duckdb_functions() WHERE NOT internal AND function_name IN "
        "(SELECT function_name FROM duckdb_functions() WHERE internal) ORDER BY 1 LIMIT 1"
    ).fetchone()
    if found:
        connection.close()
        raise SourceError(f"{path}: redefines the function {found[0]!r}, so totals could be wrong; drop the macro")


_LOCKING = threading.Lock()


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    # connections of one process to one file share their configuration, so it may already be locked
    with _LOCKING:
        if connection.execute("SELECT current_setting('lock_configuration')").fetchone() == (False,):
            connection.execute("SET GLOBAL TimeZone = 'UTC'")
            connection.execute("SET lock_configuration = true")


# these errors quote a cell, and messages may reach a planner, which must not see rows
_QUOTES_DATA = (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException)


def _failure(error: duckdb.Error) -> Exception:
    if isinstance(error, duckdb.OutOfMemoryException):
        return ToolError("DuckDB ran out of memory; filter or aggregate first")
    if isinstance(error, duckdb.IOException):
        return TransientError(f"DuckDB: {first_line(error)}")
    if isinstance(error, _QUOTES_DATA):
        return ToolError("DuckDB: a value does not fit the operation; check the column's type and values")
    return ToolError(f"DuckDB: {first_line(error)}")
