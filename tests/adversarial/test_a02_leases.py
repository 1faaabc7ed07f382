"""A busy event loop loses no lease; a run that hangs its worker twice is given up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from groundplan.contracts.answer import refused
from groundplan.contracts.run import Run, RunRequest
from groundplan.errors import StateInvalid
from groundplan.service import leases
from groundplan.service.worker import Worker
from groundplan.state import runs as run_store
from groundplan.state.database import SQLite
from groundplan.state.runs import Claim, Runs
from tests.patience import HANGS

LEASE = 1.0
BLOCKED = 3 * LEASE


class Blocking:
    """A project whose questions hold the event loop, as no code of ours should."""

    strategy, timezone = None, "UTC"

    def __init__(self, begun: threading.Event) -> None:
        self._begun = begun

    async def ask(self, question: str, **_: Any) -> Any:
        await asyncio.sleep(LEASE / 2)  # the events are written
        self._begun.set()
        if question == "block":
            time.sleep(BLOCKED)  # noqa: ASYNC251 - that is the attack
        return refused("reading/no-question", "it was read", "ask again")

    async def resume(self, *_: Any, **__: Any) -> Any:
        raise StateInvalid("there is no run to resume")


class Served:
    """The projects of a worker: all are this one."""

    def __init__(self, database: SQLite, project: Blocking) -> None:
        self.database, self._project = database, project

    @asynccontextmanager
    async def of(self, *_: str) -> AsyncIterator[Blocking]:
        yield self._project


@pytest.fixture(autouse=True)
def _short_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_store, "LEASE", LEASE)
    monkeypatch.setattr(leases, "RENEW", LEASE / 5)


def taken_over_while(folder: Path, begun: threading.Event, ended: threading.Event) -> list[Claim]:
    """What another worker could take up while the first one holds its loop: once, and it never goes on with it."""
    taken: list[Claim] = []

    async def look() -> None:
        with suppress(StateInvalid):  # it was busy
            claim = await Runs(SQLite(folder, "one")).claim()
            taken.extend([claim] if claim else [])

    assert begun.wait(HANGS)
    while not ended.wait(LEASE / 5) and not taken:
        asyncio.run(look())
    return taken


async def asked(folder: Path, begun: threading.Event) -> list[Run]:
    await Runs(SQLite(folder, "one")).add(RunRequest(question="block"))
    return await finished(folder, begun)


async def finished(folder: Path, begun: threading.Event) -> list[Run]:
    """What is in the queue, worked on to its end."""
    database = SQLite(folder, "one")
    worker, runs = Worker(Served(database, Blocking(begun))), Runs(database)  # type: ignore[arg-type]
    working = asyncio.create_task(worker.work())
    async with asyncio.timeout(HANGS):
        while not all(run.ended for run in await runs.page(None, 10)):  # noqa: ASYNC110 - nobody rings
            await asyncio.sleep(LEASE / 5)
    worker.stop()
    await working
    return await runs.page(None, 10)


def test_a_loop_that_is_blocked_for_longer_than_the_lease_loses_no_run(tmp_path: Path) -> None:
    begun, ended, taken = threading.Event(), threading.Event(), list[Claim]()
    watching = threading.Thread(target=lambda: taken.extend(taken_over_while(tmp_path, begun, ended)))
    watching.start()
    [run] = asyncio.run(asked(tmp_path, begun))
    ended.set()
    watching.join()
    assert (run.state, run.attempt) == ("refused", 1)
    assert taken == []


def test_a_loop_that_hangs_gives_up_its_run_which_is_blamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "HANGS", LEASE)
    begun, ended, taken = threading.Event(), threading.Event(), list[Claim]()
    watching = threading.Thread(target=lambda: taken.extend(taken_over_while(tmp_path, begun, ended)))
    watching.start()
    asyncio.run(asked(tmp_path, begun))
    ended.set()
    watching.join()
    assert [claim.tries for claim in taken[:1]] == [4]  # one claim of the first worker, two for the hang, and this one


def test_a_run_that_hung_two_workers_is_given_up(tmp_path: Path) -> None:
    async def hung_twice() -> None:
        runs = Runs(SQLite(tmp_path, "one"))
        await runs.add(RunRequest(question="block"))
        for _ in range(2):
            claim = await runs.claim()
            assert claim
            await runs.give_up([claim], blamed=True)

    asyncio.run(hung_twice())
    begun = threading.Event()
    [run] = asyncio.run(finished(tmp_path, begun))
    assert run.state == "failed"
    assert run.problem is not None
    assert run.problem.code == "service/given-up"
    assert run.attempt == 3
    assert not begun.is_set()


def test_runs_beside_one_that_hangs_are_not_blamed(tmp_path: Path) -> None:
    async def given_up() -> list[int]:
        runs = Runs(SQLite(tmp_path, "one"))
        await runs.add(RunRequest(question="one"))
        first = await runs.claim()
        assert first
        await runs.give_up([first], blamed=False)
        again = await runs.claim()
        assert again
        await runs.give_up([again], blamed=True)
        last = await runs.claim()
        assert last
        return [first.tries, again.tries, last.tries]

    assert asyncio.run(given_up()) == [1, 2, 5]
