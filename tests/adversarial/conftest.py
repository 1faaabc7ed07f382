"""The engines, servers and projects of the other tests, attacked here."""

from __future__ import annotations

from tests.sources.tables.conftest import (
    duckdb_file,
    duckdb_source,
    plain,
    postgres_source,
    postgres_url,
    source,
    superuser,
)
from tests.tableau.conftest import opening, superstore, tableau
from tests.trackers.conftest import opened, project, servers

__all__ = [
    "duckdb_file",
    "duckdb_source",
    "opened",
    "opening",
    "plain",
    "postgres_source",
    "postgres_url",
    "project",
    "servers",
    "source",
    "superstore",
    "superuser",
    "tableau",
]
