"""A question or a plan for the double, its rows, and the same rows by SQL."""

from __future__ import annotations

import json
import math
from datetime import date
from typing import Any

from groundplan.contracts.answer import Answer, Outcome, Refusal
from groundplan.project import Project
from tests.sources.tableau.double.tableau import NAME, Tableau

TODAY = date(2024, 11, 15)
Row = tuple[Any, ...]


def ask(project: Project, question: str, **options: Any) -> Outcome:
    return project.ask(question, today=TODAY, **options).outcome


def answered(outcome: Outcome) -> Answer:
    assert isinstance(outcome, Answer), f"{outcome.kind}: {outcome.text}"
    return outcome


def refused(outcome: Outcome) -> Refusal:
    assert isinstance(outcome, Refusal), f"{outcome.kind}: {outcome.text}"
    return outcome


def shown(answer: Answer) -> list[Row]:
    """Without the column of ranks: the order of the rows says the same."""
    table = answer.tables[0]
    kept = [place for place, name in enumerate(table.columns) if name != "rank"]
    return [tuple(_plain(row[place]) for place in kept) for row in table.rows]


def truth(tableau: Tableau, sql: str) -> list[Row]:
    return [tuple(map(_plain, row)) for row in tableau.sql(sql)]


def _plain(value: Any) -> Any:
    """Numbers to nine digits, for the order of a sum is not ours; dates as text."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool) and value:
        return round(value, 8 - math.floor(math.log10(abs(value))))
    return value


def unordered(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=repr)


def sent(tableau: Tableau) -> list[dict[str, Any]]:
    """The queries that it was sent, without those that list the members of a field."""
    queries = [json.loads(body)["query"] for body in tableau.bodies("query-datasource")]
    return [query for query in queries if len(query["fields"]) > 1 or "function" in query["fields"][0]]


def proposal(params: dict[str, Any], requirements: list[dict[str, Any]]) -> str:
    """A plan of one query, written by hand: what is asked for is cited by its only step."""
    asked = [{"evidence": {"text": "by hand"}, **requirement} for requirement in requirements]
    step = {
        "id": "query",
        "tool": "tableau_query",
        "params": {"table": NAME, **params},
        "satisfies": [requirement["id"] for requirement in requirements],
    }
    reading = {"question": "by hand", "tables": [NAME], "requirements": asked}
    return json.dumps({"reading": reading, "plan": {"strategy": "hand", "steps": [step]}})
