"""A run id used again for another plan never claims that something was done which was not."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from groundplan.contracts.answer import Answer, Outcome, Refusal
from tests.mcp.workflows import proposal
from tests.test_cancel_and_resume import Mail, opened


def send(word: str, **step: Any) -> str:
    return json.dumps(proposal([{"id": "it", "tool": "mail.send", "params": {"word": word}, **step}]))


def ended(*plans: str, run: str = "one") -> tuple[list[Outcome], int]:
    """The outcomes of these plans under one run id, and how many mails were sent."""

    async def all_of_them() -> tuple[list[Outcome], int]:
        mail = Mail()
        project = await opened(mail)
        try:
            return [await project.run(plan, run_id=run, approve=True) for plan in plans], mail.sent.total()
        finally:
            await project.close()

    return asyncio.run(all_of_them())


@pytest.fixture(autouse=True)
def _state(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))


def test_other_params_under_the_same_run_id_are_not_reported_as_done() -> None:
    (first, second), sent = ended(send("hello"), send("goodbye"))
    assert isinstance(first, Answer)
    assert isinstance(second, Refusal), second.text
    assert "running/another-effect" in {issue.code for issue in second.issues}
    assert sent == 1


def test_another_plan_with_the_same_step_is_not_reported_as_done() -> None:
    more = json.loads(send("hello"))
    more["plan"]["limits"] = {"rows": 7}
    (_, second), sent = ended(send("hello"), json.dumps(more))
    assert isinstance(second, Refusal), second.text
    assert sent == 1


def test_the_same_plan_under_the_same_run_id_is_done_once() -> None:
    (first, second), sent = ended(send("hello"), send("hello"))
    assert isinstance(first, Answer)
    assert isinstance(second, Answer)
    assert sent == 1


def test_a_run_id_that_begins_like_another_is_another() -> None:
    (first,), _ = ended(send("hello"), run="a")
    (second,), sent = ended(send("goodbye"), run="a-b")
    assert isinstance(first, Answer)
    assert isinstance(second, Answer)
    assert sent == 1
