"""Names of a knowledge base found in a question: whole words, in any form, never by likeness."""

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

SPELLED, WORDED, CASED, FORMED = 1.0, 0.95, 0.85, 0.75  # letter by letter; but for signs; for capitals; for endings
ALIKE = 70  # out of 100: below that a suggestion surprises more than it helps
LONGEST = 128  # letters of an id or an alias, as the contract has it
UNCHANGED = 2  # letters that no ending touches
SIGNS = " ,.;:?)'’\"»"  # what a sentence puts behind a name
ENDINGS = "аеийоуыьэюя"


@dataclass(frozen=True)
class Spelling:
    """One way to write the name of a row."""

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
    """Every name and alias, by the first letters of its first two words; by their keys once a question comes near."""

    rows: tuple[Row, ...]
    by_letters: dict[tuple[str, ...], list[Spelling]]
    by_keys: dict[tuple[str, ...], dict[tuple[str, ...], list[Spelling]]] = field(default_factory=dict)

    def find(self, text: str, words: Sequence[Word]) -> tuple[Mention, ...]:
        """The longest names, and shorter ones inside them that are spelled better; all entities that share them."""
        found = [mention for place in range(len(words)) for mention in self._at(text, words, place)]
        kept = (mention for mention in found if not any(_hides(other, mention) for other in found))
        return tuple(sorted(kept, key=lambda mention: (mention.first, -mention.last, mention.entity.id)))

    def suggest(self, phrase: str, limit: int = 3) -> tuple[str, ...]:
        """Names that look like the phrase, for a person to choose from; they bind nothing."""
        names = [text for _, _, name, aliases in self.rows for text in (name, *aliases)]
        near = process.extract(phrase, names, scorer=fuzz.ratio, processor=str.lower, limit=limit, score_cutoff=ALIKE)
        return tuple(dict.fromkeys(name for name, _, _ in near))

    def of_type(self, kind: str, most: int) -> list[str]:
        """Some of the names of a type, in the order of the source."""
        return list(islice((name for _, row_kind, name, _ in self.rows if row_kind == kind), most))

    def _at(self, text: str, words: Sequence[Word], place: int) -> Iterator[Mention]:
        best: dict[tuple[int, int], float] = {}
        for spelling in self._starting([word.text for word in words[place : place + 2]]):
            last = place + len(spelling.words)
            if _same(spelling.words, [word.text for word in words[place:last]]):
                key, sure = (spelling.row, last), _confidence(spelling, text, words[place:last])
                best[key] = max(best.get(key, 0.0), sure)
        for (row, last), confidence in best.items():
            yield Mention(self._entity(row, confidence), place, last)

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

    def _entity(self, row: int, confidence: float) -> Entity:
        id_, kind, name, aliases = self.rows[row]
        short = tuple(alias for alias in aliases if alias and len(alias) <= LONGEST)
        return Entity(id=id_, type=kind, name=name, aliases=short, confidence=confidence)


def build_registry(rows: Iterable[Row]) -> Registry:
    """Built once for a source; a question then costs the same however many names there are."""
    kept = tuple(row for row in rows if len(row[0]) <= LONGEST)
    by_letters: dict[tuple[str, ...], list[Spelling]] = {}
    for place, (_, _, name, aliases) in enumerate(kept):
        for text in dict.fromkeys((name, *aliases)):
            spelling = _spelled(text, place)
            if spelling.words:
                by_letters.setdefault(_letters(spelling.words[:2]), []).append(spelling)
    return Registry(kept, by_letters)


def _spelled(text: str, row: int) -> Spelling:
    """As a question is normalised, so is a name; plain ones, the many, need no work."""
    plain = text if text.isascii() else normalise(text)
    return Spelling(plain, texts_of(plain), row)


def _letters(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(lower(word)[:UNCHANGED] for word in words)


def _same(name: Sequence[str], said: Sequence[str]) -> bool:
    return len(name) == len(said) and all(_is_form(*pair) for pair in zip(name, said, strict=True))


def _is_form(own: str, said: str) -> bool:
    """One word in two forms. Where only the stem says so and the lemmas differ, one must grow out of the other."""
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
        ends = text[start + len(spelling.text) :][:1] in SIGNS  # another sign may belong to another name
        return SPELLED if start >= 0 and ends and text.startswith(spelling.text, start) else WORDED
    return CASED if [*map(lower, spelling.words)] == [*map(lower, words)] else FORMED


def _hides(other: Mention, mention: Mention) -> bool:
    """Whether `mention` lies inside a longer name that is spelled as well, or begins with it and bends the rest."""
    inside = other.first <= mention.first and mention.last <= other.last
    longer = other.last - other.first > mention.last - mention.first
    begins = mention.first == other.first and mention.confidence >= WORDED
    return inside and longer and (other.confidence >= mention.confidence or begins)
