"""Cancelling a call stops its query in the engine, and the connection serves the next one."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import ibis
import pyarrow as pa
import pytest
from tests.sources.tables.tooling import call, rows, runaway, tools

from groundplan.contracts.facts import TableRef
from groundplan.contracts.plan import Limits
from groundplan.errors import DeadlineExceeded, UsageError
from groundplan.sources.interface import Call
from groundplan.sources.tables.engine.cancel_scope import Cancelled, CancelScope
from groundplan.sources.tables.source import THREADS, Tables

ALLOWED = 300.0  # seconds that the slow queries have; they would take days
SOON = 30.0  # seconds after which waiting for something fails, also on a busy machine


async def until(true: Callable[[], bool]) -> float:
    """How long it took."""
    begin = time.monotonic()
    while not true():
        assert time.monotonic() - begin < SOON
        await asyncio.sleep(0.01)
    return time.monotonic() - begin


def idle(source: Tables) -> list[Any]:
    """The connections that no query uses."""
    return [*source._executor.engine._pool.idle]  # type: ignore[attr-defined]


def is_idle(source: Tables) -> bool:
    """No thread of the source is at work, so every connection is back."""
    return not source._workers._running and bool(idle(source))


def watchers() -> int:
    """A query that runs has one."""
    return sum(thread.name == "groundplan-watcher" for thread in threading.enumerate())


class Server:
    """How many queries run: of Postgres by pg_stat_activity, of DuckDB by the watchers."""

    def __init__(self, admin: Any = None, role: str = "") -> None:
        self._admin, self._role = admin, role

    def active(self) -> int:
        if self._admin is None:
            return watchers()
        query = "SELECT count(*) FROM pg_stat_activity WHERE usename = %s AND state = 'active'"
        return int(self._admin.execute(query, (self._role,)).fetchone()[0])


async def running(server: Server) -> None:
    """Until the slow query itself runs: describing its columns takes a moment."""
    await until(lambda: server.active() == 1)
    await asyncio.sleep(0.2)
    await until(lambda: server.active() == 1)


@pytest.fixture(params=["duckdb", "postgres"])
def watched(request: pytest.FixtureRequest) -> Iterator[tuple[Tables, Server]]:
    """A source of its own and its server."""
    if request.param == "duckdb":
        source = Tables.open(request.getfixturevalue("duckdb_file"))
        yield source, Server()
        asyncio.run(source.close())
        return
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    url = request.getfixturevalue("postgres_url")
    source = Tables.open(url)
    with psycopg.connect(request.getfixturevalue("superuser"), autocommit=True) as admin:
        yield source, Server(admin, urlsplit(url).username or "")
    asyncio.run(source.close())


def fetching(source: Tables, ref: TableRef) -> Awaitable[Any]:
    return source.fetch(ref, "slow", 10, ALLOWED)


def calling(source: Tables, ref: TableRef) -> Awaitable[Any]:
    inputs = {tools()["show_table"].inputs[0].name: source.restore(ref)}
    return source.call(Call("slow", "a_step", tools()["show_table"], {}, inputs, Limits(), ALLOWED))


@pytest.mark.parametrize("work", [fetching, calling])
def test_a_cancelled_query_stops_in_the_engine(
    watched: tuple[Tables, Server], work: Callable[[Tables, TableRef], Awaitable[Any]]
) -> None:
    source, server = watched
    ref = runaway(source)

    async def cancel() -> float:
        task = asyncio.ensure_future(work(source, ref))
        await running(server)
        before = len(idle(source))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        took = await until(lambda: server.active() == 0)
        await until(lambda: len(idle(source)) == before + 1)
        return took

    took = asyncio.run(cancel())
    assert took < ALLOWED / 10
    used = idle(source)[-1]
    assert len(rows(source, source.table("customers"))) == 4
    assert idle(source)[-1] is used, "the next query ran on the same connection"


@pytest.mark.timed
def test_a_query_is_cancelled_within_a_second_on_every_engine(source: Tables) -> None:
    ref = runaway(source)

    def is_working() -> bool:
        """A thread of ours waits for the engine: it reports a query that was stopped."""
        return bool(source._workers._running) or any(t.name == "groundplan-query" for t in threading.enumerate())

    async def cancel() -> float:
        task = asyncio.ensure_future(fetching(source, ref))
        await asyncio.sleep(2)
        assert not task.done()
        begun = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: not is_working())
        return time.monotonic() - begun

    assert asyncio.run(cancel()) < 1
    assert len(rows(source, source.table("customers"))) == 4


def test_one_of_many_is_cancelled_and_the_others_answer(watched: tuple[Tables, Server]) -> None:
    source, server = watched
    ref = runaway(source)

    async def beside() -> list[Any]:
        slow = asyncio.ensure_future(fetching(source, ref))
        await running(server)
        shown = [
            asyncio.to_thread(call, source, "show_table", {}, "customers", run=f"beside {number}")
            for number in range(20)
        ]
        await asyncio.sleep(0)
        slow.cancel()
        answered = await asyncio.gather(*shown)
        with pytest.raises(asyncio.CancelledError):
            await slow
        await until(lambda: server.active() == 0)
        return answered

    assert [result.facts.rows for result in asyncio.run(beside())] == [4] * 20


def test_more_slow_queries_than_connections_leave_at_once(watched: tuple[Tables, Server]) -> None:
    """Those that wait for a connection or for a thread are cancelled too."""
    source, server = watched
    ref = runaway(source)

    async def flood() -> None:
        slow = [asyncio.ensure_future(source.fetch(ref, str(number), 10, ALLOWED)) for number in range(12)]
        await until(lambda: server.active() >= 4)
        for task in slow:
            task.cancel()
        ended = await asyncio.gather(*slow, return_exceptions=True)
        assert all(isinstance(one, asyncio.CancelledError) for one in ended)
        assert await until(lambda: server.active() == 0 and is_idle(source)) < ALLOWED / 10

    asyncio.run(flood())
    assert len(rows(source, source.table("customers"))) == 4


def test_a_step_that_waits_for_the_same_query_goes_on_without_the_cancelled_one(
    watched: tuple[Tables, Server],
) -> None:
    source, server = watched
    executor, table = source._executor, source.restore(runaway(source)).table
    first, second = CancelScope(ALLOWED), CancelScope(ALLOWED)
    ended: list[str] = []

    def wait(name: str, scope: CancelScope) -> None:
        try:
            executor.fetch("one run", table, 10, scope)
        except Cancelled:
            ended.append(name)

    async def take_turns() -> None:
        asked = [threading.Thread(target=wait, args=("first", first))]
        asked[0].start()
        await until(lambda: server.active() == 1)
        asked.append(threading.Thread(target=wait, args=("second", second)))
        asked[1].start()
        await until(lambda: any(turn.threads == 2 for turn in executor._turns.values()))
        first.cancel()
        await until(lambda: ended == ["first"])
        await until(lambda: server.active() == 1)  # now the second one runs it
        second.cancel()
        await until(lambda: ended == ["first", "second"])
        assert not executor._turns

    asyncio.run(take_turns())


@pytest.fixture(params=["duckdb", "postgres"])
def slow_to_describe(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Tables]:
    """A view whose one row takes days."""
    if request.param == "duckdb":
        with duckdb.connect(str(tmp_path / "slow.duckdb")) as connection:
            connection.execute("CREATE TABLE one AS SELECT range AS n FROM range(100000)")
            connection.execute("CREATE VIEW slow AS SELECT sum(a.n % (b.n + c.n + 1)) AS n FROM one a, one b, one c")
        where = str(tmp_path / "slow.duckdb")
    else:
        psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
        url, superuser = request.getfixturevalue("postgres_url"), request.getfixturevalue("superuser")
        role, database = urlsplit(url).username, urlsplit(url).path.strip("/")
        with psycopg.connect(superuser, dbname=database, autocommit=True) as owner:
            owner.execute("CREATE SCHEMA IF NOT EXISTS slow")
            owner.execute(
                "CREATE OR REPLACE VIEW slow.slow AS SELECT sum(a.id % (b.id + c.id + d.id + e.id + 1)) AS n "
                "FROM public.sales a, public.sales b, public.sales c, public.sales d, public.sales e"
            )
            owner.execute(f"GRANT USAGE ON SCHEMA slow TO {role}; GRANT SELECT ON slow.slow TO {role}")
        where = f"{url}/slow"
    source = Tables.open(where)
    yield source
    asyncio.run(source.close())


@pytest.mark.parametrize("what", ["describe", "values"])
def test_a_cancelled_description_is_not_kept(slow_to_describe: Tables, what: str) -> None:
    source = slow_to_describe

    async def cancel() -> None:
        described = asyncio.ensure_future(source.describe() if what == "describe" else source.values("of what?"))
        await until(lambda: watchers() == 1)
        await asyncio.sleep(0.2)
        described.cancel()
        with pytest.raises(asyncio.CancelledError):
            await described
        assert await until(lambda: is_idle(source)) < ALLOWED / 10

    asyncio.run(cancel())
    assert source._schema is None


def test_closing_stops_what_runs(watched: tuple[Tables, Server]) -> None:
    source, server = watched
    ref = runaway(source)

    async def close() -> None:
        slow = asyncio.ensure_future(fetching(source, ref))
        await running(server)
        await source.close()
        with pytest.raises(Cancelled):
            await slow
        await until(lambda: server.active() == 0)
        await source.close()  # a second time does nothing
        with pytest.raises(UsageError, match="tables is closed"):
            await source.describe()

    asyncio.run(close())


def test_a_source_has_threads_of_its_own_that_end_with_it(duckdb_file: Path) -> None:
    slow, other = Tables.open(duckdb_file, name="slow"), Tables.open(duckdb_file, name="other")
    ref = runaway(slow)

    def threads_of(source: Tables) -> int:
        return sum(thread.name.startswith(f"groundplan-{source.name}_") for thread in threading.enumerate())

    async def occupy() -> None:
        busy = [asyncio.ensure_future(slow.fetch(ref, str(number), 10, ALLOWED)) for number in range(3 * THREADS)]
        await until(lambda: watchers() == THREADS)
        assert len((await other.describe()).tables) == 2, "another source is not held up"
        assert threads_of(slow) == THREADS
        await asyncio.gather(slow.close(), other.close())
        assert all(isinstance(one, Exception) for one in await asyncio.gather(*busy, return_exceptions=True))
        await until(lambda: threads_of(slow) == threads_of(other) == 0)

    asyncio.run(occupy())


def test_a_connection_of_the_caller_is_interrupted_and_used_again() -> None:
    given = ibis.duckdb.connect()
    given.con.execute("CREATE TEMP TABLE sales AS SELECT range AS id, range AS units FROM range(600)")
    source = Tables.open(given)
    ref = runaway(source)

    async def cancel() -> None:
        slow = asyncio.ensure_future(fetching(source, ref))
        await running(Server())
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        await until(lambda: is_idle(source))

    asyncio.run(cancel())
    assert given.con.execute("SELECT count(*) FROM sales").fetchone() == (600,)
    assert call(source, "show_table", {}).facts.rows == 600
    asyncio.run(source.close())


def test_a_backend_that_cannot_be_stopped_is_left_behind() -> None:
    given = ibis.sqlite.from_connection(sqlite3.connect(":memory:", check_same_thread=False))
    given.raw_sql("CREATE TABLE sales (id INTEGER, units INTEGER)")
    given.raw_sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 25) INSERT INTO sales SELECT i, i FROM n"
    )
    source = Tables.open(given)
    with pytest.raises(DeadlineExceeded):
        asyncio.run(source.fetch(runaway(source), "slow", 10, 0.05))
    shown = call(source, "show_table", {}, run="waits for the first", seconds=ALLOWED)
    assert shown.facts.rows == 25


def test_a_part_ends_with_the_whole() -> None:
    whole = CancelScope(ALLOWED)
    part = whole.within(10 * ALLOWED)
    assert part.seconds_left <= ALLOWED
    part.check()
    whole.cancel()
    with pytest.raises(Cancelled):
        part.check()
    with pytest.raises(DeadlineExceeded, match=r"after 0\.0 s"):
        CancelScope(0).check()


def test_a_request_that_came_too_early_is_repeated() -> None:
    heard = threading.Semaphore(0)
    scope = CancelScope(ALLOWED)
    with scope.watch(heard.release):
        scope.cancel()
        for _ in range(3):
            assert heard.acquire(timeout=SOON)
    while heard.acquire(blocking=False):
        pass
    assert not heard.acquire(timeout=0.3), "nothing is asked after the work has ended"


def test_work_that_is_cancelled_before_it_starts_leaves_the_source_as_it_was() -> None:
    source = Tables.open(pa.table({"n": [1, 2, 3]}))

    async def cancel_at_once() -> None:
        task = asyncio.ensure_future(source.describe())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await source.describe()).tables[0].row_count == 3

    asyncio.run(cancel_at_once())
    asyncio.run(source.close())
