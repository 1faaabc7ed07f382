"""A query means to Tableau what it means to us, whatever comes first there; errors are in our words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groundplan.errors import SourceError, ToolError
from groundplan.project import Project
from groundplan.sources.tableau import datasource
from groundplan.sources.tableau.models import FieldMetadata
from tests.sources.tableau.calling import BY_REGION, ask, opened
from tests.sources.tableau.double.tableau import Tableau
from tests.tableau.asking import TODAY, answered, proposal, refused, sent, shown, truth
from tests.tableau.test_faults import BY_REGION as REQUIRED
from tests.tableau.test_faults import BY_STATE, GROUPED, IN_THE_WEST, TOP_STATES, project  # noqa: F401


@pytest.mark.requirement("R46")
def test_a_top_beside_an_ordinary_filter_gets_its_context_before_it_is_sent(tableau: Tableau, project: Project) -> None:
    answer = answered(project.run(proposal({**BY_STATE, **IN_THE_WEST}, TOP_STATES)).outcome)
    assert shown(answer) == truth(
        tableau,
        """SELECT "State", sum("Sales") FROM superstore WHERE "Region" = 'West' GROUP BY 1 ORDER BY 2 DESC LIMIT 2""",
    )
    [body] = tableau.bodies("query-datasource")
    west, top = json.loads(body)["query"]["filters"]
    assert (west["filterType"], west["values"], west["context"]) == ("SET", ["West"], True)
    assert (top["filterType"], top["howMany"]) == ("TOP", 2)


@pytest.mark.requirement("R46")
def test_a_condition_on_totals_is_applied_before_the_cut_that_was_asked(tableau: Tableau, project: Project) -> None:
    """Tableau would rank first: all groups are asked for, and the table tools keep and rank them."""
    question = "top 2 states by profit with total sales below 200000"
    answer = answered(project.ask(question, today=TODAY).outcome)
    assert [row[0] for row in shown(answer)] == [
        state
        for (state,) in truth(
            tableau,
            """SELECT "State" FROM superstore GROUP BY 1 HAVING sum("Sales") < 200000 ORDER BY sum("Profit") DESC
            LIMIT 2""",
        )
    ]
    [query] = sent(tableau)
    assert "filters" not in query


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    "more", [IN_THE_WEST, {"top": {"limit": 2}}, {"group_by": ["Region", "State"]}], ids=["rows", "a cut", "a group"]
)
def test_what_nobody_asked_for_is_refused(tableau: Tableau, project: Project, more: dict[str, Any]) -> None:
    refusal = refused(project.run(proposal({**GROUPED, **more}, REQUIRED)).outcome)
    assert {"meaning/differs", "coverage/unasked"} & {issue.code for issue in refusal.issues}
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
