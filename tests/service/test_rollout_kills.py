"""kill -9 of workers during a rollout: every run ends once, on its side, and is counted once."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from groundplan.contracts.rollout import RolloutLimits, StopBounds
from groundplan.contracts.run import ENDED, Run, RunRequest
from groundplan.service.serving import migrate
from groundplan.state.postgres import open_postgres
from groundplan.state.rollouts import Rollouts
from groundplan.state.runs import Runs
from tests.asking.tables.described import SALES
from tests.patience import HANGS
from tests.service.conftest import new_database
from tests.service.processes import process

QUESTIONS = 40
KILLS = 4
TEXTS = ("total revenue by region", "average cost by channel", "maximum units by region", "revenue by salesperson")


@pytest.mark.slow
def test_killed_workers_lose_no_run_and_no_record_of_a_rollout(tmp_path: Path) -> None:
    (tmp_path / "groundplan.toml").write_text('[variants.words]\nroles = { reader = "words" }\n')
    with new_database() as url, ExitStack() as stack:
        asyncio.run(migrate(url))

        def worker() -> subprocess.Popen[bytes]:
            return stack.enter_context(process(tmp_path, "worker", str(SALES), "--database", url, "--at-once", "2"))

        workers = [worker(), worker()]

        def kill() -> None:
            os.kill(workers.pop(0).pid, signal.SIGKILL)
            workers.append(worker())

        asyncio.run(_rolled_out(url, kill))


async def _rolled_out(url: str, kill: object) -> None:
    chance = random.Random(1)
    async with open_postgres(url) as opened:
        database = opened.of("killed")
        runs, rollouts = Runs(database), Rollouts(database)
        rollout = await rollouts.start("words", StopBounds(seconds=3_600), RolloutLimits(timeout=600), 50)
        ids = [(await runs.add(RunRequest(question=chance.choice(TEXTS))))[0].id for _ in range(QUESTIONS)]
        for part in range(KILLS):
            await _ended(runs, ids, QUESTIONS * (part + 1) // (KILLS + 2))
            assert callable(kill)
            kill()
        done = await _ended(runs, ids, QUESTIONS)
        kept = [one for one in await rollouts.questions(rollout.id) if one.side != "shadow"]
    assert {run.state for run in done} <= {"succeeded", "refused"}
    assert sorted(one.run for one in kept) == sorted(ids), "each is counted once"
    sides = {run.id: run.rollout.side for run in done if run.rollout}
    assert {one.run: one.side for one in kept} == sides
    assert {*sides.values()} == {"current", "trial"}


async def _ended(runs: Runs, ids: list[str], count: int) -> list[Run]:
    async with asyncio.timeout(6 * HANGS):
        while True:
            found = [run for id_ in ids if (run := await runs.find(id_)) and run.state in ENDED]
            if len(found) >= count:
                return found
            await asyncio.sleep(0.2)
