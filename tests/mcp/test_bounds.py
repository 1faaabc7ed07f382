"""What the caller allows for a task, over a real MCP server: in Python, on the command line and over HTTP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.contracts.bounds import Bounds
from groundplan.contracts.run import RunRequest
from groundplan.errors import UsageError
from groundplan.llm.calls import CallsByRole
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from groundplan.project import Project
from tests.llm.scripted import PROBED, RIPE, Fruit, says, scripted
from tests.mcp.tasks import MAILS
from tests.mcp.test_compose import THANKS, _groundplan
from tests.mcp.test_each import ENGLISH, to_each
from tests.mcp.test_tasks import _empty
from tests.sources.mcp.calling import rows, shop_command


def codes(outcome: Any) -> set[str]:
    return {issue.code for issue in outcome.issues}


@pytest.mark.requirement("R36")
@pytest.mark.parametrize("bounds", [Bounds(forbid=("shop.send_email",)), Bounds(allow=("shop.find_customer",))])
def test_a_tool_that_is_not_allowed_is_neither_planned_nor_run(bounds: Bounds, shop: Path, project: Project) -> None:
    _empty(shop)
    outcome = project.ask(THANKS, approve=True, bounds=bounds).outcome
    assert isinstance(outcome, Clarification | Refusal)
    refused = project.run(json.dumps(to_each({})), approve=True, bounds=bounds).outcome
    assert codes(refused) == {"access/forbidden-tool"}
    assert rows(shop, MAILS) == []


@pytest.mark.requirement("R36")
def test_a_plan_has_no_more_steps_seconds_and_items_than_are_allowed(shop: Path, project: Project) -> None:
    _empty(shop)
    few = project.ask(THANKS, approve=True, bounds=Bounds(steps=2)).outcome
    assert codes(few) == {"limits/too-many-steps"}
    planned = project.plan(THANKS, bounds=Bounds(steps=3, seconds=7)).plan
    assert planned is not None
    assert planned.limits.seconds == 7
    fast = project.run(json.dumps(to_each({})), approve=True, bounds=Bounds(seconds=7)).outcome
    assert codes(fast) == {"limits/beyond-bounds"}
    many = project.ask(ENGLISH, approve=True, bounds=Bounds(items=1)).outcome
    assert codes(many) == {"running/too-many-items"}
    assert rows(shop, MAILS) == []
    assert isinstance(project.ask(ENGLISH, approve=True, bounds=Bounds(items=2)).outcome, Answer)
    assert len(rows(shop, MAILS)) == 2


def test_a_name_that_is_nowhere_is_refused(project: Project) -> None:
    with pytest.raises(UsageError, match=r"no tool or source 'shop\.send_emial'"):
        project.ask(THANKS, bounds=Bounds(forbid=("shop.send_emial",)))


@pytest.mark.requirement("R36")
def test_the_command_line_takes_the_same_bounds(tmp_path: Path, shop: Path) -> None:
    _empty(shop)
    (tmp_path / "groundplan.toml").write_text(f"[sources.shop]\nmcp = {json.dumps(shop_command(shop))}\n")
    _groundplan(tmp_path, "trust", "--yes")
    refused = _groundplan(tmp_path, "ask", THANKS, "--approve", "--most-steps", "2", "--json", code=1)
    assert [issue["code"] for issue in json.loads(refused)["issues"]] == ["limits/too-many-steps"]
    planned = json.loads(_groundplan(tmp_path, "plan", THANKS, "--most-seconds", "9", "--allow", "shop", "--json"))
    assert planned["plan"]["limits"]["seconds"] == 9
    (tmp_path / "plan.json").write_text(json.dumps(planned))
    refused = _groundplan(tmp_path, "run", "plan.json", "--approve", "--forbid", "shop.send_email", "--json", code=1)
    assert {issue["code"] for issue in json.loads(refused)["issues"]} == {"access/forbidden-tool"}
    _groundplan(tmp_path, "ask", THANKS, "--most-steps", "0", code=2)
    assert rows(shop, MAILS) == []


def test_a_request_over_http_has_them_too() -> None:
    request = RunRequest.model_validate({"question": THANKS, "bounds": {"forbid": ["shop.send_email"], "steps": 3}})
    assert request.bounds == Bounds(forbid=("shop.send_email",), steps=3)
    assert RunRequest.model_validate({"question": THANKS}).bounds == Bounds()


@pytest.mark.requirement("R28")
def test_all_roles_together_have_the_tokens_that_are_allowed() -> None:
    async def ask() -> tuple[CallsByRole, list[object]]:
        async with scripted(says(PROBED), says(RIPE)) as server, Model.open(server.endpoint()) as model:
            calls = CallsByRole(Cascade((model,)), tokens=25)
            return calls, [await calls.of(role).ask("a fruit", Fruit) for role in ("read", "plan", "write", "read")]

    calls, told = asyncio.run(ask())
    assert calls.usage.tokens >= 25
    assert "tokens that the caller allows" in getattr(told[-1], "problem", "")
