"""Nothing from data reaches the terminal unencoded: no escape sequence, no reordered text, no hidden character."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from groundplan.interfaces.cli import show
from groundplan.interfaces.cli.main import app
from groundplan.interfaces.cli.terminal import err
from groundplan.text.printable import HIDDEN, printable
from tests.adversarial.test_f03_effects import send

SOURCE = Path(__file__).parents[2] / "src" / "groundplan"
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31m\u202eevil\u2066\x9b31m\u200b\x7f\r"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # what our own charts use


def clean(text: str) -> bool:
    return not HIDDEN.search(COLOUR.sub("", text))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Hostile cells, columns and a hostile file name."""
    folder = tmp_path / "data\x1b[2J\u202e"
    folder.mkdir()
    path = folder / "sales.csv"
    rows = [f'"{HOSTILE.strip()}{n}",{n}' for n in range(5)]
    path.write_text("\n".join(["region\x1b[2J\u202e,revenue", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["ask", "FILE", "total revenue"],
        ["ask", "FILE", "show all rows"],
        ["ask", "FILE", "revenue by region as a bar chart"],
        ["ask", "FILE", f"revenue by {HOSTILE}"],
        ["ask", "FILE", "total revenue", "--json"],
        ["ask", "FILE", "show all rows", "--query"],
        ["plan", "FILE", "revenue by region"],
        ["explain", "FILE", "revenue by region"],
        ["check", "PLAN"],
        ["catalog", "show", HOSTILE],
    ],
)
def test_no_command_prints_what_a_terminal_obeys(words: list[str], file: Path, tmp_path: Path) -> None:
    plan = tmp_path / f"plan{HOSTILE.replace('/', '')}.json"
    plan.write_text(send(HOSTILE))
    done = CliRunner().invoke(app, [{"FILE": str(file), "PLAN": str(plan)}.get(word, word) for word in words])
    assert clean(done.output), ascii(done.output)
    assert clean(done.stderr), ascii(done.stderr)
    if "--json" in words:
        json.loads(done.stdout)


def test_an_error_is_encoded_too(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundplan.interfaces.cli import main

    monkeypatch.setattr("sys.argv", ["groundplan", "ask", f"{file}{HOSTILE}", "total"])
    with pytest.raises(SystemExit):
        main.main()
    said = capsys.readouterr()
    assert "no such file" in said.err
    assert clean(said.out + said.err)


def test_the_plan_that_is_to_be_approved_shows_what_it_hides(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundplan.contracts.plan import Plan

    plan = Plan.model_validate(json.loads(send("pay\u202e 1\x1b[8m000"))["plan"])
    for line in show._step_lines(plan):
        err.print(line)
    said = capsys.readouterr().err
    assert clean(said)
    assert "\\u202e" in said


@given(st.text())
def test_the_encoder_leaves_ordinary_text_and_loses_nothing(text: str) -> None:
    encoded = printable(text)
    assert clean(encoded)
    encoded.encode()
    if not HIDDEN.search(text):
        assert encoded == text


@given(st.text())
def test_a_json_document_stays_the_same(text: str) -> None:
    assert json.loads(printable(json.dumps({"a": text}, ensure_ascii=False))) == {"a": text}


BYPASSES = {
    "print",
    "typer.echo",
    "typer.secho",
    "typer.confirm",
    "typer.prompt",
    "sys.stdout.write",
    "sys.stderr.write",
}
BYPASSES |= {"click.echo", "Console", "rich.print", "input"}
ALLOWED = {
    "interfaces/cli/terminal.py": BYPASSES,
    "interfaces/cli/chat.py": {"input"},  # it prints our own prompt
    "sources/tables/files/excel_aside.py": {"sys.stderr.write"},  # read by the parent, which raises it as an error
}


def test_no_code_bypasses_the_encoder() -> None:
    calls = [
        (path.relative_to(SOURCE).as_posix(), ast.unparse(node.func))
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    assert [call for call in calls if call[1] in BYPASSES - ALLOWED.get(call[0], set())] == []
