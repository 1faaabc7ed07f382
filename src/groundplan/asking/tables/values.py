"""Which words of a question are values of the data: what filters are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groundplan.contracts.schema import Table
from groundplan.text.words import Word, words_of

LONGEST_VALUE = 6  # words
Values = Mapping[str, tuple[str, ...]]
"""Distinct values by column, as the engine gave them; they never leave the reading stage except in filters."""


@dataclass(frozen=True)
class ValueMention:
    """Words that are a value of a column; `others` are columns that hold the same value."""

    column: str
    value: str
    first: int
    last: int
    others: tuple[str, ...] = ()


def find_values(words: Sequence[Word], table: Table, values: Values) -> tuple[ValueMention, ...]:
    """Left to right, the longest first, none inside another."""
    known: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for column in table.columns:
        spoken = [(value, value) for value in values.get(column.name, ())]
        spoken += [(phrase, called.value) for called in column.called for phrase in called.words]
        for phrase, value in spoken:
            stems = tuple(word.stem for word in words_of(phrase))
            if stems and len(stems) <= LONGEST_VALUE:
                known.setdefault(stems, []).append((column.name, value))
    found: list[ValueMention] = []
    place = 0
    while place < len(words):
        mention = _longest_at(words, place, known)
        if mention:
            found.append(mention)
        place = mention.last if mention else place + 1
    return tuple(found)


def _longest_at(
    words: Sequence[Word], place: int, known: Mapping[tuple[str, ...], list[tuple[str, str]]]
) -> ValueMention | None:
    for last in range(min(place + LONGEST_VALUE, len(words)), place, -1):
        span = words[place:last]
        held = known.get(tuple(word.stem for word in span))
        if not held or all(word.is_number for word in span):
            continue
        (column, value), *others = held
        return ValueMention(
            column, value, place, last, tuple(dict.fromkeys(name for name, _ in others if name != column))
        )
    return None
