"""The search over a catalog, opened on first use: questions planned by rules do not need it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from groundplan.catalog.catalog import Catalog
from groundplan.errors import WorldError

if TYPE_CHECKING:
    from groundplan.catalog.search.queries import Queries
    from groundplan.catalog.search.search import Hit, Search
    from groundplan.catalog.search.vectors import SentenceEmbedder


class LazySearch:
    """Lexical search, and vector search if `embeddings` names a model that can be loaded; if not, `notes` says why."""

    def __init__(self, catalog: Catalog, cache: Path, embeddings: str | None = None, notes: list[str] | None = None):
        self._catalog, self._cache, self._embeddings = catalog, cache, embeddings
        self._notes = [] if notes is None else notes

    def search(self, queries: Queries, limit: int) -> Sequence[Hit]:
        return self._search.search(queries, limit)

    def nearness(self, phrase: str, names: Sequence[str]) -> Sequence[float]:
        """The cosine similarity of a phrase to each name; call it only if `has_embeddings`."""
        assert self._embedder is not None
        near = self._embedder.queries([phrase]) @ self._embedder.documents(names).T
        return [float(cosine) for cosine in near[0]]

    @cached_property
    def has_embeddings(self) -> bool:
        return self._embedder is not None

    @cached_property
    def _search(self) -> Search:
        from groundplan.catalog.search.index import open_index
        from groundplan.catalog.search.search import Search

        return Search(open_index(self._catalog, self._cache, self._embedder), self._embedder)

    @cached_property
    def _embedder(self) -> SentenceEmbedder | None:
        if self._embeddings is None:
            return None
        from groundplan.catalog.search.vectors import SentenceEmbedder

        try:
            embedder = SentenceEmbedder(self._embeddings)
            embedder.load()
        except WorldError as error:
            self._notes.append(f"{error}; tools are searched by words only")
            return None
        return embedder
