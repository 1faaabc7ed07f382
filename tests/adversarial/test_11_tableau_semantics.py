"""A query means to Tableau what it means to us: contexts are set or the plan is refused; errors are in our words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings

from groundplan.contracts.query import Query
from groundplan.errors import SourceError, ToolError
from groundplan.project import Project
from groundplan.sources.tableau import datasource
from groundplan.sources.tableau.models import FieldMetadata
from groundplan.sources.tables.source import Tables
from tests.sources.tableau.calling import BY_REGION, ask, opened
from tests.sources.tableau.double.querying import answer
from tests.sources.tableau.double.tableau import Tableau
from tests.sources.tables.parity import _same, queries, store  # noqa: F401
from tests.sources.tables.tooling import made, rows
from tests.tableau.asking import answered, proposal, refused, shown, truth
from tests.tableau.test_faults import BY_REGION as REQUIRED
from tests.tableau.test_faults import BY_STATE, GROUPED, IN_THE_WEST, TOP, TOP_STATES, project  # noqa: F401


@pytest.mark.requirement("R46")
def test_a_top_beside_an_ordinary_filter_gets_its_context_before_it_is_sent(tableau: Tableau, project: Project) -> None:
    plan = proposal({"fields": BY_STATE, "filters": [IN_THE_WEST, TOP]}, TOP_STATES)
    answer = answered(project.run(plan).outcome)
    assert shown(answer) == truth(
        tableau,
        """SELECT "State", sum("Sales") FROM superstore WHERE "Region" = 'West' GROUP BY 1 ORDER BY 2 DESC LIMIT 2""",
    )
    [body] = tableau.bodies("query-datasource")
    assert json.loads(body)["query"]["filters"][0] == {**IN_THE_WEST, "context": True}
    assert [repair.kind for repair in answer.repairs] == ["query"]


@pytest.mark.requirement("R46")
def test_a_top_beside_a_condition_on_totals_is_refused_with_the_reason(tableau: Tableau, project: Project) -> None:
    over = {"quantitativeFilterType": "MIN", "min": 1000}
    total = {
        "field": {"fieldCaption": "Sales", "function": "SUM"},
        "filterType": "QUANTITATIVE_NUMERICAL",
        **over,
    }
    query = {"fields": BY_STATE, "filters": [IN_THE_WEST, total, TOP]}
    refusal = refused(project.run(proposal(query, TOP_STATES)).outcome)
    [issue] = [issue for issue in refusal.issues if issue.code == "query/top-before-filter"]
    assert "ranks before the filter on SUM(Sales) applies" in issue.problem
    assert tableau.requests == []


@pytest.mark.requirement("R46")
def test_a_condition_filter_that_nobody_asked_for_is_refused(tableau: Tableau, project: Project) -> None:
    condition = {"fieldCaption": "Sales", "function": "SUM", "comparison": ">", "value": 1000}
    one = {"field": {"fieldCaption": "Region"}, "filterType": "CONDITION", "condition": condition}
    refusal = refused(project.run(proposal({"fields": GROUPED, "filters": [one]}, REQUIRED)).outcome)
    assert [issue.code for issue in refusal.issues] == ["meaning/differs"]
    assert tableau.requests == []


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("400800", "formula"),
        ("400802", "api_version"),
        ("400803", "does not allow this query"),
        ("400804", "ask for fewer rows"),
        ("403157", "disabled"),
        ("403800", "API Access"),
        ("404934", "does not know a field"),
        ("404935", "same caption"),
        ("404950", "no VizQL Data Service"),
        ("409000", "is changing"),
        ("500810", "empty table"),
        ("500000", "see the server's own log"),
    ],
)
def test_an_error_code_is_told_in_our_own_words(tableau: Tableau, tmp_path: Path, code: Any, said: str) -> None:
    tableau.fault(code)
    with pytest.raises(SourceError, match=said) as caught:
        ask(opened(tableau, tmp_path), BY_REGION)
    assert f"{tableau.url}/api/v1/vizql-data-service/query-datasource" in str(caught.value)
    assert f"error {code}" in str(caught.value)
    assert "CANARY" not in str(caught.value)


def test_hidden_fields_stay_out_though_a_server_sends_them() -> None:
    fields = [
        {"fieldCaption": "Sales", "dataType": "REAL", "fieldRole": "MEASURE"},
        {"fieldCaption": "Secret", "dataType": "STRING", "hidden": True},
        {"fieldCaption": "Two\nlines", "dataType": "STRING"},
        {"fieldCaption": "x" * 129, "dataType": "STRING"},
        {"fieldCaption": " ", "dataType": "STRING"},
        {"dataType": "STRING"},
        {"fieldCaption": "Shape", "dataType": "SPATIAL"},
        {"fieldCaption": "New", "dataType": "A_TYPE_OF_2030"},
    ]
    columns = datasource._columns([FieldMetadata.model_validate(field) for field in fields])
    assert [(column.name, column.kind) for column in columns] == [
        ("Sales", "number"),
        ("Shape", "other"),
        ("New", "other"),
    ]


@pytest.mark.requirement("R46")
def test_a_caption_that_two_fields_bear_cannot_be_asked_for(tableau: Tableau, tmp_path: Path) -> None:
    tableau.service.duplicated = "Region"
    with pytest.raises(ToolError, match="has no field 'Region'"):
        ask(opened(tableau, tmp_path), BY_REGION)
    assert tableau.count("query-datasource") == 0


@pytest.mark.requirement("R46")
@pytest.mark.requirement("R45", part="tools")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(query=queries())
def test_a_table_answers_as_tableau_does(
    query: dict[str, Any], store: tuple[Tables, duckdb.DuckDBPyConnection]
) -> None:
    tables, double = store
    assert Query.model_validate(query).wire() == query
    told = answer(double, query, {})
    handle = made(tables, "query_table", {"query": query}, "superstore")
    assert [column.name for column in handle.columns] == told.names
    found = [_same([*row.values()]) for row in rows(tables, handle)]
    assert sorted(found, key=str) == sorted(map(_same, told.rows), key=str)
