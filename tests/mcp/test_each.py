"""For each item that a step finds: shown before it is approved, done once for each, and never for more than allowed."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from groundplan.contracts.answer import Answer, Refusal
from groundplan.contracts.bounds import Bounds
from groundplan.contracts.verdict import Passed
from groundplan.project import AsyncProject, Project
from tests.mcp.tasks import MAILS
from tests.mcp.test_kills import killed
from tests.mcp.test_tasks import _empty
from tests.mcp.workflows import proposal
from tests.sources.mcp.calling import rows, served_shop, shop_command

ENGLISH = (
    'List the vip customers and send each of them an email with the subject "Gala" and the body "Dear {name}, come".'
)
RUSSIAN = 'Покажи список клиентов vip и отправь каждому из них письмо с темой "Гала" и текстом "Приходите, {name}".'
GALA = [
    ("chen@example.org", "Gala", "Dear Chen Wu, come"),
    ("femi@example.org", "Gala", "Dear Femi Okoro, come"),
]
GALA_IN_RUSSIAN = [
    ("chen@example.org", "Гала", "Приходите, Chen Wu"),
    ("femi@example.org", "Гала", "Приходите, Femi Okoro"),
]


def to_each(list_params: dict[str, Any], limits: dict[str, Any] | None = None) -> dict[str, Any]:
    """A plan by hand: a mail to each customer of a list."""
    mail = {"to": {"$from": "all.email"}, "subject": "Hi", "body": {"$join": ["Dear ", {"$from": "all.name"}]}}
    steps = [
        {"id": "all", "tool": "shop.list_customers", "params": list_params},
        {"id": "mail", "tool": "shop.send_email", "for_each": "all", "params": mail, "needs": ["all"]},
    ]
    made = proposal(steps)
    return {**made, "plan": {**made["plan"], "limits": limits or {}}}


@pytest.mark.requirement("R17", "R20", "R36")
@pytest.mark.parametrize(("task", "mails"), [(ENGLISH, GALA), (RUSSIAN, GALA_IN_RUSSIAN)], ids=["English", "Russian"])
def test_each_of_what_a_step_finds_is_written_to(
    task: str, mails: list[tuple[str, str, str]], shop: Path, project: Project
) -> None:
    _empty(shop)
    outcome = project.ask(task, approve=True).outcome
    assert isinstance(outcome, Answer), outcome.text
    assert [step.for_each for step in outcome.plan.steps] == [None, "list_customers"]
    assert rows(shop, MAILS) == mails
    done = [line for line in outcome.text.split("\n") if line.startswith(("Done: ", "Выполнено: "))]
    assert len(done) == 2
    assert all(any(recipient in line for line in done) for recipient, _, _ in mails)


@pytest.mark.requirement("R36")
@pytest.mark.parametrize("yes", [True, False])
def test_the_items_are_shown_before_they_are_approved(yes: bool, shop: Path, project: Project) -> None:
    _empty(shop)
    shown: list[str] = []

    def approve(verdict: Passed) -> bool:
        shown.extend(issue.problem for issue in verdict.issues)
        return yes

    outcome = project.ask(ENGLISH, approve=approve).outcome
    [said] = shown
    assert "for each of the 2 items that 'list_customers' found" in said
    assert '(to: "chen@example.org", body: "Dear Chen Wu, come"; to: "femi@example.org"' in said
    assert isinstance(outcome, Answer if yes else Refusal)
    assert rows(shop, MAILS) == (GALA if yes else [])


@pytest.mark.requirement("R36")
def test_without_approval_the_refusal_names_the_items(shop: Path, project: Project) -> None:
    _empty(shop)
    outcome = project.ask(ENGLISH).outcome
    assert isinstance(outcome, Refusal)
    assert {issue.code for issue in outcome.issues} == {"access/unapproved"}
    assert "chen@example.org" in outcome.text
    assert rows(shop, MAILS) == []


@pytest.mark.requirement("R36")
def test_what_was_approved_is_done_though_the_list_has_changed_since(tmp_path: Path) -> None:
    database = tmp_path / "shop.sqlite"

    async def both() -> tuple[Any, Any]:
        project = await AsyncProject.open({"shop": {"mcp": shop_command(database)}})
        try:
            waits = await project.ask(ENGLISH, run_id="a_run")
            _change(database, "update customers set tier = 'vip'")
            return waits, await project.resume("a_run", approve=True)
        finally:
            await project.close()

    waits, outcome = asyncio.run(both())
    assert isinstance(waits, Refusal)
    assert isinstance(outcome, Answer), outcome.text
    assert rows(database, MAILS) == GALA


@pytest.mark.requirement("R37")
def test_more_items_than_allowed_are_refused_before_anybody_is_asked(shop: Path, project: Project) -> None:
    _empty(shop)
    asked: list[Passed] = []
    outcome = project.run(json.dumps(to_each({}, {"each": 5})), approve=lambda passed: not asked.append(passed)).outcome
    assert isinstance(outcome, Refusal)
    assert not asked
    [issue] = outcome.issues
    assert issue.code == "running/too-many-items"
    assert "found 6 items" in issue.problem
    assert "limits.each" in issue.hint
    assert rows(shop, MAILS) == []


def test_too_many_items_are_refused_in_russian_too(shop: Path, project: Project) -> None:
    task = 'Покажи список клиентов и отправь каждому из них письмо с темой "Гала" и текстом "Приходите".'
    outcome = project.ask(task, approve=True, bounds=Bounds(items=5)).outcome
    assert isinstance(outcome, Refusal)
    assert outcome.text.startswith("Шаг «list_customers» нашёл больше")


def test_nothing_is_asked_and_nothing_done_for_an_empty_list(tmp_path: Path) -> None:
    database = tmp_path / "shop.sqlite"
    with Project({"shop": {"mcp": shop_command(database)}}) as project:
        project.ask("List the vip customers")
        _change(database, "update customers set tier = 'standard'")
        outcome = project.run(json.dumps(to_each({"tier": "vip"}))).outcome
    assert isinstance(outcome, Answer), outcome.text
    assert rows(database, MAILS) == []
    assert "Done" not in outcome.text


@pytest.mark.requirement("R37")
def test_a_failure_for_one_item_keeps_it_from_no_other_and_is_told(shop: Path, project: Project) -> None:
    _empty(shop)
    booking = {"day": "2026-12-08", "slot": {"$from": "free.result"}, "title": "Call"}
    taken = {"id": "book", "tool": "shop.book_slot", "for_each": "free", "params": booking, "needs": ["free"]}
    plan = proposal([{"id": "free", "tool": "shop.list_free_slots", "params": {"day": "2026-12-07"}}, taken])
    assert isinstance(project.run(json.dumps(plan), approve=True).outcome, Answer)
    assert len(rows(shop, "select * from bookings")) == 5
    _change(shop, "delete from bookings where slot != '10:00'")
    text = project.run(json.dumps(plan), approve=True).outcome.text
    assert len(rows(shop, "select * from bookings where day = '2026-12-08'")) == 5
    assert "failed for 1 of 5 items" in text
    assert text.count("Done: ") == 4


@pytest.mark.requirement("R36", "R37", "R43")
def test_every_item_is_changed_once_though_workers_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    database = tmp_path / "shop.sqlite"
    plans = [to_each({}), to_each({"tier": "standard"}), to_each({"tier": "vip"})]
    with served_shop(database, slow=0.05) as address:
        report = killed(address, [_Planned(plan) for plan in plans], runs=3, kills=6, kills_of_one=6)
    assert set(report["ended"].values()) == {"answer"}, report
    assert report["kills"] > 0
    expected = {"0": 6, "1": 2, "2": 2}
    assert len(rows(database, MAILS)) == sum(expected[run] for run in report["ended"])
    assert max(count for (count,) in rows(database, "select count(*) from outbox group by recipient")) <= 2


class _Planned:
    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan


def _change(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement)
