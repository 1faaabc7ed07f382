"""Notes on what loading changed, kept with the loaded table as comments on its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb

from groundplan.sources.tables.files.naming import Notes
from groundplan.sources.tables.files.quoting import literal, quoted

MARK = "loaded: "  # a comment without it is the owner's


def write_notes(connection: duckdb.DuckDBPyConnection, table: str, notes: Notes) -> None:
    for column, note in notes.items():
        connection.execute(f"COMMENT ON COLUMN {quoted(table)}.{quoted(column)} IS {literal(MARK + note)}")


def load_notes(backend: Any) -> Mapping[str, Notes]:
    """The notes by table and column; only DuckDB, into which files are loaded, has any."""
    if backend.name != "duckdb":
        return {}
    found: dict[str, dict[str, str]] = {}
    rows = backend.con.execute(
        "SELECT table_name, column_name, comment FROM duckdb_columns() "  # noqa: S608 - our own names
        f"WHERE database_name = current_database() AND comment LIKE {literal(MARK + '%')}"
    ).fetchall()
    for table, column, comment in rows:
        found.setdefault(table, {})[column] = comment.removeprefix(MARK)
    return found
