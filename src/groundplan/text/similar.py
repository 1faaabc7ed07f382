"""Earlier questions that are similar to this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from groundplan.contracts.conversation import Turn
from groundplan.text.lexicon import load_lexicon
from groundplan.text.words import normalise, words_of

Nearness = Callable[[str, Sequence[str]], Sequence[float]]
"""The cosine similarity of a phrase to each of some names, by embeddings."""

THRESHOLD = 0.8


def similar(question: str, turns: Sequence[Turn], nearness: Nearness | None) -> Turn | None:
    """The turn with the most similar question, the latest if several tie; None if none reaches the threshold.

    Without embeddings, similarity is the Dice coefficient of content stems. The result is only a candidate for reuse:
    the caller compares the requirements, and the gate checks the plan again.
    """
    if not turns:
        return None
    questions = [turn.question for turn in turns]
    scores = nearness(question, questions) if nearness else [_shared(question, other) for other in questions]
    best, place = max((score, place) for place, score in enumerate(scores))
    return turns[place] if best >= THRESHOLD else None


def _shared(one: str, other: str) -> float:
    left, right = content_stems(one), content_stems(other)
    return 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0


def content_stems(text: str) -> set[str]:
    """Stems without filler words."""
    fillers = load_lexicon().fillers
    return {word.stem for word in words_of(normalise(text)) if word.stem not in fillers}
