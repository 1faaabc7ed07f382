"""A runaway query is cancelled by the client, and the next one runs."""

from __future__ import annotations

import asyncio
import time

import ibis
import pytest

from groundplan.errors import DeadlineExceeded, ToolError, TransientError
from groundplan.sources.tables.engine.handle import handle_on
from groundplan.sources.tables.source import Tables
from tests.patience import HANGS, SOON
from tests.sources.tables.tooling import call, made, rows, runaway

pytestmark = [pytest.mark.requirement("R40"), pytest.mark.requirement("R45", part="tools")]

SECONDS = 1.0


def test_a_runaway_query_is_cancelled_at_the_deadline(source: Tables) -> None:
    ref = runaway(source)
    begin = time.monotonic()
    with pytest.raises(DeadlineExceeded, match="cancelled after"):
        asyncio.run(source.fetch(ref, "a reader", 10, SECONDS))
    assert time.monotonic() - begin < SOON
    assert len(rows(source, source.table("customers"))) == 4


def test_a_step_without_time_left_ends_at_once(source: Tables) -> None:
    ref = runaway(source)
    backend = source._executor.engine.backend
    handle = handle_on(backend.sql(ref.query, schema=ibis.schema({"n": "int64"})), ref.columns)  # SQLite would run it
    begin = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        call(source, "show_table", {}, handle, seconds=0, run="no time")
    assert time.monotonic() - begin < SOON


def test_other_queries_run_beside_a_slow_one(source: Tables) -> None:
    ref = runaway(source)

    async def beside() -> bool:
        slow = asyncio.create_task(source.fetch(ref, "a reader", 10, HANGS))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(call, source, "show_table", {}, "customers", run="beside")
        still_running = not slow.done()
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        return still_running

    assert asyncio.run(beside())


@pytest.mark.parametrize("source", ["duckdb", "postgres"], indirect=True)  # the others cast anything to something
def test_a_value_that_breaks_the_query_is_not_repeated(source: Tables) -> None:
    """The message may go back to a planner, which never sees rows."""
    facts = call(source, "select_columns", {"columns": ["product"]}).facts
    assert facts.table is not None
    broken = facts.table.model_copy(update={"query": 'SELECT CAST("t0"."product" AS DATE) AS "d" FROM "sales" AS "t0"'})
    with pytest.raises(ToolError, match="a value does not fit the operation") as caught:
        asyncio.run(source.fetch(broken, "a reader", 10, 10))
    assert not any(product in str(caught.value) for product in ("tea", "coffee", "Кофе"))


def test_a_dropped_connection_is_worth_another_try(postgres_url: str, superuser: str) -> None:
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    source = Tables.open(postgres_url)
    handle = made(source, "select_columns", {"columns": ["name"]}, "customers")
    assert len(rows(source, handle)) == 4
    with psycopg.connect(superuser, autocommit=True) as admin:
        for idle in source._executor.engine._pool.idle:  # type: ignore[attr-defined]
            admin.execute("SELECT pg_terminate_backend(%s)", (idle.con.info.backend_pid,))
    with pytest.raises(TransientError):
        call(source, "show_table", {}, handle, run="after the drop")
    assert call(source, "show_table", {}, handle, run="again").facts.rows == 4
    asyncio.run(source.close())
