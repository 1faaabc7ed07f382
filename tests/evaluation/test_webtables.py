"""The `webtables` suite: what counts as right, wrong, refused and unopened, on two small tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.suites import registry
from benchmarks.suites.webtables import evaluate

from groundplan.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/boats.csv").write_text('Harbour,Boats\nNorth,"1,200"\nSouth,300\nNorth,-\n')
    (tmp_path / "tables/broken.csv").write_text('a,b\n1,"x\n')
    asked = [
        ("total boats", "boats", ["1,500"]),
        ("total boats by harbour", "boats", ["North", "South"]),
        ("total boats", "boats", ["7"]),
        ("how many flurbs swim in the moonlight", "boats", ["2"]),
        ("how many rows are there?", "broken", ["1"]),
    ]
    lines = [
        json.dumps({"id": str(number), "question": question, "table": table, "answers": answers})
        for number, (question, table, answers) in enumerate(asked)
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines))
    return tmp_path


def silent(done: int, total: int) -> None:
    assert 0 < done <= total


def test_each_end_is_counted(folder: Path) -> None:
    report = evaluate(folder, None, silent)
    assert (report.suite, report.n) == ("webtables", 5)
    assert report.scores == {"right": 0.4, "wrong": 0.2, "refused": 0.2, "asked": 0.0, "unopened": 0.2}
    assert [(miss.id, miss.why) for miss in report.misses] == [("2", "wrong"), ("3", "refused"), ("4", "unopened")]


def test_a_folder_without_questions_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"name a folder with questions.jsonl and tables"):
        evaluate(tmp_path, None, silent)


def test_no_model_may_be_said(folder: Path) -> None:
    assert registry.evaluate("webtables", folder, 1, silent, "none", "rules").n == 1
    with pytest.raises(UsageError, match="uses no model"):
        registry.evaluate("webtables", folder, 1, silent, "http://127.0.0.1:1/v1")
