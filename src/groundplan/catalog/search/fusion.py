"""Combines the scores of different searches.

Unlike ranks, relative scores keep the distance between results. Measured on tool retrieval, they beat reciprocal-rank
fusion, especially for requests with several parts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEXICAL_WEIGHT = 0.5  # the rest is the weight of vectors
PART_WEIGHT = 0.5  # of the best part, added to the whole

Scores = NDArray[np.float32]


def relative(scores: Scores) -> Scores:
    """Each score divided by the best one; all zero if nothing was found."""
    best = scores.max(initial=0)
    return scores / best if best > 0 else np.zeros_like(scores)


def fuse(lexical: Scores, vectors: Scores) -> Scores:
    """The weighted sum of lexical and vector scores for one text."""
    return LEXICAL_WEIGHT * relative(lexical) + (1 - LEXICAL_WEIGHT) * relative(vectors)


def combine(whole: Scores, parts: Sequence[Scores]) -> Scores:
    """The score of the whole request plus the best score of its parts, so that no part is drowned out."""
    return whole + PART_WEIGHT * np.max(parts, axis=0) if parts else whole


def order(scores: Scores, limit: int) -> list[int]:
    """The positions of the best scores above zero; ties keep their order."""
    least = np.partition(scores, -limit)[-limit] if limit < len(scores) else 0
    kept = np.flatnonzero((scores >= least) & (scores > 0))
    return [int(kept[place]) for place in np.argsort(-scores[kept], kind="stable")[:limit]]
