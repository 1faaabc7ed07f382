"""The file that is named is the file that is read, as it is now."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import groundplan
from groundplan.errors import SourceError
from groundplan.result import Result

TRAPS = [
    ("reports [2024]/sales.csv", "reports 2/sales.csv"),
    ("q?/sales.csv", "qq/sales.csv"),
    ("a*b/sales.csv", "axb/sales.csv"),
    ("**/sales.csv", "other/sales.csv"),
    ("[!x]/sales.csv", "y/sales.csv"),
    ("back\\x/sales.csv", "back/x/sales.csv"),
    ("{a,b}/sales.csv", "a/sales.csv"),
    ("*.csv", "other.csv"),
    ("*.parquet", "other.parquet"),
]


def total(path: Path) -> object:
    with groundplan.open(path) as project:
        return _total(project.ask("total revenue"))


def _total(result: Result) -> object:
    assert result.kind == "answer", result.text
    return result.table.iloc[0, 0] if result.table is not None else result.text


def write(path: Path, revenue: float, region: str = "Earth") -> None:
    import pandas

    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pandas.DataFrame({"region": [region], "revenue": [revenue]})
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)


@pytest.mark.parametrize(("named", "neighbour"), TRAPS)
def test_a_pattern_in_a_path_is_part_of_its_name(named: str, neighbour: str, tmp_path: Path) -> None:
    write(tmp_path / neighbour, 7_000_000)
    write(tmp_path / named, 41)
    assert "41" in str(total(tmp_path / named))


def test_a_path_that_cannot_be_written_exactly_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "back" / "[x]" / "sales.csv", 7_000_000)
    write(tmp_path / "back\\[x]" / "sales.csv", 41)
    with pytest.raises(SourceError, match="rename it"):
        groundplan.open(tmp_path / "back\\[x]" / "sales.csv")


def test_a_folder_that_looks_like_a_partition_changes_no_cell(tmp_path: Path) -> None:
    for kind in ("csv", "parquet"):
        file = tmp_path / "revenue=5" / "region=Mars" / f"s.{kind}"
        write(file, 41)
        with groundplan.open(file) as project:
            assert "41" in str(_total(project.ask("total revenue")))
            assert "Earth" in str(project.ask("revenue by region").table)


def test_a_ragged_file_is_read_exactly_too(tmp_path: Path) -> None:
    """Such a file is rewritten first, and the copy is read."""
    file = tmp_path / "x=1 [2024]" / "s.csv"
    file.parent.mkdir()
    file.write_text("region,revenue\nWest,41,extra\nEast,1\n")
    with groundplan.open(file) as project:
        assert {column.name for column in project.schemas["tables"].tables[0].columns} >= {"region", "revenue"}


def test_a_changed_file_is_read_again_though_size_and_time_agree(tmp_path: Path) -> None:
    file = tmp_path / "sales.csv"
    write(file, 41)
    before = file.stat()
    assert "41" in str(total(file))
    write(file, 52)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert "52" in str(total(file))


def test_a_large_file_is_noticed_by_what_a_writer_cannot_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groundplan.sources.tables.files.load.MOST_HASHED", 0)
    test_a_changed_file_is_read_again_though_size_and_time_agree(tmp_path)
