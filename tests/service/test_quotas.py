"""Limits of a tenant's runs, a fair order between tenants, and the deletion of runs that ended long ago."""

from __future__ import annotations

import asyncio
import time
import uuid

import psycopg
import pytest

from groundplan.contracts.run import RunRequest
from groundplan.service.data import Data
from groundplan.service.projects import Projects
from groundplan.service.retention import delete_ended
from groundplan.service.worker import Worker
from groundplan.settings import ServiceSettings
from groundplan.state.database import Database
from groundplan.state.effects import Effects
from groundplan.state.postgres import open_postgres
from groundplan.state.runs import Claim, Runs, TooMany
from tests.service.conftest import OpenDatabase
from tests.service.test_kills import ended
from tests.service.test_stores import ASKED, using


@pytest.mark.requirement("R77", part="quotas")
def test_a_tenant_has_at_most_so_many_runs_also_if_they_come_at_once(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        runs = Runs(opened)
        tried = await asyncio.gather(*(runs.add(ASKED, f"key {n}", most=3) for n in range(12)), return_exceptions=True)
        added = [one[0] for one in tried if not isinstance(one, BaseException)]
        assert len(added) == 3
        assert sum(isinstance(one, TooMany) for one in tried) == 9
        assert len(await runs.page(None, 20)) == 3
        again = tried.index(next(one for one in tried if not isinstance(one, BaseException)))
        repeated, new = await runs.add(ASKED, f"key {again}", most=3)  # the same request again is the same run
        assert (repeated.id in {run.id for run in added}, new) == (True, False)
        await Runs(opened.of(f"other-{uuid.uuid4().hex[:8]}")).add(ASKED, most=3)
        await runs.cancel(added[0].id)
        assert (await runs.add(ASKED, most=3))[1]

    using(database, work)


@pytest.mark.requirement("R77", part="quotas")
def test_the_tenant_with_the_fewest_active_runs_is_served_first(empty_of_runs: str) -> None:
    async def work() -> None:
        async with open_postgres(empty_of_runs) as opened:
            workers = Runs(opened)
            for tenant, count in (("many", 6), ("few", 2), ("one", 1)):
                for _ in range(count):
                    await Runs(opened.of(tenant)).add(ASKED)
            claimed = [await workers.claim(most=3) for _ in range(9)]
            tenants = [claim.tenant for claim in claimed if claim]
            assert sorted(tenants[:3]) == ["few", "many", "one"]
            assert sorted(tenants[3:5]) == ["few", "many"]
            assert tenants[5:] == ["many"]  # three of its runs are active: the others stay queued
            first = next(claim for claim in claimed if claim and claim.tenant == "many")
            await Runs(opened.of("many")).write(first, state="succeeded")
            again = await workers.claim(most=3)
            assert again is not None
            assert again.tenant == "many"

    asyncio.run(work())


@pytest.mark.requirement("R77", part="quotas")
def test_a_slow_tenant_does_not_starve_another(empty_of_runs: str) -> None:
    """`slow` has 20 runs that do not end, and fills all it may; `quick` asks one by one, and never waits."""

    async def work() -> None:
        async with open_postgres(empty_of_runs) as opened:
            for _ in range(20):
                await Runs(opened.of("slow")).add(ASKED)
            held: list[Claim] = []
            for _ in range(3):
                claim = await Runs(opened).claim(most=3)
                assert claim is not None
                held.append(claim)
            for _ in range(10):
                run, _ = await Runs(opened.of("quick")).add(ASKED)
                claim = await Runs(opened).claim(most=3)
                assert claim is not None
                assert claim.id == run.id  # at once, before the 17 older runs
                await Runs(opened.of("quick")).write(claim, state="succeeded")
                assert await Runs(opened).claim(most=3) is None
            assert {claim.tenant for claim in held} == {"slow"}

    asyncio.run(work())


@pytest.mark.timed
@pytest.mark.requirement("R77", part="quotas")
def test_slow_data_of_one_tenant_moves_the_p95_of_another_by_at_most_half(own_postgres: str, data: str) -> None:
    """Each tenant may have as many active runs as the worker has slots, and `slow` asks for more."""

    async def seconds(runs: Runs) -> list[float]:
        found = []
        for _ in range(20):
            began = time.monotonic()
            run, _ = await runs.add(RunRequest(question="total guests by door"))
            await ended(runs, run.id, "succeeded")
            found.append(time.monotonic() - began)
        return sorted(found)

    async def work() -> tuple[float, float]:
        async with open_postgres(own_postgres) as opened, await psycopg.AsyncConnection.connect(data) as engine:
            projects = Projects(opened, Data(data).open)
            worker = Worker(projects, 4, settings=ServiceSettings(active_runs=4))
            working = asyncio.create_task(worker.work())
            quick, slow = Runs(opened.of("quick")), Runs(opened.of("slow"))
            for runs in (quick, slow):  # each opens its data
                run, _ = await runs.add(RunRequest(question="total guests by door"))
                await ended(runs, run.id, "succeeded")
            before = await seconds(quick)
            await engine.execute("insert into apart.flag values (true)")
            await engine.commit()
            try:
                asked = [(await slow.add(RunRequest(question="average revenue by region")))[0].id for _ in range(6)]
                after = await seconds(quick)
                assert (await slow.queue())[0]["running"] == 3
                for id_ in asked:
                    await slow.cancel(id_)
            finally:
                await engine.execute("delete from apart.flag")
                await engine.commit()
            worker.stop()
            await working
            await projects.close()
        return before[18], after[18]

    before, after = asyncio.run(work())
    print(f"\np95 {before:.2f} s alone, {after:.2f} s beside a slow tenant")
    assert after < 1.5 * before + 0.5  # a moment, for whatever else the machine does


def test_runs_that_ended_long_ago_are_deleted_with_all_that_was_kept(postgres: str) -> None:
    tenant = f"old-{uuid.uuid4().hex[:8]}"

    async def work() -> None:
        async with open_postgres(postgres) as opened:
            database = opened.of(tenant)
            runs, ids = Runs(database), []
            for thread in ("a", "b", None):
                run, _ = await runs.add(RunRequest(question="total revenue", thread=thread))
                await Effects(database).begin(f"{run.id}/s1/abc")
                ids.append(run.id)
            kept, _ = await runs.add(RunRequest(question="total revenue", thread="waits"))
            for id_ in ids:
                await runs.cancel(id_)
            recent, _ = await runs.add(RunRequest(question="total revenue", thread="b"))
            await runs.cancel(recent.id)
            insert = "insert into checkpoints (thread_id, checkpoint_id, checkpoint) values (?, 'x', '{}')"
            async with database.transaction() as run:
                for thread in ("a", "b"):
                    await run(insert, f"{tenant}/conversation/{thread}")
                old = "update runs set updated = updated - 2 * 86400 where id in (?, ?, ?, ?)"
                await run(old, *ids, kept.id)
            assert await delete_ended(database, 3) == 0
            assert await delete_ended(database, 1) == 3
            assert {run.id for run in await runs.page(None, 9)} == {kept.id, recent.id}
            assert not await runs.events(ids[0])
            assert await runs.events(recent.id)
            async with database.transaction() as run:
                assert not await run("select key from effects where tenant = ?", tenant)
                [(left,)] = await run("select thread_id from checkpoints")
            assert left == f"{tenant}/conversation/b"  # a conversation that still has a run
            await runs.cancel(kept.id)

    asyncio.run(work())
