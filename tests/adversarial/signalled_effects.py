"""Runs a plan of three effects many times in forked children, sends each a signal at a random moment, and resumes it.

signalled_effects.py FOLDER SIGNAL RUNS SEED: prints a line of JSON for each run: which mails were sent, how often, and
how the resumed run ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import groundplan.catalog.search.search
import groundplan.running.checkpoints  # noqa: F401
from groundplan.asking.route import load_planners, load_routes
from groundplan.catalog.catalog import Catalog
from groundplan.contracts.answer import Answer, Refusal
from groundplan.contracts.facts import StepFacts
from groundplan.errors import StateInvalid, UsageError
from groundplan.project import AsyncProject
from groundplan.sources.interface import Call, Result
from tests.mcp.workflows import proposal
from tests.test_cancel_and_resume import Mail

WORDS = ("first", "second", "third")
STEPS = [
    {"id": word, "tool": "mail.send", "params": {"word": word}, "needs": list(WORDS[place - 1 : place])}
    for place, word in enumerate(WORDS)
]


class Logged(Mail):
    """A mail is sent once its line is in the file; before and after, there is time for a signal."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self.log = log

    async def call(self, call: Call) -> Result:
        await asyncio.sleep(0.02)
        with self.log.open("a") as file:
            file.write(f"{call.params['word']}\n")
            file.flush()
            os.fsync(file.fileno())
        await asyncio.sleep(0.02)
        return Result(StepFacts(step=call.step, found=True, rows=1))


async def send(log: Path, run_id: str, resume: bool) -> Answer | Refusal:
    mail = Logged(log)
    project = AsyncProject({mail.name: mail}, {mail.name: await mail.describe()}, Catalog.of(mail.catalog_tools()))
    plan = json.dumps(proposal(STEPS))
    try:
        if not resume:
            return await project.run(plan, run_id=run_id, approve=True)
        try:
            ended = await project.resume(run_id, approve=True)
        except (StateInvalid, UsageError):  # stopped before anything was saved
            ended = await project.run(plan, run_id=run_id, approve=True)
        assert isinstance(ended, Answer | Refusal)
        return ended
    finally:
        await project.close()


def child(log: Path, run_id: str, resume: bool, told: Path) -> int:
    started = os.fork()
    if started:
        return started
    code = 1
    try:
        os.dup2(os.open(told.with_suffix(".err"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        ended = asyncio.run(send(log, run_id, resume))
        told.write_text(json.dumps({"kind": ended.kind, "text": ended.text}))
        code = 0
    except KeyboardInterrupt:
        code = 130
    finally:
        os._exit(code)


def main(folder: Path, number: int, runs: int, seed: int) -> None:
    for route in load_routes():  # imports are done once, so that the moments fall into the run itself
        load_planners(route)
    chance = random.Random(seed)
    begun = time.monotonic()
    os.waitpid(child(folder / "whole", "whole", False, folder / "told"), 0)
    took = time.monotonic() - begun
    for run in range(runs):
        log, told = folder / f"log{run}", folder / f"told{run}"
        stopped = child(log, f"run{run}", False, folder / "ignored")
        time.sleep(chance.uniform(0, took))
        os.kill(stopped, number)
        _, status = os.waitpid(stopped, 0)
        before = log.read_text().split() if log.exists() else []
        _, resumed = os.waitpid(child(log, f"run{run}", True, told), 0)
        sent = Counter(log.read_text().split() if log.exists() else [])
        ended = json.loads(told.read_text()) if told.exists() else told.with_suffix(".err").read_text()
        codes = [os.waitstatus_to_exitcode(code) for code in (status, resumed)]
        print(json.dumps({"codes": codes, "before": before, "sent": sent, "ended": ended}), flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
