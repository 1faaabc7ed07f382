"""Every kind of thing that can be opened, and files as messy as people have them."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import ibis
import openpyxl
import pandas
import polars
import pyarrow as pa
import pytest
from tests.sources.tables.tooling import call, made, rows

from groundplan.errors import SourceError, UsageError
from groundplan.settings import cache_folder
from groundplan.sources.tables.engine.duckdb_limits import connect
from groundplan.sources.tables.source import Tables

FRAME = {"name": ["a", "b", None], "value": [1, 2, 3], "day": [date(2024, 1, 1), date(2024, 1, 2), None]}


def opened(path: Path, text: str | bytes) -> Tables:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Tables.open(path)


def everything(source: Tables, table: str | None = None) -> list[dict[str, Any]]:
    return rows(source, source.table(table or source.names[0]))


@pytest.mark.requirement("R45", part="csv")
def test_a_csv_file_becomes_a_table_named_after_it(tmp_path: Path) -> None:
    source = opened(tmp_path / "Sales 2024 (final).csv", "Region,Total Revenue,day\nN,1.5,2024-01-01\nS,2,2024-01-02\n")
    assert source.names == ("sales_2024_final",)
    assert everything(source) == [
        {"Region": "N", "Total Revenue": 1.5, "day": "2024-01-01"},
        {"Region": "S", "Total Revenue": 2.0, "day": "2024-01-02"},
    ]
    assert source.table("sales_2024_final").kind("day") == "time"


@pytest.mark.requirement("R45", part="csv")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a\tb\n1\tx\n", [{"a": 1, "b": "x"}]),
        ("\ufeffa;b\n1;x\n", [{"a": 1, "b": "x"}]),
        ("d;v\n2024-01-01;1,5\n2024-01-02;2,25\n", [{"d": "2024-01-01", "v": 1.5}, {"d": "2024-01-02", "v": 2.25}]),
        ("a;b\n1.5;x\n", [{"a": 1.5, "b": "x"}]),
        ("a|b\n1|x\n", [{"a": 1, "b": "x"}]),
        ("a,b,c\n1,2,3\n4,5\n", [{"a": 1, "b": 2, "c": 3}, {"a": 4, "b": 5, "c": None}]),
        (
            "a,b\n1,2\n3,4,5\n",
            [{"a": 1, "b": 2, "column2": None}, {"a": 3, "b": 4, "column2": 5}],
        ),
        ("a,,a,\n1,2,3,4\n", [{"a": 1, "column1": 2, "a_1": 3, "column3": 4}]),
        (
            'a,b\n"x, y",1\n"two\nlines",2\n"say ""hi""",3\n',
            [{"a": "x, y", "b": 1}, {"a": "two\nlines", "b": 2}, {"a": 'say "hi"', "b": 3}],
        ),
        ("tag,n\n#one,1\n#two,2\n", [{"tag": "#one", "n": 1}, {"tag": "#two", "n": 2}]),
        ("name,city\nann,rome\n", [{"name": "ann", "city": "rome"}]),
        ("v\n1\n2\n", [{"v": 1}, {"v": 2}]),
        ("a,b\r\n1,x\r\n", [{"a": 1, "b": "x"}]),
        ("code,n\n00123,1\n", [{"code": "00123", "n": 1}]),
        ("name,v\ncafé,1\n".encode("latin-1"), [{"name": "café", "v": 1}]),
        ("город,v\nМосква,1\n".encode("cp1251"), [{"город": "Москва", "v": 1}]),
        ("a\tb\n1\tx\n".encode("utf-16"), [{"a": 1, "b": "x"}]),
    ],
    ids=[
        "tabs", "bom and semicolons", "decimal commas", "decimal points", "bars", "short row", "long row",
        "empty and repeated names", "quotes", "hashes", "all text", "one column", "windows", "leading zeros",
        "latin-1", "cp1251", "utf-16",
    ],
)  # fmt: skip
def test_a_messy_csv_loses_nothing(tmp_path: Path, text: str | bytes, wanted: list[dict[str, Any]]) -> None:
    assert everything(opened(tmp_path / "messy.csv", text)) == wanted


def test_a_type_that_changes_late_in_the_file_is_read_as_text(tmp_path: Path) -> None:
    source = opened(tmp_path / "late.csv", "a,b\n" + "1,2\n" * 30_000 + "x,3\n")
    counted = made(source, "aggregate", {"metrics": [{"function": "count", "as": "n"}]}, "late")
    assert rows(source, counted) == [{"n": 30_001}]
    assert source.table("late").kind("a") == "text"


@pytest.mark.requirement("R45", part="parquet")
def test_tsv_and_parquet(tmp_path: Path) -> None:
    assert everything(opened(tmp_path / "t.tsv", "a\tb\n1\tx y\n")) == [{"a": 1, "b": "x y"}]
    pa.parquet.write_table(pa.table(FRAME), tmp_path / "p.parquet")
    assert everything(Tables.open(tmp_path / "p.parquet"))[1] == {"name": "b", "value": 2, "day": "2024-01-02"}


@pytest.mark.requirement("R45", part="excel")
def test_each_sheet_with_rows_is_a_table(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    orders = book.active
    assert orders is not None
    orders.title = "Orders 2024"
    for row in (
        ["id", "when", "total", "note", "id"],
        [1, datetime(2024, 1, 1), 1.5, "x", 7],
        [2, datetime(2024, 1, 2), 2, 3, 8],
    ):
        orders.append(row)
    book.create_sheet("Empty")
    times = book.create_sheet("times")
    times.append(["at", "ok"])
    times.append([datetime(2024, 1, 1, 10, 30), True])
    book.save(tmp_path / "book.xlsx")
    source = Tables.open(tmp_path / "book.xlsx")
    assert source.names == ("orders_2024", "times")
    assert everything(source, "orders_2024") == [
        {"id": 1, "when": "2024-01-01", "total": 1.5, "note": "x", "id_1": 7},
        {"id": 2, "when": "2024-01-02", "total": 2.0, "note": "3", "id_1": 8},
    ]
    assert everything(source, "times") == [{"at": "2024-01-01T10:30:00", "ok": True}]


def test_a_folder_is_one_table_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "A.tsv").write_text("y\n2\n")
    (tmp_path / "notes.md").write_text("not a table")
    source = Tables.open(tmp_path)
    assert source.names == ("a", "a_2")


@pytest.mark.requirement("R45", part="duckdb")
def test_a_duckdb_file_is_opened_where_it_is(duckdb_file: Path) -> None:
    first, second = Tables.open(duckdb_file), Tables.open(str(duckdb_file))
    assert first.names == second.names == ("customers", "sales")
    asyncio.run(first.close())
    assert len(everything(second, "customers")) == 4


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_frames_of_every_make(make: Any) -> None:
    source = Tables.open({"Given Frame": make(FRAME)})
    assert source.names == ("given_frame",)
    assert everything(source)[0] == {"name": "a", "value": 1, "day": "2024-01-01"}
    assert Tables.open(make(FRAME)).names == ("data",)


def test_closing_removes_what_frames_were_kept_in() -> None:
    source = Tables.open(pa.table(FRAME))
    folder = Path(source._executor.engine._folder.name)  # type: ignore[attr-defined]
    assert folder.exists()
    asyncio.run(source.close())
    assert not folder.exists()


@pytest.mark.requirement("R45", part="url")
def test_any_ibis_backend_serves() -> None:
    given = ibis.duckdb.connect()
    given.con.execute("CREATE TEMP TABLE kept AS SELECT 5 AS v")
    source = Tables.open(given)
    assert everything(source, "kept") == [{"v": 5}]
    asyncio.run(source.close())
    assert given.list_tables() == ["kept"], "what the caller opened, the caller closes"


def test_a_backend_we_know_nothing_of_runs_the_same_tools() -> None:
    given = ibis.sqlite.from_connection(sqlite3.connect(":memory:", check_same_thread=False))
    given.raw_sql("CREATE TABLE kept (name TEXT, v INTEGER)")
    given.raw_sql("INSERT INTO kept VALUES ('a', 1), ('a', 2), ('b', 5)")
    source = Tables.open(given)
    totals = {"group_by": ["name"], "metrics": [{"function": "sum", "column": "v", "as": "total"}]}
    assert rows(source, made(source, "aggregate", totals, "kept")) == [
        {"name": "a", "total": 3},
        {"name": "b", "total": 5},
    ]


def test_what_was_loaded_once_is_kept_until_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    opened(path, "v\n1\n")
    kept = set((cache_folder() / "tables").glob("*.duckdb"))
    assert everything(Tables.open(path)) == [{"v": 1}]
    assert set((cache_folder() / "tables").glob("*.duckdb")) == kept
    os.utime(path, ns=(0, 0))
    assert everything(opened(path, "v\n2\n")) == [{"v": 2}]
    assert len(set((cache_folder() / "tables").glob("*.duckdb"))) == len(kept), "the older one is gone"
    assert not list((cache_folder() / "tables").glob(".loading*"))


def test_a_header_longer_than_a_name_may_be_is_cut(tmp_path: Path) -> None:
    source = opened(tmp_path / "survey.csv", "x" * 200 + "," + "x" * 201 + "\n1,2\n")
    names = [column.name for column in asyncio.run(source.describe()).tables[0].columns]
    assert [len(name) <= 128 for name in names] == [True, True]
    assert len(set(names)) == 2


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda folder: folder / "missing.csv", UsageError, "there is no such file or folder"),
        (lambda folder: _file(folder / "picture.png", b"x"), UsageError, "give one of .csv, .tsv"),
        (lambda folder: folder, UsageError, "contains none of the files that can be opened"),
        (lambda folder: _file(folder / "empty.csv", b""), SourceError, "is empty"),
        (lambda folder: _file(folder / "bad.parquet", b"nonsense"), SourceError, "cannot be read"),
        (lambda folder: _file(folder / "bad.xlsx", b"nonsense"), SourceError, "is not a readable Excel workbook"),
        (lambda folder: _file(folder / "bad.duckdb", b"nonsense" * 2000), SourceError, "cannot be opened read-only"),
        pytest.param(
            lambda folder: "postgres://nobody:word@127.0.0.1:1/none",
            SourceError,
            "postgres://127.0.0.1:1/none: cannot",
            marks=pytest.mark.needs("postgres"),
        ),
        *(
            (lambda folder, url=url: url, UsageError, f"^{url.partition(':')[0]}://h/db: .* are not supported; name")
            for url in ("oracle://me:word@h/db?a=word", "mssql://me:word@h/db", "ftp://h/db", "nonsense://h/db")
        ),
        (lambda folder: object(), UsageError, "is not an SQL backend"),
        (lambda folder: {"a": 5}, UsageError, "give at least one frame by name"),
    ],
)
def test_what_cannot_be_opened_says_why(tmp_path: Path, make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        Tables.open(make(tmp_path))
    assert "word" not in str(caught.value), "a password is never repeated"


def _file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_a_table_that_is_not_there_is_named_with_those_that_are(duckdb_source: Tables) -> None:
    with pytest.raises(UsageError, match="there is no table 'orders'; the tables are customers, sales"):
        duckdb_source.table("orders")


def test_cells_are_plain_json(tmp_path: Path) -> None:
    path = tmp_path / "kinds.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            """CREATE TABLE kinds AS SELECT 'nan'::double AS missing, 'inf'::double AS endless,
            12.50::decimal(9, 2) AS exact,
            170141183460469231731687303715884105727::hugeint AS huge, timestamptz '2024-01-01 03:00:00+03' AS zoned,
            time '10:00:00' AS clock, [1, 2] AS list, uuid '00000000-0000-0000-0000-000000000001' AS id, true AS flag"""
        )
    found = everything(Tables.open(path))[0]
    assert (found["missing"], found["endless"], found["exact"], found["flag"]) == (None, None, 12.5, True)
    assert found["huge"] == 2**127 - 1
    assert found["zoned"] == "2024-01-01T00:00:00+00:00"
    assert call(Tables.open(path), "show_table", {}, "kinds").facts.model_dump_json()


def test_the_engine_writes_no_progress_to_standard_output() -> None:
    """After two seconds of a query DuckDB would: among the JSON of `ask --json`."""
    with connect(":memory:", {}) as connection:
        for one in (connection, connection.cursor()):
            assert one.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (False,)
