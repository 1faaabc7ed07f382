"""Passages: found in any form of the words, across languages with the extra, and not found when nothing fits."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.knowledge.small import write

from groundplan.errors import DeadlineExceeded, ToolError
from groundplan.sources.knowledge.documents import LONGEST, Document, load_document, pieces_of
from groundplan.sources.knowledge.search import Search, open_search
from groundplan.sources.knowledge.vectors import Vectors, installed

needs_the_extra = pytest.mark.skipif(not installed(), reason="needs the extra `knowledge`")
paragraphs = st.lists(st.text("аbв .!\n", max_size=3_000), max_size=6)


@pytest.fixture
def documents(tmp_path: Path) -> list[Document]:
    folder = write(tmp_path)
    pages = [load_document(path, folder) for path in sorted((folder / "documents").iterdir())]
    return [*pages, Document("project:echo", "project", "Echo", "Echo plays a sound back. It was built in a cave.")]


@pytest.fixture
def by_words(documents: list[Document]) -> Search:
    return Search([piece for document in documents for piece in pieces_of(document)])


@given(paragraphs)
def test_pieces_hold_every_letter_in_order_and_stay_short(texts: list[str]) -> None:
    text = "\n\n".join(texts)
    pieces = list(pieces_of(Document("a", "document", "A", text)))
    assert "".join("".join(piece.text.split()) for piece in pieces) == "".join(text.split())
    assert all(0 < len(piece.text) <= LONGEST + 2 for piece in pieces)


def test_a_section_is_a_piece_of_its_own_under_its_heading(documents: list[Document]) -> None:
    first, second = pieces_of(documents[0])
    assert first.text == "Мост через реку строили два года."
    assert second.text.startswith("Почему он каменный\n\nДерево гниёт")
    assert second.search_text.startswith("Как строили мост\n")


@pytest.mark.requirement("R47")
def test_other_forms_of_the_words_find_the_passage(by_words: Search) -> None:
    (hit, *_) = by_words.find("опора моста из гранита", 3)
    assert (hit.document.id, hit.fits) == ("document:documents/bridge.md", True)
    assert "опоры сделали из гранита" in hit.text


@pytest.mark.requirement("R10")
@pytest.mark.parametrize("question", ["What is the boiling point of mercury?", "Какая столица Монголии?", "?", "the"])
def test_nothing_fits_a_question_about_something_else(question: str, by_words: Search) -> None:
    assert not [hit for hit in by_words.find(question, 3) if hit.fits]


def test_only_documents_of_the_named_types_are_found(by_words: Search) -> None:
    assert [hit.document.type for hit in by_words.find("the lamp and the cave", 5)] == ["project", "document"]
    assert [hit.document.type for hit in by_words.find("the lamp and the cave", 5, ["document"])] == ["document"]
    assert by_words.find("lamp", 5, ["person"]) == []


def test_no_documents_are_no_fault(tmp_path: Path) -> None:
    assert open_search([], tmp_path, "base").find("anything", 3) == []


@needs_the_extra
@pytest.mark.requirement("R47")
def test_meaning_finds_a_passage_in_the_other_language(documents: list[Document], tmp_path: Path) -> None:
    search = open_search(documents, tmp_path / "vectors", "base")
    (hit, *_) = search.find("Смотритель маяка каждый вечер зажигал лампу", 1)
    assert (hit.document.id, hit.fits) == ("document:documents/lighthouse.md", True)
    assert not [hit for hit in search.find("What is the boiling point of mercury?", 3) if hit.fits]


@needs_the_extra
@pytest.mark.requirement("R47")
def test_pieces_are_embedded_once_and_forgotten_with_their_documents(documents: list[Document], tmp_path: Path) -> None:
    def opened(some: list[Document]) -> Vectors:
        return Vectors([piece for document in some for piece in pieces_of(document)], tmp_path / "vectors", "base")

    past, future = time.monotonic() - 1, time.monotonic() + 600
    with pytest.raises(DeadlineExceeded, match="0 of 4 new pieces"):
        opened(documents).scores("lamp", (), past)
    assert opened(documents).scores("lamp", (), future).shape == (4,)
    assert opened(documents).scores("lamp", (), past).max() > 0, "nothing was left to embed"
    assert opened(documents[:1]).scores("lamp", (), past).shape == (2,)
    with pytest.raises(DeadlineExceeded, match="0 of 2 new pieces"):
        opened(documents).scores("lamp", (), past)


@needs_the_extra
def test_vectors_too_are_of_the_named_types_alone(documents: list[Document], tmp_path: Path) -> None:
    pieces = [piece for document in documents for piece in pieces_of(document)]
    scores = Vectors(pieces, tmp_path / "vectors", "base").scores("lamp", ("project",), time.monotonic() + 600)
    assert [score > 0 for score in scores[:-1]] == [False] * (len(pieces) - 1)


@needs_the_extra
def test_a_broken_store_of_embeddings_says_what_to_delete(documents: list[Document], tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "chroma.sqlite3").write_bytes(b"no database" * 500)
    with pytest.raises(ToolError, match=r"broken cannot be used .* delete that folder"):
        open_search(documents, tmp_path / "broken", "base").find("lamp", 1)
