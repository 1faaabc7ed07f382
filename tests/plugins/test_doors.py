"""A planner, a source and a tool of other packages are asked through every door: command line, HTTP and MCP."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.extras import missing
from tests.plugins.conftest import install
from tests.plugins.test_plugins import PREVIEW, READINGS, SALES, WEATHER

pytestmark = [pytest.mark.needs("mcp"), pytest.mark.needs("service")]
if not missing("mcp") and not missing("service"):
    from tests.interfaces.test_mcp_server import called
    from tests.service.processes import MAIN, served

Door = Callable[[Path, "list[str]", str, "str | None"], "dict[str, Any]"]


def by_command(folder: Path, data: list[str], question: str, strategy: str | None) -> dict[str, Any]:
    chosen = ["--strategy", strategy] if strategy else []
    done = subprocess.run(
        [*MAIN, "ask", *data, question, *chosen, "--json"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode in (0, 2), done.stderr
    return json.loads(done.stdout) if done.returncode == 0 else {"problem": done.stderr}


def by_http(folder: Path, data: list[str], question: str, strategy: str | None) -> dict[str, Any]:
    with served(folder, *data) as client:
        given = {"question": question, "strategy": strategy}
        reply = client.post("/v1/runs", json=given, headers={"Prefer": "wait=30"}).json()
    return dict(reply["outcome"] if "outcome" in reply else {"problem": reply["detail"]})


def by_mcp(folder: Path, data: list[str], question: str, strategy: str | None) -> dict[str, Any]:
    _, (found,) = asyncio.run(called(folder, data, [("ask", {"question": question, "strategy": strategy})]))
    return dict(found.structured_content or {"problem": found.content[0].text})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose groundplan.toml names the source of a package; the packages are installed."""
    site, work = tmp_path / "site", tmp_path / "work"
    site.mkdir()
    work.mkdir()
    install(site, WEATHER | PREVIEW)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH")))))
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    (work / "readings.jsonl").write_text("\n".join(map(json.dumps, READINGS)))
    (work / "groundplan.toml").write_text('[sources.weather]\nfile = "readings.jsonl"\n')
    subprocess.run([*MAIN, "trust", "--yes"], cwd=work, check=True, capture_output=True)
    return work


@pytest.mark.requirement("R18")
@pytest.mark.parametrize("ask", [by_command, by_http, by_mcp])
def test_plug_ins_work_through_every_door(ask: Door, folder: Path) -> None:
    previewed = ask(folder, [str(SALES)], "show all rows", "preview")
    assert len(previewed["tables"][0]["rows"]) == 5
    rained = ask(folder, [], "total rainfall by station", None)
    assert {tuple(row[:2]) for row in rained["tables"][0]["rows"]} == {("Bergen", 20.0), ("Oslo", 3.0)}
    refused = ask(folder, [], "total rainfall by station", "prevue")
    assert "the strategies are adapt, compose, preview, rules" in refused["problem"]
