"""Senses of words that nothing knows: a column that is near by embeddings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from groundplan.asking.tables.grammar.phrases import Item
from groundplan.asking.tables.grammar.senses import Senses, as_field
from groundplan.text.names import split_name
from groundplan.text.similar import Nearness

MIN_NEARNESS, MIN_LEAD, FIELD_SCORE = 0.6, 0.2, 0.45  # below these a small model takes spending for revenue


def columns_meant(senses: Senses, unread: Sequence[int], nearness: Nearness) -> Iterator[Item]:
    """For each run of unread words, the column whose name is near and clearly nearer than the next."""
    columns = senses.meanings.table.columns
    names = [" ".join(split_name(column.name)) for column in columns]
    known = {place for item in senses.items for place in range(item.first, item.last)}
    for first, last in _runs([place for place in unread if place not in known]):
        phrase = senses.text[senses.words[first].start : senses.words[last - 1].end]
        near = sorted(zip(nearness(phrase, names), range(len(names)), strict=True), reverse=True)
        if near and near[0][0] >= MIN_NEARNESS and (len(near) == 1 or near[0][0] - near[1][0] >= MIN_LEAD):
            yield Item("field", first, last, as_field(columns[near[0][1]], senses.meanings), FIELD_SCORE)


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Places that follow each other, as one phrase."""
    for _, group in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        run = [place for _, place in group]
        yield run[0], run[-1] + 1
