"""Every test of Tableau has a server of its own; the table behind it is made once."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
from tests.sources.tableau.double.superstore import connect
from tests.sources.tableau.double.tableau import Tableau, running


@pytest.fixture(scope="session")
def superstore() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect() as connection:
        yield connection


@pytest.fixture
def tableau(superstore: duckdb.DuckDBPyConnection) -> Iterator[Tableau]:
    with running(superstore) as double:
        yield double
