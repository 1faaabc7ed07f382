"""Each task of `tasks.py`, by its hand-written plan: the gate lets it pass, and it leaves exactly the rows expected."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from groundplan.contracts.answer import Answer
from groundplan.contracts.verdict import Passed
from groundplan.project import Project
from tests.mcp.tasks import BOOKINGS, MAILS, TASKS, Task
from tests.sources.mcp.calling import rows, served_shop, shop_command

OVER_HTTP = ("thank if premium", "write then book", "each their own")


@pytest.fixture(scope="module")
def over_stdio(shop: Path) -> Iterator[Project]:
    with Project({"shop": {"mcp": shop_command(shop)}}) as project:
        yield project


@pytest.fixture(scope="module")
def over_http(shop: Path) -> Iterator[Project]:
    with served_shop(shop) as address, Project({"shop": {"mcp": address}}) as project:
        yield project


@pytest.mark.requirement("R17", "R36", "R37")
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.words[:60])
def test_a_task_leaves_the_rows_that_were_asked_for(task: Task, shop: Path, over_stdio: Project) -> None:
    assert_done(task, shop, over_stdio)


@pytest.mark.requirement("R17")
@pytest.mark.parametrize("task", [task for task in TASKS if task.kind in OVER_HTTP], ids=lambda task: task.words[:60])
def test_a_task_leaves_the_same_rows_over_http(task: Task, shop: Path, over_http: Project) -> None:
    assert_done(task, shop, over_http)


def test_the_tasks_are_eleven_and_every_choice_is_taken_both_ways() -> None:
    kinds = {task.kind: [other for other in TASKS if other.kind == task.kind] for task in TASKS}
    assert len(kinds) == 11
    always = {"to several", "write then book", "each their own"}
    for kind, tasks in kinds.items():
        left = {(tuple(mail[1:] for mail in task.mails), bool(task.bookings)) for task in tasks}
        assert len(left) > 1 or kind in always, kind


def assert_done(task: Task, shop: Path, project: Project) -> None:
    _empty(shop)
    proposed = json.dumps(task.plan)
    verdict = project.check(proposed)
    assert isinstance(verdict, Passed), verdict
    outcome = project.run(proposed, approve=True).outcome
    assert isinstance(outcome, Answer)
    assert {failure.status for failure in outcome.facts.failures} <= {"skipped"}
    assert rows(shop, MAILS) == list(task.mails)
    assert rows(shop, BOOKINGS) == list(task.bookings)


def _empty(shop: Path) -> None:
    """Outbox and calendar as on the first day; the server reads the file anew with each call."""
    with closing(sqlite3.connect(shop)) as connection, connection:
        connection.execute("delete from outbox")
        connection.execute("delete from bookings")
