"""What Tableau would silently drop is refused by us, and the bytes on the wire are the plan."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundplan.errors import ToolError
from groundplan.project import Project
from groundplan.sources.tableau.source import Tableau as Source
from tests.sources.tableau.calling import BY_REGION, ask
from tests.sources.tableau.double.tableau import Tableau
from tests.sources.tableau.test_source_queries import source  # noqa: F401
from tests.tableau.asking import proposal, refused
from tests.tableau.test_faults import BY_REGION as REQUIRED
from tests.tableau.test_faults import GROUPED, project  # noqa: F401


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    ("query", "code", "said"),
    [
        ({"fields": [GROUPED[0], {"fieldCaption": "Sales", "function": "SUMM"}]}, "query/malformed", "'SUM'"),
        ({"fields": [GROUPED[0], {**GROUPED[1], "calculation": "1"}]}, "query/malformed", "keep one of them"),
        ({"fields": [{"fieldCaption": "Sales", "binSize": 0.5}, GROUPED[1]]}, "query/malformed", "equal to 1"),
        ({"fields": [GROUPED[0], {**GROUPED[1], "sortOrder": "ASC"}]}, "query/malformed", "'sortDirection'"),
        ({"fields": [GROUPED[0], {"fieldCaption": "Sale", "function": "SUM"}]}, "names/unknown-column", "'Sales'"),
        ({"fields": [GROUPED[0], {"fieldCaption": "Row ID", "function": "SUM"}]}, "names/unknown-column", "Row ID"),
        ({"fields": GROUPED, "limit": 5}, "query/malformed", "there is no key 'limit'"),
    ],
    ids=[
        "function misspelt",
        "function with calculation",
        "half a bin",
        "unknown key",
        "unknown field",
        "hidden field",
        "unknown key of the query",
    ],
)
def test_a_plan_that_says_it_wrongly_is_refused_by_us_and_never_sent(
    tableau: Tableau, project: Project, query: dict[str, Any], code: str, said: str
) -> None:
    refusal = refused(project.run(proposal(query, REQUIRED)).outcome)
    assert code in [issue.code for issue in refusal.issues]
    assert said in refusal.model_dump_json()
    assert tableau.requests == []


@pytest.mark.requirement("R46")
def test_the_bytes_on_the_wire_are_the_plan(tableau: Tableau, source: Source) -> None:
    query = {
        "filters": [
            {"filterType": "SET", "field": {"fieldCaption": "Region"}, "values": ["West", None, 'Запад\u200b"']},
            {
                "filterType": "QUANTITATIVE_NUMERICAL",
                "field": {"fieldCaption": "Discount"},
                "quantitativeFilterType": "RANGE",
                "min": 0,
                "max": 0.5,
            },
        ],
        "fields": [
            {"function": "SUM", "sortPriority": 1, "fieldCaption": "Sales", "sortDirection": "DESC"},
            {"fieldCaption": "Category", "fieldAlias": "c"},
        ],
    }
    ask(source, query, rowLimit=5)
    (body,) = tableau.bodies("query-datasource")
    sent = json.dumps(query, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert b'"query":' + sent in body
    options = {"returnFormat": "OBJECTS", "rowLimit": 5}
    assert json.loads(body) == {"datasource": {"datasourceLuid": tableau.luid}, "query": query, "options": options}


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"fields": [{"fieldCaption": "Sales", "function": "SUMM"}]}, "did you mean 'SUM'"),
        ({"fields": [{"fieldCaption": "Sales", "function": "SUM", "calculation": "1"}]}, "cannot be combined"),
        ({"fields": [{"fieldCaption": "Sales", "binSize": 0.5}]}, "greater than or equal to 1"),
        ({"fields": [{"fieldCaption": "Sales", "functon": "SUM"}]}, "did you mean 'function'"),
        ({"fields": [{"fieldCaption": "Sales"}], "sql": "select 1"}, "there is no key 'sql'"),
        ({"fields": []}, "at least one field"),
        ({}, "fields"),
        (None, "query"),
        ({"fields": [{"fieldCaption": "Sales", "sortPriority": "1"}]}, "valid integer"),
        ({"fields": [{"fieldCaption": "x", "calculation": "MAX([Row ID])"}]}, "contains a formula"),
        (
            {**BY_REGION, "filters": [{"filterType": "SET", "field": {"calculation": "[Row ID]"}, "values": [1]}]},
            "contains a formula",
        ),
    ],
)
def test_what_the_contract_refuses_is_never_sent(tableau: Tableau, source: Source, query: Any, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        ask(source, query)
    assert tableau.requests == []
