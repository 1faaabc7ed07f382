"""The `sql` suite: what counts as right, exact, wrong and refused, on two small tables."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from groundplan.errors import UsageError
from groundplan.evaluation.suites.sql import evaluate


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "db/port").mkdir(parents=True)
    (tmp_path / "db/port/boats.csv").write_text("boat_id,quay_id,tons\n1,1,10\n2,1,20\n3,2,5\n")
    (tmp_path / "db/port/quays.csv").write_text("quay_id,side\n1,North\n2,South\n")
    by_side = {"columns": ["side", "tons"], "rows": [["South", 5], ["North", 30.0]]}
    asked = [
        ("total tons by side", [by_side]),
        ("total tons by side", [{"columns": ["tons"], "rows": [[5], [30]]}]),  # it may have more columns
        ("total tons by side", [{"columns": ["tons"], "rows": [[7]]}]),
        ("how many flurbs swim in the moonlight", [by_side]),
        ("how many flurbs swim in the moonlight", []),
        ("total tons", []),
    ]
    lines = [
        {"id": str(n), "db": "port", "question": text, "answerable": bool(gold), "as_of": "2025-01-15", "gold": gold}
        for n, (text, gold) in enumerate(asked)
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path


def test_each_end_is_counted(folder: Path) -> None:
    report = asyncio.run(evaluate(folder, None, lambda done, total: None))
    assert (report.suite, report.n) == ("sql", 6)
    assert report.scores == {"right": 0.5, "exact": 0.25, "wrong": 0.3333, "refused": 0.1667, "asked": 0.0}
    assert [(miss.id, miss.why) for miss in report.misses] == [("2", "wrong"), ("3", "refused"), ("5", "wrong")]


def test_a_folder_without_questions_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"name a folder with questions.jsonl and db"):
        asyncio.run(evaluate(tmp_path, None, lambda done, total: None))
