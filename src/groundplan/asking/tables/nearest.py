"""The names and values of the data that are written most like a word that it does not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from groundplan.asking.tables.grammar.lexicon import load
from groundplan.asking.tables.grammar.meanings import meanings_of
from groundplan.asking.tables.grammar.senses import COSTS
from groundplan.asking.tables.values import Values
from groundplan.budget import spend
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.text.names import IDENTIFYING, is_short_for, kin, singular, split_name
from groundplan.text.stems import is_russian, lower, stem
from groundplan.text.words import words_of

MOST = 3  # names
MIN_ALIKE = 75  # of 100
SAME, RELATED, MONEY = 100, 90, 80
SHORTEST, LONGEST_SHORT = 3, 4  # letters: shorter words are like many, longer ones are short for nothing
MOST_VALUES = 2_000  # that are tried
LETTERS = str.maketrans(
    dict(zip("абвгдезийклмнопрстуфхыэ", "abvgdezijklmnoprstufhye", strict=True))
    | {"ж": "zh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ю": "yu", "я": "ya", "ъ": "", "ь": "", "ё": "e"}
)


@dataclass(frozen=True)
class Near:
    """A column, with the value if that is near; or a table. `example`: a value that shows what the column holds."""

    table: str
    column: str | None = None
    value: str | None = None
    example: str | None = None

    @property
    def told(self) -> str:
        if self.value is not None:
            return f"{self.value!r} of {self.column}"
        if self.example is not None:
            return f"{self.column} ({self.example!r})"
        return self.column or f"the table {self.table}"


def nearest(said: Sequence[str], schema: SourceSchema, values: Mapping[str, Values]) -> tuple[Near, ...]:
    """The best first; words for what is earned are near the columns that hold money."""
    found: dict[str, tuple[float, Near]] = {}
    for phrase in said:
        for score, near in (*_names(phrase, schema), *_values(phrase, values)):
            if score >= MIN_ALIKE and score > found.get(near.told, (0.0, near))[0]:
                found[near.told] = (score, near)
    return tuple(near for _, near in sorted(found.values(), key=lambda pair: -pair[0]))[:MOST]


def _names(phrase: str, schema: SourceSchema) -> Iterator[tuple[float, Near]]:
    for table in schema.tables:
        yield _likeness(phrase, table.name, table.synonyms), Near(table.name)
        for column in table.columns:
            score = max(_likeness(phrase, column.name, column.synonyms), _as_money(phrase, column, table))
            yield score, Near(table.name, column.name)


def _likeness(phrase: str, name: str, synonyms: Sequence[str]) -> float:
    """Each word of the phrase has one like it in the name; the fewer words of the name are left, the nearer."""
    said = [word.lower for word in words_of(phrase) if len(word.lower) >= SHORTEST]
    best = 0.0
    for called in (name, *synonyms):
        parts = split_name(called)
        if said and parts:
            scores = [max(alike(word, part) for part in parts) for word in said]
            best = max(best, min(scores) - 2 * max(0, len(parts) - len(said)))
    return best


def alike(word: str, part: str) -> float:
    """How much a word is like a part of a name, of 100: of one family, short for it, or written so."""
    latin = lower(stem(word) if is_russian(word) else word).translate(LETTERS)
    if stem(latin) == stem(part):
        return SAME
    short = (len(part) <= LONGEST_SHORT and is_short_for(part, latin)) or is_short_for(latin, part)
    if short or _contracts(part, latin) or kin(latin, part):
        return RELATED
    spend(1)
    return fuzz.ratio(latin, part) if min(len(latin), len(part)) > SHORTEST else 0.0


def _contracts(part: str, word: str) -> bool:
    """The first and the last letter: `pt` for patients, `dr` for doctor."""
    return len(part) == 2 and part not in IDENTIFYING and part == word[0] + singular(word)[-1]


def _as_money(phrase: str, column: Column, table: Table) -> float:
    words = words_of(phrase)
    kinds = {value for last in range(1, len(words) + 1) for _, value in load().find(words, last - 1, last)}
    if "sum:revenue" not in kinds or column.kind != "number" or {*map(stem, split_name(column.name))} & COSTS:
        return 0.0
    return MONEY if meanings_of(table, {}).of[column.name] == "amount" else 0.0


def _values(phrase: str, values: Mapping[str, Values]) -> Iterator[tuple[float, Near]]:
    plain = lower(phrase).translate(LETTERS)
    if len(plain) < SHORTEST:
        yield from ((RELATED, near) for near in _initials(plain, values))
        return
    for table, columns in values.items():
        for column, held in columns.items():
            some = held[:MOST_VALUES]
            for value in some:
                if abs(len(value) - len(plain)) <= SHORTEST:
                    yield fuzz.ratio(plain, lower(value)), Near(table, column, value)
            yield from _titles(plain, table, column, some)
    yield from ((RELATED, near) for near in _initials(plain, values))


def _titles(plain: str, table: str, column: str, held: Sequence[str]) -> Iterator[tuple[float, Near]]:
    """Values of several words that begin with the same one, which is like the phrase: `Dr Ahmed`, `Dr Costa`."""
    firsts: dict[str, list[str]] = {}
    for value in held:
        words = split_name(value)
        if len(words) > 1:
            firsts.setdefault(words[0], []).append(value)
    for first, named in firsts.items():
        if len(named) > 1 and (score := alike(plain, first)) >= RELATED:
            yield score, Near(table, column, example=named[0])


def _initials(plain: str, values: Mapping[str, Values]) -> Iterator[Near]:
    """`gp` for General Practice, and general practice for `GP`."""
    said = "".join(word[0] for word in split_name(plain))
    for table, columns in values.items():
        for column, held in columns.items():
            for value in held[:MOST_VALUES]:
                words = split_name(value)
                short = "".join(word[0] for word in words)
                if (len(words) > 1 and short == plain) or (len(said) > 1 and said == lower(value)):
                    yield Near(table, column, value)
