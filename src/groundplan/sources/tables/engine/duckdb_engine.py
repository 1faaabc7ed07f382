"""DuckDB. Files are opened read-only, without access to other files, and the configuration is locked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

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
from groundplan.sources.tables.engine.duckdb_limits import connect
from groundplan.sources.tables.engine.duckdb_plan import rows_read
from groundplan.sources.tables.engine.interface import PLACES, Constraints, Query, constraints_from, first_line, windows
from groundplan.sources.tables.files.notes import read_notes, write_notes
from groundplan.sources.tables.files.quoting import literal, quoted

CURSORS = 8  # queries that run concurrently
COLUMNS = """
    SELECT table_name, column_name, data_type FROM duckdb_columns()
    WHERE database_name = current_database() AND schema_name = current_schema()
    ORDER BY table_name, column_index
"""
CONSTRAINTS = """
    SELECT table_name, constraint_column_names, referenced_table, referenced_column_names FROM duckdb_constraints()
    WHERE database_name NOT IN ('system', 'temp') AND schema_name = current_schema()
    AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')
    ORDER BY table_name, constraint_index
"""
SIZES = """
    SELECT concat_ws('.', database_name, schema_name, table_name), estimated_size FROM duckdb_tables()
    WHERE NOT internal
"""
NO_VIEWS: Mapping[str, str] = MappingProxyType({})
CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
}


@dataclass(frozen=True)
class AttachedFile:
    """A database file, and other names for its tables."""

    path: Path
    names: Mapping[str, str] = field(default_factory=dict)
    loaded: bool = True  # by us, from other files


def open_scratch(files: Sequence[AttachedFile] = ()) -> Scratch:
    """A database in memory for rows of other sources, with the tables of these files; without access to other files."""
    return Scratch(LockedBackend.from_connection(attached(files)), private=True, loaded=True)


def open_together(files: Sequence[AttachedFile]) -> DuckDB:
    """The tables of several database files, read-only and without access to other files."""
    loaded = all(file.loaded for file in files)
    return DuckDB(LockedBackend.from_connection(attached(files)), private=True, loaded=loaded)


def open_loaded(path: Path, folder: TemporaryDirectory[str] | None = None) -> DuckDB:
    """A database file that groundplan wrote, opened like others."""
    return DuckDB(LockedBackend.from_connection(_opened(path)), private=True, folder=folder, loaded=True)


def open_duckdb(path: Path) -> DuckDB:
    """A database file, opened read-only and without access to other files."""
    connection = _opened(path)
    _refuse_redefined(connection, path)
    return DuckDB(LockedBackend.from_connection(connection), private=True)


def _opened(path: Path) -> duckdb.DuckDBPyConnection:
    try:
        connection = connect(str(path), CLOSED, read_only=True)
    except duckdb.Error as error:
        raise SourceError(
            f"{path}: cannot be opened read-only: {error}; if this process already has it open, pass "
            "that connection: Tables.open(ibis.duckdb.from_connection(connection))"
        ) from error
    _lock(connection)
    return connection


class DuckDB:
    """Two threads must not use a connection at once, not even to describe a table.

    In a private database, each query gets a cursor. A caller's connection is used directly, by one query at a time:
    only that connection sees its temporary tables and views.
    """

    def __init__(
        self,
        backend: SQLBackend,
        private: bool,
        folder: TemporaryDirectory[str] | None = None,
        *,
        loaded: bool = False,
    ) -> None:
        self.backend = backend
        self.loaded = loaded
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

    def first_rows(self, queries: Iterable[str], scope: CancelScope) -> Iterator[list[tuple[object, ...]]]:
        with self._lent(scope) as lent:
            for sql in queries:
                yield lent.con.execute(sql).fetchall()

    def constraints(self, scope: CancelScope) -> Constraints:
        with self._lent(scope) as lent:
            return constraints_from(lent.con.execute(CONSTRAINTS).fetchall())

    def estimate(self, sql: str, scope: CancelScope) -> int | None:
        with self._lent(scope) as lent:
            (_, plan), *_ = lent.con.execute(f"EXPLAIN (FORMAT JSON) {sql}").fetchall()
            sizes = dict(lent.con.execute(SIZES).fetchall())
        return sum(rows_read(node, sizes) for node in json.loads(plan))

    def spread(self, table: str, columns: Sequence[str], about: int, rows: int) -> Sequence[str]:
        return windows(table, columns, [str(about * place // PLACES) for place in range(PLACES)], rows)

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


def attached(
    files: Sequence[AttachedFile], views: Mapping[str, str] = NO_VIEWS, readable: Sequence[str] = ()
) -> duckdb.DuckDBPyConnection:
    """A database in memory with a view on each table of the files. No other connection of this process sees it.

    Apart from them, `views` by their names: they may read the files with these paths, and no others.
    """
    connection = connect(":memory:", {**CLOSED, "enable_external_access": "true"})
    try:
        for place, file in enumerate(files):
            try:
                connection.execute(f"ATTACH {literal(str(file.path))} AS attached_{place} (READ_ONLY)")
            except duckdb.Error as error:
                raise SourceError(f"{file.path}: cannot be opened read-only: {first_line(error)}") from error
            _refuse_redefined(connection, file.path)
            _add_views(connection, f"attached_{place}", file.names)
        for name, query in views.items():
            connection.execute(f"CREATE VIEW {quoted(_unused(connection, name))} AS {query}")
        if readable:
            connection.execute(f"SET allowed_paths = {literal(readable)}")
        connection.execute("SET enable_external_access = false")
        _lock(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _add_views(connection: duckdb.DuckDBPyConnection, database: str, names: Mapping[str, str]) -> None:
    here = f"database_name = {literal(database)} AND schema_name = 'main'"
    found = connection.execute(
        f"SELECT table_name FROM duckdb_tables() WHERE {here} UNION ALL "  # noqa: S608 - our own names
        f"SELECT view_name FROM duckdb_views() WHERE {here} AND NOT internal"
    ).fetchall()
    views = {table: _unused(connection, names.get(table, table)) for (table,) in found}
    for table, name in views.items():
        try:
            connection.execute(f"CREATE VIEW {quoted(name)} AS FROM {database}.main.{quoted(table)}")
        except duckdb.Error as error:  # a view that no longer fits its tables: the table is listed with the reason
            why = literal(first_line(error))
            connection.execute(f"CREATE VIEW {quoted(name)} AS SELECT error({why}) AS unreadable")
    for table, notes in read_notes(connection, literal(database)).items():
        write_notes(connection, views[table], notes, "VIEW")


def _unused(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    """The name, with a number if a view has it. Upper and lower case are the same to DuckDB."""
    rows = connection.execute("SELECT lower(view_name) FROM duckdb_views() WHERE database_name = 'memory'").fetchall()
    found, number = name, 1
    while (found.lower(),) in rows:
        number += 1
        found = f"{name}_{number}"
    return found


def _refuse_redefined(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """A database file may hold a macro `sum` that our own queries would call."""
    macros = connection.execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE NOT internal").fetchall()
    if not macros:  # the list of functions is slow to make, so it is not made twice
        return
    found = connection.execute(
        "SELECT function_name FROM duckdb_functions() WHERE internal AND list_contains(?, function_name) ORDER BY 1",
        [[name for (name,) in macros]],
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
