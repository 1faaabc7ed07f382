"""An approval approves values: what is sent is what a person saw, whatever becomes of the data meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from groundplan.contracts.answer import Answer, Outcome, Refusal
from groundplan.contracts.approval import EffectCall, fingerprint_of
from groundplan.contracts.plan import Plan
from groundplan.contracts.run import RunReply, RunRequest
from groundplan.contracts.verdict import ToApprove
from groundplan.project import AsyncProject
from groundplan.service.worker import _outcome
from groundplan.state.runs import Claim
from tests.extras import missing

pytestmark = pytest.mark.needs("mcp")
if not missing("mcp"):
    from tests.mcp.tasks import BOOKINGS, MAILS
    from tests.mcp.test_each import _change, to_each
    from tests.mcp.workflows import proposal
    from tests.sources.mcp.calling import rows, shop_command

TO_ADA = ("ada@example.org", "Hi", "Dear Ada Brown")
REDIRECTED = "update customers set email = 'eve@example.com' where id = 1"
Steps = Callable[[AsyncProject], Awaitable[Any]]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    return tmp_path / "shop.sqlite"


def mail_to_found() -> str:
    """A mail whose address and text an earlier step supplies."""
    params = {"to": {"$from": "one.email"}, "subject": "Hi", "body": {"$join": ["Dear ", {"$from": "one.name"}]}}
    steps = [
        {"id": "one", "tool": "shop.find_customer", "params": {"id": 1}},
        {"id": "mail", "tool": "shop.send_email", "params": params, "needs": ["one"]},
    ]
    return json.dumps(proposal(steps))


def booked_then_mailed() -> str:
    """A mail whose text the booking supplies: it is known only once the slot is booked."""
    booking = {"day": "2026-12-08", "slot": "10:00", "title": "Call"}
    params = {"to": "ada@example.org", "subject": "Hi", "body": {"$join": ["At ", {"$from": "book.slot"}]}}
    steps = [
        {"id": "book", "tool": "shop.book_slot", "params": booking},
        {"id": "mail", "tool": "shop.send_email", "params": params, "needs": ["book"]},
    ]
    return json.dumps(proposal(steps))


def over(shop: Path, steps: Steps) -> Any:
    async def opened() -> Any:
        project = await AsyncProject.open({"shop": {"mcp": shop_command(shop)}})
        try:
            return await steps(project)
        finally:
            await project.close()

    return asyncio.run(opened())


async def taken_up(project: AsyncProject, plan: str, attempt: int, approved: str | None) -> Outcome:
    """As a worker takes up the run of somebody who approved this fingerprint over HTTP."""
    request, reply = RunRequest(plan=json.loads(plan)), RunReply(approved=approved) if approved else None
    return await _outcome(project, Claim("", "a_run", attempt, 1, request, reply, False, 0.0), lambda *_: None)


def waits_for(outcome: Outcome) -> list[tuple[str, dict[str, Any]]]:
    assert isinstance(outcome, Refusal), outcome.text
    assert {issue.code for issue in outcome.issues} == {"access/unapproved"}
    return [(call.step, dict(call.params)) for call in outcome.effects]


def test_the_values_are_shown_and_sent_though_the_data_has_changed_since(shop: Path) -> None:
    async def steps(project: AsyncProject) -> tuple[Outcome, Outcome]:
        waits = await project.run(mail_to_found(), run_id="a_run")
        _change(shop, REDIRECTED)
        return waits, await project.resume("a_run", approve=True)

    waits, done = over(shop, steps)
    assert waits_for(waits) == [("mail", {"to": TO_ADA[0], "subject": "Hi", "body": TO_ADA[2]})]
    assert '"ada@example.org"' in waits.text
    assert isinstance(done, Answer), done.text
    assert rows(shop, MAILS) == [TO_ADA]


@pytest.mark.parametrize("plan", [mail_to_found, lambda: json.dumps(to_each({"tier": "premium"}))], ids=["one", "each"])
def test_if_the_values_were_lost_and_differ_now_a_person_is_asked_again(plan: Callable[[], str], shop: Path) -> None:
    async def steps(project: AsyncProject) -> tuple[Refusal, Outcome, list[Any], Outcome]:
        waits = await taken_up(project, plan(), 1, None)
        await project.forget("a_run")
        _change(shop, REDIRECTED)
        assert isinstance(waits, Refusal)
        again = await taken_up(project, plan(), 2, waits.to_approve)
        sent = rows(shop, MAILS)
        assert isinstance(again, Refusal)
        return waits, again, sent, await taken_up(project, plan(), 3, again.to_approve)

    waits, again, sent, done = over(shop, steps)
    assert sent == []
    assert "eve@example.com" not in str(waits_for(waits))
    assert "eve@example.com" in again.text
    assert waits.to_approve != again.to_approve
    assert isinstance(done, Answer), done.text
    assert "eve@example.com" in {to for to, _, _ in rows(shop, MAILS)}


def test_if_the_values_were_lost_and_are_the_same_nobody_is_asked_again(shop: Path) -> None:
    async def steps(project: AsyncProject) -> Outcome:
        waits = await taken_up(project, mail_to_found(), 1, None)
        await project.forget("a_run")
        assert isinstance(waits, Refusal)
        return await taken_up(project, mail_to_found(), 2, waits.to_approve)

    assert isinstance(over(shop, steps), Answer)
    assert rows(shop, MAILS) == [TO_ADA]


def test_a_value_that_an_effect_supplies_is_approved_once_it_is_known(shop: Path) -> None:
    async def steps(project: AsyncProject) -> list[Outcome]:
        first = await taken_up(project, booked_then_mailed(), 1, None)
        assert isinstance(first, Refusal)
        second = await taken_up(project, booked_then_mailed(), 2, first.to_approve)
        assert isinstance(second, Refusal)
        assert rows(shop, MAILS) == []
        return [first, second, await taken_up(project, booked_then_mailed(), 3, second.to_approve)]

    first, second, done = over(shop, steps)
    assert [step for step, _ in waits_for(first)] == ["book"]
    assert waits_for(second) == [("mail", {"to": "ada@example.org", "subject": "Hi", "body": "At 10:00"})]
    assert isinstance(done, Answer), done.text
    assert rows(shop, BOOKINGS) == [("2026-12-08", "10:00", "Call")]
    assert rows(shop, MAILS) == [("ada@example.org", "Hi", "At 10:00")]


def test_a_person_at_the_terminal_sees_the_values(shop: Path) -> None:
    seen: list[ToApprove] = []

    def approve(asked: ToApprove) -> bool:
        seen.append(asked)
        return True

    assert isinstance(over(shop, lambda project: project.run(booked_then_mailed(), approve=approve)), Answer)
    assert [[call.step for call in asked.effects] for asked in seen] == [["book"], ["mail"]]
    assert any('body: "At 10:00"' in issue.problem for issue in seen[1].issues)


def test_a_value_that_is_missing_changes_nothing_and_nobody_is_asked(shop: Path) -> None:
    plan = json.loads(mail_to_found())
    plan["plan"]["steps"][0]["params"] = {"id": 99}
    outcome = over(shop, lambda project: project.run(json.dumps(plan)))
    assert isinstance(outcome, Refusal)
    assert "access/unapproved" not in {issue.code for issue in outcome.issues}
    assert rows(shop, MAILS) == []


def test_an_approval_covers_the_values_and_the_items() -> None:
    plan = Plan.model_validate(proposal([])["plan"] | {"steps": [{"id": "mail", "tool": "shop.send_email"}]})

    def call(to: str, item: int | None) -> EffectCall:
        return EffectCall(step="mail", tool="shop.send_email", params={"to": to}, item=item)

    approved = (call("ada@example.org", 0), call("ben@example.org", 1))
    others = (
        approved[:1],
        approved[::-1],
        (*approved, call("eve@example.com", 2)),
        (call("eve@example.com", 0), approved[1]),
    )
    prints = {fingerprint_of(plan, effects) for effects in ((), approved, *others)}
    assert len(prints) == 2 + len(others)
    assert fingerprint_of(plan, tuple(approved)) in prints
