"""One suite for SQLite and Postgres: plans, effects, runs, events and keys, each of one tenant."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import psycopg
import pytest

from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.issue import Issue
from groundplan.contracts.run import RunReply, RunRequest
from groundplan.contracts.step_outcome import StepOutcome
from groundplan.errors import StateInvalid, UsageError
from groundplan.running.checkpoints import open_checkpoints
from groundplan.state import runs as run_store
from groundplan.state.database import EVERY_TENANT, FILE, Database, SQLite, _newest, migrations
from groundplan.state.effects import Effects
from groundplan.state.keys import Keys
from groundplan.state.plans import PlanStore
from groundplan.state.postgres import open_postgres
from groundplan.state.runs import Conflict, Fenced, NoSuchRun, Runs
from groundplan.state.uploads import Uploads
from tests.service.conftest import OpenDatabase
from tests.service.processes import until
from tests.state.test_plans import READING, TOTALS

ASKED = RunRequest(question="total revenue")
WAITS = Clarification(text="Which?", missing="it")


def using(open_database: OpenDatabase, work: Callable[[Database], Awaitable[None]]) -> None:
    async def use() -> None:
        async with open_database() as database:
            await work(database)

    asyncio.run(use())


def test_the_number_of_the_last_migration_is_known() -> None:
    assert max(number for number, _ in migrations("sqlite")) == _newest()
    assert [number for number, _ in migrations("postgres")] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15]


def test_plans_are_kept_marked_and_forgotten(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        plans = PlanStore(opened)
        for key in ("one", "other"):
            await plans.keep(key, f"question {key}", READING, TOTALS)
        assert await plans.find("one") == TOTALS
        first, second = await plans.entries()
        assert (first.question, second.question) == ("question one", "question other")
        await plans.mark(first.id)
        assert await plans.example(READING) == TOTALS
        await plans.keep("one", "again", READING, TOTALS)
        assert [entry.marked for entry in await plans.entries()] == [True, False]
        await plans.forget(first.id)
        assert await plans.find("one") is None
        with pytest.raises(UsageError, match=second.id):
            await plans.mark("x")
        assert await PlanStore(opened.of("another")).find("other") is None

    using(database, work)


def test_an_effect_begins_once_also_if_many_begin_it(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        effects = Effects(opened)
        began = await asyncio.gather(*(effects.begin("run/step/abc") for _ in range(20)))
        assert sorted(map(str, began)) == ["begun"] * 19 + ["new"]
        assert await effects.begin("run/step/other") == "other"
        assert await effects.begin("run/step2/abc") == "new"
        assert await Effects(opened.of("another")).begin("run/step/abc") == "new"
        await effects.end("run/step/abc", StepOutcome(status="finished"))
        assert await effects.begin("run/step/abc") == StepOutcome(status="finished")

    using(database, work)


def test_a_run_goes_through_its_states_and_its_events_have_no_gaps(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        runs = Runs(opened)
        run, new = await runs.add(ASKED)
        assert (run.state, new) == ("queued", True)
        claim = await runs.claim()
        assert claim is not None
        assert (claim.id, claim.attempt, claim.request) == (run.id, 1, ASKED)
        assert await runs.claim() is None
        await runs.write(claim, [("question", {"text": "Which?"})], state="waiting_answer", waiting=WAITS)
        assert (await runs.reply(run.id, "waiting_answer", RunReply(answer="1"))).state == "queued"
        with pytest.raises(Conflict, match="queued"):
            await runs.reply(run.id, "waiting_answer", RunReply(answer="1"))
        again = await runs.claim()
        assert again is not None
        assert (again.attempt, again.tries, again.reply) == (2, 1, RunReply(answer="1", to="Which?"))
        with pytest.raises(Fenced):
            await runs.write(claim, [("stage", {})])
        await runs.write(
            again, [("run.ended", {"state": "failed"})], state="failed", problem=Issue(code="a/b", problem="x")
        )
        with pytest.raises(Fenced):
            await runs.write(again, state="succeeded")
        ended = await runs.find(run.id)
        assert ended is not None
        assert ended.problem == Issue(code="a/b", problem="x")
        events = await runs.events(run.id)
        kinds = ["run.queued", "question", "run.queued", "run.ended"]
        assert [(event.number, event.kind) for event in events] == [*enumerate(kinds, 1)]
        assert [event.number for event in await runs.events(run.id, 2)] == [3, 4]

    using(database, work)


def test_a_plan_is_approved_by_its_fingerprint(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        runs = Runs(opened)
        for approved in (True, False):
            run, _ = await runs.add(ASKED)
            claim = await runs.claim()
            assert claim is not None
            asked = Refusal(
                text="Nothing was done", issues=(Issue(code="access/unapproved", problem="x"),), plan=TOTALS
            )
            await runs.write(claim, state="waiting_approval", waiting=asked)
            with pytest.raises(Conflict):
                await runs.reply(run.id, "waiting_approval", RunReply(approved="of another"), "of another")
            with pytest.raises(Conflict):
                await runs.refuse(run.id, "of another")
            if approved:
                run = await runs.reply(run.id, "waiting_approval", RunReply(approved="x"), TOTALS.fingerprint)
                assert run.state == "queued"
                assert (await runs.cancel(run.id)).state == "cancelled"
            else:
                assert (await runs.refuse(run.id, TOTALS.fingerprint)).outcome == asked

    using(database, work)


def test_a_key_gives_one_run_and_another_request_is_refused(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        runs = Runs(opened)
        found = await asyncio.gather(*(runs.add(ASKED, "a key") for _ in range(20)))
        assert len({run.id for run, _ in found}) == 1
        assert sum(new for _, new in found) == 1
        with pytest.raises(Conflict, match="another request"):
            await runs.add(RunRequest(question="something else"), "a key")
        other, new = await Runs(opened.of("another")).add(ASKED, "a key")
        assert new
        assert await runs.find(other.id) is None
        with pytest.raises(NoSuchRun):
            await runs.cancel(other.id)
        await Runs(opened.of("another")).cancel(other.id)

    using(database, work)


def test_a_conversation_has_one_run_at_a_time(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        runs, asked = Runs(opened), RunRequest(question="total revenue", thread="mine")
        tried = await asyncio.gather(*(runs.add(asked) for _ in range(5)), return_exceptions=True)
        [(run, _)] = [one for one in tried if not isinstance(one, BaseException)]
        assert sum(isinstance(one, Conflict) for one in tried) == 4
        await runs.cancel(run.id)
        second, _ = await runs.add(asked)
        assert [(name, count) for name, count, _ in await runs.threads(5)] == [("mine", 2)]
        await runs.cancel(second.id)

    using(database, work)


def test_two_workers_claim_one_run_and_one_of_them_has_it(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        runs = Runs(opened)
        for _ in range(10):
            await runs.add(ASKED)
        claims = await asyncio.gather(*(runs.claim() for _ in range(25)))
        taken = [claim.id for claim in claims if claim]
        assert len(taken) == len({*taken}) == 10

    using(database, work)


def test_a_claim_that_is_not_renewed_is_taken_over(database: OpenDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(opened: Database) -> None:
        runs = Runs(opened)
        await runs.add(ASKED)
        monkeypatch.setattr(run_store, "LEASE", -1.0)
        first = await runs.claim()
        assert first is not None
        monkeypatch.setattr(run_store, "LEASE", 3600.0)
        assert await runs.renew([first]) == {first: False}
        assert await runs.claim() is None
        monkeypatch.setattr(run_store, "LEASE", -1.0)
        assert await runs.renew([first]) == {first: False}
        second = await runs.claim()
        assert second is not None
        assert (second.id, second.attempt, second.tries) == (first.id, 2, 2)
        assert await runs.renew([first]) == {first: None}
        assert (await runs.cancel(first.id)).state == "running"
        assert await runs.renew([second]) == {second: True}

    using(database, work)


def test_pages_of_runs_follow_each_other(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        runs = Runs(opened)
        ids = [(await runs.add(ASKED))[0].id for _ in range(5)]
        first = [run.id for run in await runs.page(None, 3)]
        rest = [run.id for run in await runs.page(first[-1], 3)]
        assert sorted(first + rest) == sorted(ids)
        assert first + rest == sorted(ids, reverse=True)

    using(database, work)


def test_a_key_is_stored_as_a_hash_and_can_be_revoked(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        keys = Keys(opened)
        key = await keys.make("acme", "for a test")
        found = await keys.find(key)
        assert found is not None
        assert (found.tenant, found.role) == ("acme", "ask")
        assert await keys.find(key + "x") is None
        [entry] = [entry for entry in await keys.list() if entry.name == "for a test"]
        async with opened.of(EVERY_TENANT).transaction() as run:
            assert key not in str(await run("select hash, tenant, name from keys"))
        await keys.revoke(entry.id)
        assert await keys.find(key) is None
        with pytest.raises(UsageError):
            await keys.make("*")

    using(database, work)


def test_what_is_not_committed_did_not_happen(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        async def half() -> None:
            async with opened.transaction() as run:
                await run("insert into effects (tenant, key) values (?, ?)", opened.tenant, "a/b/c")
                await run("select no_such_column from effects")

        with pytest.raises(StateInvalid):
            await half()
        assert await Effects(opened).begin("a/b/c") == "new"

    using(database, work)


@pytest.mark.requirement("R77", part="rows")
@pytest.mark.requirement("R77", part="caches")
def test_the_database_itself_keeps_tenants_apart(postgres: str, tmp_path: Path) -> None:
    """Even a statement that forgets the tenant sees one tenant; a transaction without one sees an error."""
    file = tmp_path / "file.csv"
    file.write_text("a,b\n1,2\n")

    async def work() -> None:
        async with open_postgres(postgres) as opened:
            for tenant in ("one", "two"):
                await Runs(opened.of(tenant)).add(ASKED)
                await PlanStore(opened.of(tenant)).keep("key", tenant, READING, TOTALS)
                await Effects(opened.of(tenant)).begin("a/b/c")
                await Uploads(opened.of(tenant)).add(file, "file.csv", {}, 9, 1000)
            for table in ("runs", "plans", "effects", "events", "uploads", "upload_pieces"):
                async with opened.of("one").transaction() as run:
                    assert await run(f"select distinct tenant from {table}") == [("one",)]
                with pytest.raises(StateInvalid):
                    async with opened.of("one").transaction() as run:
                        await run(f"update {table} set tenant = 'two'")
            async with opened.pool.connection() as connection:
                with pytest.raises(psycopg.errors.RaiseException, match="no tenant"):
                    await connection.execute("select * from runs")
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    await connection.execute("alter table runs disable row level security")
            for tenant in ("one", "two"):
                for run in await Runs(opened.of(tenant)).page(None, 9):
                    await Runs(opened.of(tenant)).cancel(run.id)

    asyncio.run(work())


def test_a_damaged_file_leaves_no_thread_behind(tmp_path: Path) -> None:
    """A thread of aiosqlite that nobody ends keeps the process from ending."""
    (tmp_path / FILE).write_text("not a database at all, only text" * 99)
    before = {*threading.enumerate()}
    with pytest.raises(StateInvalid):
        asyncio.run(open_checkpoints(SQLite(tmp_path)))
    until(lambda: {*threading.enumerate()} <= before, seconds=20)
