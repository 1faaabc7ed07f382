"""How people say the values of a table: whole, in part, and by the words that their source has for them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from groundplan.asking.tables.grammar.lexicon import Key
from groundplan.asking.tables.grammar.meanings import Meanings
from groundplan.contracts.schema import Column
from groundplan.text.stems import lower, stem
from groundplan.text.words import Word, words_of

LONGEST = 6  # words
ByColumn = Mapping[str, list[str]]


@dataclass(frozen=True)
class SaidValues:
    """The values of each column by what is said for them."""

    whole: Mapping[Key, ByColumn]
    parts: Mapping[Key, ByColumn]
    called: frozenset[tuple[str, Key]]  # column and words: these are its source's own


def said_values(meanings: Meanings) -> SaidValues:
    whole: dict[Key, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    parts: dict[Key, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    columns = [column for column in meanings.table.columns if column.name not in meanings.lists]
    for column in columns:
        said = [(value, value) for value in meanings.values.get(column.name, ())]
        said += [(phrase, one.value) for one in column.called for phrase in one.words]
        short: dict[str, list[str]] = defaultdict(list)
        for _, value in said:
            if 2 <= len(value) <= 4 and value.isalpha():
                short[lower(value)].append(value)
        for phrase, value in said:
            words = words_of(phrase)
            for key in _spoken(words):
                whole[key][column.name] += [value, *short.get(_initials(words), ())]
            for part in _parts(phrase, words, meanings.lexicon.structure):
                parts[part][column.name].append(value)
    called = (pair for column in meanings.table.columns for pair in _called(column))
    return SaidValues(whole, parts, frozenset(called))


def _parts(phrase: str, words: Sequence[Word], structure: frozenset[str]) -> Iterator[Key]:
    """The beginnings of a phrase; of a person's name the ends as well."""
    key = tuple(word.stem for word in words)
    plain = [word for word in words if word.lower in structure and len(word.lower) > 1]
    person = _is_name(phrase) and not plain  # nobody is called In Transit
    for size in range(1, min(len(key), LONGEST)):
        yield key[:size]
        if person:
            yield key[-size:]


def _called(column: Column) -> Iterator[tuple[str, Key]]:
    return ((column.name, key) for one in column.called for word in one.words for key in spoken(word))


def spoken(value: str) -> Iterator[Key]:
    """The ways to say a value: FY2026 as fy 26, no-show as noshow."""
    return _spoken(words_of(value))


def _spoken(words: Sequence[Word]) -> Iterator[Key]:
    key = tuple(word.stem for word in words)
    if not key or len(key) > LONGEST:
        return
    yield key
    if key[0] == "fy" and len(key) == 2 and len(key[1]) == 4:
        yield ("fy", key[1][2:])
    joined = "".join(word.lower for word in words)
    if len(words) == 2 and joined.isalpha():
        yield (stem(joined),)


def _is_name(value: str) -> bool:
    """Ann Lee, K. Lee: what people are called, also by the surname alone."""
    words = re.findall(r"[\w'-]+", value)
    return 2 <= len(words) <= 3 and all(word[0].isupper() and not any(map(str.isdigit, word)) for word in words)


def _initials(words: Sequence[Word]) -> str:
    """PT, beside personal training in the same column."""
    return "".join(word.lower[0] for word in words) if len(words) > 1 else ""
