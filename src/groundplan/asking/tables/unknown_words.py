"""A noun that the data does not know: the user is asked which rows or which column it means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from groundplan.asking.tables.accounting import is_named
from groundplan.asking.tables.grammar.lexicon import load
from groundplan.asking.tables.grammar.read import Derived
from groundplan.contracts.answer import Clarification
from groundplan.contracts.meaning import Meaning, meaning_of
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.text.read_back import distinct_sentences
from groundplan.text.words import Word, language_of, words_of

MOST_TABLES = 3  # with more, the candidates are too many to choose from
MOST_NAMES = 40  # that are tried
MOST_CANDIDATES = 12
SHORTEST = 3  # letters: so short are pronouns and the like
ARTICLES = frozenset({"the", "a", "an", "our", "my", "your"})
TEXTS = {
    "en": (
        "The data has nothing called '{}'. What do you mean by it?",
        "to have '{}' understood from now on, add it to the synonyms in the model file or in groundplan.toml, or in "
        "the browser on the page Data",
    ),
    "ru": (
        "В данных нет ничего с названием «{}». Что имеется в виду?",
        "чтобы «{}» понималось и дальше, добавьте это слово к синонимам в файле модели или в groundplan.toml, или в "
        "браузере на странице «Данные»",
    ),
}
"""The question, and the remark on how to be understood without it."""


def ask_meaning(
    unread: Sequence[str], text: str, schema: SourceSchema, derive: Callable[[str], Derived]
) -> Clarification | None:
    """Ask what an unknown noun means. Each candidate makes a question that can be read, each with another meaning."""
    said = " ".join(unread)
    place = text.find(said)
    if (
        not said
        or place < 0
        or len(schema.tables) > MOST_TABLES
        or is_named(unread, schema)
        or not _is_noun(words_of(said), words_of(text[:place]))
    ):
        return None
    names = [name for table in schema.tables for name in _names(table)][:MOST_NAMES]
    by_meaning: dict[Meaning, tuple[str, Reading]] = {}
    for name in names:
        for told, reading in _readings(name, derive(text[:place] + name + text[place + len(said) :])):
            by_meaning.setdefault(meaning_of(reading), (told, reading))
    offered = [*by_meaning.values()][:MOST_CANDIDATES]
    if not offered:
        return None
    asks, to_keep = TEXTS["ru" if language_of(text) == "ru" else "en"]
    return Clarification(
        text=asks.format(said),
        missing=said,
        candidates=tuple(name for name, _ in offered),
        readings=tuple(reading for _, reading in offered),
        notes=(to_keep.format(said),),
    )


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


def _names(table: Table) -> list[str]:
    """The table's name, which stands for its rows, and the columns; those that only tell rows apart come last."""
    columns = sorted(table.columns, key=lambda column: (column.name,) in table.keys or column.role == "id")
    return [table.name.replace("_", " "), *(column.name for column in columns if column.kind != "time")]
