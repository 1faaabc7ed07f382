"""What a question asks of trackers, as requirements: the lists that it wants, and the rows that each of them keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from groundplan.contracts.answer import Clarification
from groundplan.contracts.reading import Entity, Evidence, Filter, Intent, IntentAsked, Operator, Reading, Requirement
from groundplan.contracts.retrieval import Reasoning, Retrieval, RetrievalCondition
from groundplan.contracts.schema import Column, SourceSchema
from groundplan.text.event_dates import dated_by
from groundplan.text.periods.find import find_periods
from groundplan.text.stems import stem
from groundplan.text.words import Word, language_of, normalise, words_of


def read_retrieval(
    question: str,
    reasoning: Reasoning,
    retrieval: Retrieval,
    schema: SourceSchema,
    *,
    today: date,
    timezone: str = "UTC",
) -> Reading | Clarification:
    """A requirement for each list and each filter; what nobody named, such as `last week`, is implied by the rest."""
    text = normalise(question)
    words = words_of(text)
    there = {table.name for table in schema.tables}
    lists = [plan for plan in retrieval.plans if plan.table in there]
    tables = dict.fromkeys(plan.table for plan in lists if plan.table)
    verbs = _verbs(tables, words, schema) if reasoning.periods else frozenset()
    unclear = (*reasoning.unresolved, *(word for word in reasoning.unexplained if stem(word) not in verbs))
    if unclear:
        return _asked_back(unclear[0], reasoning)
    absent = [plan.table for plan in retrieval.plans if plan.table and plan.table not in there]
    if absent and not (lists and _serve_one_end(reasoning)):
        return _not_there(absent[0], there)
    conditions = [c for plan in lists for c in plan.conditions if c.table == plan.table or c.table in there - {*tables}]
    kept = [_about(condition, words, schema) for condition in conditions]
    vague = [condition.filter for condition in kept if _value(condition, today, timezone) is None]
    if vague:
        return _asked_for_one(vague[0], reasoning)
    filters = {need.id: need for need in _filters(text, kept, reasoning, today, timezone)}
    said = next((intent.said for intent in reasoning.intents if intent.said), "") or text
    return Reading(
        question=text,
        language=language_of(text),
        tables=tuple(tables),
        requirements=(
            *(_list(table, said, text) for table in tables),
            *filters.values(),
        ),
        intents=tuple(Intent(name=intent.type, confidence=intent.confidence) for intent in reasoning.intents),
        entities=tuple(Entity(id=project, type="project") for project in reasoning.entities.get("projects", ())),
        period=reasoning.periods[0] if reasoning.periods else None,
    )


def _list(table: str, said: str, text: str) -> Requirement:
    return Requirement(id=f"intent:{table}", value=IntentAsked(intent=table), evidence=_evidence(said, text))


def _filters(
    text: str, conditions: Sequence[RetrievalCondition], reasoning: Reasoning, today: date, timezone: str
) -> Iterator[Requirement]:
    for condition in conditions:
        said = reasoning.said.get(condition.filter, ())
        if value := _value(condition, today, timezone):
            id_, evidence = f"filter:{condition.table}.{condition.column}", _evidence(said[0] if said else "", text)
            yield Requirement(id=id_, value=value, evidence=evidence, implied=not said)


def _about(condition: RetrievalCondition, words: Sequence[Word], schema: SourceSchema) -> RetrievalCondition:
    """`closed last month` is about when it was closed; of two such verbs none can be chosen."""
    told = _told(condition.table, words, schema) if condition.filter == "dates" else []
    if len(told) > 1:
        return condition.model_copy(update={"values": ()})
    return condition.model_copy(update={"column": told[0].name}) if told else condition


def _told(name: str, words: Sequence[Word], schema: SourceSchema) -> list[Column]:
    """The dates that the question's verbs speak of."""
    table = schema.find(name)
    return dated_by(words, table) if table else []


def _verbs(tables: Iterable[str], words: Sequence[Word], schema: SourceSchema) -> frozenset[str]:
    return frozenset(stem(verb) for name in tables for column in _told(name, words, schema) for verb in column.verbs)


def _value(condition: RetrievalCondition, today: date, timezone: str) -> Filter | None:
    """None for dates that are no single period, and for statuses that the table does not know."""
    if condition.filter != "dates" and not condition.values:
        return None
    if condition.filter != "dates":
        operator: Operator = "in" if len(condition.values) > 1 else "="
        return Filter(table=condition.table, column=condition.column, operator=operator, values=condition.values)
    periods = [found.period for words in condition.values for found in find_periods(words, today, timezone)]
    if len(periods) != 1 or periods[0] is None:
        return None
    span = (periods[0].start.isoformat(), periods[0].end.isoformat())
    return Filter(table=condition.table, column=condition.column, operator="between", values=span)


def _evidence(said: str, text: str) -> Evidence:
    start = text.find(said) if said else -1
    return Evidence(text=said[:500], start=start) if start >= 0 else Evidence(text=text[:500], start=0)


def _serve_one_end(reasoning: Reasoning) -> bool:
    """Whether no list is asked for itself: then a status is what can be had of it."""
    needed = {id_ for hypothesis in reasoning.hypotheses for id_ in hypothesis.depends_on}
    return all(hypothesis.depends_on or hypothesis.id in needed for hypothesis in reasoning.hypotheses)


def _not_there(table: str, there: Iterable[str]) -> Clarification:
    said, others = table.replace("_", " "), ", ".join(sorted(there)).replace("_", " ")
    return Clarification(text=f"No source of {said} is set up here; there are {others}.", missing=said)


def _asked_for_one(vague: str, reasoning: Reasoning) -> Clarification:
    if vague == "statuses":
        statuses = ", ".join(reasoning.said.get("statuses", ()))
        text = f"No status is called {statuses!r} everywhere. Open ones, or closed ones?"
        return Clarification(text=text, missing="the status")
    if len(reasoning.said.get("dates", ())) > 1:
        return Clarification(text="Several periods cannot be kept together. Which one?", missing="the period")
    return Clarification(text="Is the period about when they were made, changed or closed?", missing="the date")


def _asked_back(unclear: str, reasoning: Reasoning) -> Clarification:
    projects = ", ".join(reasoning.entities.get("projects", ()))
    about = f" about {projects}" if projects else ""
    return Clarification(
        text=f"What is meant by {unclear!r}{about}? Ask for commits, merge requests, issues or the status of a project "
        "that is set up.",
        missing=unclear,
    )
