"""A reading means one thing: its plan on DuckDB and Postgres and the reference interpreter give the same rows."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from groundplan.asking.tables.plan import propose
from groundplan.checking.gate import check
from groundplan.contracts.expression import level
from groundplan.contracts.reading import Filter, Rank, Reading
from groundplan.contracts.verdict import Passed
from groundplan.project import load_catalog
from tests.reference.executing import SCHEMA, Store, duckdb_store, postgres_store
from tests.reference.interpreter import PLACE, answer

CATALOG = load_catalog()
ANY_SPEED = settings(deadline=None, suppress_health_check=list(HealthCheck))
POSTGRES = os.environ.get("GROUNDPLAN_TEST_POSTGRES")


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def engine(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "duckdb":
        yield duckdb_store()
        return
    if POSTGRES is None:
        pytest.skip("set GROUNDPLAN_TEST_POSTGRES to a PostgreSQL server")
    with postgres_store(POSTGRES) as store:
        yield store


def assert_same(engine: Store, reading: Reading, rows: list[dict[str, Any]]) -> None:
    plan = propose(reading, SCHEMA)
    verdict = check(plan, reading, CATALOG, {"tables": SCHEMA})
    assert isinstance(verdict, Passed), [issue.problem for issue in verdict.issues]
    assert_rows(reading, engine.run(plan, CATALOG, rows), answer(reading, rows))


def assert_rows(reading: Reading, made: Sequence[dict[str, Any]], wanted: Sequence[dict[str, Any]]) -> None:
    """They are the rows that the reading asks for, of which those that tie at the cut of a ranking may differ."""
    rank = next((r.value for r in reading.requirements if isinstance(r.value, Rank)), None)
    metrics = [r for r in reading.requirements if r.kind == "metric"]
    columns = [name for name in (wanted[0] if wanted else made[0] if made else {}) if name != PLACE]
    assert not made or {*columns} <= {*made[0]}, "each column that was asked for is shown"
    if rank is not None and not rank.shown and made and wanted and len(metrics) != 1:  # beside one: its parts
        more = {*made[0]} - {"rank", *columns}
        assert len(more) <= (0 if metrics else _measuring(reading)), "what only orders is not shown"
    found = [tuple(_plain(row[name]) for name in columns) for row in made]
    allowed = [tuple(_plain(row[name]) for name in columns) for row in wanted]
    if rank is not None and not rank.within:
        _assert_in_order(found, [(row, allowed_row[PLACE]) for row, allowed_row in zip(allowed, wanted, strict=True)])
    if rank is None or rank.limit is None:
        assert _alike(sorted(found, key=repr), sorted(allowed, key=repr)), (found, allowed)
    else:
        _assert_chosen(found, allowed, rank, len(wanted))


def _measuring(reading: Reading) -> int:
    """Conditions of groups: without a metric, the table shows what they measure."""
    filters = [r.value.condition for r in reading.requirements if isinstance(r.value, Filter)]
    return sum(condition is not None and level(condition) == "group" for condition in filters)


def _assert_chosen(found: Sequence[Any], allowed: Sequence[Any], rank: Rank, most: int) -> None:
    """All that share the first place; of longer rankings as many as were asked for, and any of those that tie."""
    if rank.limit == 1 or rank.ties != "cut":
        assert _alike(sorted(found, key=repr), sorted(allowed, key=repr)), (found, allowed)
        return
    left = list(allowed)
    for row in found:
        same = next((other for other in left if _alike([row], [other])), None)
        assert same is not None, (row, allowed)
        left.remove(same)
    if not rank.within:
        assert len(found) == min(rank.limit or 0, most), (found, allowed)


def _assert_in_order(found: Sequence[Any], wanted: Sequence[tuple[Any, int]]) -> None:
    left, last = list(wanted), 0
    for row in found:
        same = next((pair for pair in left if _alike([row], [pair[0]]) and pair[1] >= last), None)
        assert same is not None, (row, found, wanted)
        left.remove(same)
        last = same[1]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    number = float(value)
    return None if math.isnan(number) else round(number, 6) + 0.0


def _alike(first: Sequence[Any], second: Sequence[Any]) -> bool:
    return len(first) == len(second) and all(
        len(a) == len(b) and all(_close(x, y) for x, y in zip(a, b, strict=True))
        for a, b in zip(first, second, strict=True)
    )


def _close(first: Any, second: Any) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-6, abs_tol=2e-6)
    return bool(first == second)
