"""The shadow is a child process: it comes and goes with a rollout, gives way, and loses nothing when it is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.rollout import Measured, RolloutLimits, StopBounds
from groundplan.contracts.run import RunRequest
from groundplan.service.shadow_process import PAUSES
from groundplan.settings import trust_folder
from groundplan.state.database import Database, SQLite
from groundplan.state.postgres import open_postgres
from groundplan.state.rollouts import SHADOW_TRIES, Rollouts
from groundplan.state.runs import Runs
from tests.asking.tables.described import SALES
from tests.patience import HANGS, SOON
from tests.service.conftest import OpenDatabase
from tests.service.processes import process, until
from tests.service.test_rollout import QUESTIONS, Service, holds, serving

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
    pytest.mark.timed,  # beside other tests, a process of the lowest priority stands still
]
LONG = 1_000.0  # seconds until the model replies
MOSTLY_SQLITE = pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True
)
COUNTED = (  # by the worker, of one question that its child has read
    'groundplan_variant_questions_total{fell_back="none",side="shadow",status="answered"} 1.0',
    'groundplan_shadow_agreements_total{same="true",what="rows"} 1.0',
    "groundplan_projects_opened_total 1.0",
)


def shadows(parent: int | None = None) -> list[int]:
    """The child processes of a worker that read for its shadow."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and "shadow_aside" in " ".join(_command(int(place.name))):
            with suppress(OSError):  # it has ended
                of = int((place / "stat").read_text().rpartition(")")[2].split()[1])
                found += [int(place.name)] if of == (parent or os.getpid()) else []
    return found


def _command(pid: int) -> list[str]:
    """The arguments of a process; none if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().strip("\0").split("\0")
    except OSError:
        return []


async def is_there() -> bool:
    return bool(shadows())


async def is_gone() -> bool:
    return not shadows()


async def waits(service: Service) -> None:
    """Until the shadow waits for its model."""

    async def asked() -> bool:
        return any(question in str(request) for request in service.model.requests for question in QUESTIONS)

    await holds(asked)


async def tries(database: Database) -> list[int]:
    """How often each question that is due has been taken."""
    async with database.transaction(writes=False) as run:
        sql = "select tries from rollout_questions where due is not null and tenant = ?"
        return [tries for [tries] in await run(sql, database.tenant)]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def in_service(
    database: OpenDatabase, folder: Path, work: Callable[[Service], Awaitable[None]], at_once: int = 4
) -> None:
    async def run() -> None:
        async with database() as opened, serving(opened, folder, at_once) as service:
            await work(service)
        assert shadows() == [], "it ends with its worker"

    asyncio.run(run())


@MOSTLY_SQLITE
@pytest.mark.requirement("R62", part="shadow")
def test_it_runs_while_a_variant_is_in_the_shadow(database: OpenDatabase, tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        async def counted() -> bool:
            text = service.telemetry.metrics.text().decode()
            return all(line in text for line in COUNTED)

        await service.ask("total revenue by region")
        assert shadows() == []
        await service.commands.start("large")
        await service.ask("total revenue by region")
        await service.shadowed(1)
        [child] = shadows()
        assert os.getpriority(os.PRIO_PROCESS, child) == 19
        assert os.sched_getscheduler(child) == os.SCHED_IDLE
        assert _command(child)[1:] == ["-P", "-m", "groundplan.service.shadow_aside"], "no address is among them"
        await holds(counted)
        await service.commands.step(10)
        await holds(is_gone)
        await service.commands.step(0)
        await service.ask("total cost by region")
        await service.shadowed(2)
        await service.commands.stop()
        await holds(is_gone)

    in_service(database, tmp_path, work)


def test_what_a_killed_child_was_reading_is_read_by_the_next(database: OpenDatabase, tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        service.pause = LONG
        rollout = await service.commands.start("large")
        asked = [await service.ask(question) for question in [*QUESTIONS][:3]]
        await waits(service)
        [child] = shadows()
        service.pause = 0.0
        os.kill(child, signal.SIGKILL)
        await service.shadowed(3)
        assert shadows() != [child]
        kept = [one for one in await service.rollouts.questions(rollout.id) if one.side == "shadow"]
        assert {(one.run, one.status) for one in kept} == {(run.id, "answered") for run in asked}

    in_service(database, tmp_path, work)


@MOSTLY_SQLITE
def test_a_question_that_kills_the_child_is_dropped_after_some_tries(database: OpenDatabase, tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        await service.commands.start("large")
        service.pause = LONG
        await service.ask("total revenue by region")
        async with service.database.transaction() as run:
            await run("update rollout_questions set tries = ? where due is not null", SHADOW_TRIES - 1)
        await waits(service)
        os.kill(shadows()[0], signal.SIGKILL)
        await holds(service.nothing_is_due)
        assert "shadow" not in (await service.commands.status()).sides

    in_service(database, tmp_path, work)


@MOSTLY_SQLITE
def test_it_gives_way_when_every_slot_is_needed_and_goes_on_later(database: OpenDatabase, tmp_path: Path) -> None:
    """The model does not reply to the first question until a person needs the only slot; it is asked again after it."""

    async def work(service: Service) -> None:
        service.pause = LONG
        rollout = await service.commands.start("large")
        await service.ask("total revenue by region")
        await waits(service)
        assert await tries(service.database) == [1]
        service.pause = 0.0
        await service.ask("total cost by channel")
        await service.shadowed(2)
        told = [one.status for one in await service.rollouts.questions(rollout.id) if one.side == "shadow"]
        assert told == ["answered", "answered"]

    in_service(database, tmp_path, work, at_once=1)


@MOSTLY_SQLITE
def test_a_worker_that_stops_gives_back_what_is_being_read(database: OpenDatabase, tmp_path: Path) -> None:
    async def run() -> None:
        async with database() as opened:
            async with serving(opened, tmp_path) as service:
                service.pause = LONG
                await service.commands.start("large")
                await service.ask("total revenue by region")
                await waits(service)
                assert await tries(opened) == [1]
            assert shadows() == []
            assert await tries(opened) == [0], "as if it had not been taken"

    asyncio.run(run())


def test_after_each_crash_the_next_child_starts_later(tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        await service.commands.start("large")
        for pause in PAUSES[:2]:
            await holds(is_there)
            os.kill(shadows()[0], signal.SIGKILL)
            await holds(is_gone)
            began = time.monotonic()
            await holds(is_there)
            assert time.monotonic() - began > 0.8 * pause

    @asynccontextmanager
    async def sqlite() -> AsyncIterator[Database]:
        yield SQLite(tmp_path / "state", "acme")

    in_service(sqlite, tmp_path, work)


def test_it_reads_nothing_of_other_tenants(database: OpenDatabase, tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        other = service.database.of(f"other-{uuid.uuid4().hex[:8]}")
        rollout = await Rollouts(other).start("large", StopBounds(), RolloutLimits())
        run, _ = await Runs(other).add(RunRequest(question="total units by region"))
        await Rollouts(other).keep(rollout, Measured(run=run.id, side="current", share=0, status="answered"), True)
        await service.commands.start("large")
        await service.ask("total revenue by region")
        await service.shadowed(1)
        await asyncio.sleep(1.5)  # it looks once more
        assert await tries(other) == [0]
        assert not [one for one in service.model.requests if "total units by region" in str(one)]

    in_service(database, tmp_path, work)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "told to end"])
def test_it_ends_with_its_worker_and_keeps_tenants_apart(
    own_postgres: str, tmp_path: Path, number: signal.Signals
) -> None:
    """A worker of all tenants. What its log says has no address, and no question is left with the dead."""
    (tmp_path / "groundplan.toml").write_text('[variants.words]\nroles = { reader = "words" }\n')
    trust_folder(tmp_path)
    tenants = [f"{name}-{number}" for name in ("one", "two")]
    with process(tmp_path, "worker", str(SALES), "--database", own_postgres) as worker:
        asyncio.run(_shadowed(own_postgres, tenants))
        [child] = shadows(worker.pid)
        worker.send_signal(number)
        code = worker.wait(HANGS)
        assert code == (0 if number == signal.SIGTERM else -number)
        until(lambda: not Path(f"/proc/{child}").exists(), SOON)
    [log] = tmp_path.glob("worker-*.log")
    assert own_postgres not in log.read_text()
    assert "postgresql://" not in log.read_text()


async def _shadowed(url: str, tenants: list[str]) -> None:
    async with open_postgres(url) as opened:
        runs = dict[str, str]()
        for tenant in tenants:
            await Rollouts(opened.of(tenant)).start("words", StopBounds(), RolloutLimits())
            run, _ = await Runs(opened.of(tenant)).add(RunRequest(question="total revenue by region"))
            runs[tenant] = run.id

        async def kept(tenant: str) -> list[Measured]:
            rollout = await Rollouts(opened.of(tenant)).latest()
            assert rollout is not None
            found = await Rollouts(opened.of(tenant)).questions(rollout.id)
            return [one for one in found if one.side == "shadow"]

        async def read() -> bool:
            return all([await kept(tenant) for tenant in tenants])

        await holds(read)
        for tenant in tenants:
            assert [one.run for one in await kept(tenant)] == [runs[tenant]]
