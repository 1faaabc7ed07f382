"""A password that the database refuses is named as that, with the user and the database, and is never shown."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import psycopg
import pytest

import groundplan
from groundplan.errors import GroundplanError, SourceError, StoreUnavailable
from groundplan.service.serving import migrate
from groundplan.state.postgres import open_postgres
from tests.cluster import Cluster, cluster

RIGHT = "ferry-to-Skye"
WRONG = "ferry-to-Mull"


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    with cluster() as started:
        rules = started.folder / "data" / "pg_hba.conf"
        rules.write_text(f"host all harbour 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        with psycopg.connect(started.url, autocommit=True) as connection:
            connection.execute(f"create role harbour login password '{RIGHT}'")
            connection.execute("create database moorings")
            connection.execute("select pg_reload_conf()")
        yield started


def address(server: Cluster, password: str, database: str = "moorings", user: str = "harbour") -> str:
    return f"postgresql://{user}:{password}@127.0.0.1:{server.port}/{database}"


async def opened(url: str) -> None:
    async with open_postgres(url, wait=60):
        raise AssertionError("it was opened")


def told_by(url: str) -> str:
    with pytest.raises(GroundplanError) as raised:
        asyncio.run(opened(url))
    return str(raised.value)


def test_a_refused_password_is_named_at_once(server: Cluster) -> None:
    url, begun = address(server, WRONG), time.monotonic()
    told = told_by(url)
    assert time.monotonic() - begun < 30, "a password is not tried again"
    assert "'moorings'" in told
    assert f"127.0.0.1:{server.port}" in told
    assert "'harbour'" in told
    assert "password authentication failed" in told
    assert WRONG not in told
    with pytest.raises(StoreUnavailable, match="password authentication failed"):
        asyncio.run(migrate(url))


def test_the_right_password_is_not_refused(server: Cluster) -> None:
    assert "groundplan migrate" in told_by(address(server, RIGHT))


def test_another_reason_is_named_as_it_is(server: Cluster) -> None:
    assert 'database "quays" does not exist' in told_by(address(server, RIGHT, "quays"))
    assert RIGHT not in told_by(address(server, RIGHT, "quays"))


def test_a_password_that_is_the_name_of_the_user_hides_no_reason(server: Cluster) -> None:
    with pytest.raises(SourceError, match="password authentication failed") as raised:
        groundplan.open(address(server, "harbour"))
    assert "harbour:harbour" not in str(raised.value)
    assert "password authentication failed" in told_by(address(server, "harbour"))
