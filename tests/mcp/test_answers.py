"""What a person reads after each task of `tasks.py`: all that was sent and booked, in both languages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from groundplan.contracts.answer import Answer
from groundplan.project import Project
from tests.mcp.tasks import ADA, TASKS, Task
from tests.mcp.workflows import proposal
from tests.sources.mcp.calling import hostile_command, shop_command
from tests.sources.mcp.hostile_server import CANARY

KINDS = tuple({(task.kind, task.changes_something): task for task in TASKS}.values())


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with Project({"shop": {"mcp": shop_command(tmp_path_factory.mktemp("shop") / "shop.sqlite")}}) as shopping:
        yield shopping


def told(task: Task, language: str, project: Project) -> Answer:
    plan = {**task.plan, "reading": {**task.plan["reading"], "language": language}}
    if task.bookings:  # a slot can be booked once
        plan = json.loads(json.dumps(plan).replace("2026-12-0", "2027-12-0" if language == "ru" else "2026-12-0"))
    outcome = project.run(json.dumps(plan), approve=True).outcome
    assert isinstance(outcome, Answer)
    assert not outcome.issues
    return outcome


@pytest.mark.requirement("R36", "R52")
@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("task", KINDS, ids=lambda task: f"{task.kind}, {'some' if task.changes_something else 'none'}")
def test_the_answer_says_all_that_was_changed_and_why_the_rest_was_not(
    task: Task, language: str, project: Project
) -> None:
    answer = told(task, language, project)
    done, not_done = ("Done: ", "Not done: ") if language == "en" else ("Выполнено: ", "Не выполнено: ")
    changed = [line for line in answer.text.split("\n") if line.startswith(done)]
    assert len(changed) == len(task.mails) + len(task.bookings)
    for recipient, subject, _ in task.mails:
        assert any(f"to {recipient}, subject" in line and subject in line for line in changed)
    passed_by = [line for line in answer.text.split("\n") if line.startswith(not_done)]
    assert len(passed_by) == sum(failure.status == "skipped" for failure in answer.facts.failures)
    assert all("`" in line for line in passed_by), "each with its condition"
    assert "Nothing was found." not in answer.text


@pytest.mark.requirement("R52")
def test_a_change_of_which_nobody_knows_is_told_as_failed_not_as_not_done(tmp_path: Path) -> None:
    mail = {"id": "mail", "tool": "shop.send_email", "params": {"to": ADA, "subject": "A", "body": "B"}}
    hanging = {"id": "it", "tool": "sly.change", "params": {"word": "a"}}
    sources = {
        "shop": {"mcp": shop_command(tmp_path / "shop.sqlite")},
        "sly": {"mcp": hostile_command("hangs", tmp_path / "journal"), "seconds": 1},
    }
    with Project(sources) as project:
        text = project.run(json.dumps(proposal([mail, hanging])), approve=True).outcome.text
    assert text.split("\n") == [
        f"Done: send_email: to {ADA}, subject A, body B (id 1).",
        "Failed: it is not known whether sly.change took effect: the server did not answer in time. "
        "It will not be called again; check the server before you retry.",
    ]


@pytest.mark.requirement("R52")
def test_a_text_that_a_server_wrote_is_quoted_behind_the_step_that_got_it(tmp_path: Path) -> None:
    look = {"id": "found", "tool": "shop.look", "params": {"word": "a"}}
    with Project({"shop": {"mcp": hostile_command("gives instructions", tmp_path / "journal")}}) as project:
        answer = project.run(json.dumps(proposal([look]))).outcome
    assert isinstance(answer, Answer)
    assert (answer.text, answer.issues) == (f"found (look): {CANARY}", ())
