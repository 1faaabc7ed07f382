"""A run id is a short plain word: never a path, never text that a terminal or a store would take for something else."""

from __future__ import annotations

from pathlib import Path

import pytest

import groundplan
from groundplan.errors import UsageError
from groundplan.project import Project
from tests.adversarial.test_f03_effects import send

HOSTILE = [
    "../../x",
    "/etc/passwd",
    "a/b",
    "..",
    ".",
    "",
    " ",
    "a\0b",
    "a\nb",
    "\x1b[2J",
    "x" * 65,
    "ё",
    "a'b",
    "%",
    "-rf",
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    file = tmp_path_factory.mktemp("ids") / "sales.csv"
    file.write_text("region,revenue\nWest,3\n")
    return groundplan.open(file)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_every_entry_refuses_it_before_anything_happens(
    hostile: str, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "deep" / "state"))
    outside = tmp_path / "x"
    outside.write_text("precious")
    for entry in (
        lambda: project.ask("total revenue", run_id=hostile),
        lambda: project.run(send("hello"), run_id=hostile, approve=True),
        lambda: project.resume(hostile),
    ):
        with pytest.raises(UsageError, match="is not a run id"):
            entry()
    assert outside.read_text() == "precious"


@pytest.mark.parametrize("hostile", ["", "a\nb", "\x1b[2J", "\u202eabc", "x" * 201])
def test_the_name_of_a_conversation_can_be_printed(hostile: str, project: Project) -> None:
    with pytest.raises(UsageError, match="name a conversation"):
        project.ask("total revenue", thread=hostile)


def test_the_names_people_use_are_accepted(project: Project) -> None:
    assert project.ask("total revenue", run_id="2026-11.run_1").kind == "answer"
    assert project.ask("total revenue", thread="отчёт за март").kind == "answer"
