"""Whatever Tableau does, a question ends typed and in time; whatever a plan says wrongly is never sent."""

from __future__ import annotations

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
from tests.tableau.asking import answered, ask, refused, sent, shown, truth
from tests.tableau.conftest import Opener

QUESTION = "total sales by region"
SQL = 'SELECT "Region", sum("Sales") FROM superstore GROUP BY 1 ORDER BY 2 DESC'
BY_REGION = [
    {"id": "metric:Sales", "value": {"kind": "metric", "column": "Sales", "function": "sum"}},
    {"id": "group_by:Region", "value": {"kind": "group_by", "column": "Region"}},
]
SALES = {"column": "Sales", "function": "sum", "as": "sales"}
GROUPED: dict[str, Any] = {"group_by": ["Region"], "metrics": [SALES]}


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
    assert refusal.issues[0].code in ("running/tool", "running/unavailable", "running/deadline")
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


IN_THE_WEST = {"conditions": [{"column": "Region", "operator": "=", "values": ["West"]}]}
TOP_STATES = [
    BY_REGION[0],
    {"id": "group_by:State", "value": {"kind": "group_by", "column": "State"}},
    {"id": "rank:top2", "value": {"kind": "rank", "limit": 2}},
    {"id": "filter:Region", "value": {"kind": "filter", "column": "Region", "operator": "=", "values": ["West"]}},
]
BY_STATE: dict[str, Any] = {"group_by": ["State"], "metrics": [SALES], "top": {"limit": 2}}


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
