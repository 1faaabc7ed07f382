"""Projects over the double of Tableau: one for a file of questions, and a fresh one for each fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from groundplan.project import Project
from tests.sources.tableau.calling import configured
from tests.sources.tableau.double.superstore import connect
from tests.sources.tableau.double.tableau import Tableau, running

PLENTY = 10_000  # queries of an hour: more than the questions of a file
Opener = Callable[..., Project]


@pytest.fixture(scope="session")
def superstore() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def shop(
    superstore: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Tableau, Project]]:
    """Members of fields are read once, for all questions of the file."""
    with running(superstore) as double:
        settings = configured(double, tmp_path_factory.mktemp("secrets"), queries_per_hour=PLENTY)
        with Project({"tableau": settings}) as project:
            yield double, project


@pytest.fixture
def tableau(superstore: duckdb.DuckDBPyConnection) -> Iterator[Tableau]:
    with running(superstore) as double:
        yield double


@pytest.fixture
def opening(tableau: Tableau, tmp_path: Path) -> Iterator[Opener]:
    """Opens projects with settings of their own, and closes them."""
    opened: list[Project] = []

    def open_one(**settings: Any) -> Project:
        opened.append(Project({"tableau": configured(tableau, tmp_path, **settings)}))
        return opened[-1]

    yield open_one
    for project in opened:
        project.close()
