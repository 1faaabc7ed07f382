"""The engines, servers and projects of the other tests, attacked here."""

from __future__ import annotations

from tests.sources.tables.conftest import (
    duckdb_file,
    duckdb_source,
    mariadb_source,
    mariadb_url,
    plain,
    postgres_source,
    postgres_url,
    source,
    spark_address,
    spark_source,
    sqlite_file,
    sqlite_source,
    superuser,
)
from tests.tableau.conftest import opening, superstore, tableau
from tests.trackers.conftest import opened, project, servers

__all__ = [
    "duckdb_file",
    "duckdb_source",
    "mariadb_source",
    "mariadb_url",
    "opened",
    "opening",
    "plain",
    "postgres_source",
    "postgres_url",
    "project",
    "servers",
    "source",
    "spark_address",
    "spark_source",
    "sqlite_file",
    "sqlite_source",
    "superstore",
    "superuser",
    "tableau",
]
