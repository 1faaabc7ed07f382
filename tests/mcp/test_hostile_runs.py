"""Whole runs over a server that means harm: each ends typed, and the server saw the calls of the plan and no others."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from groundplan.contracts.answer import Answer, Refusal
from groundplan.interfaces.cli.main import app
from groundplan.project import AsyncProject
from groundplan.settings import trust_folder
from tests.mcp import workflows
from tests.patience import SOON
from tests.sources.mcp.calling import hostile_command
from tests.sources.mcp.hostile_server import CANARY

SECONDS = 2.0
FAULTS = (
    "sends 10 MB",
    "sends a line without end",
    "hangs",
    "crashes",
    "floods",
    "sends wrong types",
    "sends no object",
    "sends invalid UTF-8",
    "breaks its output schema",
    "nests deeply",
    "fails with instructions",
)


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the server writes of its own calls; what groundplan keeps of the server lies beside it."""
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    return tmp_path / "journal"


@pytest.mark.requirement("R17", "R36")
@pytest.mark.parametrize(
    ("behaviour", "tool"),
    [
        ("changes a description later", "look"),
        ("turns a change into a look later", "change"),
        ("adds a tool later", "steal"),
    ],
)
def test_what_a_server_changed_is_called_only_after_a_person_accepts_it(
    behaviour: str, tool: str, journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "groundplan.toml").write_text(
        f"[sources.shop]\nmcp = {json.dumps(hostile_command(behaviour, journal))}"
    )
    trust_folder(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps(plan([step("it", tool, "a")])))
    assert said(["sources", "list"]) == (0, "shop: 2 tools\n")
    code, text = said(["run", "plan.json", "--approve"])
    assert (code, calls(journal)) == (1, [])
    assert f"shop.{tool}" in text
    assert f"not used until `groundplan sources accept shop.{tool}`" in said(["sources", "list"])[1]
    assert said(["sources", "accept", f"shop.{tool}"])[0] == 0
    assert said(["run", "plan.json", "--approve"])[0] == 0
    assert calls(journal) == [(tool, "a")]


@pytest.mark.requirement("R36")
def test_a_tool_that_changes_between_the_gate_and_its_call_is_not_called(journal: Path) -> None:
    outcome = run("changes after the first list", journal, [step("it", "change", "a")])
    assert "has changed since it was accepted" in outcome.text
    assert calls(journal) == []


@pytest.mark.requirement("R36", "R44")
def test_instructions_in_a_result_are_passed_on_as_text_and_followed_by_nobody(journal: Path) -> None:
    steps = [step("found", "look", "a"), step("told", "change", {"$from": "found.text"}, "found")]
    outcome = run("gives instructions", journal, steps)
    assert isinstance(outcome, Answer)
    assert [item.text for item in outcome.facts.items] == [CANARY, CANARY]
    assert [step.id for step in outcome.plan.steps] == ["found", "told"]
    assert calls(journal) == [("look", "a"), ("change", CANARY)]


@pytest.mark.requirement("R36")
def test_instructions_do_not_turn_a_router(journal: Path) -> None:
    router: dict[str, Any] = {"id": "way", "kind": "router", "needs": ["found"]}
    router |= {"routes": [{"when": "!found.found", "to": "told"}], "default": None}
    run("gives instructions", journal, [step("found", "look", "a"), router, step("told", "change", "b", "way")])
    assert calls(journal) == [("look", "a")]


@pytest.mark.requirement("R17")
def test_a_server_that_asks_for_things_gets_none_and_its_answer_is_used(journal: Path) -> None:
    outcome = run("chatters", journal, [step("found", "look", "a"), step("told", "change", "b", "found")])
    assert isinstance(outcome, Answer)
    assert calls(journal) == [("look", "a"), ("change", "b")]


@pytest.mark.requirement("R37", "R40")
@pytest.mark.parametrize("tool", ["look", "change"])
@pytest.mark.parametrize("behaviour", FAULTS)
def test_a_run_over_a_fault_ends_typed_in_time_and_nothing_behind_it_is_called(
    behaviour: str, tool: str, journal: Path
) -> None:
    began = time.monotonic()
    outcome = run(behaviour, journal, [step("first", tool, "a"), step("behind", "change", "b", "first")])
    assert time.monotonic() - began < SOON
    assert isinstance(outcome, Refusal)
    assert outcome.facts is not None
    ended = {failure.step: (failure.status, failure.issue and failure.issue.code) for failure in outcome.facts.failures}
    assert ended.pop("behind") == ("blocked", "running/blocked")
    codes = ("running/tool", "running/deadline", *(["running/unknown-effect"] if tool == "change" else []))
    assert ended in [{"first": ("failed", code)} for code in codes]
    assert "CANARY" not in outcome.model_dump_json()
    assert set(calls(journal)) == {(tool, "a")}
    assert len(calls(journal)) <= (2 if tool == "look" else 1), "only what reads may be asked a second time"


@pytest.mark.requirement("R43")
def test_a_change_that_hung_is_not_made_again_by_whoever_goes_on_with_the_run(journal: Path) -> None:
    outcome = asyncio.run(stopped_and_resumed(journal, json.dumps(plan([step("it", "change", "a")], seconds=30))))
    assert [issue.code for issue in outcome.issues] == ["running/unknown-effect"]
    assert calls(journal) == [("change", "a")]


async def stopped_and_resumed(journal: Path, proposed: str) -> Answer | Refusal:
    """Stopped as soon as the call has reached the server, which hangs."""
    project = await AsyncProject.open({"shop": {"mcp": hostile_command("hangs", journal)}})
    try:
        begun = asyncio.create_task(project.run(proposed, run_id="a_run", approve=True))
        await asyncio.to_thread(wait_for_a_call, journal)
        begun.cancel()
        await asyncio.wait([begun])
        outcome = await project.resume("a_run", approve=True)
        assert isinstance(outcome, Answer | Refusal)
        return outcome
    finally:
        await project.close()


def run(behaviour: str, journal: Path, steps: list[dict[str, Any]]) -> Answer | Refusal:
    return asyncio.run(workflows.run(hostile_command(behaviour, journal), plan(steps), approve=True))


def plan(steps: list[dict[str, Any]], seconds: float = SECONDS) -> dict[str, Any]:
    proposed = workflows.proposal(steps)
    proposed["plan"]["limits"] = {"step_seconds": seconds}
    return proposed


def step(id_: str, tool: str, word: object, *needs: str) -> dict[str, Any]:
    return {"id": id_, "tool": f"shop.{tool}", "params": {"word": word}, "needs": needs}


def said(arguments: list[str]) -> tuple[int, str]:
    """The exit code and the words of the command line."""
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, done.output


def calls(journal: Path) -> list[tuple[str, str]]:
    """Tool and word of each call that reached the server."""
    noted = [line.split(" ", 2) for line in journal.read_text().splitlines() if line.startswith("call ")]
    return [(tool, json.loads(arguments)["word"]) for _, tool, arguments in noted]


def wait_for_a_call(journal: Path) -> None:
    until = time.monotonic() + SOON
    while not calls(journal) and time.monotonic() < until:
        time.sleep(0.05)


def test_a_line_without_end_leaves_no_traceback(journal: Path, tmp_path: Path) -> None:
    """In a process of its own: the pipe was closed only after its event loop."""
    command = json.dumps(hostile_command("sends a line without end", journal))
    (tmp_path / "groundplan.toml").write_text(f"[sources.shop]\nmcp = {command}")
    trust_folder(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps(plan([step("it", "look", "a")])))
    started = [sys.executable, "-m", "groundplan.interfaces.cli.main", "run", "plan.json"]
    ended = subprocess.run(started, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert "the server sent more than" in ended.stdout
    assert "Traceback" not in ended.stderr
