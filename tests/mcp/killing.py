"""Runs whose workers are killed at random moments, again and again, until a last one is let be.

    python -m tests.mcp.killing '{"shop": "http://…/mcp", "plans": {"a_run": {…}}, …}'

A process that has loaded everything and begun nothing forks a worker for each try, so that a try costs little and the
kill falls into the run itself. The last plan is run first and let be: a kill falls within the time that it took, so
that a slow machine is not killed too early; a run that ends before its kill shortens it. The first plans, as many as
`runs`, are all run; further ones until there were enough `kills`: on a fast machine more runs end before theirs. What
happened is printed as JSON.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import math
import os
import random
import select
import signal
import sqlite3
import sys
import time
import traceback
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO, NoReturn, cast

from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.errors import StateInvalid
from groundplan.project import AsyncProject
from groundplan.settings import state_folder
from groundplan.state.database import FILE

SEED = 7
LOADED_BEFORE = (
    "cel",
    "groundplan.catalog.search.search",
    "groundplan.running.run",
    "groundplan.sources.mcp.connection",
    "groundplan.sources.tables.source",
    "langgraph.checkpoint.sqlite.aio",
)
BEGUN = b"begun\n"


@dataclass
class Report:
    """`kills` fell into a run; `in_doubt` are those of them that fell between an effect's beginning and its end."""

    kills: int = 0
    in_doubt: int = 0
    ended: dict[str, str] = field(default_factory=dict)


def main() -> None:
    given = json.loads(sys.argv[1])
    for module in LOADED_BEFORE:
        importlib.import_module(module)
    chance, report = random.Random(SEED), Report()
    *plans, (calm, calm_plan) = given["plans"].items()
    report.ended[calm], within = _try(given["shop"], calm, calm_plan, None, resume=False)
    for run_id, plan in plans:
        if len(report.ended) >= given["runs"] and report.kills >= given["kills"]:
            break
        moments = [chance.uniform(0, 0.7 * within) for _ in range(given["kills_of_one"])]
        within = min(within, _finish(given["shop"], run_id, plan, moments, report))
    sys.stdout.write(json.dumps(asdict(report)))


def _finish(shop: str, run_id: str, plan: dict[str, Any], moments: list[float], report: Report) -> float:
    """One run to its end, with a kill at each of these moments unless it ends before; the seconds of a whole run."""
    for tries, moment in enumerate([*moments, None]):
        ended, seconds = _try(shop, run_id, plan, moment, resume=tries > 0)
        if ended:
            report.ended[run_id] = ended
            return seconds if tries == 0 else math.inf
        report.kills += 1
        report.in_doubt += _is_in_doubt(run_id)
    raise AssertionError("the last try is let be")


def _try(shop: str, run_id: str, plan: dict[str, Any], moment: float | None, *, resume: bool) -> tuple[str, float]:
    """How a worker's run ended, nothing where it was killed inside it, and the seconds that it took."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(shop, run_id, plan, resume, writing)
    os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as told:
        was_begun = told.readline() == BEGUN
        begun = time.monotonic()
        if was_begun and moment is not None:
            _kill_after(moment, child, cast(BinaryIO, told))
        ended = told.read().decode()
        seconds = time.monotonic() - begun
    _, status = os.waitpid(child, 0)
    if not ended and os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
        raise RuntimeError(f"the worker of {run_id} broke; what it met is above")
    return ended, seconds


def _kill_after(moment: float, child: int, told: BinaryIO) -> None:
    """Unless the run ends before."""
    ready, _, _ = select.select([told], [], [], moment)
    if not ready:
        os.kill(child, signal.SIGKILL)


def _work(shop: str, run_id: str, plan: dict[str, Any], resume: bool, tell: int) -> NoReturn:
    try:
        outcome = asyncio.run(_run(shop, run_id, json.dumps(plan), resume, tell))
        os.write(tell, (outcome.kind if isinstance(outcome, Answer) else outcome.text).encode())
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a forked worker never returns to what its parent was doing
        traceback.print_exc()
        os._exit(1)


async def _run(shop: str, run_id: str, plan: str, resume: bool, tell: int) -> Answer | Refusal:
    project = await AsyncProject.open({"shop": {"mcp": shop}})
    os.write(tell, BEGUN)
    try:
        if not resume:
            return await project.run(plan, run_id=run_id, approve=True)
        outcome = await project.resume(run_id, approve=True)
    except StateInvalid as error:
        if "to resume" not in str(error):
            raise
        return await project.run(plan, run_id=run_id, approve=True)  # the last one left no trace
    assert not isinstance(outcome, Clarification)
    return outcome


def _is_in_doubt(run_id: str) -> bool:
    file = state_folder() / FILE
    if not file.exists():
        return False
    with closing(sqlite3.connect(file)) as effects:
        if not effects.execute("select 1 from sqlite_master where name = 'effects'").fetchone():
            return False
        begun = effects.execute("select count(*) from effects where outcome is null and key like ?", (f"{run_id}/%",))
        return bool(begun.fetchone()[0])


if __name__ == "__main__":
    main()
