"""The commands of README.md, in order and in a fresh folder, and the answers that its table promises."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from groundplan.project import Project
from tests.interfaces.test_cli import ROOT
from tests.interfaces.test_cli import groundplan as command

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| [^|]+ \| `(?P<question>[^`]+)` \| (?P<told>[^|]+) \|$", re.MULTILINE)
ELSEWHERE = (  # what needs a server of somebody else, or does not end
    *("pip ", "llama-server", "curl ", "groundplan serve", "groundplan doctor --model"),
    *("groundplan[trackers]", "groundplan[tableau]", "groundplan[llm]"),
)
AGREED = {"trust": ("--yes",), "send": ("--approve",)}  # what a person at the terminal says


def commands() -> Iterator[tuple[str, str]]:
    """Each command of README, and what is typed after it."""
    for block in CONSOLE.findall(README):
        lines = [] if any(part in block for part in ELSEWHERE if "[" in part) else block.splitlines()
        for place, line in enumerate(lines):
            if line.startswith("$ ") and (" && cd " in line or not any(part in line for part in ELSEWHERE)):
                following = lines[place + 1 :]
                yield line[2:], "".join(f"{typed[2:]}\n" for typed in following if typed.startswith("> "))


def test_the_commands_in_order(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path_factory.mktemp("state")))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")  # as an activated one
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    ran = []
    for line, typed in commands():
        if " && cd " in line:
            monkeypatch.chdir(tmp_path / line.partition(" && cd ")[2])
            continue
        if "groundplan chat" in line:
            monkeypatch.chdir(tmp_path)
        words = shlex.split(line, comments=True)
        if words[:1] == ["groundplan"]:
            words, _, written = (words[: words.index(">")], ">", words[-1]) if ">" in words else (words, "", "")
            agreed = [option for said, options in AGREED.items() if said in line for option in options]
            done = command(*words[1:], *agreed, stdin=typed)
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
            if written:
                Path(written).write_text(done.stdout, encoding="utf-8")
            ran.append(words[1])
    assert ran == ["demo", "ask", "ask", "ask", "trust", "ask", "chat", "plan", "check", "run"]


@pytest.fixture(scope="module")
def sales() -> Iterator[Project]:
    with Project(str(ROOT / "examples" / "sales.csv")) as project:
        yield project


@pytest.mark.parametrize(
    ("question", "told"), [found.groups() for found in ROW.finditer(README) if "tools of your own" not in found["told"]]
)
def test_an_answer_is_as_the_table_says(sales: Project, question: str, told: str) -> None:
    text = plain(sales.ask(question).text)
    parts = map(plain, re.sub(r"\(exit code \d\)", "", told).split("…"))
    assert [part for part in parts if part not in text] == []


def plain(text: str) -> str:
    """Without the marks of lists and sentences."""
    return re.sub(r"[\s,.;:()-]+", " ", text).strip()
