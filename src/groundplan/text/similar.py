"""How near words are to each other: by their stems, or by embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from groundplan.text.lexicon import load_lexicon
from groundplan.text.words import normalise, words_of

Nearness = Callable[[str, Sequence[str]], Sequence[float]]
"""The cosine similarity of a phrase to each of some names, by embeddings."""


def content_stems(text: str) -> set[str]:
    """Stems without filler words."""
    fillers = load_lexicon().fillers
    return {word.stem for word in words_of(normalise(text)) if word.stem not in fillers}
