"""PostgreSQL, read-only by the role that connects.

A session can reset `default_transaction_read_only` and `statement_timeout`; only the role is a real barrier. Connect
with a role that may only SELECT, and revoke from PUBLIC the functions that create large objects (`lo_create`,
`lo_creat`, `lo_from_bytea`), which every role may call by default.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import ibis
import ibis.expr.operations as ops
import ibis.expr.schema as sch
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.sql import SQLBackend
from ibis.common.exceptions import TableNotFound

from groundplan.errors import SourceError, ToolError, TransientError, UsageError
from groundplan.sources.tables.engine.arrow import from_rows
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.connection_pool import ConnectionPool
from groundplan.sources.tables.engine.credentials import cannot_open
from groundplan.sources.tables.engine.interface import Constraints, Query, constraints_from, first_line
from groundplan.sources.tables.engine.postgres_plan import Plan, rows_read
from groundplan.sources.tables.files.quoting import quoted

LONGEST_STATEMENT = 610  # seconds: a little more than the longest step of a plan
CONNECTIONS = 4
CONNECT_SECONDS = 10
CANCEL_SECONDS = 2.0  # for one cancel request; it is repeated
COLUMNS = """
    SELECT relname, attname, format_type(atttypid, NULL) FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
        AND relkind IN ('r', 'v', 'm', 'p', 'f') AND attnum > 0 AND NOT attisdropped
    ORDER BY relname, attnum
"""
KEYS = """
    SELECT own.relname,
        (SELECT array_agg(attname::text ORDER BY place) FROM unnest(indkey) WITH ORDINALITY AS key(number, place)
            JOIN pg_attribute ON attrelid = indrelid AND attnum = number WHERE place <= indnkeyatts),
        NULL, NULL
    FROM pg_index JOIN pg_class own ON own.oid = indrelid
    WHERE own.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
        AND indisunique AND indisvalid AND indimmediate AND indpred IS NULL AND indexprs IS NULL
        AND (SELECT bool_and(attnotnull) FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY (indkey))
    ORDER BY own.relname, indisprimary DESC, indexrelid
"""
FOREIGN = """
    SELECT own.relname,
        (SELECT array_agg(attname::text ORDER BY place) FROM unnest(conkey) WITH ORDINALITY AS key(number, place)
            JOIN pg_attribute ON attrelid = conrelid AND attnum = number),
        other.relname,
        (SELECT array_agg(attname::text ORDER BY place) FROM unnest(confkey) WITH ORDINALITY AS key(number, place)
            JOIN pg_attribute ON attrelid = confrelid AND attnum = number)
    FROM pg_constraint
    JOIN pg_class own ON own.oid = conrelid
    JOIN pg_class other ON other.oid = confrelid
    WHERE connamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
        AND contype = 'f' AND convalidated AND other.relnamespace = connamespace
    ORDER BY own.relname, conname
"""
SESSION_OPTIONS = (
    "-c default_transaction_read_only=on -c standard_conforming_strings=on -c TimeZone=UTC "
    f"-c statement_timeout={LONGEST_STATEMENT}s"
)


def open_postgres(url: str) -> Postgres:
    """From `postgresql://user@host/database` or `postgresql://user@host/database/schema`."""
    try:
        import psycopg
        from ibis.backends.postgres import Backend
    except ImportError as error:
        raise UsageError("Postgres needs a driver: pip install 'groundplan[postgres]'") from error

    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise cannot_open(url, error) from None
    database, _, schema = parts.path.lstrip("/").partition("/")
    plain = urlunsplit(parts._replace(path=f"/{database}"))
    try:
        connection = psycopg.connect(plain, options=SESSION_OPTIONS, autocommit=True)
        if schema:
            connection.execute("SELECT set_config('search_path', %s, false)", (schema,))
            if connection.execute("SELECT current_schema()").fetchone() == (None,):
                connection.close()
                raise SourceError(f"there is no schema {schema!r}, or the role may not use it")
        return Postgres(Backend.from_connection(connection), private=True)
    except psycopg.Error as error:
        raise cannot_open(url, error) from None  # the original error may quote the password


class Postgres:
    """A few connections, each with one SELECT at a time, all with the role of the first."""

    loaded = False

    def __init__(self, backend: SQLBackend, private: bool) -> None:
        self.backend = backend
        self._private = private
        self._path = backend.con.execute("SHOW search_path").fetchone()[0]
        info = backend.con.info
        given = {"options": SESSION_OPTIONS, "connect_timeout": CONNECT_SECONDS, **info.get_parameters()}
        self._given = {**given, "password": info.password}
        self._pool: ConnectionPool[SQLBackend] = ConnectionPool(self._connect, CONNECTIONS, _is_clean)

    def run(self, query: Query, scope: CancelScope) -> pa.Table:
        with self._lent(scope) as lent:
            rows = lent.con.execute(query.sql).fetchall()
        return from_rows(query.table.schema(), rows)

    def table(self, name: str, scope: CancelScope) -> ir.Table:
        try:
            with self._lent(scope) as lent:
                schema = lent.table(name).schema()
        except TableNotFound as error:
            raise SourceError(f"the table {name!r} cannot be read: Postgres does not find it") from error
        return ops.DatabaseTable(name, schema=schema, source=self.backend).to_expr()

    def schema(self, sql: str, scope: CancelScope) -> sch.Schema:
        """Ibis would create a temporary view for this, which a read-only session cannot."""
        words = (
            "SELECT array_agg(format_type(code, NULL) ORDER BY place) "
            "FROM unnest(%s::oid[]) WITH ORDINALITY AS given(code, place)"
        )
        with self._lent(scope) as lent:
            shape = lent.con.execute(f"SELECT * FROM ({sql}) AS shape LIMIT 0").description  # noqa: S608 - it passed the gate
            types = lent.con.execute(words, ([column.type_code for column in shape],)).fetchone()[0]
        mapper = self.backend.compiler.type_mapper
        return ibis.schema({column.name: mapper.from_string(type_) for column, type_ in zip(shape, types, strict=True)})

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
            return constraints_from(row for query in (KEYS, FOREIGN) for row in lent.con.execute(query).fetchall())

    def estimate(self, sql: str, scope: CancelScope) -> int | None:
        with self._lent(scope) as lent:

            def plan_of(query: str) -> Plan:
                plan: Plan = lent.con.execute(f"EXPLAIN (VERBOSE, FORMAT JSON) {query}").fetchone()[0][0]["Plan"]
                return plan

            return round(rows_read(plan_of(sql), plan_of))

    def spread(self, table: str, columns: Sequence[str], about: int, rows: int) -> Sequence[str]:
        percent = min(100 * rows / max(about, 1), 100.0)
        listed = ", ".join(map(quoted, columns))
        sampled = f"TABLESAMPLE SYSTEM ({percent}) REPEATABLE (1)"  # the same rows each time: questions are read alike
        return [f"SELECT {listed} FROM {quoted(table)} {sampled} LIMIT {rows}"]  # noqa: S608 - quoted

    def close(self) -> None:
        for lent in self._pool.idle:
            lent.con.close()
        if self._private:
            self.backend.disconnect()

    @contextmanager
    def _lent(self, scope: CancelScope) -> Iterator[SQLBackend]:
        """A backend on a connection from the pool; its queries are cancelled when the scope ends."""
        import psycopg

        with self._pool.lend(scope) as lent:
            cancelled: list[bool] = []

            def stop() -> None:
                cancelled.append(True)
                with suppress(psycopg.Error):  # the request is repeated; if the server is gone, so is the query
                    lent.con.cancel_safe(timeout=CANCEL_SECONDS)

            try:
                with scope.watch(stop):
                    yield lent
            except psycopg.Error as error:
                scope.check()
                raise _failure(error, scope) from error
            finally:
                if cancelled:
                    _settle(lent.con)

    def _connect(self) -> SQLBackend:
        import psycopg

        try:
            connection = psycopg.connect(**self._given, autocommit=True)
            connection.execute("SELECT set_config('search_path', %s, false)", (self._path,))
            return type(self.backend).from_connection(connection)
        except psycopg.OperationalError as error:
            raise TransientError(f"Postgres refuses another connection: {first_line(error)}") from error


def _settle(connection: Any) -> None:
    """Makes a late cancel request hit this round trip, not the next query."""
    import psycopg

    try:
        with suppress(psycopg.errors.QueryCanceled):
            connection.execute("SELECT 1")
        connection.execute("SELECT 1")
    except psycopg.Error:
        connection.close()


def _is_clean(lent: SQLBackend) -> bool:
    from psycopg.pq import TransactionStatus

    if lent.con.closed:
        return False
    if lent.con.info.transaction_status == TransactionStatus.IDLE:
        return True
    lent.con.close()
    return False


def _failure(error: Any, scope: CancelScope) -> Exception:
    import psycopg

    if isinstance(error, psycopg.errors.QueryCanceled):
        return scope.too_late()
    transient = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | transient[0] | transient[1]):
        return TransientError(f"Postgres: {first_line(error)}")
    if isinstance(error, psycopg.DataError):
        return ToolError("Postgres: a value does not fit the operation; check the column's type and values")
    return ToolError(f"Postgres: {first_line(error)}")
