"""A question back at a terminal: `ask` reads the reply there; a pipe and `--json` get it as it is."""

from __future__ import annotations

import json
import os
import pty
import sys

import pytest

from tests.asking.tables.described import SALES
from tests.interfaces.test_chat import read_until, talk
from tests.interfaces.test_cli import groundplan as command

UNCLEAR = "total revenue on 03/04/2025"
TO_CONFIRM = "total revenue in early May 2025"


def at_a_terminal(question: str, *keys: bytes) -> tuple[int, str]:
    """The exit code and all that `ask` shows, where each line of `keys` is typed at a prompt."""
    child, terminal = pty.fork()
    if child == 0:
        run = [sys.executable, "-m", "groundplan.interfaces.cli.main", "ask", str(SALES), question]
        os.execv(sys.executable, run)
    shown = b""
    for line in keys:
        shown += read_until(terminal, b"\n> ")
        os.write(terminal, line + b"\n")
    try:
        while more := os.read(terminal, 4096):
            shown += more
    except OSError:
        pass  # the other side is closed
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown.decode(errors="replace")


@pytest.mark.requirement("R83", part="terminal")
@pytest.mark.requirement("R70", part="ask")
def test_a_number_chooses_the_reading() -> None:
    code, shown = at_a_terminal(UNCLEAR, b"2")
    assert "1. 2025-04-03" in shown
    assert "2. 2025-03-04" in shown
    assert "date is on 2025-03-04" in shown
    assert code == 0


@pytest.mark.requirement("R70", part="ask")
@pytest.mark.parametrize(
    ("key", "code", "says"),
    [(b"", 0, "date is in May 2025"), (b"y", 0, "date is in May 2025"), (b"n", 1, "Nothing was run")],
)
def test_enter_runs_the_one_reading_and_n_does_not(key: bytes, code: int, says: str) -> None:
    ended, shown = at_a_terminal(TO_CONFIRM, key)
    assert "Do you mean from 2025-05-01 to 2025-05-31? [Y/n]" in " ".join(shown.split())
    assert (ended, says in shown) == (code, True), shown


def test_an_empty_line_leaves_a_choice_open() -> None:
    code, shown = at_a_terminal(UNCLEAR, b"")
    assert (code, "Revenue totals" in shown) == (3, False)


@pytest.mark.requirement("R70", part="ask")
def test_a_pipe_is_not_asked() -> None:
    done = command("ask", SALES, UNCLEAR, "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 3
    assert document["candidates"] == ["2025-04-03", "2025-03-04"]
    spans = [
        requirement["value"]["values"]
        for reading in document["readings"]
        for requirement in reading["requirements"]
        if requirement["value"]["kind"] == "filter"
    ]
    assert spans == [["2025-04-03", "2025-04-04"], ["2025-03-04", "2025-03-05"]]


@pytest.mark.requirement("R83", part="chat")
@pytest.mark.requirement("R70", part="chat")
def test_in_a_chat_an_empty_line_confirms(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))
    talk([TO_CONFIRM, "", ""], "work")
    shown = capsys.readouterr().out
    assert "[Y/n]" in shown
    assert shown.count("Revenue totals") == 1
