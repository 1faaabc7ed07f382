"""A reading means the same on SQLite, MariaDB and Spark Connect as the interpreter says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from groundplan.asking.tables.plan import propose
from groundplan.checking.gate import check
from groundplan.contracts.reading import Reading
from groundplan.contracts.verdict import Passed
from groundplan.errors import ToolError
from tests.mariadb import mariadb
from tests.real_spark import real_spark
from tests.reference.comparing import ANY_SPEED, CATALOG, assert_same
from tests.reference.executing import SCHEMA, Store, mysql_store, spark_store, sqlite_store
from tests.reference.generating import TABLES, readings
from tests.sail import sail

IN_CI, SLOW = 40, 300


@pytest.fixture(
    scope="module", params=["sqlite", "mariadb", "spark", pytest.param("real_spark", marks=pytest.mark.slow)]
)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    match request.param:
        case "sqlite":
            with sqlite_store(tmp_path_factory.mktemp("reference")) as store:
                yield store
        case "mariadb":
            with mariadb() as address, mysql_store(address) as store:
                yield store
        case "spark":
            with sail() as server, spark_store(server.address) as store:
                yield store
        case "real_spark":
            with real_spark() as address, spark_store(address) as store:
                yield store


@pytest.mark.requirement("R86", part="parity")
@pytest.mark.requirement("R69", part="interpreter")
def test_plans_give_what_the_definition_gives(engine: Store) -> None:
    assert compared(engine, IN_CI) >= 0.9 * IN_CI


@pytest.mark.requirement("R86", part="parity")
@pytest.mark.slow
@pytest.mark.requirement("R69", part="interpreter")
def test_three_hundred_plans_give_what_the_definition_gives(engine: Store) -> None:
    assert compared(engine, SLOW) >= 0.9 * SLOW


def compared(engine: Store, number: int) -> int:
    """How many readings the gate let pass; each of them gave the rows of the interpreter."""
    found: list[Reading] = []

    @settings(ANY_SPEED, max_examples=number, phases=[Phase.generate], database=None, derandomize=True)
    @given(reading=readings(), rows=TABLES)
    def same(reading: Reading, rows: list[dict[str, Any]]) -> None:
        if isinstance(check(propose(reading, SCHEMA), reading, CATALOG, {"tables": SCHEMA}), Passed):
            try:
                assert_same(engine, reading, rows)
            except ToolError as refused:  # SQLite's parser has a stack of 100
                if "nested more deeply" in str(refused):
                    return
                raise
            found.append(reading)

    same()
    return len(found)
