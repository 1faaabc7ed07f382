"""A question in plain words becomes one checked query to Tableau, and its rows are what SQL finds on the same table."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.sources.tableau.calling import during, opened
from tests.sources.tableau.double.tableau import Tableau

from groundplan.asking.tables.direct.plan import propose
from groundplan.asking.tables.route import read_plain
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.facts import Complete, Facts
from groundplan.contracts.reading import Reading
from groundplan.contracts.verdict import Passed
from groundplan.running.run import run
from groundplan.sources.tableau.source import Tableau as Source
from groundplan.sources.tables.source import Tables

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


async def answered(source: Source, question: str) -> tuple[Facts, dict[Any, Any]]:
    work = Tables.scratch()
    schema, values = await source.describe(), await source.values(question)
    reading = read_plain(question, schema, values, today=date(2025, 1, 15), timezone="UTC").answer
    assert isinstance(reading, Reading)
    plan = propose(reading, schema, "tableau_query")
    assert plan is not None
    schemas = {"tableau": schema, "tables": await work.describe()}
    verdict = check(plan, reading, Catalog.load([*Source.tools(), *Tables.tools()]), schemas)
    assert isinstance(verdict, Passed), verdict
    facts = await run(verdict.plan, {"tableau": source, "tables": work})
    shown = await work.fetch(facts.tables["table"], facts.run, 100, 5)
    await work.close()
    return facts, {row[0]: row[1] for row in shown.rows}


@pytest.mark.requirement("R46", "R44")
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_by_tableau_as_by_sql(tableau: Tableau, tmp_path: Path, question: str) -> None:
    source = opened(tableau, tmp_path)
    facts, found = during(source, lambda: answered(source, question))
    expected = {row[0]: row[1] for row in tableau.sql(QUESTIONS[question])}
    assert found == pytest.approx(expected)
    assert (facts.state, facts.failures, list(facts.charts)) == (Complete(), (), ["chart"])
    assert tableau.count("query-datasource") == 8 + 1, "the members of eight fields, and one query for the answer"
