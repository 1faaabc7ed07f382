"""A question that asks for several things: each gets its own table, and the gate proves each part of the plan."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from groundplan.checking.gate import check
from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.contracts.plan import Plan
from groundplan.contracts.roles import Roles
from groundplan.contracts.verdict import Passed, Refused
from groundplan.project import AsyncProject, Project
from tests.llm.scripted import PROBED, says, scripted

TODAY = date(2026, 3, 1)
MADE = """
    CREATE TABLE ferries AS SELECT DATE '2025-01-01' + CAST(i * 3 AS INTEGER) AS sailed_on,
        ['Ardal', 'Bryne', 'Colse'][1 + i % 3] AS harbour, ['day', 'night'][1 + (i // 3) % 2] AS service,
        10 + (i * 37) % 90 AS passengers, CAST(100 + (i * 53) % 400 AS DOUBLE) AS revenue
    FROM range(150) t(i)
"""
HARBOURS = "SELECT harbour, sum(revenue) FROM ferries GROUP BY 1"
SERVICES = "SELECT service, sum(passengers) FROM ferries GROUP BY 1"
MONTHS = "SELECT CAST(date_trunc('month', sailed_on) AS DATE), sum(passengers) FROM ferries GROUP BY 1"
ASKED: dict[str, tuple[str, ...]] = {
    "total revenue by harbour and total passengers by service": (HARBOURS, SERVICES),
    "revenue by harbour; passengers by month": (HARBOURS, MONTHS),
    "revenue by harbour as well as passengers by service": (HARBOURS, SERVICES),
    "revenue by harbour, passengers by service and passengers by month": (HARBOURS, SERVICES, MONTHS),
    "top 2 harbours by revenue and correlation of passengers and revenue": (
        f"{HARBOURS} ORDER BY 2 DESC LIMIT 2",
        "SELECT round(corr(passengers, revenue), 6) FROM ferries",
    ),
    "revenue по harbour и passengers по service": (HARBOURS, SERVICES),
}
ONE = {
    "revenue and passengers by harbour": "SELECT harbour, sum(revenue), sum(passengers) FROM ferries GROUP BY 1",
    "average revenue by harbour and number of ferries by harbour": (
        "SELECT harbour, avg(revenue), count(*) FROM ferries GROUP BY 1"
    ),
    "revenue by harbour, with a bar for each service": (
        "SELECT harbour, service, sum(revenue) FROM ferries GROUP BY 1, 2"
    ),
    "revenue by harbour and service": "SELECT harbour, service, sum(revenue) FROM ferries GROUP BY 1, 2",
}
"""Questions with `and` that ask for one table."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("several") / "ferries.duckdb"
    with duckdb.connect(str(file)) as engine:
        engine.execute(MADE)
    return file


@pytest.fixture(scope="module")
def project(place: Path) -> Iterator[Project]:
    with Project(place) as opened:
        yield opened


def rows_of(sql: str) -> set[frozenset[str]]:
    with duckdb.connect() as engine:
        engine.execute(MADE)
        return {frozenset(map(plainly, row)) for row in engine.execute(sql).fetchall()}


def plainly(value: Any) -> str:
    return f"{float(value):.4f}" if isinstance(value, int | float) else str(value)[:10]


def shown(outcome: Answer, place: int) -> set[frozenset[str]]:
    return {frozenset(map(plainly, row)) for row in outcome.tables[place].rows}


@pytest.mark.parametrize("question", ASKED)
def test_each_thing_that_is_asked_for_has_its_own_table(question: str, project: Project, place: Path) -> None:
    outcome = project.ask(question, today=TODAY).outcome
    assert isinstance(outcome, Answer), outcome.text
    assert len(outcome.tables) == len(ASKED[question])
    for number, sql in enumerate(ASKED[question]):
        expected = rows_of(sql)
        assert all(any(row <= found for found in shown(outcome, number)) for row in expected), outcome.tables[number]
    assert not outcome.issues  # the text was verified
    assert outcome.read_as.count("; ") >= len(ASKED[question]) - 1


@pytest.mark.parametrize("question", ONE)
def test_measures_and_groups_that_belong_together_stay_in_one_table(
    question: str, project: Project, place: Path
) -> None:
    outcome = project.ask(question, today=TODAY).outcome
    assert isinstance(outcome, Answer), outcome.text
    assert len(outcome.tables) == 1
    assert shown(outcome, 0) == rows_of(ONE[question])


def test_every_word_and_every_requirement_of_both_is_explained(project: Project) -> None:
    planned = project.plan("revenue by harbour and passengers by service", today=TODAY)
    assert {word.fate for word in planned.words} == {"used", "structure"}
    assert all(reason.steps for reason in planned.reasons)
    assert [reason.requirement for reason in planned.reasons if reason.requirement.startswith("metric")] == [
        "metric:revenue",
        "metric:passengers (2)",
    ]


def test_a_condition_of_one_thing_is_asked_about(project: Project, place: Path) -> None:
    asked = project.ask("revenue in March 2025 by harbour and also passengers by service", today=TODAY)
    assert isinstance(asked.outcome, Clarification)
    counts = []
    for choice in (1, 2):
        chosen = asked.choose(choice).outcome
        assert isinstance(chosen, Answer)
        counts.append(shown(chosen, 1))
    march = SERVICES.replace("GROUP", "WHERE sailed_on >= '2025-03-01' AND sailed_on < '2025-04-01' GROUP")
    assert counts == [rows_of(SERVICES), rows_of(march)]


@pytest.mark.parametrize(
    "question",
    ["revenue by harbour and passengers by colour", "revenue by harbour; frobbled passengers by service"],
)
def test_an_unknown_word_in_one_of_them_is_not_passed_over(question: str, project: Project) -> None:
    assert isinstance(project.ask(question, today=TODAY).outcome, Clarification | Refusal)


def test_what_is_said_next_changes_all_of_them(place: Path) -> None:
    with Project(place) as project:
        project.ask("revenue by harbour; passengers by service", today=TODAY, thread="both")
        outcome = project.ask("only night", today=TODAY, thread="both").outcome
    assert isinstance(outcome, Answer), outcome.text
    kept = [sql.replace("GROUP", "WHERE service = 'night' GROUP") for sql in (HARBOURS, SERVICES)]
    assert [shown(outcome, 0), shown(outcome, 1)] == [rows_of(sql) for sql in kept]


async def asked_with(reply: dict[str, Any], place: Path, question: str) -> Any:
    pytest.importorskip("openai", reason="needs the extra `llm`")
    async with scripted(says(PROBED), *[says(json.dumps(reply))] * 3) as server:
        project = await AsyncProject.open(place, models=[server.endpoint()], roles=Roles(accept="first"))
        try:
            return await project.ask(question, today=TODAY)
        finally:
            await project.close()


def test_a_model_may_write_one_statement_for_each(place: Path) -> None:
    reply = {"sql": f"{HARBOURS}", "also": [SERVICES]}
    question = "how do the harbours earn, and who travels when, day or night"
    outcome = asyncio.run(asked_with(reply, place, question))
    assert isinstance(outcome, Answer), outcome.text
    assert [shown(outcome, 0), shown(outcome, 1)] == [rows_of(HARBOURS), rows_of(SERVICES)]


def test_a_fault_in_one_statement_refuses_all(place: Path) -> None:
    reply = {"sql": HARBOURS, "also": ["SELECT colour, count(*) FROM ferries GROUP BY 1"]}
    outcome = asyncio.run(asked_with(reply, place, "revenue by harbour and how many by colour"))
    assert not isinstance(outcome, Answer)


def other_plans(plan: Plan, other: Plan) -> Iterator[tuple[str, Plan]]:
    """Plans that do less, more or something else than what was asked for."""
    first = tuple(step for step in plan.steps if not step.id.startswith("ask2_"))
    second = tuple(step for step in plan.steps if step.id.startswith("ask2_"))
    yield "the second thing is missing", plan.model_copy(update={"steps": first})
    yield "the first thing is missing", plan.model_copy(update={"steps": second})
    foreign = tuple(step for step in other.steps if step.id.startswith("ask2_"))
    yield "another second thing", plan.model_copy(update={"steps": (*first, *foreign)})
    third = tuple(
        step.model_copy(
            update={
                "id": step.id.replace("ask2_", "ask3_"),
                "needs": tuple(need.replace("ask2_", "ask3_") for need in step.needs),
            }
        )
        for step in second
    )
    yield "a third thing", plan.model_copy(update={"steps": (*plan.steps, *third)})
    crossed = tuple(step.model_copy(update={"needs": (first[0].id,)}) if step.needs else step for step in second)
    yield "the second made of the first", plan.model_copy(update={"steps": (*first, *crossed)})


def test_the_gate_refuses_a_plan_that_does_anything_else(place: Path) -> None:
    async def run() -> None:
        project = await AsyncProject.open(place)
        try:
            outcomes = [
                await project.ask(question, today=TODAY)
                for question in (
                    "revenue by harbour; passengers by service",
                    "revenue by harbour; average passengers by service",
                    "revenue by harbour; passengers by month",
                )
            ]
            (plan, reading), *others = [(one.plan, one.reading) for one in outcomes if isinstance(one, Answer)]
            assert plan is not None
            assert reading is not None
            known = project.catalog, project.schemas
            assert isinstance(check(plan, reading, *known), Passed)
            for other, _ in others:
                assert other is not None
                for why, altered in other_plans(plan, other):
                    assert isinstance(check(altered, reading, *known), Refused), why
        finally:
            await project.close()

    asyncio.run(run())
