"""Questions about tables: how well they fit, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from groundplan.asking.tables.accounting import measures_ids, not_understood, unasked_analysis, unread_words
from groundplan.asking.tables.follow_up.edit import edit
from groundplan.asking.tables.grammar.doubts import no_time, unclear_period
from groundplan.asking.tables.grammar.read import Derived, decided, derive_best
from groundplan.asking.tables.read import read
from groundplan.asking.tables.refusals import find_refusal, too_long, unaskable, unreadable_table
from groundplan.asking.tables.values import Values
from groundplan.context import Context
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.question import Question
from groundplan.contracts.reading import OutputAsked, Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.text.names import split_name
from groundplan.text.periods.find import find_periods
from groundplan.text.periods.pairs import set_apart
from groundplan.text.similar import Nearness, content_stems
from groundplan.text.stems import stem
from groundplan.text.words import normalise, texts_of, words_of

ANALYSES = frozenset({"periods", "anomaly", "correlation", "summary", "distribution"})
DATABASES = frozenset({"duckdb", "postgres", "pyspark"})
SOME = 0.5  # of any question where there are tables: most questions name a few of their words


class Tables:
    name = "tables"

    def accepts(self, question: Question, context: Context, values: Mapping[str, Any]) -> float:
        if not context.tables.tables:
            return 0.0
        said = content_stems(question.text)
        known = said & set(_stems(context.tables, values))
        return SOME + (1 - SOME) * (len(known) / len(said) if said else 0.0)

    async def read(self, question: Question, context: Context) -> Reading | Clarification | Refusal:
        """A follow-up edits the question before; a model is asked about words that nothing explains."""
        refusal = too_long(question.text) or unreadable_table(question.text, context.tables)
        if refusal:
            return refusal
        before = context.turns[-1].reading if context.turns else None
        text = f"{before.question} {question.text}" if before else question.text
        values: Any = await context.find_values(text)
        known: tuple[Any, ...] = (context.tables, values)
        clock: dict[str, Any] = {"today": question.today, "timezone": question.timezone, "meaning": context.nearness}
        if before:
            edited = edit(before, question.text, *known, today=question.today, timezone=question.timezone)
            if edited:
                return edited
        if not _is_plain(context.tables) or context.calls is not None:
            return await self._by_cues(question, context, known, clock)
        answer, notes = read_plain(question.text, *known, **clock)
        context.notes.extend(notes)
        return answer

    async def _by_cues(
        self, question: Question, context: Context, known: tuple[Any, ...], clock: dict[str, Any]
    ) -> Reading | Clarification | Refusal:
        """The reader by cues, with a model where there is one: for tables of servers, which have words of their own."""
        if context.calls is None:
            return read(question.text, *known, **clock)
        from groundplan.asking.tables.read_with_model import read_with

        always = question.strategy == "adapt"
        found, notes = await read_with(context.calls, question.text, *known, always=always, **clock)
        context.notes.extend(notes)
        return found

    def nothing_found(self, context: Context) -> Refusal | None:
        return None


def read_plain(
    question: str,
    schema: SourceSchema,
    values: Mapping[str, Values],
    *,
    today: date,
    timezone: str = "UTC",
    meaning: Nearness | None = None,
) -> tuple[Reading | Clarification | Refusal, tuple[str, ...]]:
    """A question of its own about files or tables of a database, and remarks on how it was read."""
    text = normalise(question)
    words = words_of(text)
    refusal = unaskable(text, words)
    if refusal:
        return refusal, ()
    derived = derive_best(text, schema, values, today=today, timezone=timezone, nearness=meaning)
    answer = decided(derived, text)
    notes = tuple(f"{said!r} was read as {meant!r}" for said, meant in derived.corrected) if answer else ()
    if isinstance(answer, Reading):
        return answer, notes
    drawn = _drawn(text, derived, schema, values, today=today, timezone=timezone, meaning=meaning)
    if drawn is not None:
        return drawn, ()
    periods = set_apart(text, words, find_periods(text, today, timezone), today, timezone)
    doubt = find_refusal(text, words) or unclear_period(text, periods, schema)
    said = doubt or answer or no_time(text, words, periods, schema)
    return said or not_understood(derived.unread, schema, text), notes


def _drawn(
    text: str, derived: Derived, schema: SourceSchema, values: Mapping[str, Values], **clock: Any
) -> Reading | None:
    """A chart of columns that are named, or an analysis, by the reader by cues: where the grammar derives nothing."""
    if derived.reading is not None or derived.unsaid is not None:
        return None
    found = read(text, schema, values, **clock)
    if not isinstance(found, Reading):
        return None
    own = schema.model_copy(update={"tables": tuple(one for one in schema.tables if one.name in found.tables)})
    if unread_words(found, own) or unasked_analysis(found) or measures_ids(found, schema):
        return None
    charts = [r for r in found.requirements if isinstance(r.value, OutputAsked) and not r.implied]
    analysed = any(intent.name in ANALYSES for intent in found.intents)
    return found if charts or analysed else None


def _is_plain(schema: SourceSchema) -> bool:
    """Whether the tables are files or tables of a database; those of servers have words of their own."""
    return schema.engine in DATABASES


def _stems(schema: SourceSchema, values: Mapping[str, Any]) -> Iterator[str]:
    """Of everything that the tables give a name to."""
    for table in schema.tables:
        yield from map(stem, split_name(table.name))
        for column in table.columns:
            yield from map(stem, split_name(column.name))
            yield from map(stem, column.verbs)
            yield from (stem(word) for called in column.called for text in called.words for word in texts_of(text))
        for listed in values.get(table.name, {}).values():
            yield from (stem(word) for value in listed for word in texts_of(value))
