"""A token reaches its server and nothing else: no output, no report, no checkpoint, no error."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundplan.contracts.verdict import Passed
from groundplan.interfaces.cli.main import app
from groundplan.project import AsyncProject
from groundplan.running.run import run
from groundplan.settings import trust_folder
from tests.running.saving import saved_in
from tests.sources.trackers import data
from tests.sources.trackers.serving import Reply, Request
from tests.trackers.shop import TODAY, Shop, shop

QUESTIONS = ("status of web", "open issues by assignee, as a bar chart")


def written(*folders: Path) -> bytes:
    return b"\n".join(file.read_bytes() for folder in folders for file in folder.rglob("*") if file.is_file())


@pytest.mark.requirement("R48")
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("options", [(), ("--json",), ("--plan-only", "--json")], ids=["text", "json", "plan"])
def test_a_token_is_in_nothing_that_is_printed_or_written(
    servers: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str, options: tuple[str, ...]
) -> None:
    kept = tmp_path / "kept"
    for name in ("GROUNDPLAN_CACHE", "GROUNDPLAN_STATE"):
        monkeypatch.setenv(name, str(kept))
    trust_folder(servers.folder)
    asked = ["ask", question, "--today", str(TODAY), "--output", str(tmp_path / "report"), *options]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert data.TOKEN not in done.output
    found = written(tmp_path)
    assert found
    assert data.TOKEN.encode() not in found


@pytest.mark.requirement("R48")
def test_a_token_is_in_no_checkpoint(servers: Shop, tmp_path: Path) -> None:
    async def through() -> None:
        project = await AsyncProject.open(servers.settings)
        planned = await project.plan("status of web", today=TODAY)
        assert isinstance(planned.verdict, Passed)
        async with saved_in(tmp_path) as saved:
            await run(planned.verdict.plan, project.sources, run_id="canary", checkpointer=saved)
        await project.close()

    asyncio.run(through())
    found = written(tmp_path)
    assert b"Problem 76 of WEB" in found, "what the steps brought is there, so the token would be found too"
    assert data.TOKEN.encode() not in found


def echo(request: Request) -> Reply:
    """An error page that shows the request, token and all."""
    shown = f"{request.headers} {data.TOKEN}"
    return Reply(500, shown.encode(), {"X-Echo": data.TOKEN, "WWW-Authenticate": f"Bearer {data.TOKEN}"})


@pytest.mark.requirement("R48")
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_server_that_sends_a_token_back_does_not_make_us_say_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str, options: tuple[str, ...]
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with shop(folder, echo, echo) as servers:
        asked = ["ask", question, "--today", str(TODAY), "--output", str(tmp_path / "report"), *options]
        done = CliRunner().invoke(app, asked)
    assert done.exit_code == 1, done.output
    assert servers.youtrack.requests[0].headers["authorization"] == f"Bearer {data.TOKEN}"
    assert "HTTP 500" in done.output
    assert data.TOKEN not in done.output
    assert data.TOKEN.encode() not in written(tmp_path / "report")
