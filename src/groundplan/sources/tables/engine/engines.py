"""Everything that differs between engines: opening, running with a deadline, cancelling, and their errors.

Read-only holds by the engine itself. DuckDB: the file is opened read-only, without file access, and the
configuration is locked. Postgres: `default_transaction_read_only` and `statement_timeout` are belts that a
session can take off; what holds is the role, so connect as one that may only SELECT, and take from PUBLIC the
functions that make large objects (`lo_create`, `lo_creat`, `lo_from_bytea`), which every role has otherwise. Any
other Ibis backend is as safe as the connection that was handed over.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import duckdb
import ibis
import ibis.common.exceptions
import ibis.expr.schema as sch
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.duckdb import Backend as DuckDBBackend
from ibis.backends.sql import SQLBackend

from groundplan.errors import DeadlineExceeded, SourceError, ToolError, TransientError, UsageError
from groundplan.settings import cache_folder
from groundplan.sources.tables.engine.arrow import from_rows

LONGEST_STATEMENT = 610  # seconds: a little more than a plan may give one step
CONNECTIONS = 4
SCHEMA_SECONDS = 30.0
BELTS = (
    "-c default_transaction_read_only=on -c standard_conforming_strings=on -c TimeZone=UTC "
    f"-c statement_timeout={LONGEST_STATEMENT}s"
)


@dataclass(frozen=True)
class Query:
    """An expression and the SQL it compiled to, which has passed the second gate."""

    table: ir.Table
    sql: str


class Engine(Protocol):
    backend: SQLBackend

    def run(self, query: Query, seconds: float) -> pa.Table:
        """The rows; past the deadline the work is cancelled and DeadlineExceeded raised."""
        ...

    def table(self, name: str) -> ir.Table: ...

    def schema(self, sql: str) -> sch.Schema:
        """The columns that a query gives, without running it."""
        ...

    def close(self) -> None: ...


CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
}


def open_scratch() -> Scratch:
    """An empty database in memory, for rows that other sources hand over; it can reach no file."""
    connection = duckdb.connect(":memory:", config=CLOSED)
    _lock(connection)
    return Scratch(_LockedBackend.from_connection(connection), private=True)


def open_duckdb(path: Path, folder: TemporaryDirectory[str] | None = None) -> Engine:
    """A database file that nothing can write to and that can reach no other file."""
    spill = {"temp_directory": str(cache_folder() / "spill" / str(os.getpid()))}
    try:
        connection = duckdb.connect(str(path), read_only=True, config=CLOSED | spill)
    except duckdb.Error as error:
        raise SourceError(
            f"{path}: cannot be opened read-only: {error}; if this process already has it open, hand over "
            "that connection: Tables.open(ibis.duckdb.from_connection(connection))"
        ) from error
    _lock(connection)
    return DuckDB(_LockedBackend.from_connection(connection), private=True, folder=folder)


def open_url(url: str) -> Engine:
    if urlsplit(url).scheme in ("postgres", "postgresql"):
        return _open_postgres(url)
    try:
        return open_backend(ibis.connect(url), private=True)
    except (ibis.common.exceptions.IbisError, ValueError, ImportError, OSError) as error:
        raise SourceError(f"{_without_password(url)}: cannot be opened: {error}") from error


def open_backend(backend: object, private: bool = False) -> Engine:
    """An engine on a connection that the caller made, answers for and closes."""
    if not isinstance(backend, SQLBackend):
        raise UsageError(f"{type(backend).__name__} is not an SQL backend of Ibis; hand over one that is")
    match backend.name:
        case "duckdb":
            return DuckDB(backend, private)
        case "postgres":
            return Postgres(backend, private)
        case _:
            return AnyBackend(backend, private)


class DuckDB:
    """A private database gives each query a cursor of its own, so that steps run side by side."""

    def __init__(self, backend: SQLBackend, private: bool, folder: TemporaryDirectory[str] | None = None) -> None:
        self.backend = backend
        self._private = private
        self._folder = folder
        self._one_at_a_time = threading.Lock()

    def run(self, query: Query, seconds: float) -> pa.Table:
        if self._private:
            with self.backend.con.cursor() as cursor:
                return self._run_on(cursor, query.sql, seconds)
        # temporary tables and views of someone else's connection are seen by that connection alone
        with self._one_at_a_time:
            return self._run_on(self.backend.con, query.sql, seconds)

    def table(self, name: str) -> ir.Table:
        try:
            return self.backend.table(name)
        except duckdb.Error as error:
            raise SourceError(f"the table {name!r} cannot be read: {_first_line(error)}") from error

    def schema(self, sql: str) -> sch.Schema:
        try:
            return self.backend.sql(sql).schema()
        except duckdb.Error as error:
            raise _duckdb_failure(error, late=False, seconds=0) from error

    def close(self) -> None:
        if self._private:
            self.backend.disconnect()
        if self._folder is not None:
            self._folder.cleanup()

    def _run_on(self, connection: duckdb.DuckDBPyConnection, sql: str, seconds: float) -> pa.Table:
        with _cancelled_after(seconds, connection.interrupt) as late:
            try:
                return connection.execute(sql).to_arrow_table()
            except duckdb.Error as error:
                raise _duckdb_failure(error, late.is_set(), seconds) from error


class Scratch(DuckDB):
    """The one engine that takes rows in."""

    def take(self, name: str, rows: pa.Table) -> None:
        with self._one_at_a_time:
            self.backend.con.register("incoming", rows)
            self.backend.con.execute(f'CREATE TABLE "{name}" AS SELECT * FROM incoming')  # noqa: S608 - our own name
            self.backend.con.unregister("incoming")

    def drop(self, name: str) -> None:
        with self._one_at_a_time:
            self.backend.con.execute(f'DROP TABLE "{name}"')


class Postgres:
    """A few connections, each with one SELECT at a time, in the role that opened the first."""

    def __init__(self, backend: SQLBackend, private: bool) -> None:
        self.backend = backend
        self._private = private
        self._path = backend.con.execute("SHOW search_path").fetchone()[0]
        info = backend.con.info
        self._given = {"options": BELTS, **info.get_parameters(), "password": info.password}
        self._idle: list[Any] = []
        self._slots = threading.BoundedSemaphore(CONNECTIONS)
        self._guard = threading.Lock()

    def run(self, query: Query, seconds: float) -> pa.Table:
        rows = self._rows(query.sql, seconds)
        return from_rows(query.table.schema(), rows)

    def table(self, name: str) -> ir.Table:
        import psycopg

        try:
            with self._guard:
                return self.backend.table(name)
        except psycopg.Error as error:
            raise _postgres_failure(error, late=False, seconds=0) from error

    def schema(self, sql: str) -> sch.Schema:
        """Ibis would make a temporary view to find out, which a read-only session may not."""
        described = self._described(f"SELECT * FROM ({sql}) AS shape LIMIT 0")  # noqa: S608 - it passed the gate
        shape = [(column.name, column.type_code) for column in described]
        words = (
            "SELECT array_agg(format_type(code, NULL) ORDER BY place) "
            "FROM unnest(%s::oid[]) WITH ORDINALITY AS given(code, place)"
        )
        with self._connection(SCHEMA_SECONDS) as connection:
            named = connection.execute(words, ([code for _, code in shape],)).fetchone()[0]
        mapper = self.backend.compiler.type_mapper
        return ibis.schema({name: mapper.from_string(word) for (name, _), word in zip(shape, named, strict=True)})

    def close(self) -> None:
        for connection in self._idle:
            connection.close()
        if self._private:
            self.backend.disconnect()

    def _described(self, sql: str) -> Sequence[Any]:
        import psycopg

        try:
            with self._connection(SCHEMA_SECONDS) as connection:
                found: Sequence[Any] = connection.execute(sql).description
                return found
        except psycopg.Error as error:
            raise _postgres_failure(error, late=False, seconds=0) from error

    def _rows(self, sql: str, seconds: float) -> Sequence[Sequence[Any]]:
        import psycopg

        with (
            self._connection(seconds) as connection,
            _cancelled_after(seconds, connection.cancel_safe) as late,
        ):
            try:
                found: Sequence[Sequence[Any]] = connection.execute(sql).fetchall()
            except psycopg.Error as error:
                raise _postgres_failure(error, late.is_set(), seconds) from error
            return found

    @contextmanager
    def _connection(self, seconds: float) -> Iterator[Any]:
        if not self._slots.acquire(timeout=max(seconds, 0)):
            raise _too_late(seconds)
        try:
            with self._guard:
                connection = self._idle.pop() if self._idle else None
            connection = connection or self._connect()
            try:
                yield connection
            finally:
                if not connection.closed:
                    self._idle.append(connection)
        finally:
            self._slots.release()

    def _connect(self) -> Any:
        import psycopg

        try:
            connection = psycopg.connect(**self._given, autocommit=True)
        except psycopg.OperationalError as error:
            raise TransientError(f"Postgres gives no further connection: {_first_line(error)}") from error
        connection.execute("SELECT set_config('search_path', %s, false)", (self._path,))
        return connection


class AnyBackend:
    """Whatever else Ibis reaches. It cannot be told to stop: past the deadline its answer is left behind."""

    def __init__(self, backend: SQLBackend, private: bool) -> None:
        self.backend = backend
        self._private = private
        self._one_at_a_time = threading.Lock()

    def run(self, query: Query, seconds: float) -> pa.Table:
        outcome: list[pa.Table | Exception] = []

        def work() -> None:
            try:
                with self._one_at_a_time:
                    outcome.append(query.table.to_pyarrow())
            except Exception as error:  # noqa: BLE001 - raised again below, in the caller's thread
                outcome.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(max(seconds, 0))
        if not outcome:
            raise _too_late(seconds)
        if isinstance(outcome[0], Exception):
            raise ToolError(f"{self.backend.name} could not run the query: {outcome[0]}") from outcome[0]
        return outcome[0]

    def table(self, name: str) -> ir.Table:
        return self.backend.table(name)

    def schema(self, sql: str) -> sch.Schema:
        return self.backend.sql(sql).schema()

    def close(self) -> None:
        if self._private:
            self.backend.disconnect()


class _LockedBackend(DuckDBBackend):  # type: ignore[misc]
    """Ibis sets options on every connection, which a database locked by an earlier opening refuses."""

    def _post_connect(self, extensions: Sequence[str] | None = None) -> None:
        self._record_batch_readers_consumed: dict[str, object] = {}


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    # connections of one process to one file share their configuration, so it may be locked already
    if connection.execute("SELECT current_setting('lock_configuration')").fetchone() == (False,):
        connection.execute("SET GLOBAL TimeZone = 'UTC'")
        connection.execute("SET lock_configuration = true")


def _open_postgres(url: str) -> Engine:
    try:
        import psycopg
        from ibis.backends.postgres import Backend
    except ImportError as error:
        raise UsageError("Postgres needs a driver: pip install 'groundplan[postgres]'") from error

    parts = urlsplit(url)
    database, _, schema = parts.path.lstrip("/").partition("/")
    plain = urlunsplit(parts._replace(path=f"/{database}"))
    try:
        connection = psycopg.connect(plain, options=BELTS, autocommit=True)
        if schema:
            connection.execute("SELECT set_config('search_path', %s, false)", (schema,))
        return Postgres(Backend.from_connection(connection), private=True)
    except psycopg.Error as error:
        raise SourceError(f"{_without_password(url)}: cannot be opened: {str(error).strip()}") from error


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


@contextmanager
def _cancelled_after(seconds: float, cancel: Callable[[], object]) -> Iterator[threading.Event]:
    """Asks again until the work has stopped: a request that comes before the work began is lost."""
    done, late = threading.Event(), threading.Event()

    def watch() -> None:
        if done.wait(max(seconds, 0)):
            return
        late.set()
        cancel()
        while not done.wait(0.1):
            cancel()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield late
    finally:
        done.set()
        watcher.join()  # so that no late request hits the connection's next query


def _too_late(seconds: float) -> DeadlineExceeded:
    return DeadlineExceeded(f"the query was cancelled after {seconds:.1f} s; narrow it or allow more time")


# these quote the cell that did not fit, and a message may travel back to a planner, which sees no rows
_QUOTES_DATA = (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException)


def _duckdb_failure(error: duckdb.Error, late: bool, seconds: float) -> Exception:
    if late:
        return _too_late(seconds)
    if isinstance(error, duckdb.OutOfMemoryException):
        return ToolError("DuckDB ran out of memory; filter or aggregate first")
    if isinstance(error, duckdb.IOException):
        return TransientError(f"DuckDB: {_first_line(error)}")
    if isinstance(error, _QUOTES_DATA):
        return ToolError("DuckDB: a value does not fit the operation; check the column's type and values")
    return ToolError(f"DuckDB: {_first_line(error)}")


def _postgres_failure(error: Any, late: bool, seconds: float) -> Exception:
    import psycopg

    if late or isinstance(error, psycopg.errors.QueryCanceled):
        return _too_late(seconds)
    passing = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | passing[0] | passing[1]):
        return TransientError(f"Postgres: {_first_line(error)}")
    if isinstance(error, psycopg.DataError):
        return ToolError("Postgres: a value does not fit the operation; check the column's type and values")
    return ToolError(f"Postgres: {_first_line(error)}")


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
