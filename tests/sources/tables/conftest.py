"""One data set on real engines: a DuckDB and a SQLite file, and servers that are read as SELECT-only roles."""

from __future__ import annotations

import os
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import duckdb
import ibis
import pytest
from tests.cluster import cluster
from tests.mariadb import mariadb
from tests.real_spark import real_spark
from tests.sail import sail
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


@pytest.fixture(scope="session")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sqlite") / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, columns in COLUMNS.items():
            connection.execute(f"CREATE TABLE {table} ({columns})")
            marks = ", ".join("?" * len(ROWS[table][0]))
            connection.executemany(
                f"INSERT INTO {table} VALUES ({marks})", [[*map(_as_sqlite, r)] for r in ROWS[table]]
            )
    return path


@pytest.fixture(scope="session")
def sqlite_source(sqlite_file: Path) -> Tables:
    return Tables.open(f"sqlite://{sqlite_file}")


@pytest.fixture(scope="session")
def mariadb_url() -> Iterator[str]:
    """A database with the data set, reached as a role that may only SELECT."""
    with mariadb() as server:
        import MySQLdb

        parts = urlsplit(server)
        given = {"host": parts.hostname, "port": parts.port, "user": parts.username, "charset": "utf8mb4"}
        with closing(MySQLdb.connect(**given, autocommit=True)) as owner, closing(owner.cursor()) as cursor:
            cursor.execute("CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")
            cursor.execute("USE shop")
            for table, columns in COLUMNS.items():
                cursor.execute(f"CREATE TABLE {table} ({columns.replace('moment timestamp', 'moment datetime')})")
                marks = ", ".join(["%s"] * len(ROWS[table][0]))
                cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", ROWS[table])
            cursor.execute("CREATE USER reader@127.0.0.1 IDENTIFIED BY 'word-of-reader'")
            cursor.execute("GRANT SELECT ON shop.* TO reader@127.0.0.1")
        yield f"mysql://reader:word-of-reader@127.0.0.1:{parts.port}/shop"


@pytest.fixture(scope="session")
def mariadb_source(mariadb_url: str) -> Tables:
    return Tables.open(mariadb_url)


@pytest.fixture(scope="session")
def spark_address() -> Iterator[str]:
    with sail() as server:
        yield server.address


@pytest.fixture(scope="session")
def spark_source(spark_address: str, duckdb_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return on_spark(spark_address, duckdb_file, tmp_path_factory.mktemp("spark"))


@pytest.fixture(scope="session")
def real_spark_source(duckdb_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    with real_spark() as address:
        yield on_spark(address, duckdb_file, tmp_path_factory.mktemp("real_spark"))


def on_spark(address: str, file: Path, folder: Path) -> Tables:
    """The tables of the file as views of a session."""
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(address.replace("spark://", "sc://")).create()
    copied = shutil.copy(file, folder)  # the file itself may be open with other settings
    with duckdb.connect(str(copied), read_only=True) as connection:
        for table in COLUMNS:
            rows = connection.sql(f"FROM {table}").to_arrow_table()
            session.createDataFrame(rows).createOrReplaceTempView(table)
    return Tables.open(ibis.pyspark.connect(session))


ENGINES = ["duckdb", "postgres", "sqlite", "mariadb", "spark", pytest.param("real_spark", marks=pytest.mark.slow)]


@pytest.fixture(params=ENGINES)
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


def _as_sqlite(value: object) -> object:
    match value:
        case datetime():
            return value.isoformat(" ")
        case date():
            return value.isoformat()
        case Decimal():
            return float(value)
    return value


def _fill_postgres(owner: object) -> None:
    for table, columns in COLUMNS.items():
        owner.execute(f"CREATE TABLE {table} ({columns})")  # type: ignore[attr-defined]
        marks = ", ".join(["%s"] * len(ROWS[table][0]))
        with owner.cursor() as cursor:  # type: ignore[attr-defined]
            cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", ROWS[table])
    owner.execute("CREATE TABLE secrets (word text)")  # type: ignore[attr-defined]
    owner.execute("INSERT INTO secrets VALUES ('hidden')")  # type: ignore[attr-defined]
