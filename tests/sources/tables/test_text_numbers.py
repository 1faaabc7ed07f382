"""Numbers written as text are numbers once they are loaded; codes stay codes."""

from __future__ import annotations

import duckdb
import pytest

from groundplan.sources.tables.files.text_numbers import convert_text_numbers


def loaded(*values: str | None) -> tuple[str, list[object]]:
    """The type that the column gets, and its values."""
    connection = duckdb.connect()
    connection.execute('CREATE TABLE t ("the column" VARCHAR)')
    connection.executemany("INSERT INTO t VALUES (?)", [[value] for value in values])
    convert_text_numbers(connection, "t")
    ((_, type_, *_),) = connection.execute("DESCRIBE t").fetchall()
    return type_, [row[0] for row in connection.execute("SELECT * FROM t").fetchall()]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["1,234.50", "-12,345", "7", None, ""], [1234.5, -12345.0, 7.0, None, None]),
        (["12 345,50", "1\u00a0000", "3"], [12345.5, 1000.0, 3.0]),
        (["€ 5", "$1,000", "-£2.50"], [5.0, 1000.0, -2.5]),
        (["12%", "7.5 %"], [12.0, 7.5]),
        (["1 250 ₽", "3,5 ₽"], [1250.0, 3.5]),
        (["1,23", "45,678"], [1.23, 45.678]),
    ],
)
def test_numbers_in_one_format_become_numbers(values: list[str | None], wanted: list[float | None]) -> None:
    assert loaded(*values) == ("DOUBLE", wanted)


@pytest.mark.parametrize(
    "values",
    [["007", "1,234"], ["1,234.50", "n/a"], ["A1", "B2"], ["", None], ["1-2"], ["12,34,567"]],
)
def test_everything_else_stays_text(values: list[str | None]) -> None:
    assert loaded(*values) == ("VARCHAR", values)
