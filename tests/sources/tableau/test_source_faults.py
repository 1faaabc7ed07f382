"""Whatever Tableau does, a step ends typed and in time, and nothing is tried again that cannot get better."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from tests.patience import SOON
from tests.sources.tableau.calling import BY_REGION, ask, during, opened, ready, rows
from tests.sources.tableau.double.serving import Fault
from tests.sources.tableau.double.tableau import Tableau

from groundplan.errors import DeadlineExceeded, SourceError

SECONDS = 2.5
PASSING: tuple[Fault, ...] = ("408000", "429000", "429000 after 0", "503800", "503801", "504000")
DROPPED: tuple[Fault, ...] = ("timeout", "reset", "half a body")
LASTING: tuple[Fault, ...] = ("403800", "400804", "500000", "bad JSON", "empty body", "a page of HTML", "wrong types")


@pytest.mark.requirement("R42", "R46")
def test_a_server_that_asks_for_patience_gets_it(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("429000 after 1", times=1)
    begun = time.monotonic()
    assert len(rows(ask(opened(tableau, tmp_path), BY_REGION))) == 4
    assert time.monotonic() - begun > 0.9


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


def test_a_value_of_the_wrong_type_names_its_column_and_not_itself(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("wrong types")
    with pytest.raises(SourceError, match="a value in 'Region' that is not a text value"):
        ask(opened(tableau, tmp_path), BY_REGION)
