"""Runs a checked plan's steps on an engine as a source does, without the pipeline around them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

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

    def __init__(self, executor: Executor, connection: Any, place: str, columns: Mapping[str, str]) -> None:
        self._executor, self._connection, self._place, self._columns = executor, connection, place, columns
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
            values = [row[name] for row in rows for name in self._columns]
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


def duckdb_store(columns: Mapping[str, str] = COLUMNS) -> Store:
    backend = ibis.duckdb.connect()
    backend.con.execute(_table(columns))
    return Store(Executor(open_backend(backend), ["data"]), backend.con, "?", columns)


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
