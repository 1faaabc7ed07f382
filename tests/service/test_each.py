"""Runs that change each item of a list: a worker that lost what a person saw compares it before it goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from groundplan.contracts.answer import Answer, Refusal
from groundplan.contracts.run import RunReply, RunRequest
from groundplan.project import AsyncProject
from groundplan.service.worker import _outcome
from groundplan.state.runs import Claim
from tests.mcp.tasks import MAILS
from tests.mcp.test_compose import THANKS
from tests.mcp.test_each import ENGLISH, GALA
from tests.sources.mcp.calling import rows, shop_command


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))


def claim(question: str, attempt: int, approved: str | None) -> Claim:
    request = RunRequest(question=question)
    return Claim("", "a_run", attempt, 1, request, RunReply(approved=approved) if approved else None, False, 0.0)


def taken_up_twice(database: Path, question: str, *, forgotten: bool) -> tuple[Any, Any]:
    """A run that waits for approval, then the same run approved, by a worker that finds its checkpoint or does not."""

    async def both() -> tuple[Any, Any]:
        project = await AsyncProject.open({"shop": {"mcp": shop_command(database)}})
        try:
            waits = await _outcome(project, claim(question, 1, None), lambda *_: None)
            assert isinstance(waits, Refusal)
            if forgotten:
                await project.forget("a_run")
            return waits, await _outcome(project, claim(question, 2, waits.to_approve), lambda *_: None)
        finally:
            await project.close()

    return asyncio.run(both())


@pytest.mark.requirement("R36")
def test_approved_items_are_changed(tmp_path: Path) -> None:
    waits, done = taken_up_twice(tmp_path / "shop.sqlite", ENGLISH, forgotten=False)
    assert "chen@example.org" in waits.text
    assert isinstance(done, Answer), done.text
    assert rows(tmp_path / "shop.sqlite", MAILS) == GALA


@pytest.mark.requirement("R36")
def test_items_whose_list_was_lost_are_changed_if_they_are_the_same(tmp_path: Path) -> None:
    _, done = taken_up_twice(tmp_path / "shop.sqlite", ENGLISH, forgotten=True)
    assert isinstance(done, Answer), done.text
    assert rows(tmp_path / "shop.sqlite", MAILS) == GALA


def test_a_plan_without_a_list_needs_no_second_approval(tmp_path: Path) -> None:
    _, done = taken_up_twice(tmp_path / "shop.sqlite", THANKS, forgotten=True)
    assert isinstance(done, Answer), done.text
    assert len(rows(tmp_path / "shop.sqlite", MAILS)) == 1
