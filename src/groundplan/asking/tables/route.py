"""Questions about tables: how well they fit, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundplan.asking.tables.follow_up.edit import edit
from groundplan.asking.tables.read import read
from groundplan.context import Context
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.question import Question
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.text.names import split_name
from groundplan.text.similar import content_stems
from groundplan.text.stems import stem
from groundplan.text.words import texts_of

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
        if context.calls is None:
            return read(question.text, *known, **clock)
        from groundplan.asking.tables.read_with_model import read_with

        always = question.strategy == "adapt"
        found, notes = await read_with(context.calls, question.text, *known, always=always, **clock)
        context.notes.extend(notes)
        return found

    def nothing_found(self, context: Context) -> Refusal | None:
        return None


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
