"""One data set on two real engines: a DuckDB file and a PostgreSQL that is read as a SELECT-only role."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from tests.cluster import cluster
from tests.sources.tables.data import COLUMNS, ROWS

from groundplan.sources.tables.source import Tables


@pytest.fixture(scope="session")
def superuser() -> Iterator[str]:
    """The DSN of a superuser: of the server that is named in the environment, or of a throw-away one."""
    if given := os.environ.get("GROUNDPLAN_TEST_POSTGRES"):
        yield given
        return
    with cluster() as own:
        yield own.url


@pytest.fixture(scope="session")
def postgres_url(superuser: str) -> Iterator[str]:
    """A database with the data set, reached as a role that may only SELECT from two of its tables."""
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    mark = uuid.uuid4().hex[:12]
    database, role, word = f"gp_{mark}", f"reader_{mark}", uuid.uuid4().hex
    with psycopg.connect(superuser, autocommit=True) as admin:
        admin.execute(
            f"CREATE DATABASE {database} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'"
        )
        admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{word}' NOSUPERUSER NOCREATEDB NOCREATEROLE")
        admin.execute(f"REVOKE ALL ON DATABASE {database} FROM PUBLIC")
        admin.execute(f"GRANT CONNECT ON DATABASE {database} TO {role}")
        with psycopg.connect(superuser, dbname=database, autocommit=True) as owner:
            _fill_postgres(owner)
            owner.execute(f"GRANT SELECT ON sales, customers TO {role}")
            # any role may make large objects unless it is told not to, also in a read-only transaction
            owner.execute("REVOKE EXECUTE ON FUNCTION lo_create, lo_creat, lo_from_bytea FROM PUBLIC")
        info = psycopg.conninfo.conninfo_to_dict(superuser)
        yield f"postgresql://{role}:{word}@{info.get('host', '127.0.0.1')}:{info.get('port', 5432)}/{database}"
        admin.execute(f"DROP DATABASE {database} WITH (FORCE)")
        admin.execute(f"DROP ROLE {role}")


@pytest.fixture(scope="session")
def duckdb_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("duckdb") / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        for table, columns in COLUMNS.items():
            connection.execute(f"CREATE TABLE {table} ({columns})")
            marks = ", ".join("?" * len(ROWS[table][0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", ROWS[table])
    return path


@pytest.fixture(scope="session")
def duckdb_source(duckdb_file: Path) -> Tables:
    return Tables.open(duckdb_file)


@pytest.fixture(scope="session")
def postgres_source(postgres_url: str) -> Tables:
    return Tables.open(postgres_url)


@pytest.fixture(params=["duckdb", "postgres"])
def source(request: pytest.FixtureRequest) -> Tables:
    """The same test on every engine."""
    opened: Tables = request.getfixturevalue(f"{request.param}_source")
    return opened


@pytest.fixture(scope="session")
def plain() -> duckdb.DuckDBPyConnection:
    """The data set on a bare DuckDB, to compute expected values by hand-written SQL."""
    connection = duckdb.connect()
    for table, columns in COLUMNS.items():
        connection.execute(f"CREATE TABLE {table} ({columns})")
        marks = ", ".join("?" * len(ROWS[table][0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", ROWS[table])
    return connection


def _fill_postgres(owner: object) -> None:
    for table, columns in COLUMNS.items():
        owner.execute(f"CREATE TABLE {table} ({columns})")  # type: ignore[attr-defined]
        marks = ", ".join(["%s"] * len(ROWS[table][0]))
        with owner.cursor() as cursor:  # type: ignore[attr-defined]
            cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", ROWS[table])
    owner.execute("CREATE TABLE secrets (word text)")  # type: ignore[attr-defined]
    owner.execute("INSERT INTO secrets VALUES ('hidden')")  # type: ignore[attr-defined]
