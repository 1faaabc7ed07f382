"""Ranks tools for a set of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundplan.catalog.search.fusion import Scores, combine, fuse, order, relative
from groundplan.catalog.search.index import Index
from groundplan.catalog.search.queries import Queries
from groundplan.catalog.search.vectors import Embedder, Matrix

DECIMALS = 5  # scores are rounded, so that floating-point noise does not change the order
OWN_BEST = 10  # a query is credited with finding this many of its best tools


@dataclass(frozen=True)
class Hit:
    tool: str
    score: float
    queries: tuple[str, ...] = ()  # ids of the queries that have it among their own best


class Search:
    """Lexical search, and vector search if the index has vectors."""

    def __init__(self, index: Index, embedder: Embedder | None = None) -> None:
        self._index = index
        self._embedder = embedder

    def search(self, queries: Queries, limit: int) -> list[Hit]:
        """The best tools, ties sorted by name; tools that no query finds are left out."""
        return self.rank(queries, self.embed(queries), limit)

    def embed(self, queries: Queries) -> Matrix | None:
        if self._embedder is None or self._index.vectors is None:
            return None
        return self._embedder.queries([query.text for query in queries.all])

    def rank(self, queries: Queries, vectors: Matrix | None, limit: int) -> list[Hit]:
        """Rank tools for queries that are already embedded."""
        if not self._index.names:
            return []
        scores, found = self._scores(queries, vectors)
        fused = np.where(found, combine(scores[0], scores[1:]), 0).round(DECIMALS)
        own = [frozenset(order(score, OWN_BEST)) for score in scores]
        return [self._hit(row, fused, queries, own) for row in order(fused, limit)]

    def _scores(self, queries: Queries, vectors: Matrix | None) -> tuple[list[Scores], NDArray[np.bool_]]:
        lexical = [self._index.lexical.scores(query.text) for query in queries.all]
        found = np.max(lexical, axis=0) > 0
        if vectors is None or self._index.vectors is None:
            return [relative(scores) for scores in lexical], found
        near, nearest = self._index.vectors.scores(vectors)
        return [fuse(*pair) for pair in zip(lexical, near, strict=True)], found | nearest.any(axis=0)

    def _hit(self, row: int, fused: Scores, queries: Queries, own: Sequence[frozenset[int]]) -> Hit:
        finding = (query.id for query, rows in zip(queries.all, own, strict=True) if row in rows)
        return Hit(self._index.names[row], round(float(fused[row]), DECIMALS), tuple(dict.fromkeys(finding)))
