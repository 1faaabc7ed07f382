"""What a thread remembers, and what it waits for: turns, clarifications and approvals, in any process."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

import groundplan
from groundplan.contracts.answer import Answer, Clarification, Outcome
from groundplan.contracts.conversation import Turn
from groundplan.errors import StateInvalid, UsageError
from groundplan.pipeline import TURNS, Waiting
from groundplan.project import AsyncProject, Project
from groundplan.state.database import FILE
from tests.asking.tables.described import SALES

TODAY = date(2026, 1, 15)
UNCLEAR = "total revenue on 03/04/2025"  # the third of April or the fourth of March


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))
    return tmp_path


@pytest.fixture
def project(state: Path) -> Iterator[Project]:
    with groundplan.open(SALES) as opened:
        yield opened


def say(project: Project, text: str, thread: str = "work") -> Outcome:
    return project.ask(text, thread=thread, today=TODAY).outcome


def turns(thread: str = "work") -> tuple[Turn, ...]:
    """As another process finds them."""

    async def read() -> tuple[Turn, ...]:
        project = await AsyncProject.open(SALES)
        try:
            return await project.turns(thread)
        finally:
            await project.close()

    return asyncio.run(read())


@pytest.mark.requirement("R55")
def test_the_last_turns_come_back_in_order(project: Project) -> None:
    asked = [f"top {number} regions by revenue" for number in range(1, TURNS + 3)]
    for question in asked:
        assert isinstance(say(project, question), Answer)
    say(project, asked[0], "other")
    assert [turn.question for turn in turns()] == asked[-TURNS:]
    assert [turn.question for turn in turns("other")] == asked[:1]
    assert turns("unknown") == ()


@pytest.mark.requirement("R55")
def test_no_row_of_an_answer_is_in_the_state(state: Path) -> None:
    with groundplan.open(SALES) as project:
        answer = say(project, "total revenue by region")
    assert isinstance(answer, Answer)
    stored = b"".join(file.read_bytes() for file in state.glob(f"{FILE}*"))
    assert b"total revenue by region" in stored
    cells = [cell for row in answer.tables[0].rows for cell in row]
    assert {"West", "North"} <= set(cells)
    for cell in cells:
        assert str(cell).encode() not in stored


@pytest.mark.requirement("R55")
def test_of_a_plan_the_work_is_kept_and_no_thought_or_answer(project: Project) -> None:
    answer = say(project, "total revenue by region")
    assert isinstance(answer, Answer)
    [turn] = turns()
    assert turn.plan.fingerprint == answer.plan.fingerprint
    assert (turn.plan.answer, turn.plan.provenance.reasoning, turn.plan.provenance.log) == ("", "", ())


@pytest.mark.requirement("R55")
def test_turns_that_another_version_wrote_are_skipped() -> None:
    foreign = [{}, {"reading": {}, "plan": {}}, "text", None]
    assert Waiting(None, {"turns": foreign}, True).turns == ()  # type: ignore[typeddict-item]


def test_a_file_that_is_no_database_says_what_to_do(state: Path) -> None:
    (state / FILE).write_text("no database, but long enough to be looked at as one " * 20)
    with pytest.raises(StateInvalid, match="move the file away"):
        turns()


@pytest.mark.requirement("R70", part="python")
@pytest.mark.parametrize("reply", ["2025-04-03", "1", " 1. ", "april"])
def test_a_reply_completes_the_question_that_waits(reply: str, project: Project) -> None:
    asked = say(project, UNCLEAR)
    assert isinstance(asked, Clarification)
    assert asked.candidates == ("2025-04-03", "2025-03-04")
    if reply == "april":  # no candidate has this word: a question of its own
        assert not isinstance(say(project, reply), Answer)
        return
    answer, whole = say(project, reply), say(project, "total revenue on 2025-04-03", "whole")
    assert isinstance(answer, Answer)
    assert isinstance(whole, Answer)
    assert (answer.text, answer.tables) == (whole.text, whole.tables)
    assert [entry.stage for entry in answer.trace][:3] == ["route", "read", "clarify"]
    assert [turn.question for turn in turns()] == ["total revenue on 2025-04-03"]


@pytest.mark.requirement("R83", part="python")
@pytest.mark.requirement("R70", part="python")
@pytest.mark.parametrize("thread", [None, "work"])
def test_a_choice_is_planned_as_the_reading_it_stands_for(thread: str | None, project: Project) -> None:
    """Nothing is routed or read again: not even the question that the choice would complete."""
    for number, candidate in enumerate(("2025-04-03", "2025-03-04"), 1):
        asked = project.ask(UNCLEAR, thread=thread and f"{thread} {number}", today=TODAY)
        answer = asked.choose(number).outcome
        assert isinstance(answer, Answer)
        assert isinstance(asked.outcome, Clarification)
        assert answer.reading == asked.outcome.readings[number - 1]
        whole = project.ask(f"total revenue on {candidate}", today=TODAY)
        assert (answer.text, answer.tables) == (whole.text, whole.outcome.tables)
        stages = [entry.stage for entry in answer.trace if entry.stage != "clarify"]
        assert stages == ["route", "read", "plan", "check", "run", "answer"]


@pytest.mark.requirement("R70", part="python")
@pytest.mark.parametrize("thread", [None, "work"])
def test_one_reading_is_run_by_yes_and_not_by_no(thread: str | None, project: Project) -> None:
    asked = project.ask("total revenue in early May 2025", thread=thread, today=TODAY)
    assert isinstance(asked.outcome, Clarification)
    assert asked.outcome.confirms
    refusal = asked.choose("no")
    assert (refusal.kind, refusal.text) == ("refusal", "Nothing was run; ask again in other words.")
    again = project.ask("выручка в начале мая 2025", thread=thread, today=TODAY)
    assert again.choose("нет").text == "Ничего не выполнено. Спросите другими словами."
    asked = project.ask("total revenue in early May 2025", thread=thread, today=TODAY)
    answer, whole = asked.choose("yes"), project.ask("total revenue in May 2025", today=TODAY)
    assert answer.text == whole.text
    with pytest.raises(UsageError, match="nothing was asked back"):
        answer.choose(1)
    with pytest.raises(UsageError, match="there is no choice 2; there are 1"):
        asked.choose(2)


@pytest.mark.requirement("R70", part="python")
def test_a_text_that_does_not_answer_is_a_new_question(project: Project) -> None:
    assert isinstance(say(project, UNCLEAR), Clarification)
    answer = say(project, "average cost by channel")
    assert isinstance(answer, Answer)
    assert answer.reading is not None
    assert answer.reading.question == "average cost by channel"
    assert not isinstance(say(project, "1"), Answer), "nothing waits any more"


@pytest.mark.requirement("R70", part="python")
def test_a_completed_question_may_be_followed_up(project: Project) -> None:
    assert isinstance(say(project, UNCLEAR), Clarification)
    assert isinstance(say(project, "2"), Answer)
    answer = say(project, "and by channel")
    assert isinstance(answer, Answer)
    assert answer.reading is not None
    assert {"group_by:channel", "filter:date"} <= {requirement.id for requirement in answer.reading.requirements}


def in_a_process(work: Callable[..., None], *given: object) -> None:
    process = multiprocessing.get_context("spawn").Process(target=work, args=given)
    process.start()
    process.join(120)
    assert process.exitcode == 0


def ask_unclear(thread: str) -> None:
    with groundplan.open(SALES) as project:
        assert isinstance(say(project, UNCLEAR, thread), Clarification)


def reply_with_two(thread: str) -> None:
    with groundplan.open(SALES) as project:
        answer = say(project, "2", thread)
        assert isinstance(answer, Answer), answer.text
        assert answer.reading is not None
        assert answer.reading.question == "total revenue on 2025-03-04"


@pytest.mark.requirement("R70", part="python")
@pytest.mark.requirement("R55")
def test_what_one_process_asks_another_answers(state: Path) -> None:
    in_a_process(ask_unclear, "shared")
    in_a_process(reply_with_two, "shared")


def test_two_questions_at_once_in_one_thread_follow_each_other(state: Path) -> None:
    async def both() -> None:
        project = await AsyncProject.open(SALES)
        try:
            asked = ["total revenue", "average cost by channel"]
            await asyncio.gather(*(project.ask(question, thread="work", today=TODAY) for question in asked))
            assert sorted(turn.question for turn in await project.turns("work")) == sorted(asked)
        finally:
            await project.close()

    asyncio.run(both())


@pytest.mark.requirement("R70", part="python")
@pytest.mark.parametrize(
    ("before", "said", "choice", "whole"),
    [
        ("total revenue in the West online in 2024", "drop the filter", "online", "total revenue in the West in 2024"),
        ("total revenue in 2024", "in March", 1, "total revenue in March 2024"),
        ("total revenue in 2024", "in March", 2, "total revenue in March 2025"),
        ("total revenue", "top 3", "region", "top 3 regions by total revenue"),
        ("total revenue in the West by region", "drop the region", 1, "total revenue in the West"),
    ],
)
def test_a_choice_in_a_follow_up_changes_what_it_names(
    before: str, said: str, choice: int | str, whole: str, project: Project
) -> None:
    """`online` is to go: read again as text it would be put in."""
    assert isinstance(say(project, before), Answer)
    asked = project.ask(said, thread="work", today=TODAY)
    assert isinstance(asked.outcome, Clarification)
    assert len(asked.outcome.readings) == len(asked.candidates) > 1
    answer, expected = asked.choose(choice).outcome, say(project, whole, "whole")
    assert isinstance(answer, Answer)
    assert isinstance(expected, Answer)
    assert [table.rows for table in answer.tables] == [table.rows for table in expected.tables]
