"""Every file opens: what its header, quotes, line ends and rows look like is no reason to refuse it."""

from __future__ import annotations

import asyncio
import csv
import os
import shutil
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.sources.tables.tooling import rows

from groundplan.errors import SourceError
from groundplan.sources.tables.files.load import load_files
from groundplan.sources.tables.files.naming import column_names
from groundplan.sources.tables.source import Tables

ROOT = Path(__file__).parents[3]
BENCHMARKS = Path(os.environ.get("GROUNDPLAN_BENCHMARKS") or ROOT.parent / "shared/benchmarks")
WEB_TABLES = BENCHMARKS / "wikitablequestions/tables"
needs_web_tables = pytest.mark.skipif(
    not WEB_TABLES.is_dir(), reason="the benchmark is not on this machine; see GROUNDPLAN_BENCHMARKS"
)


def opened(path: Path, content: str) -> list[dict[str, Any]]:
    path.write_bytes(content.encode())
    source = Tables.open(path)
    return rows(source, source.table(source.names[0]))


def notes(source: Tables) -> dict[str, str]:
    described = asyncio.run(source.describe())
    return {column.name: column.note for table in described.tables for column in table.columns if column.note}


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (
            '"Goals\nscored","Team"\r\n3,"North\nEnd"\r\n4,South\r\n',
            [{"Goals scored": 3, "Team": "North\nEnd"}, {"Goals scored": 4, "Team": "South"}],
        ),
        ('"a;b\nc";d\n1;2\n', [{"a;b c": 1, "d": 2}]),
        ('a,b\r\n1,"x\r\ny"\n2,z\r\n', [{"a": 1, "b": "x\ny"}, {"a": 2, "b": "z"}]),
        ("shop,2019,2020\nnorth,5,6\nsouth,7,8\n", [
            {"shop": "north", "2019": 5, "2020": 6},
            {"shop": "south", "2019": 7, "2020": 8},
        ]),
        (",name,city\n1,ann,rome\n2,bob,oslo\n", [
            {"column0": 1, "name": "ann", "city": "rome"},
            {"column0": 2, "name": "bob", "city": "oslo"},
        ]),
        ("ann,31\nbob,25\n", [{"column0": "ann", "column1": 31}, {"column0": "bob", "column1": 25}]),
        ("Score,score,SCORE\n1,2,3\n", [{"Score": 1, "score_1": 2, "SCORE_2": 3}]),
        ("a,a,a_1\n1,2,3\n", [{"a": 1, "a_2": 2, "a_1": 3}]),
        ("size,n\n5\" pipe,1\n6\" pipe,2\n", [{"size": '5" pipe', "n": 1}, {"size": '6" pipe', "n": 2}]),
        ('said,n\n"he said "no", twice",1\nyes,2\n', None),
        ("song,length\nx,3:45\ny,4:10\n", [{"song": "x", "length": "3:45"}, {"song": "y", "length": "4:10"}]),
        ("a\n", []),
        ("%,#,select,a\"b\n1,2,3,4\n", [{"%": 1, "#": 2, "select": 3, 'a"b': 4}]),
    ],
    ids=[
        "line ends in the header", "separator in the header", "mixed line ends", "years as titles", "first title empty",
        "no header", "names that differ in case", "a number that is taken", "one quote in a cell",
        "quotes within quotes", "lengths", "no rows", "odd names",
    ],
)  # fmt: skip
def test_a_csv_file_opens(tmp_path: Path, content: str, wanted: list[dict[str, Any]] | None) -> None:
    found = opened(tmp_path / "messy.csv", content)
    assert found == wanted if wanted is not None else len(found) == 2


def test_a_name_that_is_not_the_files_own_has_a_note(tmp_path: Path) -> None:
    (tmp_path / "named.csv").write_text(f"a,,a,{'x' * 200}\n1,2,3,4\n")
    found = notes(Tables.open(tmp_path / "named.csv"))
    assert found == {
        "column1": "column 2 of the file has no name",
        "a_1": "column 3 of the file has the same name as an earlier one",
        "x" * 128: "the name of column 4 of the file was longer than 128 characters and is cut",
    }


def test_so_have_sheets_parquet_files_and_frames(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (["a", None, "a"], [1, 2, 3]):
        book.active.append(row)
    book.save(tmp_path / "book.xlsx")
    table = pa.table([[1], [2], [3]], names=["a", "", "a"])
    parquet.write_table(table, tmp_path / "rows.parquet")
    for given in (tmp_path / "book.xlsx", tmp_path / "rows.parquet", table):
        source = Tables.open(given)
        assert rows(source, source.table(source.names[0])) == [{"a": 1, "column1": 2, "a_1": 3}]
        assert [*notes(source)] == ["column1", "a_1"]


def test_a_comment_of_the_owner_is_no_note(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "own.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
        connection.execute("COMMENT ON COLUMN t.a IS 'the first'")
        for place, comment in enumerate(("ours", 'loaded: {"a": ', 'loaded: {"a": 1}', "loaded: " + "[" * 100_000)):
            connection.execute(f"CREATE TABLE t{place} AS SELECT 1 AS a")
            connection.execute(f"COMMENT ON TABLE t{place} IS '{comment}'")
    assert notes(Tables.open(tmp_path / "own.duckdb")) == {}


def test_names_are_unique_whatever_the_titles() -> None:
    names, _ = column_names(["", "column0", "a", "A", "a_1", " a ", "x" * 300, "x" * 300])
    assert len({name.lower() for name in names}) == 8
    assert max(map(len, names)) == 128


def test_a_quote_that_is_never_closed_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "open.csv").write_text('a,b\n1,x\n2,"y\n3,z\n')
    with pytest.raises(SourceError, match="a quote in line 3 is never closed; close it, or write it twice"):
        Tables.open(tmp_path / "open.csv")


@needs_web_tables
def test_tables_from_the_web_open_whole(tmp_path: Path) -> None:
    files = sorted(WEB_TABLES.glob("*.csv"))[::10]
    for file in files:
        shutil.copy(file, tmp_path)
    assert _counted(tmp_path) == {file.stem: _row_count(file) for file in files}


@pytest.mark.slow
@needs_web_tables
def test_all_of_them_open_whole() -> None:
    files = sorted(WEB_TABLES.glob("*.csv"))
    assert _counted(WEB_TABLES) == {file.stem: _row_count(file) for file in files}


def _counted(folder: Path) -> dict[str, int]:
    with duckdb.connect(str(load_files(folder)), read_only=True) as connection:
        tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchall()[0][0] for name in tables}


def _row_count(file: Path) -> int:
    with file.open(encoding="utf-8", newline="") as lines:
        return len([*csv.reader(lines)]) - 1
