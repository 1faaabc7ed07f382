"""The path with a large model, on what one really replied: what is lost between its replies and our answers.

The replies stand for models of that class, with their natural mistakes. The floors only rise.
"""

from __future__ import annotations

from functools import cache

import pytest

from groundplan.evaluation.report import Report
from groundplan.evaluation.suites.registry import evaluate
from tests.questions.test_asked import FOLDER

BENCHMARKS = FOLDER.parent
LARGE = BENCHMARKS / "large_model"
pytestmark = pytest.mark.skipif(not LARGE.exists(), reason="the recorded replies are not here")


@cache
def report(suite: str, folder: str, *replies: str, sample: int | None = None) -> Report:
    files = [LARGE / f"{name}.jsonl" for name in replies]
    return evaluate(suite, BENCHMARKS / folder, sample, lambda *_: None, replies=files)


def wrongly(found: Report) -> list[str]:
    return [f"{miss.id}: {miss.question}" for miss in found.misses if miss.why == "wrong"]


def test_development_questions() -> None:
    """Three of the four wrong ones differ from the truth in a label only."""
    found = report("questions", "questions", "questions_a")
    assert found.outside({"right": 0.90}, {"wrong": 0.021}) == [], wrongly(found)


def test_what_cannot_be_answered_is_refused_or_asked() -> None:
    """Of 28 that should be refused or asked, the bare replies answer one."""
    found = report("questions", "questions", "questions_a")
    answered = [miss for miss in found.misses if miss.why == "wrong" and miss.expected in ("refuse", "ask")]
    assert len(answered) <= 1, answered


def test_two_opinions_that_agree() -> None:
    found = report("questions", "questions", "questions_a", "questions_b", sample=64)
    assert found.outside({"right": 0.93}, {"wrong": 0.01}) == [], wrongly(found)


@pytest.mark.slow
def test_databases_of_several_tables() -> None:
    found = report("sql", "sql_eval", "sql_eval", sample=75)
    assert found.outside({"right": 0.72}, {"wrong": 0.03}) == [], wrongly(found)
