"""MySQL and MariaDB, in read-only transactions. As with Postgres, only the role that connects is a real barrier."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any
from urllib.parse import unquote, urlsplit

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

CONNECTIONS = 4
CONNECT_SECONDS = 10
LONGEST_STATEMENT = 610  # seconds: a little more than the longest step of a plan
SESSION = (
    "SET NAMES utf8mb4",
    "SET SESSION TRANSACTION READ ONLY",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_BACKSLASH_ESCAPES'",
)
LIMITS = (f"SET SESSION max_statement_time = {LONGEST_STATEMENT}", f"SET max_execution_time = {LONGEST_STATEMENT}000")
COLUMNS = """
    SELECT table_name, column_name, column_type FROM information_schema.columns WHERE table_schema = database()
    ORDER BY table_name, ordinal_position
"""
CONSTRAINTS = """
    SELECT table_name, constraint_name, column_name, referenced_table_name, referenced_column_name
    FROM information_schema.key_column_usage
    WHERE table_schema = database() AND (constraint_name = 'PRIMARY' OR referenced_table_schema = database())
    ORDER BY table_name, constraint_name, ordinal_position
"""
GONE = (2006, 2013, 2055)  # the server is gone, or the connection was lost
CONFLICTS = (1205, 1213)  # a lock that was not given in time, a deadlock
STOPPED = (1317, 1969, 3024)  # interrupted by KILL or by its time


def open_mysql(url: str) -> MySQL:
    """From `mysql://user@host/database`. The password may also be in the variable MYSQL_PWD."""
    try:
        import MySQLdb
    except ImportError as error:
        raise UsageError("MySQL and MariaDB need a driver: pip install 'groundplan[mysql]'") from error

    try:
        parts = urlsplit(url)
        given: dict[str, Any] = {
            "host": parts.hostname or "127.0.0.1",
            "port": parts.port or 3306,
            "user": unquote(parts.username or ""),
            "password": unquote(parts.password or "") or os.environ.get("MYSQL_PWD", ""),
            "database": unquote(parts.path.lstrip("/")),
        }
    except ValueError as error:
        raise cannot_open(url, error) from None
    if not given["database"]:
        raise UsageError("name the database: mysql://user@host/database")
    given["host"] = "127.0.0.1" if given["host"] == "localhost" else given["host"]

    def connect() -> Any:
        return MySQLdb.connect(**given, connect_timeout=CONNECT_SECONDS, local_infile=0, autocommit=True)

    try:
        return MySQL(connect)
    except MySQLdb.Error as error:
        raise cannot_open(url, error, given["password"]) from None


def open_mysql_backend(backend: SQLBackend) -> MySQL:
    """One query at a time on the caller's connection."""
    return MySQL(lambda: backend.con, private=False)


class MySQL:
    """A few connections, each with one SELECT at a time."""

    loaded = False

    def __init__(self, connect: Callable[[], Any], private: bool = True) -> None:
        self._connect_driver, self._private = connect, private
        self.backend = self._connect()
        self._pool: ConnectionPool[SQLBackend] = (
            ConnectionPool(self._connect, CONNECTIONS, _is_open) if private else ConnectionPool(lambda: self.backend, 1)
        )

    def run(self, query: Query, scope: CancelScope) -> pa.Table:
        return from_rows(query.table.schema(), self._rows(query.sql, scope))

    def table(self, name: str, scope: CancelScope) -> ir.Table:
        try:
            with self._lent(scope) as lent:
                schema = lent.get_schema(name)
        except TableNotFound as error:
            raise SourceError(f"the table {name!r} cannot be read: the server does not find it") from error
        return ops.DatabaseTable(name, schema=schema, source=self.backend).to_expr()

    def schema(self, sql: str, scope: CancelScope) -> sch.Schema:
        with self._lent(scope) as lent:
            return lent._get_schema_using_query(sql)

    def columns(self, scope: CancelScope) -> list[tuple[str, str, str]]:
        return [
            (table, column, "boolean" if type_ == "tinyint(1)" else type_)
            for table, column, type_ in self._rows(COLUMNS, scope)
        ]

    def first_rows(self, queries: Iterable[str], scope: CancelScope) -> Iterator[list[tuple[object, ...]]]:
        with self._lent(scope) as lent, closing(lent.con.cursor()) as cursor:
            for sql in queries:
                yield _fetched(cursor, sql)

    def constraints(self, scope: CancelScope) -> Constraints:
        found: dict[tuple[str, str, str | None], tuple[list[str], list[str]]] = {}
        for table, name, column, to_table, to_column in self._rows(CONSTRAINTS, scope):
            own, other = found.setdefault((table, name, to_table), ([], []))
            own.append(column)
            other.append(to_column)
        return constraints_from((table, own, to, other) for (table, _, to), (own, other) in found.items())

    def estimate(self, sql: str, scope: CancelScope) -> int | None:
        """For each SELECT, the rows of its first table, and of each next one as often as it is looked into."""
        with self._lent(scope) as lent, closing(lent.con.cursor()) as cursor:
            cursor.execute(f"EXPLAIN {sql}")
            names = [name.lower() for name, *_ in cursor.description]
            found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        read: dict[object, int] = {}
        for line in found:
            if line["rows"] is not None:
                read[line["id"]] = read.get(line["id"], 1) * max(int(line["rows"]), 1)
        return sum(read.values())

    def spread(self, table: str, columns: Sequence[str], about: int, rows: int) -> Sequence[str]:
        return ()

    def close(self) -> None:
        if self._private:
            for lent in (*self._pool.idle, self.backend):
                lent.con.close()

    def _rows(self, sql: str, scope: CancelScope) -> list[tuple[Any, ...]]:
        with self._lent(scope) as lent, closing(lent.con.cursor()) as cursor:
            return _fetched(cursor, sql)

    @contextmanager
    def _lent(self, scope: CancelScope) -> Iterator[SQLBackend]:
        """A backend on a connection from the pool; its query is killed when the scope ends."""
        import MySQLdb

        with self._pool.lend(scope) as lent:
            stopped: list[bool] = []
            number = lent.con.thread_id()

            def stop() -> None:
                stopped.append(True)
                with suppress(MySQLdb.Error):
                    self._kill(number)

            try:
                with scope.watch(stop):
                    yield lent
                if stopped:  # some functions end with a value when they are killed
                    scope.check()
            except MySQLdb.Error as error:
                scope.check()
                raise _failure(error, scope) from error
            finally:
                if stopped and self._private:
                    lent.con.close()  # a late KILL would hit its next query

    def _kill(self, thread: int) -> None:
        """Stops the query by another connection; one that the caller passed runs to its end."""
        if self._private:
            with closing(self._connect_driver()) as other, closing(other.cursor()) as cursor:
                cursor.execute(f"KILL QUERY {int(thread)}")

    def _connect(self) -> SQLBackend:
        import MySQLdb

        from groundplan.sources.tables.engine.mysql_dialect import MySQLBackend

        connection = self._connect_driver()
        if self._private:
            with closing(connection.cursor()) as cursor:
                for statement in SESSION:
                    cursor.execute(statement)
                for statement in LIMITS:  # MariaDB knows the first, MySQL the second
                    with suppress(MySQLdb.Error):
                        cursor.execute(statement)
        return MySQLBackend.from_connection(connection)


def _fetched(cursor: Any, sql: str) -> list[tuple[Any, ...]]:
    cursor.execute(sql)
    return list(cursor.fetchall())


def _is_open(lent: SQLBackend) -> bool:
    return bool(lent.con.open)


def _failure(error: Any, scope: CancelScope) -> Exception:
    code, *words = error.args or (0,)
    message = first_line(Exception(words[0] if words else error))
    if code in STOPPED:
        return scope.too_late()
    if code in (*GONE, *CONFLICTS):
        return TransientError(f"MySQL: {message}")
    return ToolError(f"MySQL: {message}")
