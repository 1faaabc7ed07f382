"""A file is bounded by what it becomes, not only by what it is: 66 KB of Parquet can hold gigabytes."""

from __future__ import annotations

import gzip
from collections import deque
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from groundplan.errors import SourceError, TooMuch
from groundplan.sources.knowledge import loading
from groundplan.sources.tables.files.load import load_file
from tests.adversarial.limited import opened, run

MOST = 900  # MB
MOST_FOR_LONG_CELLS = 1_000  # 1,250 where the table is copied
LOADED = """
import os
os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})  # what several threads hold at once differs each time
from groundplan.sources.tables.files.load import load_file
load_file(Path({path!r}), Path({path!r} + ".duckdb"))
"""


def packed(path: Path) -> None:
    """Long equal texts, compressed: 1.5 GB in 70 KB."""
    parquet.write_table(
        pa.table({"a": pa.array(["x" * 1_000_000] * 300)}), path, compression="zstd", use_dictionary=False
    )


def repeated(path: Path) -> None:
    """One text in a dictionary that every row names."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 3_000_000, pa.int32()), pa.array(["x" * 200]))
    parquet.write_table(pa.table({"a": text}), path, compression="zstd")


def lists(path: Path) -> None:
    texts = pa.array([["y" * 1_000] * 1_000] * 300)
    parquet.write_table(pa.table({"a": texts}), path, compression="zstd")


def rows(path: Path) -> None:
    numbers = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000_000, pa.int8()), pa.array([1]))
    parquet.write_table(pa.table({f"c{n}": numbers for n in range(14)}), path, compression="zstd")


@pytest.mark.parametrize("write", [packed, repeated, lists, rows])
def test_a_small_parquet_file_with_much_in_it_is_refused(write: object, tmp_path: Path) -> None:
    assert callable(write)
    write(tmp_path / "small.parquet")
    assert (tmp_path / "small.parquet").stat().st_size < 2_500_000
    with pytest.raises(TooMuch, match=r"small\.parquet: it takes more than 256,000,000 bytes"):
        load_file(tmp_path / "small.parquet", tmp_path / "loaded.duckdb")
    assert not (tmp_path / "loaded.duckdb").exists()


@pytest.mark.requirement("R89", part="bytes")
def test_it_is_refused_before_memory_is_taken(tmp_path: Path) -> None:
    packed(tmp_path / "small.parquet")
    done = opened(tmp_path / "small.parquet")
    assert "REFUSED" in done.text
    assert done.peak < MOST


def test_an_ordinary_parquet_file_is_loaded(tmp_path: Path) -> None:
    table = pa.table({"region": ["West", "East"] * 50_000, "revenue": range(100_000), "tags": [["a", "b"]] * 100_000})
    parquet.write_table(table, tmp_path / "sales.parquet")
    assert load_file(tmp_path / "sales.parquet", tmp_path / "loaded.duckdb") == ("sales",)


def test_no_table_of_long_cells_is_copied_to_change_some_columns(tmp_path: Path) -> None:
    """126 MB in 2,000 rows: ragged, with numbers, marks and two kinds of line end, so that all of it is worked on."""
    marks, long = ("NULL", "N/A", "ada", "Ada"), "y" * 70_000
    rows = ([long if (row * 43 + n) % 47 == 0 else marks[(row + n) % 4] for n in range(43)] for row in range(2_000))
    lines = [";".join(["1.234,5", *cells]) for cells in rows]
    (tmp_path / "long.csv").write_text("".join(line + (";\n" if n % 9 else "\r\n") for n, line in enumerate(lines)))
    done = run(LOADED.format(path=str(tmp_path / "long.csv")))
    assert done.code == 0, done.text
    assert done.peak < MOST_FOR_LONG_CELLS


def test_short_rows_below_a_wide_one_are_not_filled_up_without_end(tmp_path: Path) -> None:
    file = tmp_path / "ragged.csv"
    file.write_text("a\n" * 300_000 + ",".join(["x"] * 1_900) + "\n")
    with pytest.raises(SourceError, match=r"ragged\.csv"):
        load_file(file, tmp_path / "loaded.duckdb")


def test_a_wide_row_far_below_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("a,b\n1,2\n" + ",".join(["x"] * 100_000) + "\n")
    with pytest.raises(SourceError, match="2,000 columns"):
        load_file(file, tmp_path / "loaded.duckdb")


@pytest.mark.parametrize("line", [b"a\tb\tc\n", b"a" * 9_999], ids=["triples", "one line"])
def test_gzipped_triples_are_bounded_while_they_are_unpacked(
    line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "MOST_BYTES", 1_000_000)
    with gzip.open(tmp_path / "edges.tsv.gz", "wb") as file:
        file.write(line * (2_000_000 // len(line)))
    assert (tmp_path / "edges.tsv.gz").stat().st_size < 20_000
    with pytest.raises(SourceError, match=r"takes more than 1,000,000 bytes|at most 128 letters"):
        deque(loading._triples(tmp_path / "edges.tsv.gz", "\t"), maxlen=0)
