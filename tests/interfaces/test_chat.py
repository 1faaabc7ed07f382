"""A conversation in the terminal: real data, one line after another."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from groundplan.contracts.conversation import Turn
from groundplan.interfaces.cli.chat import chat
from groundplan.project import AsyncProject
from groundplan.state.database import FILE
from tests.asking.tables.described import SALES
from tests.interfaces.test_cli import groundplan as command

TODAY = date(2026, 1, 15)


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))


def talk(lines: Iterable[str], thread: str | None = None) -> None:
    async def whole() -> None:
        project = await AsyncProject.open(SALES)
        await chat(project, iter(lines), thread=thread, today=TODAY)
        await project.close()

    asyncio.run(whole())


def turns() -> tuple[Turn, ...]:
    async def read() -> tuple[Turn, ...]:
        project = await AsyncProject.open(SALES)
        try:
            return await project.turns("work")
        finally:
            await project.close()

    return asyncio.run(read())


@pytest.mark.requirement("R70", part="chat")
def test_a_reply_completes_the_question_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    talk(["total revenue on 03/04/2025", "2"], "work")
    shown = capsys.readouterr().out
    assert "1. 2025-04-03" in shown
    assert "2. 2025-03-04" in shown
    assert [turn.question for turn in turns()] == ["total revenue on 2025-03-04"]


@pytest.mark.requirement("R55")
def test_each_line_is_answered_and_kept_in_the_thread(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["total revenue by region\n", "\n", "average cost by channel\n"]
    talk(lines, "work")
    shown = capsys.readouterr().out
    assert "West has the highest revenue" in shown
    assert "average cost" in shown
    questions = [turn.question for turn in turns()]
    assert questions == ["total revenue by region", "average cost by channel"]


@pytest.mark.requirement("R2", "R55")
def test_a_follow_up_edits_the_question_before(tmp_path: Path) -> None:
    talk(["total revenue by region in 2024", "and by quarter?", "only the West", "а за 2025 год?"], "work")
    last = turns()[-1]
    assert last.question == "total revenue by region in 2024 → and by quarter? → only the West → а за 2025 год?"
    params: dict[str, Any] = {step.id: step.params for step in last.plan.steps}
    assert params["totals"]["grain"] == "quarter"
    assert [(c["column"], *c["values"]) for c in params["rows"]["conditions"]] == [
        ("region", "West"),
        ("date", "2025-01-01", "2026-01-01"),
    ]


def test_the_command_reads_a_pipe() -> None:
    done = command("chat", SALES, "--today", TODAY, stdin="total revenue by region\ntop 2\n/plan\n")
    assert done.returncode == 0, done.stderr
    assert "limit=2" in done.stdout


def test_what_cannot_be_answered_does_not_end_it(capsys: pytest.CaptureFixture[str]) -> None:
    talk(["churn by region", "revenue on 03/04/2025", "total revenue"])
    shown = capsys.readouterr().out
    assert "nothing called 'churn'" in shown
    assert "could mean" in shown
    assert "67,970,983.42" in shown


def test_a_failure_outside_does_not_end_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def lines() -> Iterator[str]:
        (tmp_path / FILE).write_text("no database " * 100)
        yield "total revenue"
        (tmp_path / FILE).unlink()
        yield "total revenue"

    talk(lines())
    shown = capsys.readouterr()
    assert "move it away to" in shown.err
    assert shown.out.count("Revenue totals 67,970,983.42") == 1


def test_quit_ends_it_before_the_lines_do(capsys: pytest.CaptureFixture[str]) -> None:
    lines = iter(["/quit", "total revenue"])
    talk(lines)
    assert capsys.readouterr().out == ""
    assert next(lines) == "total revenue"


def test_plan_shows_the_steps_of_the_last_answer(capsys: pytest.CaptureFixture[str]) -> None:
    talk(["/plan", "total revenue by region", "churn by region", "/plan"])
    shown = capsys.readouterr()
    assert "there is no plan yet" in shown.err
    assert 'group_by=["region"]' in shown.out
    assert "checked" in shown.out


@pytest.mark.requirement("R55")
def test_new_forgets_what_was_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    talk(["total revenue", "/new", "/plan", "total cost"], "work")
    assert "there is no plan yet" in capsys.readouterr().err
    assert [turn.question for turn in turns()] == ["total revenue"]


def test_an_unknown_command_says_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    talk(["/help"])
    assert "there is no /help; /new starts a new conversation" in capsys.readouterr().err


LISTING = "from groundplan.interfaces.cli.chat import typed_lines; print('lines:', [*typed_lines()])"


def test_lines_of_a_pipe_come_without_a_prompt() -> None:
    done = subprocess.run([sys.executable, "-c", LISTING], input="one\ntwo", capture_output=True, text=True, timeout=60)
    assert done.stdout == "lines: ['one\\n', 'two']\n"


def test_at_a_terminal_control_c_drops_the_line_and_control_d_ends() -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", LISTING])
    read_until(terminal, b"> ")
    os.write(terminal, b"one\n")
    read_until(terminal, b"> ")
    os.write(terminal, b"dropped")
    read_until(terminal, b"dropped")
    read_until(terminal, b"> ", again=b"\x03")
    os.write(terminal, b"\x04")
    shown = read_until(terminal, b"]")
    os.waitpid(child, 0)
    assert b"lines: ['one']" in shown


def read_until(terminal: int, end: bytes, again: bytes = b"") -> bytes:
    """What a terminal shows; `again` is typed every second, because Python misses a signal while it echoes a key."""
    shown = b""
    for _ in range(60):
        os.write(terminal, again)
        while select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 4096)
            if end in shown:
                return shown
    pytest.fail(f"no {end!r} within a minute, only {shown!r}")
