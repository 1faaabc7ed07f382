"""Unknown words that come near a column in meaning: only with embeddings, and only where one column stands out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from groundplan.reading.columns import Mention
from groundplan.reading.scan import Scan
from groundplan.reading.words import split_name

Meaning = Callable[[str, Sequence[str]], Sequence[float]]
"""How near a phrase comes to each of some names, as cosines."""

NEAR, CLEAR, MEANT = 0.6, 0.2, 0.45  # below these a small model takes spending for revenue


def find_meant(scan: Scan, meaning: Meaning) -> Iterator[Mention]:
    """For each run of unexplained words, the column whose name is near and clearly nearer than the next."""
    columns = scan.table.columns
    names = [" ".join(split_name(column.name)) for column in columns]
    for first, last in _runs(scan.unexplained):
        phrase, _ = scan.spoken(first, last)
        near = sorted(zip(meaning(phrase, names), range(len(names)), strict=True), reverse=True)
        if near and near[0][0] >= NEAR and (len(near) == 1 or near[0][0] - near[1][0] >= CLEAR):
            yield Mention(columns[near[0][1]], first, last, MEANT)


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = None
    for place, following in zip(places, [*places[1:], None], strict=True):
        start = place if start is None else start
        if following != place + 1:
            yield start, place + 1
            start = None
