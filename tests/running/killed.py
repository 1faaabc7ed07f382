"""Runs one plan with checkpoints in a file, to be killed and resumed: killed.py DATABASE LOG [resume]."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from groundplan.running.run import run
from tests.running.saving import saved_in
from tests.running.scripted import Scripted, checked, step

# durations are inverted: later steps of the plan end first, so that results matched by order of ending would swap
PLAN = checked(
    step("x1", ms=900),
    step("y1", ms=30),
    step("x2", "x1", ms=600),
    step("y2", "y1", ms=30),
    step("y3", "y2", ms=150),
    {**step("z", "x2", "y3"), "tool": "unite"},
)


async def main(database: Path, log: Path, resume: bool) -> None:
    async with saved_in(database) as checkpoints:
        facts = await run(PLAN, {"scripted": Scripted(log)}, run_id="one", checkpointer=checkpoints, resume=resume)
    print(facts.tables["z"].query)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), len(sys.argv) > 3))
