"""Columns renamed, retyped or gone, metadata down: nothing runs on stale names. Fifty at once keep to a limit."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import duckdb
import pytest

import groundplan
from groundplan.contracts.answer import Answer, Refusal
from groundplan.contracts.plan import Plan, Proposal
from groundplan.errors import SourceError
from groundplan.sources.tableau.rate_limit import QueriesUsedUp
from tests.sources.tableau.calling import BY_REGION, ask, during, opened, ready
from tests.sources.tableau.double.tableau import Tableau


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


@pytest.mark.requirement("R46", "R41")
@pytest.mark.parametrize("code", ["404934", "400803"])
def test_a_field_that_is_gone_outdates_the_metadata(
    tableau: Tableau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    source = opened(tableau, tmp_path)

    async def asked() -> None:
        await source.describe()
        tableau.fault(code, times=1)  # type: ignore[arg-type]
        with pytest.raises(SourceError, match=code):
            await source.call(ready(BY_REGION))
        await source.describe()
        await source.describe()

    during(source, asked)
    assert (tableau.count("query-datasource"), tableau.count("read-metadata")) == (1, 2)


@pytest.mark.requirement("R46")
@pytest.mark.parametrize("fault", ["503800", "500000", "bad JSON", "a page of HTML", "empty body", "wrong types"])
def test_without_metadata_nothing_is_queried(tableau: Tableau, tmp_path: Path, fault: Any) -> None:
    tableau.fault(fault, on="read-metadata")
    with pytest.raises(SourceError):
        ask(opened(tableau, tmp_path), BY_REGION)
    assert tableau.count("read-metadata") >= 1
    assert tableau.count("query-datasource") == 0


def test_metadata_that_is_too_old_is_not_used_when_the_server_is_down(tableau: Tableau, tmp_path: Path) -> None:
    source = opened(tableau, tmp_path, metadata_seconds=0.05)

    async def later() -> None:
        await source.describe()
        await asyncio.sleep(0.1)
        tableau.fault("500000", on="read-metadata")
        with pytest.raises(SourceError, match="500000"):
            await source.call(ready(BY_REGION))

    during(source, later)
    assert tableau.count("query-datasource") == 0


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE sales RENAME COLUMN revenue TO income",
        "ALTER TABLE sales ALTER COLUMN revenue TYPE VARCHAR",
        "ALTER TABLE sales DROP COLUMN revenue",
        "DROP TABLE sales; CREATE TABLE other AS SELECT 1 AS a",
    ],
)
def test_a_plan_made_before_a_table_changed_is_refused(change: str, tmp_path: Path) -> None:
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE sales AS SELECT 'West' AS region, 3 AS revenue")
    with groundplan.open(file) as project:
        planned = project.plan("total revenue by region")
        assert planned.reading is not None
        assert planned.plan is not None
        plan = Plan.model_validate(planned.plan.model_dump(include={*Plan.model_fields}))
        proposal = Proposal(reading=planned.reading, plan=plan).model_dump_json()
        assert isinstance(project.run(proposal).outcome, Answer)
    with duckdb.connect(str(file)) as connection:
        connection.execute(change)
    with groundplan.open(file) as project:
        outcome = project.run(proposal).outcome
    assert isinstance(outcome, Refusal)
    assert outcome.issues


def test_fifty_at_once_keep_to_the_queries_of_an_hour(tableau: Tableau, tmp_path: Path) -> None:
    """Of fifty questions, as many are answered as the hour allows; the others are told so, and none crashes."""
    source = opened(tableau, tmp_path, queries_per_hour=20)

    async def asked() -> list[object]:
        queries = [{**BY_REGION, "conditions": [at_least(number)]} for number in range(50)]
        return await asyncio.gather(*(source.call(ready(query)) for query in queries), return_exceptions=True)

    ended = during(source, asked)
    failures = [one for one in ended if isinstance(one, BaseException)]
    assert all(isinstance(one, QueriesUsedUp) for one in failures), failures
    assert len(failures) == 30
    assert tableau.count("query-datasource") == 20


def at_least(number: int) -> dict[str, Any]:
    return {"column": "Sales", "operator": ">=", "values": [number]}
