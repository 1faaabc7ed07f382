"""Numbers and dates written as text are numbers and dates once they are loaded; codes stay text."""

from __future__ import annotations

import asyncio
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.sources.tables.tooling import made, rows

from groundplan.sources.tables.files.text_values import convert_text
from groundplan.sources.tables.source import Tables


def loaded(*values: str | None, column: str = "the column", comma_decimals: bool = False) -> tuple[str, list[object]]:
    """The type that the column gets, and its values."""
    connection = duckdb.connect()
    connection.register("given", pa.table({column: pa.array(values, pa.string())}))
    connection.execute("CREATE TABLE t AS FROM given")
    convert_text(connection, "t", comma_decimals)
    ((_, type_, *_),) = connection.execute("DESCRIBE t").fetchall()
    return type_, [row[0] for row in connection.execute("SELECT * FROM t").fetchall()]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["1,234.50", "-12,345", "7", None, ""], [1234.5, -12345.0, 7.0, None, None]),
        (["12 345,50", "1\u00a0000", "3"], [12345.5, 1000.0, 3.0]),
        (["1'234.50", "12"], [1234.5, 12.0]),
        (["1.234.567,5", "12.345"], [1234567.5, 12345.0]),
        (["€ 5", "€1,000", "-€2.50"], [5.0, 1000.0, -2.5]),
        (["12%", "7.5 %"], [12.0, 7.5]),
        (["1 250 ₽", "3,5 ₽"], [1250.0, 3.5]),
        (["1 250,50 руб.", "3 руб."], [1250.5, 3.0]),
        (["1,23", "45,678"], [1.23, 45.678]),
        (["$1.2M", "$300K", "-$2.5bn"], [1.2e6, 3e5, -2.5e9]),
        (["1.1 million", "3 million", "—"], [1.1e6, 3e6, None]),
        (["1.5e-7", "2.25", ".5"], [1.5e-7, 2.25, 0.5]),
        (["−1.5", "+2"], [-1.5, 2.0]),
        (["1,234.50", "n/a", " - ", "—", "N/A"], [1234.5, None, None, None, None]),
        (["1.2kg", "10 kg", "n/a"], [1.2, 10.0, None]),
        (["1,2 кг", "10,5 кг", "3 кг."], [1.2, 10.5, 3.0]),
        (["1.5 m", "-2 m"], [1.5, -2.0]),
    ],
)
def test_numbers_in_one_format_become_numbers(values: list[str | None], wanted: list[float | None]) -> None:
    assert loaded(*values) == ("DOUBLE", wanted)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["1,234", "-12,345,678", "0"], [1234, -12345678, 0]),
        (["5", "-", "12"], [5, None, 12]),
        (["$5", "$1,000"], [5, 1000]),
        (["13 min", "1,200 min", "7min"], [13, 1200, 7]),
        (["1 day", "12 days"], [1, 12]),
        (["120 m2", "80 m2"], [120, 80]),
        (["5 lbs", "1 lb"], [5, 1]),
    ],
)
def test_whole_numbers_stay_whole(values: list[str], wanted: list[int | None]) -> None:
    assert loaded(*values) == ("BIGINT", wanted)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["31.12.2025", "01.02.2024", "-"], [date(2025, 12, 31), date(2024, 2, 1), None]),
        (["01.02.2024"], [date(2024, 2, 1)]),
        (["01/02/2024", "25/02/2024"], [date(2024, 2, 1), date(2024, 2, 25)]),
        (["01/02/2024", "02/25/2024"], [date(2024, 1, 2), date(2024, 2, 25)]),
        (["2024-01-05", "2024-12-31", "n/a"], [date(2024, 1, 5), date(2024, 12, 31), None]),
        (["Jan 5, 2020", "Sept. 30, 2021"], [date(2020, 1, 5), date(2021, 9, 30)]),
        (["January 5, 2020", "5 May 2021"], [date(2020, 1, 5), date(2021, 5, 5)]),
        (["Monday, March 2nd, 2020", "1-Feb-2021"], [date(2020, 3, 2), date(2021, 2, 1)]),
        (["5 января 2020", "31 дек. 2021 г."], [date(2020, 1, 5), date(2021, 12, 31)]),
    ],
)
def test_dates_in_one_format_become_dates(values: list[str], wanted: list[date | None]) -> None:
    assert loaded(*values) == ("DATE", wanted)


def test_dates_with_a_clock_time_become_moments() -> None:
    assert loaded("31.12.2025 14:05", "01.02.2024") == (
        "TIMESTAMP",
        [datetime(2025, 12, 31, 14, 5), datetime(2024, 2, 1)],
    )


@pytest.mark.parametrize(
    "values",
    [
        ["007", "1,234"],
        ["A1", "B2"],
        ["", None],
        ["-", "n/a"],
        ["1-2"],
        ["12,34,567"],
        ["€ 5", "$1,000"],
        ["12%", "7"],
        ["601 234 567", "602 345 678"],
        ["+49 123 456", "+49 123 457"],
        ["555-1234", "555-4321"],
        ["1.2.3", "1.10"],
        ["192.168.100.101", "192.168.100.102"],
        ["1E5", "2E7"],
        ["5K", "10K"],
        ["12345678901234567890", "12345678901234567891"],
        ["1,5", "1.5"],
        ["03/04/2025", "05/06/2025"],
        ["31.02.2025", "01.03.2025"],
        ["Jan 2020", "Feb 2021"],
        ["1991–92", "1992–93"],
        ["3:45", "4:10"],
        ["5", "none"],
        ["1st", "2nd"],
        ["13 min", "2 h"],
        ["13 min", "7"],
        ["12m", "30m"],
        ["6 months", "12 months"],
        ["5 Min", "kg 5"],
    ],
)
def test_everything_else_stays_text(values: list[str | None]) -> None:
    assert loaded(*values) == ("VARCHAR", values)


@pytest.mark.parametrize("column", ["zip code", "Phone", "sku", "ИНН"])
def test_codes_by_name_stay_text(column: str) -> None:
    assert loaded("10001", "94105", column=column) == ("VARCHAR", ["10001", "94105"])


def test_thousands_and_decimals_that_look_alike_are_decided_by_another_column(tmp_path: Path) -> None:
    assert loaded("1,234", "5,678") == ("BIGINT", [1234, 5678])
    assert loaded("1,234", "5,678", comma_decimals=True) == ("VARCHAR", ["1,234", "5,678"])
    (tmp_path / "both.csv").write_text("weight;price\n1,234;1,5\n5,678;2,25\n")
    source = Tables.open(tmp_path / "both.csv")
    assert rows(source, source.table("both")) == [{"weight": 1.234, "price": 1.5}, {"weight": 5.678, "price": 2.25}]


@pytest.mark.parametrize(("late", "kind", "last"), [("1.5", "number", 1.5), ("0012", "text", "0012")])
def test_a_number_late_in_the_file_is_not_changed(tmp_path: Path, late: str, kind: str, last: Any) -> None:
    (tmp_path / "late.csv").write_text("n,i\n" + "1,2\n" * 30_000 + f"{late},3\n")
    source = Tables.open(tmp_path / "late.csv")
    assert source.table("late").kind("n") == kind
    odd = made(source, "filter_rows", {"conditions": [{"column": "i", "operator": "=", "values": [3]}]}, "late")
    assert [row["n"] for row in rows(source, odd)] == [last]


def test_an_id_with_many_digits_is_not_rounded(tmp_path: Path) -> None:
    (tmp_path / "ids.csv").write_text("a,b\n12345678901234567890,1\n12345678901234567891,2\n")
    source = Tables.open(tmp_path / "ids.csv")
    assert [row["a"] for row in rows(source, source.table("ids"))] == ["12345678901234567890", "12345678901234567891"]


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_the_schema_says_what_was_converted(tmp_path: Path, kind: str) -> None:
    columns = {
        "price": ["€ 1,234.50", "n/a", "€ 2"],
        "due": ["31.12.2025", "01.02.2024", "-"],
        "day": ["03/04/2025"] * 3,
    }
    file = _written(tmp_path / f"bills.{kind}", columns)
    source = Tables.open(file)
    (table,) = asyncio.run(source.describe()).tables
    assert {column.name: (column.kind, column.note) for column in table.columns} == {
        "price": ("number", "text such as 1,234.50, read as numbers in €; missing values: 'n/a'"),
        "due": ("time", "text such as 31.12.2025, read as dates; missing values: '-'"),
        "day": ("text", "text: day and month can be in either order; write such dates as 2025-04-03"),
    }
    total = {"metrics": [{"function": "sum", "column": "price", "as": "total"}]}
    assert rows(source, made(source, "aggregate", total, "bills")) == [{"total": 1236.5}]


def _written(file: Path, columns: dict[str, list[str]]) -> Path:
    if file.suffix == ".csv":
        body = "\n".join(";".join(row) for row in zip(*columns.values(), strict=True))
        file.write_text(";".join(columns) + f"\n{body}\n")
    elif file.suffix == ".xlsx":
        book = openpyxl.Workbook()
        assert book.active is not None
        for row in ([*columns], *zip(*columns.values(), strict=True)):
            book.active.append(row)
        book.save(file)
    else:
        parquet.write_table(pa.table(columns), file)
    return file


RESEMBLING = r"\A(0[0-9]{2,6}|[0-9]+-[0-9]+|v[0-9]+\.[0-9]+|[0-9]+[a-z]{1,2}|[0-9]\.[0-9]\.[0-9])\Z"
AMOUNTS = st.lists(st.decimals(-(10**9), 10**9, places=2, allow_nan=False), min_size=1, max_size=8)
WRAPPED = ("{}", "€ {}", "{} €", "${}", "{}%", "{} %", "{} USD", " {} ")
NOTATIONS = ((",", "."), (" ", "."), ("\u00a0", ","), (".", ","), ("'", "."), ("\u202f", ","), ("", "."), ("", ","))


@settings(max_examples=60, deadline=None)
@given(AMOUNTS, st.sampled_from(NOTATIONS), st.sampled_from(WRAPPED), st.lists(st.sampled_from(["", "-", "n/a", "—"])))
def test_a_number_is_the_same_in_any_notation(
    amounts: list[Any], notation: tuple[str, str], wrapped: str, missing: list[str]
) -> None:
    thousands, decimal = notation
    texts = [f"{amount:,.2f}".replace(",", "t").replace(".", decimal).replace("t", thousands) for amount in amounts]
    type_, values = loaded(*(wrapped.format(text) for text in texts), *missing)
    assert (type_, values) == ("DOUBLE", [*(float(amount) for amount in amounts), *[None] * len(missing)])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.from_regex(r"\A(0[0-9]{2,6}|[0-9]+-[0-9]+|v[0-9]+\.[0-9]+|[0-9]+[a-z]{1,2}|[0-9]\.[0-9]\.[0-9])\Z"),
        min_size=1,
    )
)
def test_what_merely_resembles_a_number_stays_text(values: list[str]) -> None:
    assert loaded(*values) == ("VARCHAR", values)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.dates(date(1800, 1, 1), date(2199, 12, 31)), min_size=1, max_size=8),
    st.sampled_from(["%d.%m.%Y", "%Y-%m-%d", "%Y/%m/%d", "%b %d, %Y", "%B %d, %Y", "%d %B %Y", "%d %b %Y", "%d-%b-%Y"]),
)
def test_a_date_is_the_same_in_any_notation(days: list[date], notation: str) -> None:
    assert loaded(*(day.strftime(notation) for day in days)) == ("DATE", days)


def test_spellings_of_a_category_are_unified_with_a_note() -> None:
    connection = duckdb.connect()
    told = ["Fail", "FAIL", "fail ", "Pass", "Fail", "Pass", "Королёв", "Королев", "Королёв", None, "m", "M"] * 3
    connection.register("given", pa.table({"result": pa.array(told, pa.string())}))
    connection.execute("CREATE TABLE t AS FROM given")
    notes = convert_text(connection, "t")
    found = dict(connection.execute("SELECT result, count(*) FROM t GROUP BY 1").fetchall())
    assert found == {"Fail": 12, "Pass": 6, "Королёв": 9, None: 3, "m": 3, "M": 3}  # letters may be codes
    assert notes == {"result": "spellings are unified: 'FAIL' as 'Fail', 'fail ' as 'Fail', 'Королев' as 'Королёв'"}


def test_accents_of_a_category_are_unified() -> None:
    connection = duckdb.connect()
    told = ["Créteil", "Creteil", "Créteil", "Lyon", "Мой", "Мои", "Øster", "Oster"] * 4
    connection.register("given", pa.table({"place": pa.array(told, pa.string())}))
    connection.execute("CREATE TABLE t AS FROM given")
    assert convert_text(connection, "t") == {"place": "spellings are unified: 'Creteil' as 'Créteil'"}
    found = dict(connection.execute("SELECT place, count(*) FROM t GROUP BY 1").fetchall())
    assert found == {"Créteil": 12, "Lyon": 4, "Мой": 4, "Мои": 4, "Øster": 4, "Oster": 4}


def test_names_and_codes_keep_their_spelling() -> None:
    values = [f"aB{n}" for n in range(40)] + [f"Ab{n}" for n in range(40)]
    assert loaded(*values) == ("VARCHAR", values)
