"""Twenty questions on a real model of 1.5 billion parameters: each answer equals independent SQL, or is a miss."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Answer, Outcome, ShownTable
from groundplan.project import AsyncProject, load_catalog
from groundplan.settings import Endpoint
from tests.asking.tables.described import SALES

pytest_plugins = ["tests.models"]

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("questions.yaml").read_text(encoding="utf-8"))
RIGHT = 18  # of 20


@pytest.fixture(scope="module")
def outcomes(qwen_url: str, tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    async def run() -> list[Outcome]:
        project = await AsyncProject.open(SALES, models=[Endpoint(name="qwen", url=qwen_url, model="qwen")])
        ended = [
            await project.ask(case["question"], strategy=case.get("strategy"), today=date(2026, 1, 15))
            for case in CASES
        ]
        await project.close()
        return ended

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDPLAN_STATE", str(tmp_path_factory.mktemp("plans")))
        return asyncio.run(run())


@pytest.mark.model
@pytest.mark.requirement("R5", "R19", "R52")
def test_at_least_eighteen_of_twenty_equal_independent_sql(outcomes: list[Outcome]) -> None:
    missed = [case["question"] for case, outcome in zip(CASES, outcomes, strict=True) if not right(case, outcome)]
    assert len(CASES) == 20
    assert len(missed) <= len(CASES) - RIGHT, missed


@pytest.mark.model
@pytest.mark.requirement("R7", "R32")
def test_no_name_is_invented_and_no_step_unjustified(outcomes: list[Outcome]) -> None:
    tools, columns = load_catalog().tools, {"date", "region", "product_category", "channel", "units", "revenue", "cost"}
    for answer in (outcome for outcome in outcomes if isinstance(outcome, Answer)):
        assert answer.reading is not None
        asked_for = {r.id for r in answer.reading.requirements}
        named = {getattr(r.value, "column", None) for r in answer.reading.requirements} - {None}
        assert named <= columns
        assert all(step.tool in tools for step in answer.plan.steps)
        assert all(step.satisfies and {*step.satisfies} <= asked_for for step in answer.plan.steps)


@pytest.mark.model
@pytest.mark.requirement("R27")
def test_every_answer_says_what_the_model_took(outcomes: list[Outcome]) -> None:
    assert sum(outcome.usage.calls > 0 for outcome in outcomes) >= 15, "these questions need a model"
    for outcome in outcomes:
        assert (outcome.usage.models == ("qwen",)) == (outcome.usage.calls > 0)
        spent = outcome.usage.prompt_tokens + outcome.usage.completion_tokens
        assert sum(entry.tokens for entry in outcome.trace) == spent


def right(case: dict[str, Any], outcome: Outcome) -> bool:
    if not isinstance(outcome, Answer):
        return False
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE sales AS SELECT * FROM read_csv(?)", [str(SALES)])
        wanted = Counter(cells(row) for row in connection.execute(case["sql"]).fetchall())
    return any(Counter(table_rows(table)) == wanted for table in outcome.tables)


def table_rows(table: ShownTable) -> list[frozenset[str]]:
    kept = [place for place, name in enumerate(table.columns) if name != "rank"]
    return [cells([row[place] for place in kept]) for row in table.rows]


def cells(row: Any) -> frozenset[str]:
    """A row whatever the order of its columns; numbers to six figures, months by their first day."""
    return frozenset(_plain(cell) for cell in row)


def _plain(cell: object) -> str:
    if isinstance(cell, datetime | date):
        return cell.isoformat()[:10]
    if isinstance(cell, int | float):
        return f"{cell:.6g}"
    return str(cell)[:10] if str(cell)[4:5] == "-" else str(cell)
