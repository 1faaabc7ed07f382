"""A question costs little to read, whatever it says, and none of its work holds up the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import islice
from pathlib import Path

import pytest

from groundplan.contracts.answer import Answer, Outcome, Refusal
from groundplan.project import AsyncProject
from tests.adversarial.hostile_questions import mixed, repeated
from tests.adversarial.loop_meter import HELD, Meter, measured_loop

SALES = Path(__file__).parents[2] / "examples" / "sales.csv"
PORTFOLIO = Path(__file__).parents[2] / "examples" / "portfolio"
ONE = 2.0  # seconds of work for one question; before, the worst took thirty
MEAN = 0.5
TODAY = date(2025, 6, 1)


async def asked(where: Path, questions: Sequence[str]) -> tuple[list[tuple[float, str, Outcome]], Meter]:
    project = await AsyncProject.open(str(where))
    try:
        await project.ask("total revenue by region", today=TODAY)  # what is loaded once
        found = []
        with measured_loop() as meter:
            for question in questions:
                begin = time.process_time()
                outcome = await project.ask(question, today=TODAY)
                found.append((time.process_time() - begin, question, outcome))
        return found, meter
    finally:
        await project.close()


def check(where: Path, questions: Sequence[str]) -> None:
    found, meter = asyncio.run(asked(where, questions))
    worst, question, _ = max(found, key=lambda one: one[0])
    assert worst < ONE, (worst, question[:80], len(question))
    assert sum(spent for spent, *_ in found) / len(found) < MEAN
    assert meter.longest < HELD, (meter.longest, meter.callback)


def test_thirty_six_totals_are_refused_in_no_time() -> None:
    """It read for 17 seconds, in the event loop of all tenants."""
    [(spent, _, outcome)], meter = asyncio.run(asked(SALES, ["total revenue\n" * 36]))
    assert isinstance(outcome, Refusal)
    assert outcome.issues[0].code == "budget/steps"
    assert "ask for less at once" in outcome.text
    assert spent < ONE
    assert meter.longest < HELD, meter.callback


def test_the_refusal_is_the_same_on_any_machine() -> None:
    """Steps are counted, not seconds."""
    question = "revenue " * 62
    [(_, _, first), (_, _, second)], _ = asyncio.run(asked(SALES, [question] * 2))
    assert isinstance(first, Refusal)
    assert isinstance(second, Refusal)
    assert first.issues == second.issues


def test_a_long_question_that_says_something_is_answered() -> None:
    question = (
        "Please show me, for the West and for the East only, the total revenue and the average units by product "
        "category and month in 2024, with the largest revenue first"
    )
    [(_, _, outcome)], _ = asyncio.run(asked(SALES, [question]))
    assert not isinstance(outcome, Refusal) or not outcome.issues[0].code.startswith("budget/")


def test_ordinary_questions_are_answered_beside_hostile_ones() -> None:
    found, _ = asyncio.run(asked(SALES, ["total revenue " * 36, "total revenue", "revenue " * 200, "total revenue"]))
    assert [isinstance(outcome, Answer) for *_, outcome in found] == [False, True, False, True]


def few(questions: Iterator[str], every: int) -> list[str]:
    return [*islice(questions, 0, None, every)]


def test_repeated_words_of_every_length() -> None:
    check(SALES, few(repeated(), 3))


def test_words_by_chance() -> None:
    check(SALES, [*mixed(120)])


def test_questions_to_a_knowledge_base() -> None:
    check(PORTFOLIO, few(repeated(), 23))


@pytest.mark.slow
def test_ten_thousand_hostile_questions() -> None:
    check(SALES, [*repeated(), *mixed(9_500, seed=11)])
