"""Unknown words that come near a column in meaning: only with embeddings, and only where one column stands out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from groundplan.asking.tables.columns import Mention
from groundplan.asking.tables.scan import Scan
from groundplan.text.names import split_name
from groundplan.text.similar import Nearness

NEAR, CLEAR, MEANT = 0.6, 0.2, 0.45  # below these a small model takes spending for revenue


def find_meant(scan: Scan, nearness: Nearness) -> Iterator[Mention]:
    """For each run of unexplained words, the column whose name is near and clearly nearer than the next."""
    columns = scan.table.columns
    names = [" ".join(split_name(column.name)) for column in columns]
    for first, last in runs(scan.unexplained):
        phrase, _ = scan.spoken(first, last)
        near = sorted(zip(nearness(phrase, names), range(len(names)), strict=True), reverse=True)
        if near and near[0][0] >= NEAR and (len(near) == 1 or near[0][0] - near[1][0] >= CLEAR):
            yield Mention(columns[near[0][1]], first, last, MEANT)


def runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Places that follow each other, as one phrase."""
    for _, group in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        run = [place for _, place in group]
        yield run[0], run[-1] + 1
