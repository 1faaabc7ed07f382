"""Feedback on the command line and over stdio: a bad answer is reviewed, and becomes an example and a regression."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from groundplan.state.database import SQLite
from groundplan.state.plans import PlanStore
from tests.asking.tables.described import SALES
from tests.extras import missing
from tests.interfaces.test_cli import groundplan as command

if not missing("mcp"):
    from tests.interfaces.test_mcp_server import called

QUESTION = "total revenue by region"
AVERAGE = "SELECT region, AVG(revenue) FROM sales GROUP BY region"
TOTAL = "SELECT region, SUM(revenue) AS revenue FROM sales GROUP BY region"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with settings and a state of its own."""
    (tmp_path / "groundplan.toml").write_text(f'source = "{SALES}"\n')
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "state"


@pytest.mark.requirement("R90", part="regression set")
@pytest.mark.requirement("R90", part="example")
@pytest.mark.requirement("R90", part="feedback")
def test_a_bad_answer_is_reviewed_and_becomes_an_example_and_a_regression(state: Path) -> None:
    assert command("ask", QUESTION, "--json").returncode == 0
    assert command("feedback", "last", "bad", "the average was meant").returncode == 0
    [review] = json.loads(command("reviews", "list", "--json").stdout)
    assert (review["question"], review["reason"]) == (QUESTION, "the average was meant")
    assert review["reading"]["tables"] == ["sales"]
    assert review["plan"]["steps"][0]["tool"] == "aggregate"
    unfit = command("reviews", "settle", review["run"], "--sql", AVERAGE)
    assert unfit.returncode == 2
    assert "asks for a total, and the query has an average" in unfit.stderr
    settled = command("reviews", "settle", review["run"], "--sql", TOTAL)
    assert (settled.returncode, "total revenue by region" in settled.stdout) == (0, True), settled.stderr
    assert json.loads(command("reviews", "list", "--json").stdout) == []
    [example] = asyncio.run(PlanStore(SQLite(state)).approved())
    assert example.question == QUESTION
    report = json.loads(command("eval", "own", "--json").stdout)
    assert (report["suite"], report["n"], report["scores"]["right"]) == ("own", 1, 1.0)


def test_a_good_answer_keeps_neither_question_nor_reading(state: Path) -> None:
    command("ask", QUESTION)
    assert "good" in command("feedback", "last", "good").stdout
    assert json.loads(command("reviews", "list", "--json").stdout) == []

    async def kept() -> list[tuple[object, ...]]:
        async with SQLite(state).transaction(writes=False) as run:
            return await run("select thumb, question, reading, plan from feedback")

    assert asyncio.run(kept()) == [("good", None, None, None)]


def test_rows_of_the_answer_are_not_kept(state: Path) -> None:
    shown = json.loads(command("ask", QUESTION, "--json").stdout)["tables"][0]["rows"]
    command("feedback", "last", "bad")
    told = b"".join(file.read_bytes() for file in state.iterdir() if file.is_file())
    assert QUESTION.encode() in told
    assert not [row for row in shown if str(row[1]).encode() in told]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [(("nobodys", "good"), "there is no run 'nobodys'"), (("last", "good"), "nothing was asked here yet")],
)
def test_what_has_no_answer_gets_no_feedback(arguments: tuple[str, ...], problem: str) -> None:
    done = command("feedback", *arguments)
    assert (done.returncode, problem in done.stderr) == (2, True), done.stderr


def test_a_thumb_is_good_or_bad() -> None:
    assert "an answer is good or bad, not 'fine'" in command("feedback", "last", "fine").stderr


@pytest.mark.requirement("R90", part="feedback")
@pytest.mark.needs("mcp")
def test_a_client_over_stdio_gives_feedback_on_the_run_it_was_told(tmp_path: Path) -> None:
    _, [answer] = asyncio.run(called(tmp_path, [str(SALES)], [("ask", {"question": QUESTION, "thread": "t"})]))
    given = {"run": answer.structured_content["run"], "thumb": "bad", "reason": "why"}
    _, [told] = asyncio.run(called(tmp_path, [str(SALES)], [("feedback", given)]))
    assert told.structured_content["thumb"] == "bad"
    assert [one["reason"] for one in json.loads(command("reviews", "list", "--json").stdout)] == ["why"]
