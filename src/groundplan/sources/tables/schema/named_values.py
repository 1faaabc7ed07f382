"""Values of large tables: those of their samples, and those that a question names and one bounded query finds."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import ibis
import ibis.expr.types as ir

from groundplan.contracts.schema import SourceSchema, Table
from groundplan.errors import DeadlineExceeded
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.handle import narrowed
from groundplan.sources.tables.schema.samples import Sample
from groundplan.text.lexicon import load_lexicon
from groundplan.text.names import name_words
from groundplan.text.period_names import MONTHS, WEEKDAYS
from groundplan.text.stems import stem
from groundplan.text.words import Word, words_of

LOOKUP_SECONDS = 2.0  # for the values of one table that a question names
MOST_COMPARED = 3_000  # texts in one query, over all columns
LONGEST = 6  # the most words in a value that is looked up
MOST_WORDS = 60
DIGITS = 5  # of a number that may be a code; shorter ones are years, days and amounts
UNREAD = ""  # stands for the columns that were not looked into in time; no column is called so
TOKENS = re.compile(r"[^\s,;?!()\"«»\0]+")
EDGES = ".'’:"
Values = dict[str, tuple[str, ...] | None]


class NamedValues:
    """Finds the values of large tables for one question. `slow` holds until when a table is not looked into."""

    def __init__(self, question: str, schema: SourceSchema, samples: Mapping[str, Sample], slow: dict[str, float]):
        self._samples, self._slow = samples, slow
        held = (text for sample in samples.values() for texts in sample.values.values() for text in texts)
        self._named = _strange_runs(question, _schema_stems(schema), {w.stem for text in held for w in words_of(text)})

    def of_table(
        self, known: Table, find: Callable[[list[str]], Values], slow_for: float, scope: CancelScope
    ) -> Values:
        """Those of its sample, with those that `find` gets from the table."""
        texts = [column.name for column in known.columns if column.kind == "text"]
        held = {name: self._samples[known.name].values.get(name, ()) for name in texts}
        if not self._named or not texts:
            return {**held}
        if self._slow.get(known.name, 0.0) > time.monotonic():
            return {**held, UNREAD: None}
        try:
            found = find(self._named[: MOST_COMPARED // len(texts)])
        except DeadlineExceeded:
            scope.check()
            self._slow[known.name] = time.monotonic() + slow_for
            return {**held, UNREAD: None}
        return {name: tuple(dict.fromkeys((*held[name], *(found.get(name) or ())))) for name in texts}


def lookup(rows: ir.Table, columns: Sequence[str], texts: Sequence[str]) -> ir.Table:
    """The texts that the columns hold, by one query: where all columns have an index, it reads only these rows."""
    rows = narrowed(rows, columns)
    held = [rows[name].isin(texts) for name in columns]
    null = ibis.null("string")
    kept = {f"c{place}": is_held.ifelse(rows[columns[place]], null) for place, is_held in enumerate(held)}
    return rows.filter(ibis.or_(*held)).select(**kept).distinct()


def _strange_runs(question: str, schema_stems: frozenset[str], held_stems: set[str]) -> list[str]:
    """Runs of words that hold one which is no word of questions, names or known values, in the usual cases."""
    tokens = [token.strip(EDGES).removesuffix("'s").removesuffix("’s") for token in TOKENS.findall(question)]
    tokens = [token for token in tokens if token][:MOST_WORDS]
    known = schema_stems | _question_stems()
    strange = [
        _is_strange(token, known | held_stems)
        or (place > 0 and token[0].isupper() and _is_strange(token, schema_stems))
        for place, token in enumerate(tokens)
    ]
    sizes = range(1, LONGEST + 1)
    spans = ((first, first + size) for size in sizes for first in range(len(tokens) - size + 1))
    runs = [" ".join(tokens[first:last]) for first, last in spans if any(strange[first:last])]
    return list(dict.fromkeys(form for run in runs for form in (run, run.lower(), run.title(), run.upper())))


def _is_strange(token: str, known: frozenset[str]) -> bool:
    words = words_of(token)
    return any(_may_be_code(word) if word.is_number else word.stem not in known for word in words) or (
        any(word.is_number for word in words) and any(character.isalpha() for character in token)
    )


def _may_be_code(word: Word) -> bool:
    return word.text.isdigit() and len(word.text) >= DIGITS


def _schema_stems(schema: SourceSchema) -> frozenset[str]:
    return frozenset(stem(word) for name in _names(schema) for word in name_words(name)) | _calendar_stems()


def _names(schema: SourceSchema) -> Iterator[str]:
    for metric in schema.metrics:
        yield from (metric.name, *metric.synonyms)
    for table in schema.tables:
        yield from (table.name, *table.synonyms)
        for column in table.columns:
            yield from (column.name, *column.synonyms, *column.verbs)


@cache
def _question_stems() -> frozenset[str]:
    return load_lexicon().stems


@cache
def _calendar_stems() -> frozenset[str]:
    return frozenset(stem(word) for names in (MONTHS, WEEKDAYS) for listed in names.values() for word in listed)
