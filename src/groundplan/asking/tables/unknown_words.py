"""A word that the data does not know: the user is asked which rows or which column it means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from groundplan.asking.tables.accounting import is_named
from groundplan.asking.tables.grammar.lexicon import load
from groundplan.asking.tables.grammar.read import Derived
from groundplan.asking.tables.nearest import MIN_ALIKE, alike
from groundplan.asking.tables.nouns import may_name
from groundplan.contracts.answer import Clarification, MeantColumn
from groundplan.contracts.meaning import Meaning, meaning_of
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.text.names import split_name
from groundplan.text.read_back import distinct_sentences
from groundplan.text.similar import Nearness
from groundplan.text.words import Word, language_of, words_of

MOST_TABLES, MANY_TABLES = 3, 12  # with more, the candidates are too many to choose from; too slow to be read
MOST_NAMES = 40  # that are tried
MOST_CANDIDATES = 5
MOST_ALIKE = 3
MIN_NEARNESS = 0.6
SHORTEST = 3  # letters: so short are pronouns and the like
ARTICLES = frozenset({"the", "a", "an", "our", "my", "your"})
TEXTS = {
    "en": (
        "The data has nothing called '{}'. What do you mean by it?",
        "By '{}' do you mean {}?",
        " or ",
        "to have '{}' understood from now on, end the reply with `remember`: `1 remember`; such names can also be "
        "given in groundplan.toml and on the page Data of the browser",
    ),
    "ru": (
        "В данных нет ничего с названием «{}». Что имеется в виду?",
        "«{}» — это {}?",
        " или ",
        "чтобы «{}» понималось и дальше, закончите ответ словом `запомни`: `1 запомни`; такие синонимы есть и на "
        "странице «Данные» в браузере, и в groundplan.toml",
    ),
}
"""The question, the question if few columns are alike, and the remark on how to be understood without it."""


@dataclass(frozen=True)
class Named:
    """A name that could be meant: of the rows of a table, or of a column."""

    name: str
    column: MeantColumn | None = None


def ask_meaning(
    unread: Sequence[str],
    text: str,
    schema: SourceSchema,
    derive: Callable[[str], Derived],
    nearness: Nearness | None = None,
) -> Clarification | None:
    """Ask what an unknown word means. Each candidate makes a question that can be read, each with another meaning.

    Columns that are called much alike are asked about wherever the word stands; all names only for a noun.
    """
    said = " ".join(unread)
    place = text.find(said)
    if not said or place < 0 or len(schema.tables) > MANY_TABLES or is_named(unread, schema):
        return None
    names = [named for table in schema.tables for named in _names(table)]

    def asked(named: Sequence[Named]) -> Clarification | None:
        return _asked(said, text, named, lambda name: derive(text[:place] + name + text[place + len(said) :]))

    alike = [*_alike(said, names, nearness)]
    found = asked(alike) if 0 < len(alike) <= MOST_ALIKE else None
    if found is not None and len(found.candidates) <= MOST_ALIKE:
        _, few, between, _ = TEXTS[_language(text)]
        return found.model_copy(update={"text": few.format(said, between.join(map(repr, found.candidates)))})
    few_tables = len(schema.tables) <= MOST_TABLES
    return asked(names[:MOST_NAMES]) if few_tables and _is_noun(words_of(said), words_of(text[:place])) else None


def _asked(said: str, text: str, names: Sequence[Named], read: Callable[[str], Derived]) -> Clarification | None:
    by_meaning: dict[Meaning, tuple[str, Reading, MeantColumn | None]] = {}
    for named in names:
        for told, reading in _readings(named.name, read(named.name)):
            by_meaning.setdefault(meaning_of(reading), (told, reading, named.column))
    offered = [*by_meaning.values()][:MOST_CANDIDATES]
    if not offered:
        return None
    asks, _, _, to_keep = TEXTS[_language(text)]
    candidates, readings, columns = zip(*offered, strict=True)
    means = columns if may_name(said, text) else ()  # a verb is no other name of a column
    return Clarification(
        text=asks.format(said),
        missing=said,
        candidates=candidates,
        readings=readings,
        means=means,
        notes=(to_keep.format(said),) if any(means) else (),
    )


def _alike(said: str, names: Sequence[Named], nearness: Nearness | None) -> Iterator[Named]:
    """The columns of which a word is short for what was said, or of its family, or near by embeddings."""
    columns = [named for named in names if named.column is not None]
    words = [word.lower for word in words_of(said)]
    near = nearness(said, [" ".join(split_name(named.name)) for named in columns]) if nearness and columns else ()
    for place, named in enumerate(columns):
        parts = split_name(named.name)
        written = all(any(alike(word, part) >= MIN_ALIKE for part in parts) for word in words)
        if written or (near and near[place] >= MIN_NEARNESS):
            yield named


def _language(text: str) -> str:
    return "ru" if language_of(text) == "ru" else "en"


def _readings(name: str, found: Derived) -> Iterator[tuple[str, Reading]]:
    """The readings with this name, each as the user sees it: the name, or the read-back if there are several."""
    if found.reading is not None and not found.others:
        yield name, found.reading
    elif found.reading is not None:
        readings = (found.reading, *found.others)
        yield from zip(distinct_sentences(readings), readings, strict=True)


def _is_noun(said: tuple[Word, ...], before: Sequence[Word]) -> bool:
    """Whether the words may be a noun: not a value (in Leeds), a verb (did we lose) or a group (by sector)."""
    lexicon = load()
    leading = [word.lower for word in before if word.lower not in ARTICLES]
    if leading and leading[-1] in lexicon.no_noun_after:
        return False
    known = any(lexicon.find(said, place, place + 1) for place in range(len(said)))
    return not known and all(
        len(word.lower) > SHORTEST
        and word.text == word.lower
        and word.lower.isalpha()
        and not word.lower.endswith(("ed", "ing"))
        for word in said
    )


def _names(table: Table) -> list[Named]:
    """The table's name, which stands for its rows, and the columns; those that only tell rows apart come last."""
    columns = sorted(table.columns, key=lambda column: (column.name,) in table.keys or column.role == "id")
    named = [Named(one.name, MeantColumn(table=table.name, column=one.name)) for one in columns if one.kind != "time"]
    return [Named(table.name.replace("_", " ")), *named]
