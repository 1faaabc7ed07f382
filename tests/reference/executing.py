"""Runs a checked plan's steps on an engine as a source does, without the pipeline around them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import ibis

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.plan import Plan
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.engines import open_backend, open_url
from groundplan.sources.tables.engine.executing import Executor
from groundplan.sources.tables.engine.handle import Handle, arranged, ascending, handle_on, orderable
from groundplan.sources.tables.source import with_defaults
from groundplan.sources.tables.tools.registry import LAZY, QUERYING
from groundplan.sources.tables.tools.shape import add_overall, mark_found

COLUMNS = {
    "id": "BIGINT",
    "g": "TEXT",
    "h": "TEXT",
    "n": "BIGINT",
    "x": "DOUBLE PRECISION",
    "m": "DECIMAL(12, 2)",
    "f": "BOOLEAN",
    "d": "DATE",
    "d2": "DATE",
    "t": "TIMESTAMP",
    "z": "TIMESTAMPTZ",
}
KINDS = {"g": "text", "h": "text", "f": "boolean", "d": "time", "d2": "time", "t": "time", "z": "time"}
SCHEMA = SourceSchema(
    source="tables",
    engine="duckdb",
    tables=(
        Table(
            name="data",
            columns=tuple(
                Column(name=name, type="generated", kind=KINDS.get(name, "number"), role="dimension")
                for name in COLUMNS
            ),
        ),
    ),
)
MOST = 10_000


class Store:
    """One table, `data`, whose rows are replaced before each run."""

    def __init__(
        self,
        executor: Executor,
        connection: Any,
        place: str,
        columns: Mapping[str, str],
        stored: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self._executor, self._connection, self._place, self._columns = executor, connection, place, columns
        self._stored = stored
        self._start = handle_on(executor.engine.table("data", CancelScope()))

    def run(self, plan: Plan, catalog: Catalog, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows that the plan's last step shows."""
        self._fill(rows)
        found: dict[str, Handle] = {}
        last, hidden = self._start, frozenset[str]()
        for step in plan.steps:
            handle = found[step.needs[0]] if step.needs and "left" not in step.params else self._start
            params = with_defaults(catalog.tools[step.tool or ""], step.params)
            if step.tool == "add_overall":
                handle = add_overall(handle, found[step.needs[-1]], params)
            elif step.tool == "mark_found":
                right = self._start if "right" in step.params else found[step.needs[-1]]
                handle = mark_found(handle, right, params)
            elif step.tool in LAZY:
                handle = LAZY[step.tool](handle, params)
            elif step.tool in QUERYING:
                handle, _ = QUERYING[step.tool](handle, params, self._fetch)
            elif step.tool == "show_table":
                handle, hidden = _shown(handle, params), frozenset(params["hide"])
            found[step.id] = last = handle
        found_rows = self._fetch(arranged(last.table, last.order))
        return [{name: value for name, value in row.items() if name not in hidden} for row in found_rows]

    def _fill(self, rows: Sequence[dict[str, Any]]) -> None:
        self._connection.execute("DELETE FROM data")
        if rows:
            marks = ", ".join([f"({', '.join([self._place] * len(self._columns))})"] * len(rows))
            values = [self._stored(row[name]) for row in rows for name in self._columns]
            self._connection.execute(f"INSERT INTO data VALUES {marks}", values)

    def _fetch(self, table: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._executor.run(table, MOST, CancelScope()).table.to_pylist()
        return found


def _shown(handle: Handle, params: Mapping[str, Any]) -> Handle:
    given = [(name, params["descending"]) for name in params["order_by"]]
    given += [(one["by"], one["direction"] == "top") for one in params["then"]]
    named = {name for name, _ in given}
    order = (*given, *ascending(name for name in orderable(handle) if name not in named))
    order = order if params["order_by"] else handle.order
    return replace(handle, table=arranged(handle.table, order).limit(params["limit"]), order=order)


class SparkStore(Store):
    """A view on the rows: a session of Spark Connect keeps no table of its own."""

    def _fill(self, rows: Sequence[dict[str, Any]]) -> None:
        made = [tuple(self._stored(row[name]) for name in self._columns) for row in rows]
        self._connection.createDataFrame(made, _spark_types(self._columns)).createOrReplaceTempView("data")


def _spark_types(columns: Mapping[str, str]) -> str:
    types = {"TEXT": "STRING", "DOUBLE PRECISION": "DOUBLE", "TIMESTAMP": "TIMESTAMP_NTZ", "TIMESTAMPTZ": "TIMESTAMP"}
    return ", ".join(f"{name} {types.get(type_, type_)}" for name, type_ in columns.items())


@contextmanager
def spark_store(url: str) -> Iterator[Store]:
    engine = open_url(url)
    session = engine.backend._session
    session.createDataFrame([], _spark_types(COLUMNS)).createOrReplaceTempView("data")
    try:
        yield SparkStore(Executor(engine, ["data"]), session, "", COLUMNS)
    finally:
        engine.close()


def duckdb_store(columns: Mapping[str, str] = COLUMNS) -> Store:
    backend = ibis.duckdb.connect()
    backend.con.execute(_table(columns))
    return Store(Executor(open_backend(backend), ["data"]), backend.con, "?", columns)


@contextmanager
def sqlite_store(folder: Path) -> Iterator[Store]:
    connection = sqlite3.connect(folder / "reference.sqlite", isolation_level=None)
    types = {"BIGINT": "INTEGER", "DOUBLE PRECISION": "REAL", "TIMESTAMPTZ": "TIMESTAMP"}
    connection.execute(_table({name: types.get(type_, type_) for name, type_ in COLUMNS.items()}))
    engine = open_url(f"sqlite://{folder}/reference.sqlite")
    try:
        yield Store(Executor(engine, ["data"]), connection, "?", COLUMNS, _as_text)
    finally:
        engine.close()
        connection.close()


@contextmanager
def mysql_store(url: str) -> Iterator[Store]:
    """In a database with a binary collation: the definition compares texts letter by letter."""
    import MySQLdb

    parts = urlsplit(url)
    given = {"host": parts.hostname, "port": parts.port, "user": parts.username, "charset": "utf8mb4"}
    database = f"reference_{os.getpid()}"
    with closing(MySQLdb.connect(**given, autocommit=True)) as connection, closing(connection.cursor()) as cursor:
        cursor.execute("SET time_zone = '+00:00', sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')")
        cursor.execute(f"CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")
        cursor.execute(f"USE {database}")
        types = {"TIMESTAMP": "DATETIME(6)", "TIMESTAMPTZ": "DATETIME(6)"}
        cursor.execute(_table({name: types.get(type_, type_) for name, type_ in COLUMNS.items()}))
        engine = open_url(f"{url}/{database}")
        try:
            yield Store(Executor(engine, ["data"]), cursor, "%s", COLUMNS, _as_text)
        finally:
            engine.close()
            cursor.execute(f"DROP DATABASE {database}")


def _as_text(value: Any) -> Any:
    """Dates and moments as SQLite keeps them, in UTC; decimals as it keeps those, as doubles."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        return (value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value).isoformat(" ")
    return value.isoformat() if isinstance(value, date) else value


@contextmanager
def postgres_store(url: str) -> Iterator[Store]:
    import psycopg

    schema = f"reference_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"SET search_path = {schema}; SET TimeZone = 'America/New_York'")
        connection.execute(_table(COLUMNS))
        engine = open_url(f"{url}/{schema}")
        try:
            yield Store(Executor(engine, ["data"]), connection, "%s", COLUMNS)
        finally:
            engine.close()
            connection.execute(f"DROP SCHEMA {schema} CASCADE")


def _table(columns: Mapping[str, str]) -> str:
    listed = ", ".join(f'"{name}" {type_}' for name, type_ in columns.items())
    return f"CREATE TABLE data ({listed})"
