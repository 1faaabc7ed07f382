"""A small hostile file neither ends the process nor takes its memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import groundplan
from groundplan.errors import SourceError
from tests.adversarial.limited import opened

MOST = 900  # MB; an ordinary file takes about 350


@pytest.fixture
def far_apart(tmp_path: Path) -> Path:
    """Two cells, and 17 billion between them."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "a", "b"
    file = tmp_path / "far.xlsx"
    book.save(file)
    return file


@pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")
def test_two_cells_far_apart(far_apart: Path) -> None:
    done = opened(far_apart)
    assert done.code == 0, done.text
    assert "REFUSED" in done.text
    assert "bytes of memory" in done.text
    assert done.peak < MOST


def test_a_library_in_the_current_folder_is_not_imported_by_the_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["region", "revenue"])
    book.active.append(["West", 3])
    book.save(tmp_path / "sales.xlsx")
    (tmp_path / "python_calamine.py").write_text("open('imported', 'w')\n")
    monkeypatch.chdir(tmp_path)
    with groundplan.open("sales.xlsx") as project:
        assert [table.name for table in project.schemas["tables"].tables] == ["sales"]
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"not a workbook", b"PK\x05\x06" + b"\0" * 18])
def test_a_damaged_workbook_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad.xlsx").write_bytes(content)
    with pytest.raises(SourceError, match=r"bad\.xlsx"):
        groundplan.open(tmp_path / "bad.xlsx")


def test_a_wide_file_takes_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text(",".join(f"c{n}" for n in range(501)) + "\n" + ",".join(map(str, range(501))) + "\n")
    done = opened(file)
    assert "OPENED 1" in done.text
    assert done.peak < MOST


def test_a_wide_row_of_texts_takes_little_memory(tmp_path: Path) -> None:
    """Each list of different values takes megabytes: two thousand at once took five gigabytes."""
    file = tmp_path / "wide.csv"
    file.write_text(",".join(f"c{n}" for n in range(700)) + "\n" + ",".join(["a"] * 700) + "\n")
    done = opened(file)
    assert "OPENED 1" in done.text
    assert done.peak < MOST


@pytest.mark.parametrize("columns", [2_002, 60_000])
def test_a_file_that_is_too_wide_is_refused_before_it_is_read(columns: int, tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text(",".join("c" for _ in range(columns)) + "\n")
    done = opened(file)
    assert "REFUSED" in done.text
    assert "2,000 columns" in done.text
    assert done.peak < MOST


@pytest.mark.parametrize("nested", ["[", "{", "- ", "? ", "&a ", "!!seq [", "a: ["], ids=str)
@pytest.mark.parametrize("above", ["", "types: ", "graph:\n - "])
def test_yaml_of_a_hundred_thousand_brackets(nested: str, above: str, tmp_path: Path) -> None:
    from groundplan.sources.knowledge.source import Knowledge

    (tmp_path / "knowledge.yaml").write_text(above + nested * 100_000)
    with pytest.raises(SourceError):
        Knowledge.open(tmp_path)


def test_front_matter_of_a_hundred_thousand_brackets(tmp_path: Path) -> None:
    from groundplan.sources.knowledge.markdown import load_markdown

    (tmp_path / "page.md").write_text("---\ntitle: " + "[" * 100_000 + "\n---\nText\n")
    with pytest.raises(SourceError):
        load_markdown(tmp_path / "page.md")


def test_a_file_that_takes_too_long_to_load_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from groundplan.sources.tables.files import load

    file = tmp_path / "long.csv"
    file.write_text("a,b,c\n" + "".join(f"{number},x{number},{number / 7}\n" for number in range(200_000)))
    monkeypatch.setattr(load, "MOST_SECONDS", 0.01)
    with pytest.raises(SourceError, match=r"could not be read in 0\.01 s"):
        groundplan.open(file)
    monkeypatch.setattr(load, "MOST_SECONDS", 600.0)
    with groundplan.open(file) as project:
        assert project.schemas["tables"].tables[0].row_count == 200_000


@pytest.mark.parametrize("content", ["a;b\n1;2\n", "a,b\r\n1,2\n", 'a,b\n1,"x\ny"\n1\n'])
def test_a_file_that_takes_too_long_to_rewrite_is_left(content: str, tmp_path: Path) -> None:
    import duckdb

    from groundplan.sources.tables.files.csv import _tidy, read_csv

    file = tmp_path / "ragged.csv"
    file.write_text(content + "1,2,3,4\n" * 10)
    with pytest.raises(TimeoutError):
        _tidy(file, tmp_path / "tidy.csv", until=0)
    with duckdb.connect() as connection:
        read_csv(connection, file, "ragged")
        assert connection.execute("SELECT count(*) > 10 FROM ragged").fetchone() == (True,)
