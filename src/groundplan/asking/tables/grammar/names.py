"""What the columns of a table can be called in a question."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from groundplan.asking.tables.grammar.lexicon import Key, stems_of
from groundplan.asking.tables.grammar.meanings import NAMING, Meanings
from groundplan.contracts.schema import Column
from groundplan.text.names import is_short_for, split_name
from groundplan.text.stems import lower, stem
from groundplan.text.words import Word

FULL, JOINED, PART, SAID, SHORT, KIN = 1.0, 0.95, 0.8, 0.7, 0.6, 0.5
WEAK = 0.5  # below: of a number, and the main word of its name is missing
LESS = 0.05  # for each word of the name that is not said
Called = tuple[float, Column]
GENERIC = frozenset(
    stem(word)
    for line in ("type date time value number name id amount total code data", "at on no of the in is to день дата")
    for word in line.split()
)
KINDS = frozenset(map(stem, ("type", "kind", "class", "status", "тип", "вид", "статус")))
TIME = ("time",)
COUNTED = frozenset(map(stem, ("contract", "invoice", "order", "bill", "ticket", "job", "booking", "policy", "claim")))
ENDINGS = ("ation", "ition", "ission", "sion", "tion", "ion", "ance", "ence", "able", "ible", "ive", "al", "er", "or")


class Names:
    """The names of one table's columns, by the stems of the words that say them."""

    def __init__(self, meanings: Meanings) -> None:
        self._meanings = meanings
        self._by_key: dict[Key, list[Called]] = defaultdict(list)
        self.words: set[str] = set()  # to correct spelling
        for column in meanings.table.columns:
            joined = meanings.joined.get(column.name)
            said = dict.fromkeys(map(stems_of, column.synonyms), FULL)
            named = self._names(column) | said | dict.fromkeys(joined.names if joined else (), FULL)
            for key, score in named.items():
                self._by_key[key].append((score, column))
            self.words.update(word for word in split_name(column.name) if len(word) > 4)
        self.short = frozenset(
            part for column in meanings.table.columns for part in split_name(column.name) if 1 < len(part) < 4
        )
        self.stems = frozenset(word for key in self._by_key for word in key)

    def find(self, words: tuple[Word, ...]) -> list[Called]:
        """The columns that these words name. One that is called exactly so hides the others."""
        named = self.of_key(tuple(word.stem for word in words)) or self._turned_round(words) or self._initials(words)
        if not named and len(words) == 2:  # time sheet, for timesheet
            named = self.of_key((stem(words[0].lower + words[1].lower),))
        if not named:
            named = self._by_pieces(words)
        exact = [called for called in named if called[0] == FULL]
        written = [called for called in named if called[0] > SAID]  # the word itself is in the name
        return self._counted(words, exact or written or named)

    def _counted(self, words: tuple[Word, ...], named: list[Called]) -> list[Called]:
        """Contracts are counted, though the column `contract` has their amounts. Jobs are no job types."""
        last = words[-1]
        if last.lower == last.stem or not last.lower.endswith("s"):
            return named
        said = {word.stem for word in words}
        named = [called for called in named if said & KINDS or not self._is_kind(called)]
        if last.stem not in COUNTED:
            return named
        return [called for called in named if called[1].kind != "number"]

    def _is_kind(self, called: Called) -> bool:
        score, column = called
        parts = split_name(column.name)
        return score < JOINED and len(parts) > 1 and stem(parts[-1]) in KINDS

    def of_key(self, key: Key) -> list[Called]:
        return self._by_key.get(key, [])

    def _turned_round(self, words: tuple[Word, ...]) -> list[Called]:
        """Type of member, name of the product, energy lost."""
        if len(words) == 2:  # energy lost, for lost energy
            return [(score, column) for score, column in self.of_key((words[1].stem, words[0].stem)) if score >= PART]
        plain = [word for word in words if word.lower not in ("the", "a", "an", "our", "each")]
        if len(plain) != 3 or plain[1].lower != "of":
            return []
        return [(score, column) for score, column in self.of_key((plain[2].stem, plain[0].stem)) if score >= PART]

    def _initials(self, words: tuple[Word, ...]) -> list[Called]:
        """First contact resolution for fcr."""
        letters = "".join(word.lower[0] for word in words)
        return [
            (PART, column)
            for column in self._meanings.table.columns
            if len(words) > 2 and letters == column.name.lower()
        ]

    def _by_pieces(self, words: tuple[Word, ...]) -> list[Called]:
        """`Review score` for rev_score: each word is one of the name's, is short for one or of the same family."""
        if len(words) > 3 or all(self._is_plain(word) for word in words):
            return []
        if len(words) == 1 and self._names_things((words[0].stem,)):
            return []
        found: list[Called] = []
        for column in self._meanings.table.columns:
            if self._meanings.of[column.name] in ("identifier", "date"):
                continue
            pieces = (*split_name(column.name), *self._meanings.names[column.name])
            size = len(split_name(column.name))
            scores = [self._nearest(word, pieces) for word in words]
            if min(scores) > 0 and len(words) <= size:
                found.append((min(scores) - LESS * (size - len(words)), column))
        best = max((score for score, _ in found), default=0.0)
        near = [called for called in found if called[0] >= best - 2 * LESS]
        return near if len(near) <= 2 else []

    def _is_plain(self, word: Word) -> bool:
        lexicon = self._meanings.lexicon
        return (
            (len(word.lower) < 4 and word.lower not in self.short)
            or not word.lower.isalpha()
            or word.lower in lexicon.structure
            or any(True for _ in lexicon.find((word,), 0, 1))
        )

    def _nearest(self, word: Word, pieces: tuple[str, ...]) -> float:
        text = word.lower.partition("'")[0]
        if any(word.stem == stem(piece) for piece in pieces):
            return PART
        if self._is_plain(word):
            return 0.0
        if any(is_short_for(piece, text) or is_short_for(piece, word.stem) for piece in pieces):
            return SHORT
        return KIN if any(kin(text, piece) for piece in pieces) else 0.0

    def _names(self, column: Column) -> dict[Key, float]:
        """Everything the column is called, and how surely."""
        names: dict[Key, float] = {}

        def put(key: Key, score: float) -> None:
            if key and names.get(key, 0) < score:
                names[key] = score

        written = tuple(stem(word) for word in split_name(column.name))
        put(("".join(split_name(column.name)),), JOINED)
        put(("".join(written),), JOINED)
        for name in {written, *self._spelt_out(column)}:
            put(name, FULL)
            for part in self._parts(column, name):
                put(part, self._surely(column, name, part))
            for said, score in self._said_for(column, name):
                put(said, score)
        for said in self._told_by_values(column):
            put(said, SAID)
        if column.description:
            put(stems_of(column.description), PART)
        return names

    def _said_for(self, column: Column, name: Key) -> Iterator[tuple[Key, float]]:
        """The name with a word of it replaced by what people say for it."""
        lexicon = self._meanings.lexicon
        for start, first in enumerate(name):
            for key, saying in lexicon.means.get(first, ()):
                if name[start : start + len(key)] != key:
                    continue
                before, after = name[:start], name[start + len(key) :]
                rest = sum(word not in lexicon.structure for word in (*before, *after))
                if rest and column.kind != "number" and key[-1] in lexicon.numbers["amount"]:
                    continue  # takings are no sales rep
                for said in saying.say:
                    if not rest or said != TIME:
                        yield said, SAID - LESS * min(rest, 2)
                    yield (*before, *said, *after), PART
                    if before:
                        yield (*before[-1:], *said), PART - LESS

    def _told_by_values(self, column: Column) -> Iterator[Key]:
        """Countries, by whatever name the column goes."""
        values = {lower(value) for value in self._meanings.values.get(column.name, ())}
        for said, known in self._meanings.lexicon.told_by_values:
            if 2 * len(values & known) > len(values):
                yield from said

    def _surely(self, column: Column, name: Key, part: Key) -> float:
        """The main word is missing: guest alone says little of the guest's country, and hospital of hospital beds."""
        head = next((word for word in reversed(name) if word not in GENERIC), name[-1])
        if head in part:
            return PART - LESS * (len(name) - len(part))
        kind = head in self._meanings.lexicon.kinds or self._meanings.names_things(column)
        return 0.45 if column.kind == "number" and kind else 0.6

    def _spelt_out(self, column: Column) -> Iterator[Key]:
        """The name with its abbreviations written out, in each way there is, or kept: the pay date of `pay_dt`."""
        yield self._meanings.names[column.name]
        short = self._meanings.lexicon.abbreviations
        ways = [dict.fromkeys((*short.get(word, ()), word)) for word in split_name(column.name)]
        for chosen, _ in zip(product(*ways), range(16), strict=False):
            yield tuple(stem(part) for word in chosen for part in word.split())

    def _parts(self, column: Column, name: Key) -> Iterator[Key]:
        meaning = self._meanings.of[column.name]
        if meaning == "identifier":  # a word is for the things, not for their ids; account id is a bank_account_id
            yield from (name[first:] for first in range(1, len(name) - 1))
            return
        for first in range(len(name)):
            for last in range(first + 1, len(name) + 1):
                part = name[first:last]
                if len(part) == len(name) or all(word in GENERIC or len(word) < 3 for word in part):
                    continue
                if meaning == "date" and part[-1] != name[-1]:
                    continue
                if self._names_things(part) and not {*part} & {*map(stem, NAMING)}:
                    continue
                yield part

    def _names_things(self, part: Key) -> bool:
        return len(part) == 1 and any(part[0] in entity.nouns for entity in self._meanings.entities)


def kin(one: str, other: str) -> bool:
    """Words of one family: cancellation and cancelled, readmission and readmitted; not department and departed."""
    roots = {_root(one), _root(other)}
    return len(roots) == 1 and len(roots.pop()) >= 4


@lru_cache(maxsize=20_000)
def _root(word: str) -> str:
    plain = re.sub("miss(?:ion)?$", "mit", stem(word))
    for ending in ENDINGS:
        if plain.endswith(ending) and len(plain) - len(ending) >= 4:
            plain = plain.removesuffix(ending)
            break
    return plain.removesuffix("t").removesuffix("s").removesuffix("t").removesuffix("s").removesuffix("e")
