"""The values of a column that a model is shown: all of a few, otherwise those that words of the question may mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from rapidfuzz.distance import OSA

from groundplan.text.stems import lower
from groundplan.text.words import Word, texts_of, words_of

FEW = 30  # distinct values: so many are listed whole
MOST_MATCHES = 12
EXAMPLES = 5  # of values that no word of the question may mean
LONGEST_VALUE = 60  # characters; longer texts are no names
SHORT = 3  # letters: shorter beginnings match too much
SPELT = 5  # letters from which one may be wrong
Shown = tuple[tuple[str, ...], bool]
"""Values, and whether they are all there are."""


def shown_values(values: Sequence[str], question: Sequence[Word]) -> Shown:
    """All values if there are few, otherwise those that the question may name, or a few examples."""
    short = [value for value in values if len(value) <= LONGEST_VALUE]
    if len(values) <= FEW:
        return tuple(short), len(short) == len(values)
    initials = {*_initials([word.lower for word in question])}
    found = [value for value in short if _is_meant(value, question, initials)]
    return tuple(found[:MOST_MATCHES]) or tuple(short[:EXAMPLES]), False


def nearest(value: str, values: Sequence[str], most: int = 3) -> tuple[str, ...]:
    """The values that are written most like this one, the nearest first."""
    wanted = lower(value)
    by_distance = sorted(values, key=lambda one: (OSA.normalized_distance(wanted, lower(one)), one))
    return tuple(by_distance[:most])


def _is_meant(value: str, question: Sequence[Word], initials: set[str]) -> bool:
    """A word is the value's own, its beginning, its spelling but for a letter, or their initials are the same."""
    parts, stems = _parts(value)
    if "".join(parts) in initials or (
        "".join(part[0] for part in parts) in {w.lower for w in question} and len(parts) > 1
    ):
        return True
    return any(word.stem in stems or any(_is_like(word.lower, part) for part in parts) for word in question)


@lru_cache(maxsize=20_000)
def _parts(value: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The words of a value in lower case, and their stems."""
    return tuple(map(lower, texts_of(value))), frozenset(word.stem for word in words_of(value))


def _is_like(word: str, part: str) -> bool:
    if min(len(word), len(part)) < SHORT or word[0] != part[0] or part.isdigit():
        return False
    if word.startswith(part) or part.startswith(word):
        return True
    return len(part) >= SPELT and abs(len(word) - len(part)) <= 1 and OSA.distance(word, part, score_cutoff=1) <= 1


def _initials(words: Sequence[str]) -> Iterator[str]:
    """The first letters of two to four words that follow each other."""
    for first in range(len(words)):
        for last in range(first + 2, min(first + 4, len(words)) + 1):
            yield "".join(word[0] for word in words[first:last])
