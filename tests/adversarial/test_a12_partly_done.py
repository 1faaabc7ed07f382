"""A change for each item that fails for some: it ends as partial, names them, and resuming repeats nothing."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from groundplan.contracts.answer import Answer, Outcome
from groundplan.contracts.run import Run, RunReply, RunRequest
from groundplan.project import AsyncProject
from groundplan.service.projects import Projects
from groundplan.service.worker import Worker
from groundplan.state.database import SQLite
from groundplan.state.runs import Runs
from tests.extras import missing
from tests.patience import HANGS

pytestmark = pytest.mark.needs("mcp")
if not missing("mcp"):
    from tests.mcp.test_each import _change
    from tests.mcp.workflows import proposal
    from tests.sources.mcp.calling import rows, shop_command

DAY = "2026-12-08"
SLOTS = ["09:00", "10:00", "11:00", "14:00", "15:00"]
BOOKED = f"select slot, title from bookings where day = '{DAY}' order by 1"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    return tmp_path / "shop.sqlite"


def calls() -> str:
    """A call in every slot that is free on another day; somebody else has 10:00 on this one."""
    booking = {"day": DAY, "slot": {"$from": "free.result"}, "title": "Call"}
    steps = [
        {"id": "free", "tool": "shop.list_free_slots", "params": {"day": "2026-12-07"}},
        {"id": "book", "tool": "shop.book_slot", "for_each": "free", "params": booking, "needs": ["free"]},
    ]
    return json.dumps(proposal(steps))


async def opened(shop: Path) -> AsyncProject:
    project = await AsyncProject.open({"shop": {"mcp": shop_command(shop)}})
    _change(shop, f"insert into bookings (key, day, slot, title) values ('theirs', '{DAY}', '10:00', 'Theirs')")
    return project


def outcomes(shop: Path) -> list[Outcome]:
    """Run once, once more in vain, and once more when the slot is free."""

    async def three() -> list[Outcome]:
        project = await opened(shop)
        try:
            first = await project.run(calls(), run_id="a_run", approve=True)
            second = await project.resume("a_run")
            _change(shop, "delete from bookings where title = 'Theirs'")
            return [first, second, await project.resume("a_run")]
        finally:
            await project.close()

    return asyncio.run(three())


def test_it_is_partial_names_what_failed_and_does_only_the_rest_when_it_is_resumed(shop: Path) -> None:
    first, second, third = outcomes(shop)
    for outcome in (first, second):
        assert isinstance(outcome, Answer), outcome.text
        assert outcome.partial
        assert 'failed for 1 of 5 items (slot: "10:00")' in outcome.text
        ends = {dict_of(end)["slot"]: end.status for end in outcome.facts.steps if end.step == "book"}
        assert ends == {slot: "failed" if slot == "10:00" else "finished" for slot in SLOTS}
    assert isinstance(third, Answer), third.text
    assert not third.partial
    assert rows(shop, BOOKED) == [(slot, "Call") for slot in SLOTS]


def dict_of(end: Any) -> dict[str, Any]:
    return {item.title: item.value for item in end.given}


async def settled(runs: Runs, id_: str) -> Run:
    async with asyncio.timeout(HANGS):
        while not (run := await runs.find(id_)) or run.state in ("queued", "running"):  # noqa: ASYNC110 - the worker rings for workers
            await asyncio.sleep(0.05)
    return run


def test_a_run_of_the_service_is_partial_and_is_resumed(shop: Path, tmp_path: Path) -> None:
    async def served() -> list[Run]:
        database = SQLite(tmp_path / "runs", "alone")
        project = await opened(shop)

        async def found(*_: Any) -> AsyncProject:
            return project

        projects = Projects(database, found)
        project._database = database
        worker, runs = Worker(projects), Runs(database)
        working = asyncio.create_task(worker.work())
        run, _ = await runs.add(RunRequest(plan=json.loads(calls())))
        waits = await settled(runs, run.id)
        await runs.reply(run.id, "waiting_approval", RunReply(approved=waits.approve), waits.approve)
        partial = await settled(runs, run.id)
        _change(shop, "delete from bookings where title = 'Theirs'")
        await runs.resume(run.id)
        done = await settled(runs, run.id)
        worker.stop()
        await working
        await projects.close()
        return [waits, partial, done]

    waits, partial, done = asyncio.run(served())
    assert [run.state for run in (waits, partial, done)] == ["waiting_approval", "partial", "succeeded"]
    assert rows(shop, BOOKED) == [(slot, "Call") for slot in SLOTS]
