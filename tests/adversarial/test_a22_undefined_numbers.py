"""A22: NaN and infinite numbers are at no rank, in a file and in a database; infinite dates are no dates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

import groundplan
from groundplan.contracts.answer import Answer
from groundplan.project import Project

ROWS = {
    "region": ["North", "South", "West", "West", "East", "East"],
    "amount": [1.0, float("nan"), 5.0, 2.0, 9.0, float("inf")],
}


@pytest.fixture(params=["file", "database"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    rows, place = pa.table(ROWS), tmp_path / "sales.parquet"
    if request.param == "file":
        parquet.write_table(rows, place)
    else:
        place = tmp_path / "kept.duckdb"
        with duckdb.connect(str(place)) as connection:
            connection.execute("CREATE TABLE sales AS FROM rows")
    with groundplan.open(place) as opened:
        yield opened


def shown(project: Project, question: str) -> list[tuple[object, ...]]:
    outcome = project.ask(question).outcome
    assert isinstance(outcome, Answer), outcome
    return [row[:2] for row in outcome.tables[0].rows]


def test_the_first_of_a_ranking_is_a_number(project: Project) -> None:
    first = shown(project, "region with the highest amount")[0]
    assert first in [
        ("East", 9.0),
        ("West", 7.0),
    ]  # a file's infinity counts as missing; in a database no total is shown


def test_regions_without_a_number_come_last(project: Project) -> None:
    assert "South" in [region for region, _ in shown(project, "total amount by region")[-2:]]
    assert shown(project, "total amount by region")[0][1] is not None


def test_a_table_with_infinite_dates_is_asked(tmp_path: Path) -> None:
    place = tmp_path / "kept.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute(
            "CREATE TABLE terms AS FROM (VALUES ('a', DATE '2024-01-01', TIMESTAMP '2024-01-01 10:00', 5), "
            "('b', DATE 'infinity', TIMESTAMP '-infinity', 7), "
            "('c', DATE '9999-12-31', TIMESTAMP '9999-12-31 23:59:59', 0)) AS t(name, ends, seen, amount)"
        )
    with groundplan.open(place) as project:
        assert [row[0] for row in shown(project, "total amount")] == [12]
        assert shown(project, "list name and ends") == [("a", "2024-01-01"), ("b", None), ("c", "9999-12-31")]
        assert shown(project, "list name and seen")[1:] == [("b", None), ("c", "9999-12-31T23:59:59")]
