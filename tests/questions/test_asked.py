"""Real questions, asked as people type them: how many answers are right, and how many are wrong."""

from __future__ import annotations

import lzma
import os
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

import groundplan
from groundplan.contracts.answer import Answer
from tests.questions.truths import Question, answers, questions, truths

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("GROUNDPLAN_QUESTIONS", HERE.parents[1].parent / "shared/benchmarks/questions"))
TODAY = date(2026, 1, 15)
FRESH = {  # right of the answerable, wrong of all: floors that only rise
    "gym_and_freight": (0.29, 0.05),
    "hotels_and_tickets": (0.11, 0.04),
    "turbines_and_furniture": (0.12, 0.04),
}


@pytest.mark.skipif(not FOLDER.exists(), reason="the question benchmark is not here; set GROUNDPLAN_QUESTIONS")
def test_the_benchmark() -> None:
    assert_reached(FOLDER, 0.54, 0.03)


@pytest.mark.parametrize("name", sorted(FRESH))
def test_questions_by_fresh_eyes(name: str, tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_bytes((HERE / "fresh" / name / "questions.jsonl").read_bytes())
    for packed in (HERE / "fresh" / name).glob("*.csv.xz"):
        folder = tmp_path / packed.name.removesuffix(".csv.xz")
        folder.mkdir()
        (folder / packed.name.removesuffix(".xz")).write_bytes(lzma.decompress(packed.read_bytes()))
    assert_reached(tmp_path, *FRESH[name])


def assert_reached(folder: Path, right: float, wrong: float) -> None:
    asked = questions(folder)
    found = Counter[tuple[str, str]]()
    wrongly: list[str] = []
    for name in dict.fromkeys(question.dataset for question in asked):
        files = sorted((folder / name).glob("*.csv"))
        with groundplan.open(files[0] if len(files) == 1 else folder / name) as project:
            for question in (one for one in asked if one.dataset == name):
                verdict = judged(project, folder, question)
                found[question.expect, verdict] += 1
                if verdict == "wrong":
                    wrongly.append(question.question)
    answerable = sum(count for (expect, _), count in found.items() if expect == "answer")
    assert found["answer", "right"] >= right * answerable, found
    assert len(wrongly) <= wrong * len(asked), wrongly


def judged(project: groundplan.Project, folder: Path, question: Question) -> str:
    outcome = project.ask(question.question, today=TODAY).outcome
    if not isinstance(outcome, Answer):
        return "right" if question.expect != "answer" else outcome.kind
    if question.expect == "refuse":
        return "wrong"
    return "right" if any(answers(truth, question, outcome) for truth in truths(folder, question)) else "wrong"
