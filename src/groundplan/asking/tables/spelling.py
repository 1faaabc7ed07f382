"""Words that miss a phrase of the lexicon by a letter or two."""

from __future__ import annotations

from collections.abc import Iterator

from rapidfuzz.distance import OSA

from groundplan.asking.tables.scan import Scan
from groundplan.text.lexicon import Phrases

Run = tuple[int, int]
"""Words that follow each other, from the first up to, not including, the last."""

SLIPS = ((8, 2), (5, 1))  # letters of a word, and how many of them may be wrong


def find_slips(scan: Scan, run: Run, phrases: Phrases) -> Iterator[tuple[tuple[str, ...], str]]:
    """The run, alone or with a word beside it, where it is near a phrase; with the phrase's label."""
    windows = [(first, last) for first in range(max(run[0] - 1, 0), run[0] + 1) for last in range(run[1], run[1] + 2)]
    for first, last in ((first, last) for first, last in windows if last <= len(scan.words)):
        stems = tuple(word.stem for word in scan.words[first:last])
        spoken = " ".join(stems)
        yield from ((stems, label) for known, label in phrases.all() if _slipped(spoken, " ".join(known)))


def _slipped(spoken: str, known: str) -> bool:
    shorter = min(len(spoken), len(known))
    allowed = next((slips for letters, slips in SLIPS if shorter >= letters), 0)
    return spoken[0] == known[0] and 0 < OSA.distance(spoken, known) <= allowed
