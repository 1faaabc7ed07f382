"""kill -9 of a worker inside an effect: another goes on within ten seconds, and the effect happens once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from groundplan.contracts.run import Run, RunReply, RunRequest
from groundplan.state.database import Database
from groundplan.state.postgres import open_postgres
from groundplan.state.runs import Runs
from tests.extras import missing
from tests.patience import HANGS
from tests.service.processes import MAIN, process

if not missing("mcp"):
    from tests.mcp.tasks import BOOKINGS, MAILS, TASKS
    from tests.sources.mcp.calling import rows, served_shop

SLOW = 0.7  # seconds that each call rests before and after its work
pytestmark = pytest.mark.needs("mcp")


async def ended(runs: Runs, id_: str, *states: str) -> Run:
    async with asyncio.timeout(HANGS):
        while True:
            run = await runs.find(id_)
            assert run is not None
            if run.state in states:
                return run
            assert not run.ended, run
            await asyncio.sleep(0.05)


@pytest.mark.timed
@pytest.mark.requirement("R43")
@pytest.mark.requirement("R76", part="resumed")
@pytest.mark.requirement("R76", part="effects")
def test_a_killed_worker_loses_no_run_and_repeats_no_effect(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    task = next(task for task in TASKS if task.mails and task.bookings)
    with ExitStack() as stack:
        shop = stack.enter_context(served_shop(tmp_path / "shop.sqlite", slow=SLOW))
        (tmp_path / "groundplan.toml").write_text(f'[sources.shop]\nmcp = "{shop}"\n')
        subprocess.run([*MAIN, "trust", "--yes"], cwd=tmp_path, check=True)
        workers = [
            stack.enter_context(process(tmp_path, "worker", "--database", postgres, "--at-once", "1")) for _ in range(2)
        ]
        seconds = asyncio.run(killed_inside(postgres, task.plan, [worker.pid for worker in workers]))
    assert seconds < 10, f"another worker went on after {seconds:.1f} s"
    assert rows(tmp_path / "shop.sqlite", MAILS) == sorted(task.mails)
    assert rows(tmp_path / "shop.sqlite", BOOKINGS) == sorted(task.bookings)


async def killed_inside(url: str, plan: dict[str, object], workers: list[int]) -> float:
    async with open_postgres(url) as opened:
        database: Database = opened.of("killed")
        runs, request = Runs(database), RunRequest.model_validate_json(json.dumps({"plan": plan}))
        for other in workers[::-1]:  # each of them has opened its data before the kill
            os.kill(other, signal.SIGSTOP)
            run, _ = await runs.add(request)
            waiting = await ended(runs, run.id, "waiting_approval")
            os.kill(other, signal.SIGCONT)
        os.kill(workers[1], signal.SIGSTOP)
        assert waiting.approve is not None
        await runs.reply(run.id, "waiting_approval", RunReply(approved=waiting.approve), waiting.approve)
        await effect_begun(database, run.id)
        os.kill(workers[0], signal.SIGKILL)
        killed = datetime.now(UTC)
        os.kill(workers[1], signal.SIGCONT)
        assert (await ended(runs, run.id, "succeeded")).attempt == 3
        events = await runs.events(run.id)
        assert [event.number for event in events] == [*range(1, len(events) + 1)]
        [again] = [event.at for event in events if event.kind == "run.started" and event.data["attempt"] == 3]
        return (again - killed).total_seconds()


async def effect_begun(database: Database, run_id: str) -> None:
    async with asyncio.timeout(HANGS):
        while True:
            async with database.transaction(writes=False) as run:
                begun = await run("select key from effects where outcome is null")
            if any(key.startswith(run_id) for (key,) in begun):
                return
            await asyncio.sleep(0.02)
