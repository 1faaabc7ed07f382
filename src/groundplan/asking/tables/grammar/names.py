"""What the columns of a table can be called in a question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product

from groundplan.asking.tables.grammar.lexicon import Key, stems_of
from groundplan.asking.tables.grammar.meanings import COUNTED, NAMING, Meanings
from groundplan.asking.tables.grammar.said_values import SaidValues, said_values
from groundplan.budget import spend
from groundplan.contracts.schema import Column
from groundplan.text.names import is_short_for, kin, split_name
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
PIECES_PER_STEP = 20


class Names:
    """The names of one table's columns, by the stems of the words that say them."""

    def __init__(self, meanings: Meanings) -> None:
        self._meanings = meanings
        self._by_key: dict[Key, list[Called]] = defaultdict(list)
        self._nearest: dict[tuple[str, str], Mapping[int, float]] = {}
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

    @cached_property
    def said(self) -> SaidValues:
        return said_values(self._meanings)

    @cached_property
    def known(self) -> frozenset[str]:
        """All words that mean something here."""
        meanings, lexicon = self._meanings, self._meanings.lexicon
        held = (part for listed in meanings.values.values() for value in listed for part in value.split())
        nouns = (noun for entity in meanings.entities for noun in entity.nouns)
        values = (lower(part) for part in held if part.isalpha())
        return frozenset((*lexicon.vocabulary, *lexicon.structure, *lexicon.spoken, *self.words, *nouns, *values))

    @cached_property
    def spelt(self) -> Mapping[str, Mapping[str, str]]:
        """The words to correct spelling by, by their first letters, and their stems."""
        found: dict[str, dict[str, str]] = defaultdict(dict)
        for word in self.known:
            if len(word) > 4:
                found[word[0]][word] = stem(word)
        return found

    @cached_property
    def known_stems(self) -> frozenset[str]:
        meanings, lexicon = self._meanings, self._meanings.lexicon
        held = (stem(part) for listed in meanings.values.values() for value in listed for part in value.split())
        phrased = (word for key in lexicon.phrases for word in key)
        nouns = (noun for entity in meanings.entities for noun in entity.nouns)
        return self.stems.union(phrased, held, nouns, *lexicon.things)

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
        """Contracts are counted, though the column `contract` has their amounts; the column `contracts` has numbers of
        them. Jobs are no job types."""
        last = words[-1]
        if last.lower == last.stem or not last.lower.endswith("s"):
            return named
        said = {word.stem for word in words}
        named = [called for called in named if said & KINDS or not self._is_kind(called)]
        if last.stem not in COUNTED:
            return named
        return [called for called in named if called[1].kind != "number" or last.lower in split_name(called[1].name)]

    def _is_kind(self, called: Called) -> bool:
        score, column = called
        parts = split_name(column.name)
        return score < JOINED and len(parts) > 1 and stem(parts[-1]) in KINDS

    def of_key(self, key: Key) -> list[Called]:
        return self._by_key.get(key, [])

    def _turned_round(self, words: tuple[Word, ...]) -> list[Called]:
        """Type of member, name of the product, energy lost. The number of cases counts them, and is no `case_no`."""
        if len(words) == 2:  # energy lost, for lost energy
            return [(score, column) for score, column in self.of_key((words[1].stem, words[0].stem)) if score >= PART]
        plain = [word for word in words if word.lower not in ("the", "a", "an", "our", "each")]
        if len(plain) != 3 or plain[1].lower != "of":
            return []
        several = plain[2].lower != plain[2].stem
        return [
            (score, column)
            for score, column in self.of_key((plain[2].stem, plain[0].stem))
            if score >= PART and not (several and self._meanings.of[column.name] == "identifier")
        ]

    def _initials(self, words: tuple[Word, ...]) -> list[Called]:
        """First contact resolution for fcr."""
        if len(words) < 3:
            return []
        letters = "".join(word.lower[0] for word in words)
        return [(PART, column) for column in self._by_name.get(letters, ())]

    @cached_property
    def _by_name(self) -> Mapping[str, list[Column]]:
        found: dict[str, list[Column]] = defaultdict(list)
        for column in self._meanings.table.columns:
            found[column.name.lower()].append(column)
        return found

    @cached_property
    def by_verb(self) -> Mapping[str, list[Column]]:
        """Stems of verbs: the columns of what they tell."""
        found: dict[str, list[Column]] = defaultdict(list)
        for column in self._meanings.table.columns:
            for verb in dict.fromkeys(map(stem, column.verbs)):
                found[verb].append(column)
        return found

    def _by_pieces(self, words: tuple[Word, ...]) -> list[Called]:
        """`Response score` for resp_score: each word is one of the name's or of its family, or short for it."""
        if len(words) > 3 or all(self._is_plain(word) for word in words):
            return []
        if len(words) == 1 and self._names_things((words[0].stem,)):
            return []
        nearest = [self._near(word) for word in words]
        found: list[Called] = []
        for place in sorted(set.intersection(*map(set, nearest))):
            column = self._meanings.table.columns[place]
            size = len(split_name(column.name))
            if len(words) <= size:
                found.append((min(near[place] for near in nearest) - LESS * (size - len(words)), column))
        best = max((score for score, _ in found), default=0.0)
        near = [called for called in found if called[0] >= best - 2 * LESS]
        return near if len(near) <= 2 else []

    def _near(self, word: Word) -> Mapping[int, float]:
        """The places of the columns that have this word, or one like it, as a piece of their names; and how alike."""
        key = (word.lower, word.stem)
        if key not in self._nearest:
            spend(1 + len(self._by_piece) // PIECES_PER_STEP)
            plain, near = self._is_plain(word), dict[int, float]()
            for piece, places in self._by_piece.items():
                score = _likeness(word, piece, plain)
                near |= {place: score for place in places if score > near.get(place, 0.0)}
            self._nearest[key] = near
        return self._nearest[key]

    @cached_property
    def _by_piece(self) -> Mapping[str, list[int]]:
        """The places of the columns that have this piece in their names; dates and identifiers are called by others."""
        found: dict[str, list[int]] = defaultdict(list)
        for place, column in enumerate(self._meanings.table.columns):
            if self._meanings.of[column.name] not in ("identifier", "date"):
                for piece in {*split_name(column.name), *self._meanings.names[column.name]}:
                    found[piece].append(place)
        return found

    def _is_plain(self, word: Word) -> bool:
        lexicon = self._meanings.lexicon
        return (
            (len(word.lower) < 4 and word.lower not in self.short)
            or not word.lower.isalpha()
            or word.lower in lexicon.structure
            or any(True for _ in lexicon.find((word,), 0, 1))
        )

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
                    if column.kind == "number" and len(said) == 1 and said[0] in self._meanings.elsewhere:
                        continue  # a plan fee is no charge, where another table has a column called so
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
        codes = self._meanings.holds_codes(column)
        if codes:
            yield (stem(codes),)

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
        long = self._meanings.lexicon.written_out
        ways = [dict.fromkeys((*long(word), word)) for word in split_name(column.name)]
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


def _likeness(word: Word, piece: str, is_plain: bool) -> float:
    text = word.lower.partition("'")[0]
    if word.stem == stem(piece):
        return PART
    if is_plain:
        return 0.0
    if is_short_for(piece, text) or is_short_for(piece, word.stem) or is_short_for(text, piece):
        return SHORT
    return KIN if kin(text, piece) else 0.0
