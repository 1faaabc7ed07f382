"""Notes on what loading changed, kept with the loaded table as its comment: one for each column would take seconds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import duckdb

from groundplan.sources.tables.files.naming import Notes
from groundplan.sources.tables.files.quoting import literal, quoted

MARK = "loaded: "  # a comment without it is the owner's


def write_notes(connection: duckdb.DuckDBPyConnection, table: str, notes: Notes, kind: str = "TABLE") -> None:
    if notes:
        comment = MARK + json.dumps(dict(notes), ensure_ascii=False)
        connection.execute(f"COMMENT ON {kind} {quoted(table)} IS {literal(comment)}")


def load_notes(backend: Any) -> Mapping[str, Notes]:
    """The notes by table and column; only DuckDB, into which files are loaded, has any."""
    return read_notes(backend.con, "current_database()") if backend.name == "duckdb" else {}


def read_notes(connection: duckdb.DuckDBPyConnection, database: str) -> Mapping[str, Notes]:
    """Of the tables and views of a database, which an expression names."""
    where = f"WHERE database_name = {database} AND schema_name = 'main' AND comment LIKE {literal(MARK + '%')}"
    commented = connection.execute(
        f"SELECT table_name, comment FROM duckdb_tables() {where} "  # noqa: S608 - our own names
        f"UNION ALL SELECT view_name, comment FROM duckdb_views() {where}"
    ).fetchall()
    return {table: notes for table, comment in commented if (notes := _parsed(comment.removeprefix(MARK)))}


def _parsed(text: str) -> Notes:
    """Nothing where somebody else wrote the comment."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    whole = isinstance(found, dict) and all(isinstance(note, str) for note in found.values())
    return found if whole else {}
