"""Opens the engine for a URL or a backend. The engine itself enforces read-only access."""

from __future__ import annotations

from pathlib import Path

from ibis.backends.sql import SQLBackend

from groundplan.errors import UsageError
from groundplan.sources.tables.engine.addresses import PASSWORDS, open_address
from groundplan.sources.tables.engine.credentials import without_password
from groundplan.sources.tables.engine.duckdb_engine import (
    AttachedFile,
    DuckDB,
    Scratch,
    open_duckdb,
    open_loaded,
    open_scratch,
    open_together,
)
from groundplan.sources.tables.engine.interface import Engine
from groundplan.sources.tables.engine.other_engine import Other
from groundplan.sources.tables.engine.postgres_engine import Postgres, open_postgres

SCHEMES = tuple(f"{scheme}://" for scheme in ("postgresql", "sqlite", "mysql", "spark", *PASSWORDS))

__all__ = [
    "AttachedFile",
    "Engine",
    "Scratch",
    "open_backend",
    "open_duckdb",
    "open_loaded",
    "open_scratch",
    "open_together",
    "open_url",
]


def open_url(url: str) -> Engine:
    """By its scheme. Only settings that are trusted, the command line and Python name addresses.

    Ibis' backends for SQLite, MySQL and Spark import pandas, so they wait until somebody opens one.
    """
    scheme, _, rest = url.partition("://")
    match scheme:
        case "postgres" | "postgresql":
            return open_postgres(url)
        case "sqlite":
            from groundplan.sources.tables.engine.sqlite_engine import open_sqlite

            return open_sqlite(Path(rest))
        case "mysql" | "mariadb":
            from groundplan.sources.tables.engine.mysql_engine import open_mysql

            return open_mysql(url)
        case "spark":
            from groundplan.sources.tables.engine.spark_engine import open_spark

            return open_spark(url)
        case _ if scheme in PASSWORDS:
            return open_address(url)
        case _:
            raise UsageError(
                f"{without_password(url)}: addresses that start with {scheme}:// are not supported; name files, a "
                f"DuckDB or SQLite file, an address that starts with one of {', '.join(SCHEMES)}, or pass an Ibis "
                "connection from Python"
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
        case "sqlite":
            from groundplan.sources.tables.engine.sqlite_engine import open_sqlite_backend

            return open_sqlite_backend(backend)
        case "mysql":
            from groundplan.sources.tables.engine.mysql_engine import open_mysql_backend

            return open_mysql_backend(backend)
        case "pyspark":
            from groundplan.sources.tables.engine.spark_engine import open_spark_backend

            return open_spark_backend(backend)
        case _:
            return Other(backend)
