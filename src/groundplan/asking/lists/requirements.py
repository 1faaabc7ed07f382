"""A question about trackers as requirements: the lists it asks for, and the filters on each of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date

from groundplan.asking.lists.analytics import closed_period, read_numbers, unanswerable
from groundplan.asking.lists.counting import Counted, Counting, read_counting
from groundplan.asking.lists.plan import NumberRule, load_rules
from groundplan.contracts.answer import Clarification
from groundplan.contracts.contract import Language
from groundplan.contracts.reading import Entity, Evidence, Filter, Intent, IntentAsked, Operator, Reading, Requirement
from groundplan.contracts.retrieval import Reasoning, Retrieval, RetrievalCondition, RetrievalPlan
from groundplan.contracts.schema import Column, SourceSchema
from groundplan.text.event_dates import dated_by
from groundplan.text.periods.find import find_periods
from groundplan.text.stems import stem
from groundplan.text.words import Word, language_of, normalise, words_of

PEOPLE = ("author", "assignee")


def read_retrieval(
    question: str,
    reasoning: Reasoning,
    retrieval: Retrieval,
    schema: SourceSchema,
    *,
    today: date,
    timezone: str = "UTC",
) -> Reading | Clarification:
    """A requirement for each list and each filter; a default filter that the question does not mention is implied."""
    text = normalise(question)
    words = words_of(text)
    available = {table.name for table in schema.tables}
    lists = [plan for plan in retrieval.plans if plan.table in available]
    tables = dict.fromkeys(plan.table for plan in lists if plan.table)
    counting = read_counting(words, _taken(words, reasoning, today, timezone, text))
    if is_counted_here(reasoning, retrieval, schema):
        reasoning = _with_counting(reasoning, counting)
    lacking = _lacking(tables, words, reasoning, retrieval, schema)
    if lacking is not None:
        return lacking
    rule = load_rules().of(reasoning.intents[0].type)
    if numbers := [number for number in rule.numbers if number.table in available]:
        return _numbers(text, reasoning, numbers, counting, rule.period, today, timezone)
    unfiltered = _without_people(lists, reasoning)
    if unfiltered is not None:
        return unfiltered
    dated = [_with_date_column(condition, words, schema) for condition in _conditions(lists, available - {*tables})]
    vague = [condition.filter for condition in dated if _value(condition, today, timezone) is None]
    if vague:
        return _ask_which(vague[0], reasoning)
    filters = {need.id: need for need in _filters(text, dated, reasoning, today, timezone)}
    if counting.is_asked and is_counted_here(reasoning, retrieval, schema) and not rule.lists:
        listed = [table for name in tables if (table := schema.find(name))]
        dates = {name: found.dates for name, found in load_rules().tables.items()}
        counted = Counted(text, counting, tuple(filters.values()), dates).reading(listed)
        return counted or _uncounted(counting, text)
    return _reading(text, tables, filters.values(), reasoning)


def _reading(text: str, tables: Iterable[str], filters: Iterable[Requirement], reasoning: Reasoning) -> Reading:
    said = next((intent.said for intent in reasoning.intents if intent.said), "") or text
    return Reading(
        question=text,
        language=language_of(text),
        tables=tuple(tables),
        requirements=(
            *(_list(table, said, text) for table in tables),
            *filters,
        ),
        intents=tuple(Intent(name=intent.type, confidence=intent.confidence) for intent in reasoning.intents),
        entities=tuple(Entity(id=project, type="project") for project in reasoning.entities.get("projects", ())),
        period=reasoning.periods[0] if reasoning.periods else None,
    )


def _conditions(lists: Sequence[RetrievalPlan], others: Collection[str]) -> list[RetrievalCondition]:
    """Of each list, those on its own rows and on tables that are not listed."""
    return [c for plan in lists for c in plan.conditions if c.table == plan.table or c.table in others]


def is_counted_here(reasoning: Reasoning, retrieval: Retrieval, schema: SourceSchema) -> bool:
    """True if several lists are named, or a person: counts that the table grammar does not read.

    `issues by Priority` names a column.
    """
    named = {plan.table for plan in retrieval.plans if plan.table}
    columns = {stem(column.name) for table in schema.tables if table.name in named for column in table.columns}
    people = [name for role in PEOPLE for name in reasoning.entities.get(role, ())]
    return (len(named) > 1 or bool(people)) and not any(stem(name) in columns for name in people)


def _with_counting(reasoning: Reasoning, counting: Counting) -> Reasoning:
    """The words that count are understood."""
    known = {*counting.count.split(), *counting.along.split(), counting.group, *counting.more.split()}
    left = tuple(word for word in reasoning.unexplained if word not in known)
    return reasoning.model_copy(update={"unexplained": left})


def _taken(words: Sequence[Word], reasoning: Reasoning, today: date, timezone: str, text: str) -> frozenset[int]:
    """The places of words that name a period or a person, with the word before a person."""
    spans = [(found.start, found.end) for found in find_periods(text, today, timezone)]
    for name in (name for role in PEOPLE for name in reasoning.said.get(role, ())):
        start = text.find(name)
        before = max((word.start for word in words if word.start < start), default=start)
        spans.append((before, start + len(name)))
    return frozenset(
        place for place, word in enumerate(words) if any(start <= word.start < end for start, end in spans)
    )


def _uncounted(counting: Counting, text: str) -> Clarification:
    words = counting.more or counting.group
    if language_of(text) == "ru":
        told = f"По одному человеку или нескольким спискам «{words}» не считается. Спросите, сколько их."
    else:
        told = f"Lists of a person, or several lists, have no {words!r}. Ask how many, by a column or per week."
    return Clarification(text=told, missing=words)


def _numbers(
    text: str,
    reasoning: Reasoning,
    numbers: Sequence[NumberRule],
    counting: Counting,
    usual: str,
    today: date,
    timezone: str,
) -> Reading | Clarification:
    language: Language = "ru" if language_of(text) == "ru" else "en"
    asked = unanswerable(reasoning, counting.group or counting.along, language == "ru")
    if asked is not None:
        return asked
    periods = reasoning.periods or tuple(one.period for one in find_periods(usual, today, timezone) if one.period)
    return read_numbers(text, reasoning, numbers, closed_period(periods[0], today), language)


def _lacking(
    tables: Collection[str], words: Sequence[Word], reasoning: Reasoning, retrieval: Retrieval, schema: SourceSchema
) -> Clarification | None:
    """A word that is not understood, or a list that no source has."""
    verbs = _verbs(tables, words, schema) if reasoning.periods else frozenset()
    unclear = (*reasoning.unresolved, *(word for word in reasoning.unexplained if stem(word) not in verbs))
    if unclear:
        return _ask_meaning(unclear[0], reasoning)
    available = {table.name for table in schema.tables}
    absent = [plan.table for plan in retrieval.plans if plan.table and plan.table not in available]
    return _unavailable(absent[0], available) if absent and not (tables and _only_conclusions(reasoning)) else None


def _without_people(lists: Sequence[RetrievalPlan], reasoning: Reasoning) -> Clarification | None:
    """A list that cannot be asked by person: without the condition it would be another list."""
    for role in PEOPLE:
        named = reasoning.entities.get(role, ())
        for plan in lists if named else ():
            if len(named) > 1 or not any(c.filter == role and c.table == plan.table for c in plan.conditions):
                name = (plan.table or "").replace("_", " ")
                who = " and ".join(named)
                text = f"{name.capitalize()} have no {role} {who!r}. Ask for commits or issues of one person."
                return Clarification(text=text, missing=named[0])
    return None


def _list(table: str, said: str, text: str) -> Requirement:
    return Requirement(id=f"intent:{table}", value=IntentAsked(intent=table), evidence=_evidence(said, text))


def _filters(
    text: str, conditions: Sequence[RetrievalCondition], reasoning: Reasoning, today: date, timezone: str
) -> Iterator[Requirement]:
    for condition in conditions:
        said = reasoning.said.get(condition.filter, ())
        if value := _value(condition, today, timezone):
            evidence = _evidence(said[0], text) if said else None
            id_ = f"filter:{condition.table}.{condition.column}"
            yield Requirement(id=id_, value=value, evidence=evidence, implied=not said)


def _with_date_column(condition: RetrievalCondition, words: Sequence[Word], schema: SourceSchema) -> RetrievalCondition:
    """Filter the date that the verb names: `closed last month` filters the closing date. Two verbs are ambiguous."""
    columns = _date_columns(condition.table, words, schema) if condition.filter == "dates" else []
    if len(columns) > 1:
        return condition.model_copy(update={"values": ()})
    return condition.model_copy(update={"column": columns[0].name}) if columns else condition


def _date_columns(name: str, words: Sequence[Word], schema: SourceSchema) -> list[Column]:
    """The date columns that the question's verbs name."""
    table = schema.find(name)
    return dated_by(words, table) if table else []


def _verbs(tables: Iterable[str], words: Sequence[Word], schema: SourceSchema) -> frozenset[str]:
    columns = [column for name in tables for column in _date_columns(name, words, schema)]
    return frozenset(stem(verb) for column in columns for verb in column.verbs)


def _value(condition: RetrievalCondition, today: date, timezone: str) -> Filter | None:
    """None if the dates are not a single period, or the table does not have the statuses."""
    if condition.filter != "dates" and not condition.values:
        return None
    if condition.filter in PEOPLE:
        return Filter(table=condition.table, column=condition.column, operator="contains", values=condition.values)
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


def _only_conclusions(reasoning: Reasoning) -> bool:
    """Whether every list only supports a conclusion: then the available lists are enough."""
    needed = {id_ for hypothesis in reasoning.hypotheses for id_ in hypothesis.depends_on}
    return all(hypothesis.depends_on or hypothesis.id in needed for hypothesis in reasoning.hypotheses)


def _unavailable(table: str, available: Iterable[str]) -> Clarification:
    name, others = table.replace("_", " "), ", ".join(sorted(available)).replace("_", " ")
    return Clarification(text=f"No source of {name} is configured; available: {others}.", missing=name)


def _ask_which(vague: str, reasoning: Reasoning) -> Clarification:
    if vague == "statuses":
        statuses = ", ".join(reasoning.said.get("statuses", ()))
        text = f"Not every list has the status {statuses!r}. Do you mean open or closed?"
        return Clarification(text=text, missing="the status")
    if len(reasoning.said.get("dates", ())) > 1:
        return Clarification(text="The question names several periods. Which one do you mean?", missing="the period")
    return Clarification(text="Does the period refer to when they were created, changed or closed?", missing="the date")


def _ask_meaning(unclear: str, reasoning: Reasoning) -> Clarification:
    projects = ", ".join(reasoning.entities.get("projects", ()))
    about = f" in the question about {projects}" if projects else ""
    return Clarification(
        text=f"What do you mean by {unclear!r}{about}? You can ask for commits, merge requests, issues or the status "
        "of a configured project.",
        missing=unclear,
    )
