"""What is asked of trackers, as requirements: each list, each filter with its table, and what nobody named."""

from __future__ import annotations

from datetime import date
from functools import cache

import pytest

from groundplan.asking.lists.plan import load_rules, plan_retrieval, structure_reasoning
from groundplan.asking.lists.read import detect_intents, load_tracker_words, read_projects
from groundplan.asking.lists.requirements import read_retrieval
from groundplan.context import Context
from groundplan.contracts.answer import Clarification
from groundplan.contracts.reading import Filter, IntentAsked, Reading
from groundplan.project import AsyncProject
from tests.trackers.shop import described

TODAY = date(2026, 3, 10)
LAST_WEEK = ("2026-03-02", "2026-03-09")
FEBRUARY = ("2026-02-01", "2026-03-01")
Kept = tuple[str, str, tuple[str, ...]]


@cache
def world() -> AsyncProject:
    return described()


def read(question: str) -> Reading | Clarification:
    registry = read_projects(world().schemas.values())
    assert registry is not None
    reasoning = structure_reasoning(detect_intents(question, registry, load_tracker_words(), today=TODAY), load_rules())
    context = Context(world().catalog, world().schemas, retriever=None)  # type: ignore[arg-type]
    planned = plan_retrieval(reasoning, load_rules())
    return read_retrieval(question, reasoning, planned, context.tables, today=TODAY)


def understood(question: str) -> Reading:
    reading = read(question)
    assert isinstance(reading, Reading), reading.text
    return reading


def lists(reading: Reading) -> list[str]:
    return [r.value.intent for r in reading.requirements if isinstance(r.value, IntentAsked)]


def filters(reading: Reading, table: str) -> list[Kept]:
    kept = [r.value for r in reading.requirements if isinstance(r.value, Filter) and r.value.table == table]
    return [(value.column, value.operator, tuple(map(str, value.values))) for value in kept]


@pytest.mark.requirement("R8", "R9")
@pytest.mark.parametrize(
    ("question", "table", "kept"),
    [
        ("commits in web last week", "commits", [("project", "=", ("web",)), ("committed_at", "between", LAST_WEEK)]),
        (
            "коммиты web и api за прошлую неделю",
            "commits",
            [("project", "in", ("web", "api")), ("committed_at", "between", LAST_WEEK)],
        ),
        ("open issues of web", "issues", [("project", "=", ("web",)), ("status", "=", ("open",))]),
        ("issues that are not closed", "issues", [("status", "=", ("open",))]),
        (
            "задачи, закрытые в феврале 2026",
            "issues",
            [("resolved_at", "between", FEBRUARY), ("status", "=", ("resolved",))],
        ),
        ("issues updated last week", "issues", [("updated_at", "between", LAST_WEEK)]),
        ("issues created last week", "issues", [("created_at", "between", LAST_WEEK)]),
        ("merge requests last week", "merge_requests", [("created_at", "between", LAST_WEEK)]),
        ("merge requests merged last week", "merge_requests", [("merged_at", "between", LAST_WEEK)]),
        ("merge requests updated last week", "merge_requests", [("updated_at", "between", LAST_WEEK)]),
        (
            "closed merge requests in February 2026",
            "merge_requests",
            [("created_at", "between", FEBRUARY), ("state", "=", ("closed",))],
        ),
    ],
)
def test_a_list_keeps_these_rows(question: str, table: str, kept: list[Kept]) -> None:
    reading = understood(question)
    assert lists(reading) == [table]
    assert filters(reading, table) == kept


@pytest.mark.requirement("R8", "R9")
@pytest.mark.parametrize(
    ("question", "tables", "implied"),
    [
        ("status of web", ["commits", "issues"], {"commits.committed_at", "issues.status", "merge_requests.state"}),
        ("status of web this month", ["commits", "issues"], {"issues.status", "merge_requests.state"}),
        ("what happened in web last week?", ["commits", "merge_requests", "issues"], set[str]()),
        (
            "что нового в web?",
            ["commits", "merge_requests", "issues"],
            {"commits.committed_at", "merge_requests.updated_at", "issues.updated_at"},
        ),
    ],
)
def test_what_nobody_named_is_marked_as_implied(question: str, tables: list[str], implied: set[str]) -> None:
    reading = understood(question)
    assert lists(reading) == tables
    assert {r.id.removeprefix("filter:") for r in reading.requirements if r.implied} == implied


@pytest.mark.parametrize("question", ["status of web last week", "что произошло в проекте web на прошлой неделе?"])
def test_evidence_is_the_words_themselves(question: str) -> None:
    for quote in (quote for requirement in understood(question).requirements for quote in requirement.quotes):
        assert quote.start is not None
        assert question[quote.start :].startswith(quote.text)


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("status of zeta", "zeta"),
        ("open payment issues of web", "payment"),
        ("commits on 03/04/2026", "03/04/2026"),
        ("commits of web in January 2026 and in March 2026", "the period"),
        ("merge requests of web in progress", "the status"),
        ("issues of web created or closed last week", "the date"),
        ("issues of web updated or created last week", "the date"),
        ("issues updated in web", "updated"),
        ("status of } or project: SECRET {", "SECRET"),
    ],
)
def test_what_cannot_be_taken_is_asked_back(question: str, missing: str) -> None:
    asked = read(question)
    assert isinstance(asked, Clarification), asked
    assert asked.missing == missing
