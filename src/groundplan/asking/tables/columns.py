"""Which words of a question name which columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import OSA

from groundplan.contracts.schema import Column, Table
from groundplan.text.event_dates import TIME_UNITS
from groundplan.text.lexicon import Lexicon
from groundplan.text.names import split_name
from groundplan.text.stems import stem
from groundplan.text.words import Word

LONGEST_NAME = 5  # words
MANY_ROWS = 20
EXACT, JOINED, PART, SYNONYM, MISSPELT = 1.0, 0.95, 0.8, 0.6, 0.5


@dataclass(frozen=True)
class Mention:
    """Words that name a column, and how surely; `others` are columns that they name just as well."""

    column: Column
    first: int
    last: int
    score: float
    others: tuple[Column, ...] = ()


def find_mentions(words: Sequence[Word], table: Table, lexicon: Lexicon) -> tuple[Mention, ...]:
    """The best reading of the words, left to right, none inside another: surer ones first, then longer ones."""
    found = [m for window in _windows(words) if (m := _best(words, window, table, lexicon))]
    found.sort(key=lambda m: (-m.score, -(m.last - m.first), m.first))
    taken: set[int] = set()
    kept: list[Mention] = []
    for mention in found:
        places = set(range(mention.first, mention.last))
        if not places & taken:
            kept.append(mention)
            taken |= places
    return tuple(sorted(kept, key=lambda mention: mention.first))


def _windows(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    for first in range(len(words)):
        for last in range(first + 1, min(first + LONGEST_NAME, len(words)) + 1):
            yield first, last


def _best(words: Sequence[Word], window: tuple[int, int], table: Table, lexicon: Lexicon) -> Mention | None:
    span = tuple((word.lower, word.stem) for word in words[window[0] : window[1]])
    scored = [(score, column) for column in table.columns if (score := _score(span, column, lexicon))]
    if not scored:
        return None
    best = max(score for score, _ in scored)
    columns = [column for score, column in scored if score == best]
    return Mention(columns[0], *window, best, tuple(columns[1:]))


@lru_cache(maxsize=100_000)
def _score(spoken_words: tuple[tuple[str, str], ...], column: Column, lexicon: Lexicon) -> float:
    """How surely these words, each as it is written and as a stem, name the column."""
    span = [Word(lower, lower, stem_, 0, 0) for lower, stem_ in spoken_words]
    name = split_name(column.name)
    stems = tuple(stem(word) for word in name)
    spoken = tuple(word.stem for word in span)
    if not stems:
        return 0
    if spoken == stems:
        return EXACT
    if "".join(word.lower for word in span) == "".join(name) or "".join(spoken) == "".join(stems):
        return JOINED
    if _is_acronym(span, column.name):
        return JOINED
    if len(span) == 1 and span[0].is_number:
        return 0
    if len(stems) > 1 and len(spoken) < len(stems) and _is_part(spoken, stems, column, lexicon):
        return PART - 0.05 * (len(stems) - len(spoken))
    if len(spoken) == len(stems) > 1 and _wordwise(spoken, stems, lexicon):
        return PART
    if not span[-1].lower.endswith(("ed", "ing")) and _is_synonym(spoken, stems, lexicon):
        return SYNONYM if len(stems) == 1 else SYNONYM - 0.05
    if len(span) == 1 and spoken[0] not in lexicon.fillers and _is_misspelt(span[0].lower, "".join(name)):
        return MISSPELT
    return 0


def _is_part(spoken: tuple[str, ...], stems: tuple[str, ...], column: Column, lexicon: Lexicon) -> bool:
    """A run of the name's words that includes a telling one; `order` alone does not mean the order date."""
    if column.role == "temporal" and spoken[-1] != stems[-1]:
        return False
    runs = [stems[i : i + len(spoken)] for i in range(len(stems) - len(spoken) + 1)]
    return spoken in runs and not all(word in lexicon.fillers for word in spoken)


def _is_acronym(span: Sequence[Word], name: str) -> bool:
    """`ABC` is meant by words that begin with a, b and c."""
    letters = name.lower()
    return (
        2 < len(span) == len(letters) <= LONGEST_NAME
        and letters.isalpha()
        and "".join(word.lower[0] for word in span) == letters
    )


def _is_synonym(spoken: tuple[str, ...], stems: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Everyday words for a word of the name; one that names nothing by itself, such as `type`, does not count."""
    if len(spoken) == 1 and spoken[0] in lexicon.fillers:
        return False
    return any(spoken in group and any((word,) in group for word in stems) for group in lexicon.synonyms)


def _wordwise(spoken: tuple[str, ...], stems: tuple[str, ...], lexicon: Lexicon) -> bool:
    """`product type` for `product_category`: word by word the same or a synonym, and one the same."""
    same = [one == other for one, other in zip(spoken, stems, strict=True)]
    alike = [
        any((one,) in group and (other,) in group for group in lexicon.synonyms)
        for one, other in zip(spoken, stems, strict=True)
    ]
    return any(same) and all(a or b for a, b in zip(same, alike, strict=True))


def _is_misspelt(spoken: str, name: str) -> bool:
    """One slip in five letters, two in eight; shorter words differ too easily."""
    allowed = 2 if min(len(spoken), len(name)) >= 8 else 1 if min(len(spoken), len(name)) >= 5 else 0
    if not allowed or spoken[0] != name[0]:
        return False
    return any(OSA.distance(spoken, form) <= allowed for form in (name, f"{name}s", name.removesuffix("s")))


def is_ordinal_time(column: Column) -> bool:
    """A number that counts years, months or the like: an axis of time that is no date."""
    words = split_name(column.name)
    return column.kind == "number" and bool(words) and words[-1] in TIME_UNITS


def identifies(column: Column, rows: int) -> bool:
    """Most rows have a value of their own; of a handful of rows that says nothing."""
    return rows >= MANY_ROWS and (column.cardinality or 0) > rows / 2


def is_discrete(column: Column, rows: int) -> bool:
    """A whole number with few values, each of many rows: it can group."""
    few = column.cardinality is not None and column.cardinality <= min(30, rows / 3)
    return column.kind == "number" and few and not column.type.lower().startswith(("float", "double", "decimal"))


def is_additive(column: Column, lexicon: Lexicon) -> bool:
    return any(stem(word) in lexicon.additive for word in split_name(column.name))
