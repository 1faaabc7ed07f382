"""Finds the tables that a question may be about among hundreds: by the words of their names and columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from groundplan.contracts.join_paths import paths_between
from groundplan.contracts.schema import Relationship, Table
from groundplan.text.names import split_name
from groundplan.text.stems import stem
from groundplan.text.words import normalise, words_of

MOST = 12  # tables that a question is read over
IN_NAME, IN_COLUMN = 1.0, 0.6
AGAIN = 0.2  # what a word still counts for once a table has it


class TableIndex:
    """An inverted index: for each stem, the tables whose name or columns have it. Rare words count for more."""

    def __init__(self, tables: Sequence[Table], links: Sequence[Relationship]) -> None:
        self._links = links
        self._names = [table.name for table in tables]
        self._found: dict[str, dict[str, float]] = {}
        for table in tables:
            for word in (word for column in table.columns for word in split_name(column.name)):
                self._found.setdefault(stem(word), {})[table.name] = IN_COLUMN
            for word in split_name(table.name):
                self._found.setdefault(stem(word), {})[table.name] = IN_NAME

    def find(self, text: str) -> tuple[str, ...]:
        """The tables that explain most of the text together, and those on the paths between them."""
        words = {word.stem: self._weight(word.stem) for word in words_of(normalise(text)) if word.stem in self._found}
        chosen: list[str] = []
        while len(chosen) < MOST:
            gains = {name: self._gain(name, words) for name in self._names if name not in chosen}
            best = max(gains, key=lambda name: (gains[name], name in text, -len(name)), default=None)
            if best is None or gains[best] <= 0:
                break
            chosen.append(best)
            words = {word: left * AGAIN if best in self._found[word] else left for word, left in words.items()}
        return self._connected(chosen or self._names[:MOST])

    def _weight(self, word: str) -> float:
        return math.log(1 + len(self._names) / len(self._found[word]))

    def _gain(self, name: str, words: Mapping[str, float]) -> float:
        return sum(left * self._found[word].get(name, 0.0) for word, left in words.items())

    def _connected(self, chosen: Sequence[str]) -> tuple[str, ...]:
        between = [
            link.to_table
            for pair in combinations(chosen, 2)
            for start, end in (pair, pair[::-1])
            for path in paths_between(self._links, start, end)[:1]
            for link in path
        ]
        return tuple(dict.fromkeys((*chosen, *between)))
