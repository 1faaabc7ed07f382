"""A reading means the same on every engine as the interpreter says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from groundplan.contracts.reading import Reading
from tests.mariadb import mariadb
from tests.real_spark import real_spark
from tests.reference.comparing import ANY_SPEED, POSTGRES, assert_same
from tests.reference.executing import Store, duckdb_store, mysql_store, postgres_store, spark_store, sqlite_store
from tests.reference.generating import TABLES, readings
from tests.sail import sail

IN_CI = 25
SLOW = {"duckdb": 2_000, "postgres": 2_000, "sqlite": 300, "mariadb": 300, "spark": 300, "real_spark": 300}
ALWAYS = ("sqlite", "mariadb", "spark")  # test_22_ground_truth.py compares the others in CI


@pytest.fixture(
    scope="module", params=[name if name in ALWAYS else pytest.param(name, marks=pytest.mark.slow) for name in SLOW]
)
def named(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Store]]:
    name = str(request.param)
    with _store(name, tmp_path_factory.mktemp("reference")) as store:
        yield name, store


@contextmanager
def _store(name: str, folder: Path) -> Iterator[Store]:
    with ExitStack() as stack:
        match name:
            case "duckdb":
                yield duckdb_store()
            case "postgres":
                if POSTGRES is None:
                    pytest.skip("set GROUNDPLAN_TEST_POSTGRES to a PostgreSQL server")
                yield stack.enter_context(postgres_store(POSTGRES))
            case "sqlite":
                yield stack.enter_context(sqlite_store(folder))
            case "mariadb":
                yield stack.enter_context(mysql_store(stack.enter_context(mariadb())))
            case "spark":
                yield stack.enter_context(spark_store(stack.enter_context(sail()).address))
            case "real_spark":
                yield stack.enter_context(spark_store(stack.enter_context(real_spark())))


@pytest.mark.requirement("R86", part="parity")
@pytest.mark.requirement("R69", part="interpreter")
def test_plans_give_what_the_definition_gives(named: tuple[str, Store]) -> None:
    assert_all_same(*named, IN_CI)


@pytest.mark.requirement("R86", part="parity")
@pytest.mark.slow
@pytest.mark.requirement("R69", part="interpreter")
def test_many_plans_give_what_the_definition_gives(named: tuple[str, Store]) -> None:
    assert_all_same(*named, SLOW[named[0]])


def assert_all_same(name: str, engine: Store, number: int) -> None:
    """The gate lets each reading pass, and each gives the rows of the interpreter."""
    compared = 0

    @settings(ANY_SPEED, max_examples=number, phases=[Phase.generate], database=None, derandomize=True)
    @given(reading=readings(), rows=TABLES)
    def same(reading: Reading, rows: list[dict[str, Any]]) -> None:
        nonlocal compared
        assert_same(engine, reading, rows)
        compared += 1

    same()
    print(f"{name}: {compared} compared")
    assert compared == number
