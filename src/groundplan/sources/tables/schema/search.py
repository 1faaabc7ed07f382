"""Finds the tables that a question may be about among hundreds: by their names, columns, synonyms and values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Table
from groundplan.text.names import name_words, split_name
from groundplan.text.stems import stem
from groundplan.text.words import normalise, words_of

MOST = 12  # tables that a question is read over
LEAST = 0.4  # of the best table's score: tables with less are not read
SEEDS = 80  # tables that are looked at together with those related to them
IN_NAME, IN_COLUMN, IN_VALUE = 1.0, 0.6, 0.5
RELATED = 0.8  # what a word counts for in a related table
TOGETHER = 2.0  # how much more a table counts for with the tables that it is related to than alone
FARTHEST = 3  # relationships between two tables that are read together
Found = Mapping[str, float]


class TableIndex:
    """An inverted index: for each stem, the tables that have it and how well it tells. Rare stems count for more."""

    def __init__(
        self, tables: Sequence[Table], links: Sequence[Relationship], values: Mapping[str, Iterable[str]] | None = None
    ) -> None:
        self._names = [table.name for table in tables]
        self._found: dict[str, dict[str, float]] = {}
        self._near: dict[str, dict[str, None]] = {name: {} for name in self._names}
        for link in links:
            self._near[link.table][link.to_table] = self._near[link.to_table][link.table] = None
        for table in tables:
            for value in (values or {}).get(table.name, ()):
                self._add(table.name, split_name(value), IN_VALUE)
            for column in table.columns:
                for name in (column.name, *column.synonyms):
                    self._add(table.name, split_name(name), IN_COLUMN)
            for name in (table.name, *table.synonyms):
                self._add(table.name, name_words(name), IN_NAME)

    def find(self, text: str) -> tuple[str, ...]:
        """The tables that explain most of the text together, and those between the best one and each other."""
        chosen = self.ranked(text)[:MOST] or self._names[:MOST]
        between = [name for other in chosen[1:] for name in self._path(chosen[0], other)]
        return tuple(dict.fromkeys((*chosen, *between)))

    def ranked(self, text: str) -> list[str]:
        """The best tables first. Tables count for what they and the tables related to them explain."""
        explained = self._explained(text)
        alone = {name: sum(words.values()) for name, words in explained.items()}
        seeds = sorted(alone, key=lambda name: (-alone[name], name))[:SEEDS]
        scores = {
            name: alone.get(name, 0.0) + TOGETHER * self._together(name, explained)
            for name in {*seeds, *(other for seed in seeds for other in self._near[seed])}
        }
        best = max(scores.values(), default=0.0)
        return sorted((name for name in scores if scores[name] >= LEAST * best), key=lambda name: (-scores[name], name))

    def _add(self, table: str, words: Sequence[str], counts: float) -> None:
        """A word tells less in a name of several words."""
        for word in words:
            tables = self._found.setdefault(stem(word), {})
            tables[table] = max(tables.get(table, 0.0), counts / math.sqrt(len(words)))

    def _explained(self, text: str) -> dict[str, dict[str, float]]:
        """For each table, what the words of the text that it has count for."""
        explained: dict[str, dict[str, float]] = {}
        for word in {word.stem for word in words_of(normalise(text))} & self._found.keys():
            tables = self._found[word]
            rarity = math.log(1 + len(self._names) / len(tables))
            for name, counts in tables.items():
                explained.setdefault(name, {})[word] = counts * rarity
        return explained

    def _together(self, name: str, explained: Mapping[str, Found]) -> float:
        most = dict(explained.get(name, {}))
        for other in self._near[name]:
            for word, counts in explained.get(other, {}).items():
                most[word] = max(most.get(word, 0.0), RELATED * counts)
        return sum(most.values())

    def _path(self, start: str, end: str) -> tuple[str, ...]:
        """The tables between two, by the fewest relationships in either direction."""
        paths: list[tuple[str, ...]] = [(start,)]
        seen = {start}
        for _ in range(FARTHEST):
            longer = [(*path, name) for path in paths for name in self._near[path[-1]] if name not in seen]
            found = next((path for path in longer if path[-1] == end), None)
            if found:
                return found[1:-1]
            seen |= {path[-1] for path in longer}
            paths = longer
        return ()
