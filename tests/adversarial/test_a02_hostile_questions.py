"""A question costs little to read, whatever it says, and none of its work holds up the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import islice
from pathlib import Path

import pytest

from groundplan.asking.tasks.route import Tasks
from groundplan.contracts.answer import Answer, Outcome, Refusal
from groundplan.contracts.question import Question
from groundplan.project import AsyncProject
from tests.adversarial.hostile_questions import mixed, repeated
from tests.adversarial.loop_meter import HELD, Meter, measured_loop

SALES = Path(__file__).parents[2] / "examples" / "sales.csv"
PORTFOLIO = Path(__file__).parents[2] / "examples" / "portfolio"
ONE = 1.0  # seconds of work for one question; before, the worst took thirty
MEAN = 0.5
RELATED = 8.0  # over eight related tables; before, forty
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
    spent = sorted(seconds for seconds, *_ in found)
    half, most, worst = spent[len(spent) // 2], spent[len(spent) * 99 // 100], spent[-1]
    print(f"\n{len(found)} questions: p50 {half:.3f} s, p99 {most:.2f} s, the longest {worst:.2f} s;", end=" ")
    print(f"the loop was held for at most {1_000 * meter.longest:.0f} ms")
    over = [question for seconds, question, _ in found if seconds >= ONE]
    again, _ = asyncio.run(asked(where, over))  # a slow question is slow each time
    assert [(seconds, question[:80]) for seconds, question, _ in again if seconds >= ONE] == []
    assert sum(spent for spent, *_ in found) / len(found) < MEAN
    assert meter.longest < HELD, (meter.longest, meter.callback)


@pytest.mark.timed
def test_thirty_six_totals_are_refused_in_no_time() -> None:
    """It read for 17 seconds, in the event loop of all tenants."""
    [(spent, _, outcome)], meter = asyncio.run(asked(SALES, ["total revenue\n" * 36]))
    assert isinstance(outcome, Refusal)
    assert outcome.issues[0].code == "budget/steps"
    assert "ask for less at once" in outcome.text
    assert spent < ONE
    assert meter.longest < HELD, meter.callback


@pytest.mark.requirement("R89", part="steps")
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


@pytest.mark.timed
def test_repeated_words_of_every_length() -> None:
    check(SALES, few(repeated(), 3))


@pytest.mark.requirement("R89", part="event loop")
@pytest.mark.timed
def test_words_by_chance() -> None:
    check(SALES, [*mixed(120)])


@pytest.mark.timed
def test_questions_to_a_knowledge_base() -> None:
    check(PORTFOLIO, few(repeated(), 23))


def test_a_hundred_things_at_once_are_refused() -> None:
    """The error for callers from Python left the pipeline, where tools with effects were beside the data."""
    asked_for = "call 7 and then " * 91
    [(_, _, outcome)], _ = asyncio.run(asked(PORTFOLIO, [asked_for]))
    assert isinstance(outcome, Refusal)
    task = asyncio.run(Tasks().read(Question(text=asked_for, today=TODAY), None))  # type: ignore[arg-type]
    assert isinstance(task, Refusal)
    assert task.issues[0].code == "reading/too-many-parts"


def test_zero_bytes_in_a_question_reach_no_statement(tmp_path: Path) -> None:
    """DuckDB refused the statement that looks for values: the question ended in its error."""
    (tmp_path / "many.csv").write_text("name,revenue\n" + "".join(f"n{n},{n}\n" for n in range(1_000)))
    [(_, _, outcome)], _ = asyncio.run(asked(tmp_path / "many.csv", ["revenue of n7\0 and n8\0"]))
    assert not isinstance(outcome, Refusal) or not outcome.issues[0].code.startswith("budget/")


def test_many_related_tables_cost_no_minute(tmp_path: Path) -> None:
    """What tables are called was worked out for each way to cut the question: 48 seconds for 120 characters."""
    found, meter = asyncio.run(asked(related_tables(tmp_path), ["и и и " + "-" * 26 + " и" * 40, "(" + "\ufdfa" * 9]))
    assert max(spent for spent, *_ in found) < RELATED, found
    assert meter.longest < HELD, meter.callback


def related_tables(folder: Path) -> Path:
    """Eight tables, each of which points at the two before it."""
    names = ("customers", "orders", "products", "regions", "stores", "payments", "returns", "shipments")
    for place, name in enumerate(names):
        above = names[max(0, place - 2) : place]
        head = ",".join((f"{name[:-1]}_id", *(f"{one[:-1]}_id" for one in above), "name", "region", "revenue", "date"))
        rows = (
            ",".join(map(str, (n, *(n for _ in above), f"{name} {n}", ("West", "East")[n % 2], n, "2024-01-02")))
            for n in range(1, 31)
        )
        (folder / f"{name}.csv").write_text("\n".join((head, *rows)))
    return folder


@pytest.mark.slow
def test_ten_thousand_hostile_questions() -> None:
    check(SALES, [*repeated(), *mixed(9_500, seed=11)])
