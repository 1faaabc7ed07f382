"""Finds names of a knowledge base in a question: whole words in any inflection, no fuzzy matching."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from rapidfuzz import fuzz, process

from groundplan.contracts.reading import Entity
from groundplan.text.stems import keys_of, lower, stem
from groundplan.text.words import Word, normalise, texts_of

Row = tuple[str, str, str, Sequence[str]]
"""An id, a type, a name and its aliases, as a knowledge source lists them."""

# the confidence of an exact match, and of one that differs in punctuation, in case, or in inflection
SPELLED, WORDED, CASED, FORMED = 1.0, 0.95, 0.85, 0.75
ALIKE = 70  # out of 100: suggestions below that are not helpful
LONGEST = 128  # letters of an id or an alias, the limit in the contract
UNCHANGED = 2  # first letters, which no inflection changes
SIGNS = " ,.;:?)'’\"»"  # punctuation that may follow a name
ENDINGS = "аеийоуыьэюя"


@dataclass(frozen=True)
class Spelling:
    """A name or alias of a row."""

    text: str
    words: tuple[str, ...]
    row: int


@dataclass(frozen=True)
class Mention:
    """Words `first` up to, not including, `last` that name an entity."""

    entity: Entity
    first: int
    last: int

    @property
    def confidence(self) -> float:
        return self.entity.confidence


@dataclass(frozen=True)
class Registry:
    """All names and aliases, indexed by the first letters of their first two words.

    `by_keys` is a finer index, built for a group of letters when a question first needs it.
    """

    rows: tuple[Row, ...]
    by_letters: dict[tuple[str, ...], list[Spelling]]
    by_keys: dict[tuple[str, ...], dict[tuple[str, ...], list[Spelling]]] = field(default_factory=dict)

    def find(self, text: str, words: Sequence[Word]) -> tuple[Mention, ...]:
        """The longest names, and shorter ones inside them that match more exactly; every entity with that name."""
        found = [mention for place in range(len(words)) for mention in self._at(text, words, place)]
        kept = (mention for mention in found if not any(_hides(other, mention) for other in found))
        return tuple(sorted(kept, key=lambda mention: (mention.first, -mention.last, mention.entity.id)))

    def suggest(self, phrase: str, limit: int = 3) -> tuple[str, ...]:
        """Names similar to the phrase, to offer to a person; they are not matches."""
        names = [text for _, _, name, aliases in self.rows for text in (name, *aliases)]
        near = process.extract(phrase, names, scorer=fuzz.ratio, processor=str.lower, limit=limit, score_cutoff=ALIKE)
        return tuple(dict.fromkeys(name for name, _, _ in near))

    def of_type(self, kind: str, most: int) -> list[str]:
        """The first names of a type, in the order of the source."""
        return list(islice((name for _, row_kind, name, _ in self.rows if row_kind == kind), most))

    def _at(self, text: str, words: Sequence[Word], place: int) -> Iterator[Mention]:
        best: dict[tuple[int, int], float] = {}
        for spelling in self._starting([word.text for word in words[place : place + 2]]):
            last = place + len(spelling.words)
            if _same(spelling.words, [word.text for word in words[place:last]]):
                key, sure = (spelling.row, last), _confidence(spelling, text, words[place:last])
                best[key] = max(best.get(key, 0.0), sure)
        for (row, last), confidence in best.items():
            yield Mention(self.entity(self.rows[row], confidence), place, last)

    def _starting(self, said: Sequence[str]) -> Iterator[Spelling]:
        for start in dict.fromkeys((tuple(said[:1]), tuple(said))):
            keyed = self._keyed(_letters(start))
            for keys in product(*map(keys_of, start)):
                yield from keyed.get(keys, ())

    def _keyed(self, letters: tuple[str, ...]) -> dict[tuple[str, ...], list[Spelling]]:
        if letters not in self.by_keys:
            keyed: dict[tuple[str, ...], list[Spelling]] = {}
            for spelling in self.by_letters.get(letters, ()):
                for keys in product(*map(keys_of, spelling.words[:2])):
                    keyed.setdefault(keys, []).append(spelling)
            self.by_keys[letters] = keyed
        return self.by_keys[letters]

    def entity(self, row: Row, confidence: float = SPELLED) -> Entity:
        id_, kind, name, aliases = row
        short = tuple(alias for alias in aliases if alias and len(alias) <= LONGEST)
        return Entity(id=id_, type=kind, name=name, aliases=short, confidence=confidence)


def build_registry(rows: Iterable[Row]) -> Registry:
    """Built once for a source; the cost of a question then does not depend on the number of names."""
    kept = tuple(row for row in rows if len(row[0]) <= LONGEST)
    by_letters: dict[tuple[str, ...], list[Spelling]] = {}
    for place, (_, _, name, aliases) in enumerate(kept):
        for text in dict.fromkeys((name, *aliases)):
            spelling = _spelled(text, place)
            if spelling.words:
                by_letters.setdefault(_letters(spelling.words[:2]), []).append(spelling)
    return Registry(kept, by_letters)


def _spelled(text: str, row: int) -> Spelling:
    """Normalise a name like a question; ASCII names, the majority, do not need it."""
    plain = text if text.isascii() else normalise(text)
    return Spelling(plain, texts_of(plain), row)


def _letters(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(lower(word)[:UNCHANGED] for word in words)


def _same(name: Sequence[str], said: Sequence[str]) -> bool:
    return len(name) == len(said) and all(_is_form(*pair) for pair in zip(name, said, strict=True))


def _is_form(own: str, said: str) -> bool:
    """Whether these are inflections of one word. If only the stems agree, one must begin with the other's root."""
    shared = keys_of(own) & keys_of(said)
    if not shared or shared != {stem(own)} or min(len(keys_of(own)), len(keys_of(said))) < 2:
        return bool(shared)
    return lower(said).startswith(_root(own)) or lower(own).startswith(_root(said))


def _root(word: str) -> str:
    return lower(word).rstrip(ENDINGS)


def _confidence(spelling: Spelling, text: str, said: Sequence[Word]) -> float:
    words = tuple(word.text for word in said)
    if spelling.words == words:
        start = said[0].start - spelling.text.find(words[0])
        ends = text[start + len(spelling.text) :][:1] in SIGNS  # any other sign may belong to a longer name
        return SPELLED if start >= 0 and ends and text.startswith(spelling.text, start) else WORDED
    return CASED if [*map(lower, spelling.words)] == [*map(lower, words)] else FORMED


def _hides(other: Mention, mention: Mention) -> bool:
    """Whether `mention` lies inside a longer mention that matches as exactly, or that starts with it."""
    inside = other.first <= mention.first and mention.last <= other.last
    longer = other.last - other.first > mention.last - mention.first
    begins = mention.first == other.first and mention.confidence >= WORDED
    return inside and longer and (other.confidence >= mention.confidence or begins)
