"""The route for questions to a knowledge base."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from groundplan.asking.lookup.continuing import Continuation, find_continuation
from groundplan.asking.lookup.read import read_lookup, scan_lookup
from groundplan.asking.route import Route, needs_model
from groundplan.budget import aside
from groundplan.context import Context
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.issue import Issue
from groundplan.contracts.knowledge import Conversation, KnowledgeSchema
from groundplan.contracts.question import Question
from groundplan.contracts.reading import Reading
from groundplan.text.similar import content_stems

SOME = 0.5  # the score if the question names something in the knowledge base


class Lookup(Route):
    name = "lookup"

    def accepts(self, question: Question, context: Context, values: Mapping[str, Any]) -> float:
        schema = knowledge_of(context)
        if schema is None or context.registry is None:
            return 0.0
        if len(context.schemas) == 1:
            return 1.0
        clock: dict[str, Any] = {"today": question.today, "timezone": question.timezone}
        scan = scan_lookup(question.text, schema, context.registry, **clock)
        if isinstance(find_continuation(scan, _before(context)), Continuation):
            return 1.0
        marked = {place for mark in scan.all_marks for place in range(mark.first, mark.last)} | scan.named_places
        said = content_stems(question.text)
        share = min(len(marked) / len(said), 1.0) if said else 0.0
        return SOME + (1 - SOME) * share if scan.names else SOME * share

    async def read(self, question: Question, context: Context) -> Reading | Clarification | Refusal:
        known: tuple[Any, ...] = (question.text, knowledge_of(context), context.registry)
        given: dict[str, Any] = {"today": question.today, "timezone": question.timezone, "context": _before(context)}
        roles = context.calls.roles if context.calls else None
        if context.calls is None or roles is None or not (roles.reader == "model" or needs_model(question.strategy)):
            return await aside(partial(read_lookup, *known, **given))
        from groundplan.asking.lookup.read_with_model import read_lookup_with

        given |= {"log": context.attempts, "threshold": roles.confidence}
        found, notes = await read_lookup_with(context.calls.of("read"), *known, **given)
        context.notes.extend(notes)
        return found

    def nothing_found(self, context: Context) -> Refusal | None:
        """Neither the graph nor the documents have an answer."""
        schema = knowledge_of(context)
        kinds = ", ".join(kind.name for kind in schema.types) if schema else ""
        problem, hint = "neither the graph nor the documents say anything about this", f"they cover: {kinds}"
        issue = Issue(code="lookup/nothing", problem=problem, hint=hint)
        return Refusal(text=f"{problem[0].upper()}{problem[1:]}; {hint}.", issues=(issue,))


def _before(context: Context) -> Conversation | None:
    return context.turns[-1].about if context.turns else None


def knowledge_of(context: Context) -> KnowledgeSchema | None:
    return next((schema.knowledge for schema in context.schemas.values() if schema.knowledge), None)
