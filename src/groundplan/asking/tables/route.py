"""Questions about tables: how well they fit, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundplan.asking.tables.accounting import measures_ids, not_understood, unasked_analysis, unread_words
from groundplan.asking.tables.follow_up.edit import edit
from groundplan.asking.tables.grammar.read import decided, derive_best, says_the_same
from groundplan.asking.tables.read import read
from groundplan.context import Context
from groundplan.contracts.answer import Clarification, Refusal, refused
from groundplan.contracts.question import Question
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.text.names import split_name
from groundplan.text.similar import content_stems
from groundplan.text.stems import stem
from groundplan.text.words import texts_of

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
        before = context.turns[-1].reading if context.turns else None
        text = f"{before.question} {question.text}" if before else question.text
        values: Any = await context.find_values(text)
        known: tuple[Any, ...] = (context.tables, values)
        clock: dict[str, Any] = {"today": question.today, "timezone": question.timezone, "meaning": context.nearness}
        edited = edit(before, question.text, *known, **clock) if before else None
        if edited:
            return edited
        if not _is_plain(context.tables) or context.calls is not None:
            return await self._by_cues(question, context, known, clock)
        derived = derive_best(question.text, context.tables, values, today=question.today, timezone=question.timezone)
        plain = _accounted(read(question.text, *known, **clock), context.tables)
        if isinstance(plain, Reading) and says_the_same(plain, derived):
            return plain
        answer = decided(derived, question.text)
        if answer is not None:
            context.notes.extend(f"{said!r} was read as {meant!r}" for said, meant in derived.corrected)
            return answer
        if isinstance(plain, Reading) or _is_elsewhere(plain, context.tables, values):
            return not_understood(derived.unread, context.tables)
        return plain

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


def _is_plain(schema: SourceSchema) -> bool:
    """Whether the tables are files or tables of a database; those of servers have words of their own."""
    return schema.engine in DATABASES


def _is_elsewhere(found: Clarification | Refusal, schema: SourceSchema, values: Mapping[str, Any]) -> bool:
    """Whether it says that the data has nothing of a name, which another of several tables has."""
    if not isinstance(found, Refusal) or found.issues[0].code != "reading/unknown" or len(schema.tables) < 2:
        return False
    _, _, named = found.issues[0].problem.partition("nothing called ")
    return bool(content_stems(named) & set(_stems(schema, values)))


def _accounted(found: Reading | Clarification | Refusal, schema: SourceSchema) -> Reading | Clarification | Refusal:
    """What was read, unless words of the question are left over."""
    if not isinstance(found, Reading):
        return found
    left = unread_words(found, schema)
    if left:
        return not_understood(left, schema)
    unasked = unasked_analysis(found)
    if unasked:
        return refused(
            "reading/unasked-analysis",
            f"the question does not ask for a {unasked}",
            "say what to compute: the total, the average, how many",
        )
    ids = measures_ids(found, schema)
    if ids:
        return refused("reading/id-measured", f"{ids!r} identifies rows and is no quantity", "ask how many there are")
    return found


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
