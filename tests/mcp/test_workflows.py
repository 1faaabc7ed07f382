"""Workflows over a real MCP server: the right path, nothing without approval, and every effect once."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from groundplan.contracts.answer import Answer
from groundplan.errors import StateInvalid, UsageError
from tests.mcp import workflows
from tests.sources.mcp.calling import rows, served_shop, shop_command

MANUAL = Path(__file__).parents[2] / "docs/how-to/use-mcp-tools.md"
OUTBOX = "select recipient, subject from outbox order by 1, 2"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))


def people(database: Path) -> dict[str, str]:
    """The mail addresses of a customer of each tier."""
    return dict(rows(database, "select tier, min(email) from customers group by tier"))


def shop(tmp_path: Path) -> Path:
    database = tmp_path / "shop.sqlite"
    asyncio.run(workflows.run(shop_command(database), workflows.proposal([LIST])))
    return database


LIST = {"id": "all", "tool": "shop.list_customers", "params": {}}


@pytest.mark.requirement("R36", "R37", "R17")
@pytest.mark.parametrize("over", ["stdio", "http"])
@pytest.mark.parametrize(("tier", "subject"), [("gold", "Thank you"), ("bronze", "An offer")])
def test_a_router_takes_the_path_of_the_customer(tmp_path: Path, over: str, tier: str, subject: str) -> None:
    database = shop(tmp_path)
    email = people(database)[tier]
    plan = workflows.premium_mail(email)
    if over == "http":
        with served_shop(database) as address:
            outcome = asyncio.run(workflows.run(address, plan, approve=True))
    else:
        outcome = asyncio.run(workflows.run(shop_command(database), plan, approve=True))
    assert isinstance(outcome, Answer), outcome.text
    assert rows(database, OUTBOX) == [(email, subject)]


def test_the_plan_of_the_manual_runs_as_it_says(tmp_path: Path) -> None:
    database = shop(tmp_path)
    [plan] = re.findall(r"```json\n(.+?)```", MANUAL.read_text(), re.DOTALL)
    asyncio.run(workflows.run(shop_command(database), json.loads(plan), approve=True))
    assert rows(database, OUTBOX) == [("ada@example.org", "Thank you")]


@pytest.mark.requirement("R36")
def test_nothing_runs_before_the_effects_are_approved(tmp_path: Path) -> None:
    database = shop(tmp_path)
    plan = workflows.premium_mail(people(database)["gold"])
    with pytest.raises(UsageError, match="approve it first"):
        asyncio.run(workflows.run(shop_command(database), plan))
    assert rows(database, OUTBOX) == []


@pytest.mark.requirement("R31")
@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"to": {"$from": "customer.mail"}}, "types/unknown-reference"),
        ({"to": {"$from": "later.email"}}, "types/unknown-reference"),
        ({"to": {"$from": "customer.id"}}, "types/unfit-reference"),
        ({"to": 5}, "types/unfit-param"),
    ],
)
def test_a_reference_that_cannot_hold_is_refused_before_anything_runs(
    tmp_path: Path, params: dict[str, Any], code: str
) -> None:
    database = shop(tmp_path)
    plan = workflows.premium_mail(people(database)["gold"])
    plan["plan"]["steps"][2]["params"] |= params
    outcome = asyncio.run(workflows.run(shop_command(database), plan, approve=True))
    assert code in {issue.code for issue in outcome.issues}
    assert rows(database, OUTBOX) == []


@pytest.mark.requirement("R43", "R36")
def test_every_mail_is_sent_once_though_the_process_is_killed_again_and_again(tmp_path: Path) -> None:
    database = shop(tmp_path)
    emails = [email for (email,) in rows(database, "select email from customers order by 1 limit 4")]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(workflows.mail_to_each(emails)))
    chance, killed = random.Random(7), 0
    for attempt in range(40):
        outcome = _work(database, plan, begun=attempt > 0, kill_after=chance.uniform(1.0, 3.0) if attempt < 6 else None)
        if outcome is not None:
            break
        killed += 1
    assert killed > 0
    assert outcome is not None
    assert outcome["kind"] == "answer", outcome["text"]
    assert rows(database, OUTBOX) == sorted((email, "News") for email in emails)
    assert rows(database, "select day, slot, title from bookings") == [("2026-12-01", "09:00", "Call them")]


def _work(database: Path, plan: Path, *, begun: bool, kill_after: float | None) -> dict[str, Any] | None:
    """What a worker said at its end; None where it was killed before. A run that left no trace is begun again."""
    for mode in ("resume", "new") if begun else ("new",):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.mcp.workflows", shop_command(database), str(plan), mode],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ,
            cwd=Path(__file__).parents[2],
        )
        try:
            out, err = process.communicate(timeout=kill_after)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            time.sleep(0.1)
            return None
        if process.returncode == 0:
            found: dict[str, Any] = json.loads(out)
            return found
        if StateInvalid.__name__.encode() not in err or mode == "new":
            raise AssertionError(err.decode()[-2000:])
    return None
