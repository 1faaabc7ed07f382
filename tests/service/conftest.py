"""A Postgres database of this session's own, and both kinds of databases for one suite."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

import psycopg
import pytest

from groundplan.service.serving import migrate
from groundplan.state.database import Database, SQLite, migrations
from groundplan.state.postgres import open_postgres

SERVER = os.environ.get("GROUNDPLAN_TEST_POSTGRES")

DATA = """
create schema apart;
create table apart.flag (pauses boolean);
create function apart.pause() returns integer language plpgsql stable as $$
begin if exists (select 1 from apart.flag) then perform pg_sleep(60); end if; return 0; end $$;
create table apart.entries as
select 'r' || (n % 5) as region, (n % 97) * 1.25 as revenue from generate_series(1, 1000) as n;
create table visits as select 'd' || (n % 3) as door, n % 7 as guests from generate_series(1, 1000) as n;
create view sales as select region, revenue + apart.pause() as revenue from apart.entries;
"""

ACTIVE = """select count(*) from pg_stat_activity
where state = 'active' and datname = current_database() and pid != pg_backend_pid()"""

OpenDatabase = Callable[[], AbstractAsyncContextManager[Database]]


@contextmanager
def new_database() -> Iterator[str]:
    """The URL of a new database on the server that GROUNDPLAN_TEST_POSTGRES names."""
    if SERVER is None:
        pytest.skip("set GROUNDPLAN_TEST_POSTGRES to a PostgreSQL server")
    name = f"groundplan_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute(f"create database {name}")
        try:
            yield f"{SERVER.rpartition('/')[0]}/{name}"
        finally:
            connection.execute(f"drop database {name} with (force)")


@pytest.fixture(scope="session")
def empty_postgres() -> Iterator[str]:
    with new_database() as url:
        yield url


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[str]:
    """Migrated, and without the runs of other tests."""
    with new_database() as url:
        asyncio.run(migrate(url))
        yield url


@pytest.fixture(scope="session")
def postgres(empty_postgres: str) -> str:
    """Migrated by three processes at once, as at a rolling start."""

    async def at_once() -> list[list[int]]:
        return await asyncio.gather(*(migrate(empty_postgres) for _ in range(3)))

    ran = asyncio.run(at_once())
    assert sorted(map(len, ran)) == [0, 0, len(migrations("postgres"))]
    return empty_postgres


@pytest.fixture(scope="module")
def data() -> Iterator[str]:
    """The URL of a database with a view `sales` whose revenue is slow to read while `apart.flag` has a row."""
    with new_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(DATA)
        yield url


@pytest.fixture
def empty_of_runs(postgres: str) -> str:
    """The database without runs of other tests."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("truncate runs, events")
    return postgres


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> OpenDatabase:
    """Opens the database, as the tenant `acme`, which is new in each test."""
    tenant = f"acme-{uuid.uuid4().hex[:8]}"
    if request.param == "sqlite":

        @asynccontextmanager
        async def sqlite() -> AsyncIterator[Database]:
            yield SQLite(tmp_path / "state", tenant)

        return sqlite
    url = request.getfixturevalue("postgres")

    @asynccontextmanager
    async def opened() -> AsyncIterator[Database]:
        async with open_postgres(url) as found:
            yield found.of(tenant)

    return opened
