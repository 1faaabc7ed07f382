"""Searches documents by words and by embeddings; the combined score also shows when nothing fits."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import inf, log
from pathlib import Path

import bm25s
import numpy as np
from bm25s.stopwords import STOPWORDS_EN_PLUS, STOPWORDS_RUSSIAN

from groundplan.sources.knowledge.documents import Document, Piece, pieces_of
from groundplan.sources.knowledge.vectors import Scores, Vectors, installed
from groundplan.sources.knowledge.word_forms import forms

SATURATION = 1.2  # k1: the weight of repeated words
LENGTH_PENALTY = 0.75  # b: how much the score of long pieces is reduced
LEXICAL_WEIGHT = 0.6  # the rest is the weight of embeddings; measured, see docs/decisions/0020
FLOOR = 0.2  # a piece with a lower score is probably about something else
FLOOR_ACROSS = 0.12  # the same across languages, where words do not match
NEARLY = 0.9  # pieces with at least this share of the best score are included
MOST_PIECES = 3
NO_WORD = ""  # placeholder for a piece without words, which the library cannot index


@dataclass(frozen=True)
class Hit:
    """A document found for a question, with its best passages."""

    document: Document
    text: str
    score: float  # 1 is a perfect match in words and meaning
    fits: bool  # the score is high enough


def open_search(documents: Iterable[Document], folder: Path, base: str) -> Search:
    """Search by words, and by embeddings if the extra is installed; `folder` caches the embeddings."""
    found = [piece for document in documents for piece in pieces_of(document)]
    return Search(found, Vectors(found, folder, base) if installed() and found else None)


class Search:
    """Searches a fixed set of documents, one search at a time."""

    def __init__(self, pieces: Sequence[Piece], vectors: Vectors | None = None) -> None:
        self.pieces = pieces
        self._bm25 = _Bm25([forms(piece.search_text) for piece in self.pieces])
        self._vectors = vectors
        self._one_at_a_time = threading.Lock()

    def find(self, question: str, top_k: int, types: Sequence[str] = (), until: float = inf) -> list[Hit]:
        """At most `top_k` documents, best first; ties keep their order."""
        if not self.pieces:
            return []
        with self._one_at_a_time:
            scores = self._scores(question, types, until)
        found: dict[str, list[int]] = {}
        for row in map(int, np.argsort(-scores, kind="stable")):
            document = self.pieces[row].document
            if scores[row] > 0 and (not types or document.type in types):
                found.setdefault(document.id, []).append(row)
        return [self._hit(rows, scores, question) for rows in islice(found.values(), top_k)]

    def _hit(self, rows: Sequence[int], scores: Scores, question: str) -> Hit:
        """The best piece of a document and those that score nearly as well, in reading order."""
        best = float(scores[rows[0]])
        near = sorted(row for row in rows[:MOST_PIECES] if scores[row] >= NEARLY * best)
        text = "\n\n".join(self.pieces[row].text for row in near)
        floor = FLOOR if _is_russian(question) == _is_russian(text) else FLOOR_ACROSS
        return Hit(self.pieces[rows[0]].document, text, best, best >= floor)

    def _scores(self, question: str, types: Sequence[str], until: float) -> Scores:
        lexical = self._bm25.scores(question)
        if self._vectors is None:
            return lexical
        meaning = self._vectors.scores(question, types, until)
        return np.asarray(LEXICAL_WEIGHT * lexical + (1 - LEXICAL_WEIGHT) * meaning, dtype=np.float32)


class _Bm25:
    """BM25 scores divided by the score of a piece with all words of the question."""

    def __init__(self, texts: Sequence[list[str]]) -> None:
        self._index = bm25s.BM25(k1=SATURATION, b=LENGTH_PENALTY, auto_compile=False)
        self._index.index([text or [NO_WORD] for text in texts] or [[NO_WORD]], show_progress=False)
        self._holding = Counter(form for text in texts for form in set(text))
        self._count = len(texts)

    def scores(self, question: str) -> Scores:
        asked = [form for form in dict.fromkeys(forms(question)) if form not in _filler()]
        known = self._index.get_tokens_ids(asked)
        if not known:
            return np.zeros(self._count, dtype=np.float32)
        whole = sum(map(self._weight, asked))
        return np.asarray(self._index.get_scores_from_ids(known) / whole, dtype=np.float32)

    def _weight(self, form: str) -> float:
        """The inverse document frequency, as in BM25."""
        holding = self._holding[form]
        return log(1 + (self._count - holding + 0.5) / (holding + 0.5))


def _is_russian(text: str) -> bool:
    lower = text.lower()
    return len(re.findall(r"[а-яё]", lower)) >= len(re.findall(r"[a-z]", lower))


@lru_cache(maxsize=1)
def _filler() -> frozenset[str]:
    """Stop words, which do not show what a question is about."""
    return frozenset(forms(" ".join((*STOPWORDS_EN_PLUS, *STOPWORDS_RUSSIAN))))
