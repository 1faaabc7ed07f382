"""How a question wants its list shown: the style, the number and the language that its words say outright."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

from groundplan.asking.lookup.vocabulary import LookupWords, Mark
from groundplan.contracts.contract import Language
from groundplan.contracts.reading import Evidence, RenderStyle
from groundplan.text.entities import Mention
from groundplan.text.plain_yaml import load_yaml
from groundplan.text.words import Word, words_of

FILE = Path(__file__).with_name("manner.yaml")
SIGN = re.compile(r"[^\w\s'’-]")
MOST = 1_000  # a greater number, such as a year, is no number of items
Place = tuple[int, int]
Phrases = Mapping[tuple[str, ...], str]


@dataclass(frozen=True)
class Manner:
    """What the words say, and where; None where they say nothing."""

    style: RenderStyle | None = None
    limit: int | None = None
    language: Language | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class MannerWords:
    styles: Phrases
    languages: Phrases
    before: frozenset[str]
    counting: Phrases
    numbers: Mapping[str, int]
    rest: Phrases
    more: Phrases
    beside: frozenset[str]

    def number(self, word: Word) -> int | None:
        """The number of items that the word may be."""
        found = int(word.text) if word.text.isascii() and word.text.isdecimal() else self.numbers.get(word.lower)
        return found if found and found <= MOST else None


@cache
def load_manner_words() -> MannerWords:
    raw: dict[str, Any] = load_yaml(FILE.read_text(encoding="utf-8"))
    styles = {style: [phrase for line in lines for phrase in line] for style, lines in raw["styles"].items()}
    assert styles.keys() == set(get_args(RenderStyle))
    single = {name: _phrases({name: raw[name]}) for name in ("counting", "rest", "more")}
    return MannerWords(
        styles=_phrases(styles),
        languages=_phrases(raw["languages"]),
        before=frozenset(raw["before"]),
        numbers=raw["numbers"],
        beside=frozenset(raw["beside"]),
        **single,
    )


def find_manner(
    text: str, words: Sequence[Word], mentions: Iterable[Mention], marks: Sequence[Mark], known: LookupWords
) -> tuple[Manner, frozenset[int]]:
    """The manner, and the words that say it: they ask for nothing else."""
    told, names = load_manner_words(), [(mention.first, mention.last) for mention in mentions]
    style = _first(phrases_in(words, told.styles), names)
    starts = {0, *_starts(text, words, told, known), style[1][1] if style else 0}
    languages, numbers = phrases_in(words, told.languages), _numbers(words, marks, told)
    language, limit = (
        _first((said for said in found if said[1][0] in starts), names) for found in (languages, numbers)
    )
    found = [said for said in (style, language, limit) if said]
    manner = Manner(
        style=style[0] if style else None,  # type: ignore[arg-type]  # the file names the styles
        limit=int(limit[0]) if limit else None,
        language=language[0] if language else None,  # type: ignore[arg-type]
        evidence=tuple(_evidence(text, words, place) for _, place in found),
    )
    return manner, frozenset(place for _, (first, last) in found for place in range(first, last))


def phrases_in(words: Sequence[Word], phrases: Phrases) -> Iterator[tuple[str, Place]]:
    """The phrases with their labels and places; the longest at each place."""
    lowered, longest = [word.lower for word in words], max(map(len, phrases))
    place = 0
    while place < len(words):
        lengths = range(min(longest, len(words) - place), 0, -1)
        length = next((n for n in lengths if tuple(lowered[place : place + n]) in phrases), 0)
        if length:
            yield phrases[tuple(lowered[place : place + length])], (place, place + length)
        place += length or 1


def _starts(text: str, words: Sequence[Word], told: MannerWords, known: LookupWords) -> Iterator[int]:
    """The words that begin a part of the sentence; after a word such as `in`, a number is a condition."""
    for place, (before, word) in enumerate(pairwise(words), 1):
        asks = any(before.plain in forms for forms in known.asking.values()) or before.plain in told.before
        if asks or SIGN.search(text[before.end : word.start]):
            yield place


def _numbers(words: Sequence[Word], marks: Sequence[Mark], told: MannerWords) -> Iterator[tuple[str, Place]]:
    """`first 3` and `3 projects`."""
    counted = {last: first for _, (first, last) in phrases_in(words, told.counting)}
    listed = {mark.first for mark in marks}
    for place, word in enumerate(words):
        number = told.number(word)
        if number is None:
            continue
        first = counted.get(place)
        if first is not None:
            yield str(number), (first, place + 1)
        elif place + 1 in listed:
            yield str(number), (place, place + 1)


def _first(found: Iterator[tuple[str, Place]], names: Sequence[Place]) -> tuple[str, Place] | None:
    """The first that is not part of a name; a name within it (`in English`) is part of it."""
    return next((said for said in found if not any(_is_named(said[1], name) for name in names)), None)


def _is_named(said: Place, name: Place) -> bool:
    overlaps = said[0] < name[1] and name[0] < said[1]
    inside = said[0] <= name[0] and name[1] <= said[1]
    return overlaps and (not inside or said == name)


def _evidence(text: str, words: Sequence[Word], place: Place) -> Evidence:
    start = words[place[0]].start
    return Evidence(text=text[start : words[place[1] - 1].end], start=start)


def _phrases(labelled: Mapping[str, Sequence[str]]) -> Phrases:
    return {
        tuple(word.lower for word in words_of(phrase)): label
        for label, phrases in labelled.items()
        for phrase in phrases
    }
