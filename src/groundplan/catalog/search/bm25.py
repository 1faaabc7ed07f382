"""BM25 over the words of tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import bm25s
import numpy as np
from numpy.typing import NDArray

from groundplan.catalog.search.search_words import words

SATURATION = 2.0  # k1: the weight of repeated words
LENGTH_PENALTY = 0.9  # b: how much the score of long documents is reduced
NO_WORD = ""  # placeholder for a document without words, which the library cannot index

Scores = NDArray[np.float32]


class Lexical:
    """Scores every document, in the order they were given."""

    def __init__(self, index: bm25s.BM25) -> None:
        self._index = index
        self._count: int = index.scores["num_docs"]

    @classmethod
    def build(cls, texts: Sequence[list[str]]) -> Self:
        index = bm25s.BM25(k1=SATURATION, b=LENGTH_PENALTY, auto_compile=False)
        index.index([text or [NO_WORD] for text in texts] or [[NO_WORD]], show_progress=False)
        return cls(index)

    @classmethod
    def load(cls, folder: Path) -> Self:
        return cls(bm25s.BM25.load(folder, mmap=True, show_progress=False))

    def save(self, folder: Path) -> None:
        self._index.save(folder, show_progress=False)

    def scores(self, text: str) -> Scores:
        """The scores of all documents. Repeated words of the text count once."""
        known = self._index.get_tokens_ids(list(dict.fromkeys(words(text))))
        if not known:
            return np.zeros(self._count, dtype=np.float32)
        return np.asarray(self._index.get_scores_from_ids(known), dtype=np.float32)
