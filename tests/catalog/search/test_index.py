"""An index is used again as long as, and only as long as, the catalog and the makers are the same."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search import index as indexing
from groundplan.catalog.search.bm25 import Lexical
from groundplan.catalog.search.documents import Document, documents
from groundplan.catalog.search.index import Index, find_index, open_documents, open_index
from groundplan.catalog.search.queries import for_text
from groundplan.catalog.search.search import Search
from tests.catalog.search.tooling import tool

CATALOG = Catalog.of([tool("count_rows", "Counts the rows of a table."), tool("send_mail", "Sends a letter.")])


def folders(cache: Path) -> list[Path]:
    return sorted((cache / "index").iterdir())


def found(index: Index, text: str) -> list[str]:
    return [hit.tool for hit in Search(index).search(for_text(text), 10)]


def never() -> Sequence[Document]:
    raise AssertionError("the tools were read again")


@pytest.mark.requirement("R13")
def test_the_second_opening_reads_no_tool_and_finds_the_same(tmp_path: Path) -> None:
    first = open_documents("v1", lambda: documents(CATALOG), tmp_path)
    second = open_documents("v1", never, tmp_path)
    assert second.names == first.names == ("count_rows", "send_mail")
    assert found(second, "count the rows") == found(first, "count the rows") == ["count_rows"]


@pytest.mark.requirement("R13")
def test_a_changed_catalog_is_indexed_anew(tmp_path: Path) -> None:
    assert found(open_index(CATALOG, tmp_path), "a telegram") == []
    changed = Catalog.of([*CATALOG.tools.values(), tool("wire", "Sends a telegram.")])
    assert found(open_index(changed, tmp_path), "a telegram") == ["wire"]
    assert len(folders(tmp_path)) == 2


def test_another_way_of_making_words_makes_another_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_index(CATALOG, tmp_path)
    monkeypatch.setattr(indexing, "FORMAT", indexing.FORMAT + 1)
    with pytest.raises(AssertionError, match="read again"):
        open_documents(CATALOG.version, never, tmp_path)


@pytest.mark.parametrize("file", ["names.json", "words/data.csc.index.npy", "words/vocab.index.json"])
def test_a_damaged_index_is_made_again(file: str, tmp_path: Path) -> None:
    open_index(CATALOG, tmp_path)
    (place,) = folders(tmp_path)
    (place / file).write_bytes(b"")
    assert find_index(place) is None
    assert found(open_index(CATALOG, tmp_path), "count the rows") == ["count_rows"]
    assert find_index(place) is not None


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    assert found(open_index(CATALOG, blocked), "count the rows") == ["count_rows"]


def test_the_oldest_indexes_go(tmp_path: Path) -> None:
    for number in range(indexing.KEPT + 1):
        open_documents(f"v{number:02}", lambda: documents(CATALOG), tmp_path)
        os.utime(next(tmp_path.glob(f"index/v{number:02}-*")), (number, number))
    open_documents("last", lambda: documents(CATALOG), tmp_path)
    left = {path.name.split("-")[0] for path in folders(tmp_path)}
    assert len(left) == indexing.KEPT
    assert {"last", "v16"} <= left
    assert "v00" not in left


def test_a_catalog_without_tools_finds_nothing(tmp_path: Path) -> None:
    open_index(Catalog.of([]), tmp_path)
    assert found(open_index(Catalog.of([]), tmp_path), "count the rows") == []


def test_documents_without_words_are_never_found() -> None:
    assert Lexical.build([[], []]).scores("count the rows").tolist() == [0, 0]
