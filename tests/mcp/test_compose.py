"""Tasks in plain words, over a real MCP server: planned without a model, approved, and done exactly as they say."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal
from groundplan.contracts.task import PlanResponse
from groundplan.contracts.verdict import Passed
from groundplan.project import AsyncProject, Project
from tests.llm.scripted import PROBED, says, scripted
from tests.mcp.tasks import BOOKINGS, MAILS, TASKS, Task
from tests.mcp.test_tasks import _empty
from tests.sources.mcp.calling import rows, shop_command

ON_A_SATURDAY = 'Book the slot 09:00 on 2026-12-05 with the title "Call them".'
THANKS = 'If ada@example.org is premium, send them an email with the subject "Thank you" and the body "Hello {name}".'


@pytest.mark.requirement("R17", "R20", "R36", "R37")
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.words[:70])
def test_a_task_in_words_leaves_the_rows_that_were_asked_for(task: Task, shop: Path, project: Project) -> None:
    _empty(shop)
    outcome = project.ask(task.words, approve=True).outcome
    assert isinstance(outcome, Answer), outcome.text
    assert outcome.plan.strategy == "compose"
    assert rows(shop, MAILS) == list(task.mails)
    assert rows(shop, BOOKINGS) == list(task.bookings)


@pytest.mark.requirement("R36")
def test_nothing_is_done_without_approval_and_the_plan_is_shown(shop: Path, project: Project) -> None:
    _empty(shop)
    outcome = project.ask(THANKS).outcome
    assert isinstance(outcome, Refusal)
    assert {issue.code for issue in outcome.issues} == {"access/unapproved"}
    assert outcome.plan is not None
    assert rows(shop, MAILS) == []


@pytest.mark.requirement("R21", "R36")
def test_an_effect_that_failed_is_not_planned_again(tmp_path: Path) -> None:
    """A model has attempts left, but what the first plan has done is not known for sure."""
    pytest.importorskip("openai", reason="needs the extra `llm`")
    shop = tmp_path / "shop.sqlite"

    async def ask() -> Outcome:
        async with scripted(says(PROBED)) as server:
            opened = await AsyncProject.open({"shop": {"mcp": shop_command(shop)}}, models=[server.endpoint()])
            try:
                return await opened.ask(ON_A_SATURDAY, approve=True)
            finally:
                await opened.close()

    outcome = asyncio.run(ask())
    assert isinstance(outcome, Refusal), outcome.text
    assert "shop.book_slot reports that it failed" in outcome.text
    assert [entry.stage for entry in outcome.trace].count("run") == 1
    assert [attempt.failed_in for attempt in outcome.tried] == ["run"]
    assert rows(shop, BOOKINGS) == []


@pytest.mark.requirement("R36")
@pytest.mark.parametrize("yes", [True, False])
def test_a_person_is_asked_with_the_checked_plan(shop: Path, project: Project, yes: bool) -> None:
    _empty(shop)
    asked: list[tuple[str, ...]] = []

    def approve(verdict: Passed) -> bool:
        asked.append(verdict.plan.writes)
        return yes

    outcome = project.ask(THANKS, approve=approve).outcome
    assert asked == [("send_email",)]
    assert isinstance(outcome, Answer if yes else Refusal)
    assert rows(shop, MAILS) == ([("ada@example.org", "Thank you", "Hello Ada Brown")] if yes else [])


@pytest.mark.requirement("R36")
def test_a_plan_is_edited_and_checked_again_before_it_runs(shop: Path, project: Project) -> None:
    _empty(shop)
    response = project.plan(THANKS).response
    edited = json.loads(response.model_dump_json())
    mail = next(step for step in edited["plan"]["steps"] if step["id"] == "send_email")
    mail["params"]["subject"] = "Thanks"
    assert isinstance(project.run(json.dumps(edited), approve=True).outcome, Answer)
    assert rows(shop, MAILS) == [("ada@example.org", "Thanks", "Hello Ada Brown")]
    mail["needs"].remove("choice_1")
    refused = project.run(json.dumps(edited), approve=True).outcome
    assert isinstance(refused, Refusal)
    assert "coverage/unconditional" in {issue.code for issue in refused.issues}


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("Check if user is premium, then send personalized email", "email or id"),
        ("Send an email to ada@example.org", "subject"),
        (
            'If ada@example.org is a friend of mine, send them an email with subject "A" and body "B"',
            "no tool can tell",
        ),
        ("Book the slot 09:00 on 2026-12-01", "title"),
        ("?", "What should be done"),
    ],
)
def test_what_is_not_said_is_asked_for_and_never_guessed(project: Project, words: str, wanted: str) -> None:
    outcome = project.ask(words, approve=True).outcome
    assert isinstance(outcome, Clarification)
    assert wanted in outcome.text


@pytest.mark.requirement("R27")
def test_a_plan_response_has_all_that_the_graph_came_from(project: Project) -> None:
    response = project.plan(THANKS).response
    assert {node.id: node.type for node in response.graph.nodes} == {
        "find_customer": "executor",
        "choice_1": "router",
        "send_email": "executor",
    }
    edges = {(edge.source, edge.target): edge.condition for edge in response.graph.edges}
    assert edges["choice_1", "send_email"] == 'find_customer.first.tier == "premium"'
    assert response.analysis is not None
    assert response.analysis.requires_routing
    assert "ada@example.org" in response.analysis.key_entities
    assert response.reasoning
    assert response.duration_ms > 0
    assert 0 < response.confidence <= 1
    assert PlanResponse.model_validate_json(response.model_dump_json()) == response


@pytest.mark.requirement("R36")
def test_the_command_line_prints_the_response_and_runs_it(tmp_path: Path, shop: Path) -> None:
    _empty(shop)
    (tmp_path / "groundplan.toml").write_text(f"[sources.shop]\nmcp = {json.dumps(shop_command(shop))}\n")
    _groundplan(tmp_path, "trust", "--yes")
    planned = _groundplan(tmp_path, "plan", THANKS, "--json")
    assert {"graph", "reasoning", "analysis", "log", "tokens", "duration_ms", "confidence"} <= json.loads(
        planned
    ).keys()
    (tmp_path / "plan.json").write_text(planned)
    assert "Nothing was done" in _groundplan(tmp_path, "ask", THANKS, code=1)
    assert rows(shop, MAILS) == []
    assert "ada@example.org" in _groundplan(tmp_path, "run", "plan.json", "--approve")
    assert rows(shop, MAILS) == [("ada@example.org", "Thank you", "Hello Ada Brown")]


def _groundplan(folder: Path, *words: str, code: int = 0) -> str:
    command: list[Any] = [sys.executable, "-m", "groundplan.interfaces.cli.main", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_a_list_shows_the_addresses_of_its_rows(project: Project) -> None:
    told = project.ask("List all vip customers").text
    assert "- Chen Wu: id: 3, email: chen@example.org, tier: vip, country: Singapore" in told
    assert "email: femi@example.org" in told


def test_the_reading_of_a_task_is_not_changed_part_by_part(shop: Path) -> None:
    """The page of a run asks for the parts of whatever was read."""

    async def change() -> None:
        opened = await AsyncProject.open({"shop": {"mcp": shop_command(shop)}})
        try:
            reading = (await opened.plan("List all vip customers")).reading
            assert reading is not None
            changed = await opened.change(reading)
            assert changed.reading == reading
            assert changed.plan is None
            assert isinstance(changed.ended, Refusal)
            assert await opened.suggest(reading, "goal:g1") == ()
        finally:
            await opened.close()

    asyncio.run(change())
