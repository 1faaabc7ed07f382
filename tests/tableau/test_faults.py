"""Whatever Tableau does, a question ends typed and in time; whatever a plan says wrongly is never sent."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from groundplan.errors import SourceError, WorldError
from groundplan.project import Project
from tests.patience import SOON
from tests.sources.tableau.calling import configured
from tests.sources.tableau.double.serving import Fault
from tests.sources.tableau.double.tableau import Tableau
from tests.tableau.asking import answered, ask, proposal, refused, sent, shown, truth
from tests.tableau.conftest import Opener

QUESTION = "total sales by region"
SQL = 'SELECT "Region", sum("Sales") FROM superstore GROUP BY 1 ORDER BY 2 DESC'
BY_REGION = [
    {"id": "metric:Sales", "value": {"kind": "metric", "column": "Sales", "function": "sum"}},
    {"id": "group_by:Region", "value": {"kind": "group_by", "column": "Region"}},
]
GROUPED: list[dict[str, Any]] = [{"fieldCaption": "Region"}, {"fieldCaption": "Sales", "function": "SUM"}]


@pytest.fixture
def project(tableau: Tableau, opening: Opener) -> Project:
    """It knows the fields and their members; what follows is about queries."""
    opened = opening(request_seconds=1.5)
    answered(ask(opened, QUESTION))
    tableau.requests.clear()
    return opened


@pytest.mark.requirement("R41", "R46")
@pytest.mark.parametrize("fault", ["429000", "429000 after 0", "503800", "504000", "reset", "half a body"])
def test_what_passes_is_asked_again_and_leaves_no_trace(tableau: Tableau, project: Project, fault: Fault) -> None:
    tableau.fault(fault, times=2)
    answer = answered(ask(project, QUESTION))
    assert (shown(answer), answer.facts.failures) == (truth(tableau, SQL), ())
    assert len(sent(tableau)) == 3


@pytest.mark.requirement("R41", "R46")
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("429000", "too many queries in this hour"),
        ("429000 after 600", "too many queries in this hour"),
        ("503800", "query engine down"),
        ("timeout", "try again later"),
        ("500000", "see the server's own log"),
        ("vanished data source", "check site and datasource"),
        ("wrong types", "if the data source changed, ask again"),
    ],
)
def test_what_lasts_is_refused_in_time_and_says_what_to_do(
    tableau: Tableau, project: Project, fault: Fault, said: str
) -> None:
    tableau.fault(fault)
    begun = time.monotonic()
    refusal = refused(ask(project, QUESTION))
    assert time.monotonic() - begun < SOON
    assert refusal.issues[0].code in ("running/tool", "running/deadline")
    assert said in refusal.text
    assert "CANARY" not in refusal.model_dump_json()


@pytest.mark.requirement("R46")
def test_a_server_that_asks_for_patience_gets_it(tableau: Tableau, project: Project) -> None:
    tableau.fault("429000 after 1", times=1)
    begun = time.monotonic()
    assert shown(answered(ask(project, QUESTION))) == truth(tableau, SQL)
    assert time.monotonic() - begun > 0.9


@pytest.mark.requirement("R46")
def test_a_slow_server_is_waited_for(tableau: Tableau, project: Project) -> None:
    tableau.fault("slow")
    assert shown(answered(ask(project, QUESTION))) == truth(tableau, SQL)
    assert len(sent(tableau)) == 1


@pytest.mark.requirement("R46")
def test_a_token_that_expires_between_questions_is_renewed_once(tableau: Tableau, project: Project) -> None:
    tableau.expire()
    assert shown(answered(ask(project, QUESTION))) == truth(tableau, SQL)
    assert tableau.count("signin") == 1


@pytest.mark.requirement("R46")
def test_a_token_that_expires_while_members_are_read_is_renewed_once(tableau: Tableau, opening: Opener) -> None:
    project = opening()
    tableau.fault("expired token", skip=3, times=1)
    assert shown(answered(ask(project, QUESTION))) == truth(tableau, SQL)
    assert tableau.count("signin") == 2


@pytest.mark.requirement("R46")
def test_a_data_source_that_vanished_is_looked_for_before_the_next_query(tableau: Tableau, project: Project) -> None:
    tableau.vanish()
    assert "check site and datasource" in refused(ask(project, QUESTION)).text
    with pytest.raises(SourceError, match="was not found, or the sign-in has no access"):
        ask(project, QUESTION)
    assert len(sent(tableau)) == 1


@pytest.mark.requirement("R46")
def test_without_metadata_nothing_is_opened_and_nothing_is_asked(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("503800", on="read-metadata")
    begun = time.monotonic()
    with pytest.raises(WorldError, match="query engine down"):
        Project({"tableau": configured(tableau, tmp_path)})
    assert time.monotonic() - begun < SOON
    assert tableau.count("query-datasource") == 0


@pytest.mark.requirement("R46")
def test_metadata_that_is_too_old_and_cannot_be_read_again_is_not_used(tableau: Tableau, opening: Opener) -> None:
    project = opening(metadata_seconds=0.5)
    tableau.fault("503800", on="read-metadata")
    time.sleep(0.6)
    with pytest.raises(WorldError, match="query engine down"):
        ask(project, QUESTION)
    assert tableau.count("query-datasource") == 0


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
    refusal = refused(project.run(proposal(query, BY_REGION)).outcome)
    assert code in [issue.code for issue in refusal.issues]
    assert said in refusal.model_dump_json()
    assert tableau.requests == []


IN_THE_WEST = {"field": {"fieldCaption": "Region"}, "filterType": "SET", "values": ["West"]}
TOP = {
    "field": {"fieldCaption": "State"},
    "filterType": "TOP",
    "howMany": 2,
    "fieldToMeasure": {"fieldCaption": "Sales", "function": "SUM"},
}
TOP_STATES = [
    BY_REGION[0],
    {"id": "group_by:State", "value": {"kind": "group_by", "column": "State"}},
    {"id": "rank:top2", "value": {"kind": "rank", "limit": 2}},
    {"id": "filter:Region", "value": {"kind": "filter", "column": "Region", "operator": "=", "values": ["West"]}},
]
BY_STATE: list[dict[str, Any]] = [
    {"fieldCaption": "State"},
    {"fieldCaption": "Sales", "function": "SUM", "sortPriority": 1, "sortDirection": "DESC"},
]


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
    refusal = refused(project.run(proposal({"fields": GROUPED, "filters": [one]}, BY_REGION)).outcome)
    assert [issue.code for issue in refusal.issues] == ["coverage/unasked-filter"]
    assert tableau.requests == []


@pytest.mark.requirement("R41", "R46")
@pytest.mark.parametrize("endpoint", ["signin", "read-metadata", "query-datasource"])
@pytest.mark.parametrize("fault", ["429000", "503800", "reset", "bad JSON", "a page of HTML", "empty body"])
def test_a_first_question_meets_a_fault_anywhere_and_ends_typed(
    tableau: Tableau, tmp_path: Path, endpoint: str, fault: Fault
) -> None:
    tableau.fault(fault, on=endpoint)
    begun = time.monotonic()
    with pytest.raises(WorldError) as caught, Project({"tableau": configured(tableau, tmp_path)}) as project:
        ask(project, QUESTION)
    assert time.monotonic() - begun < SOON
    assert "CANARY" not in str(caught.value)
