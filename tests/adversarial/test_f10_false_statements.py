"""Numbers that are infinite or undefined are mentioned, a period that cannot be read is not dropped, `sum` is `sum`."""

from __future__ import annotations

import math
from pathlib import Path

import duckdb
import pandas
import pytest

import groundplan
from groundplan.errors import SourceError
from groundplan.project import Project

LEFT_EMPTY = "infinite or undefined"


def opened(**columns: list[object]) -> Project:
    return groundplan.open({"data": pandas.DataFrame(columns)})


@pytest.mark.parametrize("odd", [math.inf, -math.inf])
@pytest.mark.parametrize("question", ["total revenue", "revenue by region", "bar chart of revenue by region"])
def test_an_infinite_number_is_mentioned(odd: float, question: str) -> None:
    with opened(region=["a", "b"], revenue=[odd, 1.0]) as project:
        assert LEFT_EMPTY in project.ask(question).text


def test_an_infinite_group_is_mentioned() -> None:
    with opened(rate=[math.inf, 1.0, 1.0], revenue=[1.0, 2.0, 3.0]) as project:
        result = project.ask("total revenue by rate")
        assert LEFT_EMPTY in result.text
        assert sum(result.table["revenue"]) == 6


def test_ordinary_numbers_need_no_such_words() -> None:
    with opened(region=["a", "b"], revenue=[None, 1.0]) as project:
        assert LEFT_EMPTY not in project.ask("revenue by region").text


def test_an_impossible_year_is_not_dropped() -> None:
    days = pandas.to_datetime(["2025-01-01", "2025-02-01"])
    with opened(day=list(days), revenue=[1, 2]) as project:
        assert project.ask("revenue in 99999").kind != "answer"


@pytest.mark.parametrize("macro", ["sum(x) AS 42", "count(x) AS 0", "lower(x) AS 'a'"])
def test_a_database_that_redefines_a_function_is_refused(macro: str, tmp_path: Path) -> None:
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE sales AS SELECT 1 AS revenue")
        connection.execute(f"CREATE MACRO {macro}")
    with pytest.raises(SourceError, match="redefines the function"):
        groundplan.open(file)


def test_a_macro_of_its_own_is_no_fault(tmp_path: Path) -> None:
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE sales AS SELECT 1 AS revenue")
        connection.execute("CREATE MACRO our_rate(x) AS x * 2")
    with groundplan.open(file) as project:
        assert project.ask("total revenue").kind == "answer"


@pytest.mark.parametrize("question", ["region with highest revenue", "region with lowest revenue"])
@pytest.mark.parametrize("odd", [math.inf, -math.inf])
def test_no_sentence_ranks_a_number_that_is_not_shown(question: str, odd: float) -> None:
    with opened(region=["a", "b"], revenue=[odd, 1.0]) as project:
        text = project.ask(question).text
        assert "(none)" not in text
        assert "(no revenue)" not in text
