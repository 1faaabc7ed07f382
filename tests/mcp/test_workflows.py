"""Workflows over a real MCP server: as the manual says, and nothing that was not approved or cannot hold."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.mcp import workflows
from tests.mcp.tasks import ADA, MAILS, one_of_two
from tests.sources.mcp.calling import rows, shop_command

MANUAL = Path(__file__).parents[2] / "docs/how-to/use-mcp-tools.md"


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    return tmp_path / "shop.sqlite"


def test_the_plan_of_the_manual_runs_as_it_says(database: Path) -> None:
    [plan] = re.findall(r"```json\n(.+?)```", MANUAL.read_text(), re.DOTALL)
    asyncio.run(workflows.run(shop_command(database), json.loads(plan), approve=True))
    assert [mail[:2] for mail in rows(database, MAILS)] == [(ADA, "Thank you")]


@pytest.mark.requirement("R36")
def test_nothing_runs_before_the_effects_are_approved(database: Path) -> None:
    outcome = asyncio.run(workflows.run(shop_command(database), one_of_two(ADA, "Thank you").plan))
    assert {issue.code for issue in outcome.issues} == {"access/unapproved"}
    assert rows(database, MAILS) == []


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
    database: Path, params: dict[str, Any], code: str
) -> None:
    plan = one_of_two(ADA, "Thank you").plan
    [thanks] = [step for step in plan["plan"]["steps"] if step["id"] == "thanks"]
    thanks["params"] |= params
    outcome = asyncio.run(workflows.run(shop_command(database), plan, approve=True))
    assert code in {issue.code for issue in outcome.issues}
    assert rows(database, MAILS) == []
