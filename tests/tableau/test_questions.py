"""Questions to Tableau in plain words: by rules, through the gate, and right by SQL on the same table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from groundplan.contracts.answer import Clarification
from groundplan.contracts.contract import thaw
from groundplan.project import Project
from tests.sources.tableau.double.tableau import Tableau
from tests.tableau.asking import answered, ask, proposal, refused, sent, shown, truth

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("questions.yaml").read_text(encoding="utf-8"))
COVERED = [case for case in CASES if case.get("rules", True)]
OTHERS = [case for case in CASES if not case.get("rules", True)]
FILTERS = ("SET", "MATCH", "QUANTITATIVE_NUMERICAL", "QUANTITATIVE_DATE", "TOP")
STAGES = ["route", "read", "plan", "check", "run", "answer"]
Shop = tuple[Tableau, Project]


def named(cases: list[dict[str, Any]]) -> dict[str, Any]:
    return {"argvalues": cases, "ids": [case["question"][:60] for case in cases]}


@pytest.mark.requirement("R24", "R46")
@pytest.mark.parametrize("case", **named(COVERED))
def test_a_question_gives_the_rows_of_the_table_in_their_order(shop: Shop, case: dict[str, Any]) -> None:
    tableau, project = shop
    tableau.requests.clear()
    answer = answered(ask(project, case["question"]))
    assert shown(answer) == truth(tableau, case["sql"])
    assert (answer.plan.strategy, answer.usage.calls) == ("rules", 0)
    assert all(covered.ok for covered in answer.coverage)
    [query] = sent(tableau)
    for part in case["sends"]:
        assert part in json.dumps(query), query


@pytest.mark.requirement("R46")
@pytest.mark.parametrize("case", **named(OTHERS))
def test_what_rules_do_not_cover_is_not_answered_and_says_why(shop: Shop, case: dict[str, Any]) -> None:
    tableau, project = shop
    tableau.requests.clear()
    outcome = ask(project, case["question"])
    if case["ends"] == "clarification":
        assert isinstance(outcome, Clarification)
    else:
        assert refused(outcome).issues[0].code == case["ends"]
    assert sent(tableau) == []


def test_every_kind_of_filter_that_queries_have_is_asked_for() -> None:
    parts = {part for case in COVERED for part in case["sends"]}
    assert {f'"filterType": "{kind}"' for kind in FILTERS} <= parts
    assert '"exclude": true' in parts
    assert len(COVERED) >= 30


@pytest.mark.requirement("R24", "R46")
def test_a_second_question_reads_no_metadata_and_no_members_again(shop: Shop) -> None:
    tableau, project = shop
    ask(project, "total sales by region")
    tableau.requests.clear()
    answered(ask(project, "total profit by segment"))
    assert [request.endpoint for request in tableau.requests] == ["query-datasource"]


@pytest.mark.requirement("R46", "R54")
def test_an_answer_is_drawn_and_its_steps_of_reasoning_end_with_the_writing(shop: Shop) -> None:
    tableau, project = shop
    answer = answered(ask(project, "sales by category in the West as a bar chart"))
    expected = truth(
        tableau,
        """SELECT "Category", sum("Sales") FROM superstore WHERE "Region" = 'West' GROUP BY 1 ORDER BY 2 DESC""",
    )
    chart: Any = thaw(answer.charts[0])
    assert chart["layer"][0]["mark"]["type"] == "bar"  # the other layer writes the numbers
    assert [row["Category"] for row in chart["data"]["values"]] == [category for category, _ in expected]
    stages = [entry.stage for entry in answer.trace]
    assert [stage for stage in stages if stage in STAGES] == STAGES
    assert (stages[-1], answer.trace[-1].thought) == ("answer", "written from the facts, verified against them")


@pytest.mark.requirement("R24", "R46")
def test_a_tool_for_tables_works_on_the_rows_of_a_query(shop: Shop) -> None:
    tableau, project = shop
    query = {"group_by": ["Region"], "metrics": [{"column": "Sales", "function": "sum", "as": "sales"}]}
    requirements = [
        {"id": "metric:Sales", "value": {"kind": "metric", "column": "Sales", "function": "sum"}},
        {"id": "group_by:Region", "value": {"kind": "group_by", "column": "Region"}},
        {"id": "rank:top2", "value": {"kind": "rank", "limit": 2}},
    ]
    written = json.loads(proposal(query, requirements))
    written["plan"]["steps"][0]["satisfies"] = ["metric:Sales", "group_by:Region"]
    params = {"by": "sales", "limit": 2}
    written["plan"]["steps"].append(
        {"id": "ranked", "tool": "rank_rows", "needs": ["query"], "params": params, "satisfies": ["rank:top2"]}
    )
    answer = answered(project.run(json.dumps(written)).outcome)
    top = truth(tableau, 'SELECT "Region", sum("Sales") FROM superstore GROUP BY 1 ORDER BY 2 DESC LIMIT 2')
    assert shown(answer) == top
