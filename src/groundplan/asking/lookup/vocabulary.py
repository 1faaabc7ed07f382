"""The vocabulary of a knowledge base: the words for its relations, types and intents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from groundplan.contracts.knowledge import KnowledgeSchema
from groundplan.text.plain_yaml import load_yaml
from groundplan.text.stems import keys_of
from groundplan.text.words import Word, texts_of

FILE = Path(__file__).with_name("lookup.yaml")
Keys = tuple[frozenset[str], ...]


@dataclass(frozen=True)
class Mark:
    """The hops, types and intents that the words from `first` up to, not including, `last` mean."""

    first: int
    last: int
    hops: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    intents: frozenset[str] = frozenset()

    @property
    def relations(self) -> frozenset[str]:
        return frozenset(hop.removeprefix("^") for hop in self.hops)

    def speaks_of(self, word: int) -> bool:
        return self.first <= word < self.last


@dataclass(frozen=True)
class Vocabulary:
    """The phrases of one knowledge base, by the keys of their first word."""

    by_first: dict[str, list[tuple[Keys, str, str]]] = field(default_factory=dict)

    def find(self, words: Sequence[Word]) -> tuple[Mark, ...]:
        """The marks in a text: the longest phrase at each position, without overlaps."""
        return tuple(self._scan(words))

    def learn(self, phrase: str, kind: str, name: str) -> None:
        keys = tuple(keys_of(word) for word in texts_of(phrase))
        for first in keys[0] if keys else ():
            self.by_first.setdefault(first, []).append((keys, kind, name))

    def _scan(self, words: Sequence[Word]) -> Iterator[Mark]:
        place = 0
        while place < len(words):
            mark = self._longest_at(words, place)
            if mark:
                yield mark
            place = mark.last if mark else place + 1

    def _longest_at(self, words: Sequence[Word], place: int) -> Mark | None:
        fits = [
            (len(keys), kind, name)
            for first in keys_of(words[place].text)
            for keys, kind, name in self.by_first.get(first, ())
            if _begins(words[place:], keys)
        ]
        if not fits:
            return None
        longest = max(length for length, _, _ in fits)
        named = {
            kind: frozenset(name for length, own, name in fits if length == longest and own == kind)
            for kind in ("hops", "types", "intents")
        }
        return Mark(place, place + longest, **named)


def vocabulary_of(knowledge: KnowledgeSchema) -> Vocabulary:
    found = Vocabulary()
    for kind, name, phrases in _phrases(knowledge):
        for phrase in phrases:
            found.learn(phrase, kind, name)
    return found


def _phrases(knowledge: KnowledgeSchema) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for node in knowledge.types:
        for phrases in node.words.values():
            yield "types", node.name, phrases
    for relation in knowledge.relations:
        for directed in relation.words.values():
            yield "hops", relation.name, directed.forward
            yield "hops", f"^{relation.name}", directed.backward
    for intent in knowledge.intents:
        for phrases in intent.words.values():
            yield "intents", intent.name, phrases


def _begins(words: Sequence[Word], keys: Keys) -> bool:
    return len(words) >= len(keys) and all(
        not own.isdisjoint(keys_of(word.text)) for own, word in zip(keys, words, strict=False)
    )


@dataclass(frozen=True)
class LookupWords:
    """General words of both languages: as stems if endings vary, else in exact forms."""

    asking: dict[str, frozenset[str]]
    answers: dict[str, frozenset[str]]
    sharing: frozenset[str]
    joining: frozenset[str]
    negating: frozenset[str]
    together: frozenset[str]
    pronouns: frozenset[str]
    places: frozenset[str]
    pointing: frozenset[str]
    continuing: frozenset[str]
    wh: frozenset[str]
    polar: frozenset[str]
    small: frozenset[str]  # function words, in exact forms
    fillers: frozenset[str]


EXACT = ("wh", "polar", "joining", "negating", "together", "pronouns", "places", "pointing", "continuing")


@cache
def load_lookup_words() -> LookupWords:
    """Load the words once."""
    raw = load_yaml(FILE.read_text(encoding="utf-8"))
    exact = {name: _exact(raw[name]) for name in EXACT}
    return LookupWords(
        asking={label: _exact(line) for label, line in raw["asking"].items()},
        answers={label: _any_form(line) for label, line in raw["answers"].items()},
        sharing=_any_form(raw["sharing"]),
        small=_exact(" ".join(raw["fillers"]["en"])).union(*exact.values()),
        fillers=_any_form(" ".join([*raw["fillers"]["ru"], raw["sharing"]])),
        **exact,
    )


def _exact(line: str) -> frozenset[str]:
    return frozenset(line.replace("ё", "е").split())


def _any_form(line: str) -> frozenset[str]:
    return frozenset(key for word in line.split() for key in keys_of(word))
