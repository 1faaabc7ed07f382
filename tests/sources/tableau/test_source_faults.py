"""Whatever Tableau does, a step ends typed and in time, and nothing is tried again that cannot get better."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.patience import SOON
from tests.sources.tableau.calling import BY_REGION, ask, during, opened, ready, rows, run
from tests.sources.tableau.double.serving import Fault
from tests.sources.tableau.double.tableau import Tableau

from groundplan.contracts.facts import Complete
from groundplan.errors import DeadlineExceeded, SourceError
from groundplan.sources.tableau.rate_limit import QueriesUsedUp

SECONDS = 2.5
PASSING: tuple[Fault, ...] = ("408000", "429000", "429000 after 0", "503800", "503801", "504000")
DROPPED: tuple[Fault, ...] = ("timeout", "reset", "half a body")
LASTING: tuple[Fault, ...] = ("403800", "400804", "500000", "bad JSON", "empty body", "a page of HTML", "wrong types")


@pytest.mark.requirement("R42", "R46")
@pytest.mark.parametrize("endpoint", ["signin", "datasource", "read-metadata", "query-datasource"])
@pytest.mark.parametrize(
    "fault", [fault for fault in get_args(Fault) if fault not in ("wrong types", "error half way")]
)
def test_a_fault_on_any_call_ends_typed_in_time(tableau: Tableau, tmp_path: Path, fault: Fault, endpoint: str) -> None:
    tableau.fault(fault, on=tableau.luid if endpoint == "datasource" else endpoint)
    begun = time.monotonic()
    outcome = run(opened(tableau, tmp_path, request_seconds=0.2), BY_REGION, SECONDS)
    assert time.monotonic() - begun < SOON
    assert len(tableau.requests) <= 4 * 3 + 4
    if outcome.status == "finished":
        assert outcome.facts is not None
        assert (outcome.facts.rows, outcome.facts.state) == (4, Complete())
    else:
        assert outcome.issue is not None
        assert outcome.issue.code in ("running/tool", "running/deadline")
    assert "CANARY" not in outcome.model_dump_json()


@pytest.mark.requirement("R41", "R46")
@pytest.mark.parametrize("fault", [*PASSING, *DROPPED])
def test_what_passes_is_tried_again(tableau: Tableau, tmp_path: Path, fault: Fault) -> None:
    tableau.fault(fault, times=2)
    assert len(rows(ask(opened(tableau, tmp_path, request_seconds=1.5), BY_REGION))) == 4
    assert tableau.count("query-datasource") == 3


@pytest.mark.requirement("R41", "R46")
@pytest.mark.parametrize("fault", [*LASTING, "error half way", "vanished data source"])
def test_what_lasts_is_asked_once(tableau: Tableau, tmp_path: Path, fault: Fault) -> None:
    tableau.fault(fault)
    with pytest.raises(SourceError) as caught:
        ask(opened(tableau, tmp_path), BY_REGION)
    assert tableau.count("query-datasource") == 1
    assert "CANARY" not in str(caught.value)


@pytest.mark.requirement("R42", "R46")
def test_a_server_that_asks_for_patience_gets_it(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("429000 after 1", times=1)
    begun = time.monotonic()
    assert len(rows(ask(opened(tableau, tmp_path), BY_REGION))) == 4
    assert time.monotonic() - begun > 0.9


def test_patience_beyond_the_deadline_is_not_waited_for(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("429000 after 600")
    begun = time.monotonic()
    with pytest.raises(SourceError, match=r"too many queries in this hour .* try again later"):
        ask(opened(tableau, tmp_path), BY_REGION)
    assert time.monotonic() - begun < SOON
    assert tableau.count("query-datasource") == 1


def test_a_slow_server_is_waited_for(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("slow")
    assert len(rows(ask(opened(tableau, tmp_path), BY_REGION))) == 4
    assert tableau.count("query-datasource") == 1


@pytest.mark.requirement("R42")
def test_a_server_slower_than_the_step_ends_in_its_deadline(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("timeout")
    begun = time.monotonic()
    with pytest.raises(DeadlineExceeded, match="query-datasource did not answer in the step's time"):
        ask(opened(tableau, tmp_path), BY_REGION, seconds=1)
    assert time.monotonic() - begun < SOON


@pytest.mark.requirement("R46")
def test_a_token_that_expires_in_mid_run_is_renewed_once(tableau: Tableau, tmp_path: Path) -> None:
    source = opened(tableau, tmp_path)

    async def asked() -> list[int | None]:
        first = await source.call(ready(BY_REGION))
        tableau.expire()
        both = await asyncio.gather(source.call(ready(BY_REGION)), source.call(ready(BY_REGION)))
        return [result.facts.rows for result in (first, *both)]

    assert during(source, asked) == [4, 4, 4]
    assert tableau.count("signin") == 2
    assert tableau.count("query-datasource") == 5


@pytest.mark.requirement("R46")
def test_a_token_that_keeps_expiring_is_renewed_no_second_time(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("expired token")
    with pytest.raises(SourceError, match="no longer accepts the sign-in"):
        ask(opened(tableau, tmp_path), BY_REGION)
    assert (tableau.count("signin"), tableau.count("query-datasource")) == (2, 2)


def test_a_secret_that_is_refused_is_tried_once(tableau: Tableau, tmp_path: Path) -> None:
    source = opened(tableau, tmp_path, token_name="another")
    with pytest.raises(SourceError, match="refused the sign-in"):
        ask(source, BY_REGION)
    assert [request.endpoint for request in tableau.requests] == ["signin"]


@pytest.mark.requirement("R41", "R46")
def test_a_data_source_that_vanished_is_said_and_looked_for_again(tableau: Tableau, tmp_path: Path) -> None:
    source = opened(tableau, tmp_path)

    async def asked() -> None:
        await source.describe()
        tableau.vanish()
        for _ in range(2):
            with pytest.raises(SourceError, match="was not found, or the sign-in has no access; check site"):
                await source.call(ready(BY_REGION))

    during(source, asked)
    assert tableau.count("query-datasource") == 1, "the second time not even its metadata is found"


@pytest.mark.requirement("R42", "R46")
def test_the_queries_of_an_hour_are_counted_and_then_refused(tableau: Tableau, tmp_path: Path) -> None:
    source = opened(tableau, tmp_path, queries_per_hour=3)

    async def asked() -> None:
        for _ in range(3):
            await source.call(ready(BY_REGION))
        with pytest.raises(QueriesUsedUp, match="all 3 queries of this hour are used up; ask again in 60 minutes"):
            await source.call(ready(BY_REGION))

    during(source, asked)
    assert tableau.count("query-datasource") == 3


def test_every_try_is_a_query_of_the_hour(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("503800")
    with pytest.raises(QueriesUsedUp):
        ask(opened(tableau, tmp_path, queries_per_hour=2), BY_REGION)
    assert tableau.count("query-datasource") == 2


def test_an_hour_later_there_is_room_again(tableau: Tableau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.sources.tableau.rate_limit.SECONDS", 0.2)
    source = opened(tableau, tmp_path, queries_per_hour=1)

    async def asked() -> None:
        await source.call(ready(BY_REGION))
        await asyncio.sleep(0.25)
        await source.call(ready(BY_REGION))

    during(source, asked)
    assert tableau.count("query-datasource") == 2


@pytest.mark.requirement("R42")
def test_a_step_sends_no_more_requests_than_it_may(tableau: Tableau, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="used up its requests"):
        ask(opened(tableau, tmp_path, requests=3), BY_REGION)
    assert tableau.count("query-datasource") == 0


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


def test_a_value_of_the_wrong_type_names_its_column_and_not_itself(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("wrong types")
    with pytest.raises(SourceError, match="a value in 'Region' that is not a text value"):
        ask(opened(tableau, tmp_path), BY_REGION)
