"""Threads that share a source do not disturb each other, and a run sees only its own rows."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import ibis
import pyarrow as pa
import pytest
from ibis.common.bases import Comparable
from sqlglot import exp
from tests.sources.tables.tooling import call, made, rows, tools

from groundplan.contracts.plan import Limits
from groundplan.sources import by_run
from groundplan.sources.by_run import ByRun
from groundplan.sources.interface import Call
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.interface import Query
from groundplan.sources.tables.source import Tables

COLUMNS = ("id", "day", "region", "product", "units", "revenue", "price", "paid")


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns far more often than usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(work: Callable[[int], Any], times: int) -> list[Any]:
    with ThreadPoolExecutor(8) as threads:
        return list(threads.map(work, range(times)))


def test_each_query_is_described_by_its_own_columns(source: Tables, hasty: None) -> None:
    engine = source._executor.engine

    def described(number: int) -> bool:
        names = [COLUMNS[(number + place) % len(COLUMNS)] for place in range(1 + number % 4)]
        sql = exp.select(*(exp.column(name, quoted=True) for name in names)).from_(exp.to_table("sales"))
        return list(engine.schema(sql.sql(engine.backend.dialect), CancelScope(60)).names) == names

    assert all(in_threads(described, 200))


def test_each_table_is_described_by_its_own_columns(source: Tables, hasty: None) -> None:
    engine = source._executor.engine

    def described(number: int) -> bool:
        name, first = (("sales", "id"), ("customers", "customer_id"))[number % 2]
        return bool(engine.table(name, CancelScope(60)).columns[0] == first)

    assert all(in_threads(described, 100))


def test_each_run_gets_the_rows_of_its_own_question(source: Tables, hasty: None) -> None:
    def asked(number: int) -> bool:
        column = ("region", "product", "customer_id", "paid")[number % 4]
        metrics = [{"function": "count", "as": "n"}]
        run = f"run {number}"
        totals = made(source, "aggregate", {"group_by": [column], "metrics": metrics}, run=run)
        facts = call(source, "show_table", {}, totals, run=run).facts
        assert facts.table is not None
        shown = asyncio.run(source.fetch(facts.table, run, 100, 60))
        again = asyncio.run(source.fetch(facts.table, f"another run {number}", 100, 60))
        return shown == again and shown.columns == (column, "n") and sum(int(row[1] or 0) for row in shown.rows) == 600

    assert all(in_threads(asked, 60))


def test_tables_are_described_once_for_all_who_ask(duckdb_file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Tables.open(duckdb_file)
    engine, asked = source._executor.engine, []
    run = engine.run

    def counted(query: Query, scope: CancelScope) -> pa.Table:
        asked.append(query.sql)
        return run(query, scope)

    monkeypatch.setattr(engine, "run", counted)

    async def describe() -> int:
        described = await asyncio.gather(*(source.describe() for _ in range(8)))
        return len({id(schema) for schema in described})

    assert asyncio.run(describe()) == 1
    assert len(asked) == len(set(asked))
    asyncio.run(source.close())


def test_ibis_keeps_no_comparison_of_another_thread(
    duckdb_source: Tables, hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the cache of Ibis itself, this raises KeyError in `Comparable.__del__` now and then."""
    unraisable: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: unraisable.append(str(error.exc_value)))
    table = ibis.table({"region": "string", "revenue": "float64"}, name="sales")

    def built(number: int) -> Any:
        kept = table.filter(table.region == f"r{number % 7}").mutate(more=table.revenue * (number % 5))
        return kept.group_by("region").aggregate(total=kept.more.sum()).op()

    known = lru_cache(maxsize=8)(hash)
    assert all(in_threads(lambda number: known(built(number)) == hash(built(number)), 400))
    assert built(3) == built(38)
    assert built(3) != built(4)
    known.cache_clear()
    gc.collect()
    assert unraisable == []
    assert Comparable.__cache__ == {}


def test_no_run_finds_what_another_has_kept() -> None:
    kept: ByRun[str, str] = ByRun()
    kept.keep("one", "query", "rows of one", 10)
    assert kept.find("two", "query") is None
    kept.keep("two", "query", "rows of two", 10)
    assert kept.find("one", "query") == "rows of one"
    assert kept.keep("one", "query", "read again", 10) == ["rows of one"]


def test_what_is_kept_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: ByRun[int, str] = ByRun()
    for run in range(by_run.RUNS):
        kept.keep(str(run), 1, f"rows of {run}", 10)
    kept.find("0", 1)
    assert kept.keep("one more", 1, "rows", 10) == ["rows of 1"], "the run that was used longest ago"
    assert kept.find("0", 1) == "rows of 0"
    for item in range(by_run.ITEMS):
        kept.keep("0", item, "rows", 10)
    assert kept.keep("0", by_run.ITEMS, "rows", 10) == ["rows"], "of one run only so much"
    forgotten = kept.keep("large", 1, "rows", by_run.BYTES)
    assert len(forgotten) == by_run.RUNS - 1 + by_run.ITEMS - 1 + 1
    assert kept.find("large", 1) == "rows", "the run that works now keeps its rows"


def test_what_no_run_can_ask_for_any_more_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: ByRun[int, str] = ByRun()
    kept.keep("long ago", 1, "old rows", 10)
    monkeypatch.setattr(by_run, "SECONDS", -1.0)
    assert kept.keep("now", 1, "rows", 10) == ["old rows"]


def test_results_of_many_runs_stay_bounded(source: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_run, "RUNS", 5)
    for number in range(20):
        call(source, "show_table", {}, "customers", run=f"many {number}")
    assert len(source._executor._results._runs) == 5
    assert source._executor._turns == {}


def test_a_few_rows_of_many_are_kept_without_the_others(source: Tables) -> None:
    facts = call(source, "show_table", {"order_by": ["id"], "limit": 3}, run="few").facts
    assert facts.table is not None
    kept = source._executor.recall("few", facts.table.query)
    whole = source._executor.recall("few", source._executor.compile(source.table("sales").table))
    assert kept is not None
    assert whole is not None
    assert (kept.table.num_rows, whole.table.num_rows) == (3, 600)
    assert kept.table.get_total_buffer_size() < whole.table.get_total_buffer_size() / 10


def test_rows_of_other_sources_stay_as_long_as_their_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_run, "RUNS", 3)
    source = Tables.scratch()
    given = [pa.table({"n": [number]}) for number in range(6)]

    def taken(run: int) -> Any:
        described = tools()["select_columns"]
        ports = {described.inputs[0].name: given[run]}
        return asyncio.run(
            source.call(Call(f"run {run}", "a_step", described, {"columns": ["n"]}, ports, Limits(), 60))
        ).handle

    first = taken(0)
    for run in (1, 2, 0, 3, 4):  # the first run goes on, so it is not the one to be forgotten
        taken(run)
        assert rows(source, first) == [{"n": 0}]
        taken(0)
    engine = source._executor.engine
    assert len(engine.backend.list_tables()) == len(source._executor.tables) == 3
    asyncio.run(source.close())


def test_rows_of_many_runs_are_taken_at_once(hasty: None) -> None:
    source, before = Tables.scratch(), threading.active_count()
    shared = pa.table({"n": list(range(100))})

    def summed(number: int) -> bool:
        own = pa.table({"n": [number] * 10})
        described, ports = tools()["show_table"], tools()["show_table"].inputs[0].name
        for given, wanted in ((own, [(number,)] * 10), (shared, [(place,) for place in range(100)])):
            ready = Call(f"run {number}", "a_step", described, {"limit": 1_000}, {ports: given}, Limits(), 60)
            facts = asyncio.run(source.call(ready)).facts
            assert facts.table is not None
            if [*asyncio.run(source.fetch(facts.table, f"run {number}", 1_000, 60)).rows] != wanted:
                return False
        return True

    assert all(in_threads(summed, 40))
    assert threading.active_count() < before + 60
    asyncio.run(source.close())
