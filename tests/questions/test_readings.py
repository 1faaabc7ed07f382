"""Readings written by hand for real questions: each passes the gate, runs, and gives the truth."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from groundplan.asking.tables.plan import propose
from groundplan.checking.gate import check
from groundplan.contracts.verdict import Passed
from groundplan.evaluation.suites.judging import Question, judge
from groundplan.evaluation.suites.questions import data_files, load_questions, load_tables, truths
from groundplan.project import Project
from tests.questions.notation import reading

CASES: Mapping[str, Any] = yaml.safe_load((Path(__file__).parent / "readings.yaml").read_text(encoding="utf-8"))
FOLDER = Path(os.environ.get("GROUNDPLAN_QUESTIONS", Path(__file__).parents[3] / "shared/benchmarks/questions"))

pytestmark = pytest.mark.skipif(
    not FOLDER.exists(), reason="the question benchmark is not here; set GROUNDPLAN_QUESTIONS"
)


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_a_written_reading_gives_the_truth_of_its_question(every: int) -> None:
    """At least 0.95 of the answerable questions over one table."""
    asked = [q for q in load_questions(FOLDER) if q.expect == "answer" and q.dataset != "shop_db"][::every]
    failed = {q.id: why for q in asked if (why := _fails(q))}
    assert len(failed) <= 0.05 * len(asked), f"{len(failed)} of {len(asked)}: {failed}"


def _fails(question: Question) -> str | None:
    """Why the reading does not give the truth, or None."""
    written = CASES.get(question.id)
    if written is None:
        return "no reading"
    if "inexpressible" in written:
        return f"inexpressible: {written['inexpressible']}"
    project = _open(question.dataset)
    (schema,) = project.schemas.values()
    asked = reading(question.question, schema.tables[0].name, written)
    plan = propose(asked, schema)
    checked = check(plan, asked, project.catalog, project.schemas)
    if not isinstance(checked, Passed):
        return f"gate: {checked.issues[0].problem}"
    proposal = {"plan": plan.model_dump(mode="json"), "reading": asked.model_dump(mode="json")}
    outcome = project.run(json.dumps(proposal)).outcome
    verdict = judge(question, outcome, truths(question, _engine(question.dataset)))
    return None if verdict == "right" else f"{verdict}: {outcome.text[:200]}"


@cache
def _engine(dataset: str) -> duckdb.DuckDBPyConnection:
    return load_tables(data_files(FOLDER, dataset, FOLDER))


_OPENED: dict[str, Project] = {}


def _open(dataset: str) -> Project:
    if dataset not in _OPENED:
        _OPENED[dataset] = Project(str(next((FOLDER / dataset).glob("*.csv"))))
    return _OPENED[dataset]
