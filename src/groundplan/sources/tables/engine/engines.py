"""Opens the engine for a URL or a backend. The engine itself enforces read-only access."""

from __future__ import annotations

from ibis.backends.sql import SQLBackend

from groundplan.errors import UsageError
from groundplan.sources.tables.engine.credentials import without_password
from groundplan.sources.tables.engine.duckdb_engine import (
    AttachedFile,
    DuckDB,
    Scratch,
    open_duckdb,
    open_scratch,
    open_together,
)
from groundplan.sources.tables.engine.interface import Engine
from groundplan.sources.tables.engine.other_engine import Other
from groundplan.sources.tables.engine.postgres_engine import Postgres, open_postgres

__all__ = [
    "AttachedFile",
    "Engine",
    "Scratch",
    "open_backend",
    "open_duckdb",
    "open_scratch",
    "open_together",
    "open_url",
]


def open_url(url: str) -> Engine:
    scheme = url.partition("://")[0]
    if scheme in ("postgres", "postgresql"):
        return open_postgres(url)
    raise UsageError(
        f"{without_password(url)}: addresses that start with {scheme}:// are not supported; name files, a DuckDB file "
        "or a postgresql:// address, or pass an Ibis connection from Python"
    )


def open_backend(backend: object) -> Engine:
    """An engine on the caller's connection, which the caller closes."""
    if not isinstance(backend, SQLBackend):
        raise UsageError(f"{type(backend).__name__} is not an SQL backend of Ibis; pass one that is")
    match backend.name:
        case "duckdb":
            return DuckDB(backend, private=False)
        case "postgres":
            return Postgres(backend, private=False)
        case _:
            return Other(backend)
