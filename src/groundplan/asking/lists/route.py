"""The route for questions about the lists of trackers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from groundplan.asking.lists.analytics import unfinished
from groundplan.asking.lists.plan import load_rules, plan_retrieval, structure_reasoning
from groundplan.asking.lists.read import detect_intents, load_tracker_words, read_projects
from groundplan.asking.lists.requirements import is_counted_here, read_retrieval
from groundplan.asking.route import Route
from groundplan.budget import aside
from groundplan.context import Context
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.question import Question
from groundplan.contracts.reading import Reading
from groundplan.contracts.retrieval import Reasoning, Retrieval
from groundplan.telemetry.audit import Execution
from groundplan.text.lexicon import load_lexicon
from groundplan.text.periods.find import find_periods
from groundplan.text.words import words_of

SPARE = 0.45  # the score of a question that counts a list: taken only if the tables route scores lower


class Lists(Route):
    name, is_audited = "lists", True

    def accepts(self, question: Question, context: Context, values: Mapping[str, Any]) -> float:
        found = plan_lists(question, context, [])
        if found is None:
            return 0.0
        reasoning, retrieval = found
        rule = load_rules().of(reasoning.intents[0].type)
        if is_counted_here(reasoning, retrieval, context.tables):
            return 1.0
        whole = rule.numbers and reasoning.entities and not reasoning.unexplained and not reasoning.unresolved
        return 1.0 if rule.lists or whole or not _computes(question) else SPARE

    async def read(self, question: Question, context: Context) -> Reading | Clarification | Refusal:
        return await aside(partial(_read, question, context))

    def nothing_found(self, context: Context) -> Refusal | None:
        return None


def _read(question: Question, context: Context) -> Reading | Clarification | Refusal:
    found = plan_lists(question, context, context.trail)
    assert found is not None
    clock: dict[str, Any] = {"today": question.today, "timezone": question.timezone}
    reading = read_retrieval(question.text, *found, context.tables, **clock)
    if isinstance(reading, Reading) and (remark := unfinished(reading, question.today)):
        context.notes.append(remark)
    return reading


def _computes(question: Question) -> bool:
    """True if a word counts, groups, ranks, analyses or draws: then the question is no plain list."""
    periods = find_periods(question.text, question.today, question.timezone)
    within = [(found.start, found.end) for found in periods]
    words = tuple(w for w in words_of(question.text) if not any(start <= w.start < end for start, end in within))
    lexicon = load_lexicon()
    phrases = (lexicon.functions, lexicon.groupings, lexicon.rankings, lexicon.charts, lexicon.grains)
    analyses = (cue for cue in lexicon.analyses.find(words) if cue.label != "detail")
    return any(True for family in phrases for _ in family.find(words)) or any(True for _ in analyses)


def plan_lists(question: Question, context: Context, trail: list[Execution]) -> tuple[Reasoning, Retrieval] | None:
    """Run the three agents: intents, reasoning, retrieval. None if the question asks for no tracker list."""
    projects = read_projects(context.schemas.values())
    if projects is None:
        return None
    rules = load_rules()
    clock: dict[str, Any] = {"today": question.today, "timezone": question.timezone}
    detected = detect_intents.execute(trail, question.text, projects, load_tracker_words(), **clock)
    reasoning = structure_reasoning.execute(trail, detected, rules)
    plans = plan_retrieval.execute(trail, reasoning, rules)
    return (reasoning, plans) if any(plan.table for plan in plans.plans) else None
