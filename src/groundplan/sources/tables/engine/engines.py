"""Opens the engine for a URL or a backend. The engine itself enforces read-only access."""

from __future__ import annotations

import ibis
from ibis.backends.sql import SQLBackend

from groundplan.errors import UsageError
from groundplan.sources.tables.engine.credentials import cannot_open
from groundplan.sources.tables.engine.duckdb_engine import DuckDB, Scratch, open_duckdb, open_scratch
from groundplan.sources.tables.engine.interface import Engine
from groundplan.sources.tables.engine.other_engine import Other
from groundplan.sources.tables.engine.postgres_engine import Postgres, open_postgres

__all__ = ["Engine", "Scratch", "open_backend", "open_duckdb", "open_scratch", "open_url"]


def open_url(url: str) -> Engine:
    if url.partition("://")[0] in ("postgres", "postgresql"):
        return open_postgres(url)
    try:
        return open_backend(ibis.connect(url), private=True)
    except Exception as error:  # noqa: BLE001 - each of Ibis's backends raises errors of its own driver
        raise cannot_open(url, error) from None  # the original error may quote the password


def open_backend(backend: object, private: bool = False) -> Engine:
    """An engine on the caller's connection; unless it is `private`, the caller closes it."""
    if not isinstance(backend, SQLBackend):
        raise UsageError(f"{type(backend).__name__} is not an SQL backend of Ibis; pass one that is")
    match backend.name:
        case "duckdb":
            return DuckDB(backend, private)
        case "postgres":
            return Postgres(backend, private)
        case _:
            return Other(backend, private)
