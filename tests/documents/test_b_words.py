"""Document B by words alone: nothing passes with a value that the task does not say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from groundplan.contracts.verdict import Passed
from groundplan.project import Project
from groundplan.result import Planned
from tests.documents.impossible_tasks import tasks
from tests.sources.mcp.calling import shop_command


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("shop")
    with pytest.MonkeyPatch.context() as patch, Project({"shop": {"mcp": shop_command(folder / "shop.sqlite")}}) as one:
        patch.setenv("GROUNDPLAN_STATE", str(folder / "state"))
        yield one


def passes(project: Project, task: str) -> Planned | None:
    planned = project.plan(task)
    return planned if isinstance(planned.verdict, Passed) else None


@pytest.mark.requirement("R20", "R22")
def test_two_hundred_tasks_that_cannot_be_done_as_said_do_not_pass(project: Project) -> None:
    asked = tasks()
    assert len(asked) >= 200
    assert [task for task in asked if passes(project, task)] == []


@pytest.mark.requirement("R20")
@pytest.mark.parametrize(
    "task",
    [
        "Find the customer ada@example.org.",
        "List the customers.",
        "Show all premium customers.",
        "Get the orders of the customer 7.",
        "List the free slots on 2026-12-02.",
        'Book the slot 10:00 on 2026-12-02 with the title "Call".',
        'Send an email to ada@example.org with the subject "Sale" and the body "Now or never".',
        "Найди клиента ada@example.org.",
        "Покажи клиентов.",
    ],
)
def test_the_same_tasks_with_their_values_pass(project: Project, task: str) -> None:
    assert passes(project, task)
