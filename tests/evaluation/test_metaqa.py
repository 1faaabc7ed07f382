"""The `metaqa` suite on a graph small enough to judge by eye."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from benchmarks.suites.metaqa import evaluate

from groundplan.errors import UsageError

KNOWLEDGE = """
types:
  boat: {words: {en: [boat, ship]}}
  sailor: {words: {en: [sailor, person]}}
  harbour: {words: {en: [harbour]}}
relations:
  sailed_by: {from: boat, to: sailor, words: {en: {forward: [crew, sailed by], backward: [sailed]}}}
  lies_in: {from: boat, to: harbour, words: {en: {forward: [lies, moored], backward: [boats in]}}}
"""
EDGES = [
    ("Gull", "sailed_by", "Ann"),
    ("Gull", "lies_in", "Cove"),
    ("Tern", "sailed_by", "Ann"),
    ("Tern", "lies_in", "Quay"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "knowledge.yaml").write_text(KNOWLEDGE)
    with gzip.open(tmp_path / "kb.tsv.gz", "wt") as file:
        file.writelines("\t".join(edge) + "\n" for edge in EDGES)
    asked = [
        question(1, "who sailed Gull", "Gull", ["sailed_by"], ["Ann"]),
        question(2, "which boats share the crew with Gull", "Gull", ["sailed_by", "^sailed_by"], ["Tern"]),
        question(
            3,
            "in which harbour are boats that share the crew with Gull moored",
            "Gull",
            ["sailed_by", "^sailed_by", "lies_in"],
            ["Quay"],
        ),
        question(1, "who painted Gull", "Gull", ["sailed_by"], ["Ann"]),
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, asked)))
    return tmp_path


def question(hops: int, text: str, topic: str, path: list[str], answers: list[str]) -> dict[str, object]:
    steps = [{"relation": hop.removeprefix("^"), "direction": "in" if hop[0] == "^" else "out"} for hop in path]
    return {"id": text, "hops": hops, "question": text, "topic_entity": topic, "gold_path": steps, "answers": answers}


@pytest.mark.requirement("R60")
def test_exact_sets_are_scored_by_hops_and_a_miss_says_why(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    report = evaluate(folder, None, lambda done, total: seen.append((done, total)))
    assert report.scores == {"hops1": 0.5, "hops2": 1.0, "hops3": 1.0}
    assert [(miss.id, miss.got) for miss in report.misses] == [("who painted Gull", [])]
    assert "path general, not sailed_by" in report.misses[0].why
    assert seen[-1] == (4, 4)


def test_a_set_that_is_only_nearly_right_is_a_miss(folder: Path) -> None:
    file = folder / "questions.jsonl"
    file.write_text(json.dumps(question(1, "who sailed Gull", "Gull", ["sailed_by"], ["Ann", "Bob"])))
    assert evaluate(folder, None, lambda done, total: None).scores == {"hops1": 0.0}


def test_a_broken_line_is_named(folder: Path) -> None:
    (folder / "questions.jsonl").write_text('{"id": "x"}\n')
    with pytest.raises(UsageError, match=r"questions\.jsonl:1"):
        evaluate(folder, None, lambda done, total: None)
