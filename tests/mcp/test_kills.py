"""Workers are killed inside their runs; others go on, and every effect happens exactly once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.tasks import BOOKINGS, MAILS, TASKS, Task
from tests.sources.mcp.calling import rows, served_shop, shop_command

CHANGING = [task for task in TASKS if task.changes_something]
KINDS = list(dict.fromkeys(task.kind for task in CHANGING))
SLOW = 0.1  # seconds that each call rests before and after its work


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))


@pytest.mark.requirement("R36", "R37", "R43")
def test_every_effect_happens_once_though_workers_are_killed_fifty_times(tmp_path: Path) -> None:
    database = tmp_path / "shop.sqlite"
    one_of_each = [next(task for task in CHANGING if task.kind == kind) for kind in KINDS]
    tasks = [*one_of_each, *(task for task in CHANGING if task not in one_of_each)]
    with served_shop(database, slow=SLOW) as address:
        report = killed(address, tasks, runs=len(one_of_each), kills=50, kills_of_one=6)
    assert report["kills"] >= 50
    assert report["in_doubt"] > 0, "no kill fell between a change and the note that it was made"
    assert len(report["ended"]) >= 11
    assert_once(tasks, report, database)


@pytest.mark.requirement("R36", "R43")
def test_a_command_that_dies_with_its_worker_is_started_anew_and_changes_nothing_twice(tmp_path: Path) -> None:
    database = tmp_path / "shop.sqlite"
    tasks = sorted(CHANGING, key=lambda task: task.kind != "write then book")[:3]
    report = killed(f"{shop_command(database)} --slow {SLOW}", tasks, runs=2, kills=1, kills_of_one=4)
    assert report["kills"] > 0
    assert_once(tasks, report, database)


def killed(shop: str, tasks: Sequence[Task], **how: float) -> dict[str, Any]:
    """What `killing` reports; its runs are named by the places of their tasks."""
    plans = {str(number): task.plan for number, task in enumerate(tasks)}
    given = json.dumps({"shop": shop, "plans": plans, **how})
    done = subprocess.run(
        [sys.executable, "-m", "tests.mcp.killing", given],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env=os.environ,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def assert_once(tasks: Sequence[Task], report: dict[str, Any], database: Path) -> None:
    assert set(report["ended"].values()) == {"answer"}, report
    ran = [tasks[int(run)] for run in report["ended"]]
    assert rows(database, MAILS) == sorted(mail for task in ran for mail in task.mails)
    assert rows(database, BOOKINGS) == sorted(booking for task in ran for booking in task.bookings)
