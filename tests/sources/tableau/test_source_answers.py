"""A question in plain words becomes one checked query to Tableau, and its rows are what SQL finds on the same table."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from tests.sources.tableau.calling import configured
from tests.sources.tableau.double.tableau import Tableau

from groundplan.contracts.answer import Answer
from groundplan.contracts.facts import Complete
from groundplan.project import Project

FROM = "FROM superstore WHERE"
QUESTIONS = {
    "total sales by region": f'SELECT "Region", sum("Sales") {FROM} true GROUP BY 1',
    "sales in the West by category": f'SELECT "Category", sum("Sales") {FROM} "Region" = \'West\' GROUP BY 1',
    "top 3 states by sales": f'SELECT "State", sum("Sales") {FROM} true GROUP BY 1 ORDER BY 2 DESC LIMIT 3',
    "number of customers by segment": f'SELECT "Segment", count(DISTINCT "Customer Name") {FROM} true GROUP BY 1',
    "average profit by month of order date in 2023": (
        f'SELECT strftime("Order Date", \'%Y-%m-01\'), avg("Profit") {FROM} year("Order Date") = 2023 GROUP BY 1'
    ),
}


@pytest.mark.requirement("R46", "R44")
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_by_tableau_as_by_sql(tableau: Tableau, tmp_path: Path, question: str) -> None:
    with Project({"tableau": configured(tableau, tmp_path)}) as project:
        answer = project.ask(question, today=date(2025, 1, 15)).outcome
    assert isinstance(answer, Answer), answer.text
    expected = {row[0]: row[1] for row in tableau.sql(QUESTIONS[question])}
    assert {row[0]: row[1] for row in answer.tables[0].rows} == pytest.approx(expected)
    facts = answer.facts
    assert (facts.state, facts.failures, [*facts.charts]) == (Complete(), (), ["chart"])
    assert tableau.count("query-datasource") == 8 + 1, "the members of eight fields, and one query for the answer"
    assert [*facts.sent] == ["totals"]
    assert facts.sent["totals"] in answer.queries.values()
    assert answer.plan.provenance.log == (f"totals: {facts.sent['totals']}",), "the plan says what will be sent"
