"""A hand-written plan from a file to an answer, against SQL of another hand on another DuckDB."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import groundplan
from groundplan.contracts.answer import Answer, Refusal
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import Proposal
from groundplan.contracts.verdict import Passed, Refused
from groundplan.project import Project

EXAMPLES = Path(__file__).parents[1] / "examples"
SALES, PLAN = EXAMPLES / "sales.csv", EXAMPLES / "sales_plan.json"


@pytest.fixture(scope="module")
def project() -> Any:
    with groundplan.open(SALES) as opened:
        yield opened


@pytest.fixture(scope="module")
def answer(project: Project) -> Answer:
    outcome = project.run(PLAN.read_text()).outcome
    assert isinstance(outcome, Answer), outcome
    return outcome


def independent(sql: str) -> list[tuple[Any, ...]]:
    return duckdb.sql(sql.replace("SALES", f"read_csv('{SALES}')")).fetchall()


@pytest.mark.requirement("R18", "R38")
@pytest.mark.requirement("R45", part="tools")
def test_the_numbers_equal_independent_sql(answer: Answer) -> None:
    expected = independent(
        "SELECT strftime(date_trunc('month', date), '%Y-%m-%d'), region, product_category, sum(revenue) FROM SALES "
        "GROUP BY ALL ORDER BY 1, 2, 3"
    )
    table = answer.tables[0]
    assert table.columns == ("date", "region", "product_category", "revenue")
    assert table.row_count == len(table.rows) == len(expected) == 24 * 5 * 6
    for row, wanted in zip(table.rows, expected, strict=True):
        assert str(row[0])[:10] == wanted[0]
        assert row[1:3] == wanted[1:3]
        assert row[3] == pytest.approx(wanted[3], rel=1e-9)


@pytest.mark.requirement("R26")
def test_the_grain_that_the_data_chose_is_a_fact(answer: Answer) -> None:
    grain = next(item for item in answer.facts.items if item.kind == "grain")
    assert grain.value == "month"
    assert "2024-01-01" in grain.text
    assert answer.facts.tables["table"].columns[0].grain == "month"


@pytest.mark.requirement("R53", part="png")
def test_the_chart_carries_the_same_numbers_and_is_rendered(answer: Answer, tmp_path: Path) -> None:
    from groundplan.charts.picture import png, svg

    spec: Any = thaw(answer.charts[0])
    drawn = spec["data"]["values"]
    assert sum(row["revenue"] for row in drawn) == pytest.approx(independent("SELECT sum(revenue) FROM SALES")[0][0])
    assert png(spec).startswith(b"\x89PNG")
    assert "<svg" in svg(spec)


@pytest.mark.requirement("R44")
def test_every_requirement_is_covered_and_nothing_is_cut(answer: Answer) -> None:
    assert all(item.ok for item in answer.coverage)
    assert len(answer.coverage) == 8
    assert answer.facts.state.kind == "complete"
    assert not answer.facts.failures


@pytest.mark.requirement("R38")
def test_rows_stay_out_of_the_state(answer: Answer) -> None:
    assert "SELECT" in answer.facts.tables["table"].query.upper()
    assert "Electronics" not in answer.facts.model_dump_json(exclude={"charts"})
    assert answer.facts.charts["chart"].spec["data"] == {"name": "table"}
    assert len(answer.facts.model_dump_json()) < 50_000


@pytest.mark.requirement("R41")
def test_a_refused_plan_says_why_and_runs_nothing(project: Project) -> None:
    proposal = json.loads(PLAN.read_text())
    proposal["plan"]["steps"][1]["params"]["group_by"] = ["date", "regoin"]
    outcome = project.run(json.dumps(proposal)).outcome
    assert isinstance(outcome, Refusal)
    assert "names/unknown-column" in {issue.code for issue in outcome.issues}
    assert outcome.facts is None


def test_checking_and_running_agree(project: Project) -> None:
    assert isinstance(project.check(PLAN.read_text()), Passed)
    assert isinstance(project.check("{}"), Refused)
    assert isinstance(project.run("{}").outcome, Refusal)


def test_the_sync_project_works_inside_a_running_loop() -> None:
    async def notebook() -> bool:
        with groundplan.open(SALES) as opened:
            return isinstance(opened.check(PLAN.read_text()), Passed)

    assert asyncio.run(notebook())


@pytest.mark.requirement("R38")
def test_the_same_input_gives_the_same_answer(project: Project, answer: Answer) -> None:
    again = project.run(PLAN.read_text()).outcome
    assert isinstance(again, Answer)
    volatile = {"trace": True, "facts": {"run"}}
    assert again.model_dump_json(exclude=volatile) == answer.model_dump_json(exclude=volatile)


@pytest.mark.requirement("R57", part="python")
def test_python_offers_the_five_verbs() -> None:
    with groundplan.open(SALES) as project:
        planned = project.plan("total revenue by region")
        assert planned.plan is not None
        assert planned.reading is not None
        proposal = Proposal(reading=planned.reading, plan=planned.plan)
        assert isinstance(project.check(proposal), Passed)
        asked, ran = project.ask("total revenue by region"), project.run(proposal)
        assert (asked.text, asked.outcome.kind) == (ran.text, "answer")
        explained = [(reason.requirement, reason.steps) for reason in project.explain("total revenue by region")]
        assert ("metric:revenue", ("totals", "table")) in explained
