"""A session that ends in mid-run is renewed once; then the run fails, and no part is shown as the whole."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from groundplan.errors import SourceError
from tests.sources.tableau.calling import BY_REGION, ask, during, opened, ready
from tests.sources.tableau.double.tableau import Tableau
from tests.tableau.asking import answered, shown, truth
from tests.tableau.asking import ask as ask_project
from tests.tableau.conftest import Opener
from tests.tableau.test_faults import QUESTION, SQL


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


@pytest.mark.requirement("R46")
def test_a_token_that_expires_while_members_are_read_is_renewed_once(tableau: Tableau, opening: Opener) -> None:
    project = opening()
    tableau.fault("expired token", skip=3, times=1)
    assert shown(answered(ask_project(project, QUESTION))) == truth(tableau, SQL)
    assert tableau.count("signin") == 2
