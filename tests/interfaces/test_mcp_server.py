"""`groundplan mcp FILE` as a real process, asked by the client of the official SDK."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from groundplan.project import Project
from tests.asking.tables.described import SALES
from tests.extras import missing
from tests.mcp.workflows import proposal
from tests.patience import HANGS

pytestmark = pytest.mark.needs("mcp")
if not missing("mcp"):
    from mcp import Client, StdioServerParameters, stdio_client
    from tests.sources.mcp.calling import rows, shop_command

QUESTION = "total revenue by region"
TASK = 'Send an email to ada@example.org with the subject "Hello" and the body "There".'


async def called(
    folder: Path, arguments: list[str], calls: list[tuple[str, dict[str, Any]]]
) -> tuple[list[str], list[Any]]:
    """The names of the tools, and the result of each call."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "groundplan.interfaces.cli.main", "mcp", *arguments],
        env={**os.environ},
        cwd=folder,
    )
    async with asyncio.timeout(2 * HANGS), Client(stdio_client(command)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        return names, [await client.call_tool(name, given) for name, given in calls]


@pytest.mark.requirement("R57", part="mcp")
def test_a_client_asks_plans_checks_runs_and_explains(tmp_path: Path) -> None:
    with Project(SALES) as project:
        alone, planned = project.ask(QUESTION), project.plan(QUESTION)
    assert planned.reading is not None
    assert planned.plan is not None
    proposed = json.loads(
        json.dumps({"reading": planned.reading.model_dump(mode="json"), "plan": planned.plan.model_dump(mode="json")})
    )
    calls: list[tuple[str, dict[str, Any]]] = [
        ("ask", {"question": QUESTION}),
        ("plan", {"question": QUESTION}),
        ("check", {"proposal": proposed}),
        ("run", {"proposal": proposed}),
        ("explain", {"question": QUESTION}),
        ("check", {"proposal": {"reading": {}, "plan": {}}}),
        ("ask", {"question": "total revenue on 03/04/2025", "thread": "a"}),
        ("ask", {"question": "1", "thread": "a"}),
        ("ask", {"question": "revenue by salesperson"}),
        ("verify_sql", {"question": QUESTION, "sql": "SELECT region, AVG(revenu) FROM sales GROUP BY region"}),
        ("feedback", {"run": "nobodys", "thumb": "good"}),
    ]
    names, results = asyncio.run(called(tmp_path, [str(SALES)], calls))
    assert names == ["ask", "plan", "check", "run", "explain", "verify_sql", "feedback"]
    asked, plan, check, ran, explained, broken, unclear, clear, refused, verified = (
        found.structured_content for found in results[:-1]
    )
    assert "no run 'nobodys'" in results[-1].content[0].text
    assert asked["text"] == ran["text"] == alone.text
    assert len(asked["tables"][0]["rows"]) == 5
    assert plan["proposal"] == proposed
    assert check["passed"]
    assert not broken["passed"]
    assert [reason["steps"] for reason in explained["reasons"]]
    assert (unclear["kind"], clear["kind"]) == ("clarification", "answer")
    assert refused["issues"][0]["code"]
    assert [finding["code"] for finding in verified["findings"]] == ["verify/unknown-column"]


def test_a_change_is_refused_until_a_person_approves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    database = tmp_path / "shop.sqlite"
    (tmp_path / "groundplan.toml").write_text(f"[sources.shop]\nmcp = {json.dumps(shop_command(database))}\n")
    main = [sys.executable, "-m", "groundplan.interfaces.cli.main"]
    mail = {"to": "ada@example.org", "subject": "Hello", "body": "There"}
    plan = proposal([{"id": "mail", "tool": "shop.send_email", "params": mail}])

    async def refused() -> Any:
        trusted = await asyncio.create_subprocess_exec(*main, "trust", "--yes", cwd=tmp_path)
        assert await trusted.wait() == 0
        calls: list[tuple[str, dict[str, Any]]] = [("run", {"proposal": plan})]
        calls += [("ask", {"question": said, "thread": "a"}) for said in (TASK, "Yes!")]
        _, [found, in_thread, yes] = await called(tmp_path, [], calls)
        assert in_thread.structured_content["issues"][0]["code"] == "access/unapproved"
        assert yes.is_error, "a client's model approves nothing"
        return found.structured_content

    told = asyncio.run(refused())
    assert [issue["code"] for issue in told["issues"]] == ["access/unapproved"]
    assert rows(database, "select recipient from outbox") == []

    async def approved() -> int:
        command = told["approve_with"].split()
        assert command[0] == "groundplan"
        done = await asyncio.create_subprocess_exec(*main, *command[1:], cwd=tmp_path)
        return await done.wait()

    assert asyncio.run(approved()) == 0
    assert rows(database, "select recipient from outbox") == [("ada@example.org",)]
