"""What Tableau would silently drop is refused by us, and the bytes on the wire are the query that was told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundplan.errors import ToolError
from groundplan.project import Project
from groundplan.sources.tableau.source import Tableau as Source
from tests.sources.tableau.calling import BY_REGION, SALES, ask
from tests.sources.tableau.double.tableau import Tableau
from tests.sources.tableau.test_source_queries import source  # noqa: F401
from tests.tableau.asking import proposal, refused
from tests.tableau.test_faults import BY_REGION as REQUIRED
from tests.tableau.test_faults import GROUPED, project  # noqa: F401


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    ("params", "code", "said"),
    [
        ({**GROUPED, "metrics": [{**SALES, "function": "summ"}]}, "types/unfit-param", "'summ'"),
        ({**GROUPED, "metrics": [{**SALES, "calculation": "1"}]}, "types/unfit-param", "calculation"),
        ({**GROUPED, "sortOrder": "ASC"}, "types/unfit-param", "sortOrder"),
        ({**GROUPED, "metrics": [{**SALES, "column": "Sale"}]}, "names/unknown-column", "'Sales'"),
        ({**GROUPED, "metrics": [{**SALES, "column": "Row ID"}]}, "names/unknown-column", "Row ID"),
        ({**GROUPED, "limit": 5}, "types/unfit-param", "limit"),
        ({"query": {"fields": [{"fieldCaption": "Sales"}]}}, "types/unfit-param", "query"),
    ],
    ids=[
        "function misspelt",
        "function with calculation",
        "unknown key",
        "unknown field",
        "hidden field",
        "a key of another tool",
        "a query of its own",
    ],
)
def test_a_plan_that_says_it_wrongly_is_refused_by_us_and_never_sent(
    tableau: Tableau, project: Project, params: dict[str, Any], code: str, said: str
) -> None:
    refusal = refused(project.run(proposal(params, REQUIRED)).outcome)
    assert code in [issue.code for issue in refusal.issues]
    assert said in refusal.model_dump_json()
    assert tableau.requests == []


@pytest.mark.requirement("R46")
def test_the_bytes_on_the_wire_are_the_query_that_is_told(tableau: Tableau, source: Source) -> None:
    conditions = [
        {"column": "Region", "operator": "in", "values": ["West", None, 'Запад\u200b"']},
        {"column": "Discount", "operator": ">=", "values": [0]},
        {"column": "Discount", "operator": "<=", "values": [0.5]},
    ]
    params = {"conditions": conditions, "group_by": ["Category", "Segment"], "metrics": [SALES], "top": {"limit": 5}}
    told = json.loads(ask(source, params).facts.sent)
    assert told.pop("rowLimit") == 5
    (body,) = tableau.bodies("query-datasource")
    sent = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert b'"query":' + sent in body
    options = {"returnFormat": "OBJECTS", "rowLimit": 5}
    assert json.loads(body) == {"datasource": {"datasourceLuid": tableau.luid}, "query": told, "options": options}
    kept = {one["field"]["fieldCaption"]: one for one in told["filters"]}
    assert {*kept["Region"]["values"]} == {"West", None, 'Запад\u200b"'}
    assert (kept["Discount"]["min"], kept["Discount"]["max"]) == (0, 0.5)


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"metrics": [{**SALES, "function": "summ"}]}, "ill-formed"),
        ({"metrics": []}, "at least 1 item"),
        ({}, "ill-formed"),
        ({**BY_REGION, "conditions": [{"column": "Region", "operator": "~", "values": ["x"]}]}, "ill-formed"),
        ({**BY_REGION, "where": {"kind": "calculation", "text": "[Row ID] = 1"}}, "ill-formed"),
        ({**BY_REGION, "group_by": ["MAX([Row ID])"]}, "has no field"),
        ({"metrics": [{**SALES, "column": "SUM([Sales])"}]}, "has no field"),
    ],
)
def test_what_is_ill_formed_is_never_sent(tableau: Tableau, source: Source, params: Any, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        ask(source, params)
    assert tableau.count("query-datasource") == 0
