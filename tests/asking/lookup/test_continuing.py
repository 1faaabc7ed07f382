"""`Show the rest` goes on with the list before, from where it ended, and with nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.asking.lookup.plan import propose
from groundplan.contracts.answer import Refusal
from groundplan.contracts.conversation import Turn
from groundplan.contracts.knowledge import Conversation
from groundplan.contracts.reading import IntentAsked, Reading
from tests.asking.lookup.portfolio import SCHEMA, after, read, understood

MOST = SCHEMA.limits.items
DESCRIBED = 10  # the limit of an intent that says none


def then(before: Conversation | None, question: str) -> Conversation:
    reading = understood(question, before)
    return Turn.of(reading, propose(reading, SCHEMA)).about


LISTED = then(None, "Стек Газпрома")


def asked(question: str, before: Conversation = LISTED) -> list[IntentAsked]:
    values = [requirement.value for requirement in understood(question, before).requirements]
    return [value for value in values if isinstance(value, IntentAsked)]


@pytest.mark.requirement("R2", "R49")
@pytest.mark.parametrize(
    ("question", "limit"),
    [
        ("show the rest", MOST),
        ("the other ones", MOST),
        ("and the others?", MOST),
        ("Show me the remaining technologies, please", MOST),
        ("покажи остальные", MOST),
        ("а остальные?", MOST),
        ("Какие остальные технологии?", MOST),
        ("show more", DESCRIBED),
        ("more", DESCRIBED),
        ("what else?", DESCRIBED),
        ("is that all?", DESCRIBED),
        ("ещё", DESCRIBED),
        ("А еще?", DESCRIBED),
        ("Дальше", DESCRIBED),
        ("это всё?", DESCRIBED),
        ("next 5", 5),
        ("show 5 more", 5),
        ("five more, please", 5),
        ("the next three technologies", 3),
        ("ещё 5", 5),
        ("следующие пять", 5),
        ("next 500", MOST),
    ],
)
def test_a_list_goes_on_from_where_it_ended(question: str, limit: int) -> None:
    [value] = asked(question)
    assert (value.intent, value.entity, value.path) == ("project_tech_stack", "project:gazprom", ("uses",))
    assert (value.offset, value.limit) == (DESCRIBED, limit)


@pytest.mark.requirement("R1", "R2")
def test_the_words_are_the_evidence_and_the_entity_is_that_of_the_turn_before() -> None:
    reading = understood("show the rest", LISTED)
    assert reading.follow_up
    assert [entity.id for entity in reading.entities] == ["project:gazprom"]
    [requirement] = reading.requirements
    assert (requirement.evidence.text, requirement.evidence.start) == ("show the rest", 0)


@pytest.mark.requirement("R2")
def test_each_turn_goes_on_from_the_one_before() -> None:
    turns = then(None, "Первые 3 технологии Газпрома")
    for question, offset, limit in (("ещё", 3, 3), ("next 5", 6, 5), ("more", 11, 5), ("the rest", 16, MOST)):
        [value] = asked(question, turns)
        assert (value.offset, value.limit) == (offset, limit)
        turns = then(turns, question)


@pytest.mark.parametrize(
    ("question", "style", "limit"),
    [
        ("as a table", "TABLE", None),
        ("а таблицей?", "TABLE", None),
        ("кратко", "SHORT", None),
        ("the first 3", None, 3),
    ],
)
def test_the_same_list_is_shown_in_another_manner(question: str, style: str | None, limit: int | None) -> None:
    [value] = asked(question)
    assert (value.style, value.limit, value.offset) == (style, limit, 0)


def test_a_style_is_kept_and_can_be_changed_on_the_way() -> None:
    table = then(None, "Стек Газпрома таблицей")
    assert [value.style for value in asked("show the rest", table)] == ["TABLE"]
    assert [value.style for value in asked("show the rest in short", table)] == ["SHORT"]


def test_of_two_lists_both_go_on_unless_one_is_named() -> None:
    both = then(None, "Какие технологии и достижения в Газпроме?")
    assert [value.intent for value in asked("show the rest", both)] == ["project_tech_stack", "project_achievements"]
    assert [value.intent for value in asked("остальные достижения", both)] == ["project_achievements"]


@pytest.mark.requirement("R10")
@pytest.mark.parametrize("before", [None, after("Стек Газпрома")], ids=["no turn", "a turn without a list"])
@pytest.mark.parametrize("question", ["show the rest", "ещё", "а остальные?", "next 5", "as a table", "кратко"])
def test_without_a_list_there_is_nothing_to_go_on_with(question: str, before: Conversation | None) -> None:
    found = read(question, before)
    assert isinstance(found, Refusal)
    assert found.issues[0].code == "reading/no-list"


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("Other projects that use Python", "technology_usage"),
        ("Ещё технологии AI-Portfolio", "project_tech_stack"),
        ("А достижения?", "project_achievements"),
        ("Which other continents are there?", "general"),
        ("Расскажи что-нибудь ещё про погоду", "general"),
    ],
)
def test_a_question_that_asks_for_something_else_is_that_question(question: str, intent: str) -> None:
    [value] = asked(question)
    assert (value.intent, value.offset) == (intent, 0)


WORDS = (
    "show",
    "the",
    "rest",
    "more",
    "ещё",
    "остальные",
    "next",
    "5",
    "three",
    "as",
    "a",
    "table",
    "кратко",
    "weather",
)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7))
def test_whatever_is_said_only_the_list_before_goes_on(words: list[str]) -> None:
    found = read(" ".join(words), LISTED)
    if not isinstance(found, Reading):
        return
    for value in (requirement.value for requirement in found.requirements):
        assert isinstance(value, IntentAsked)
        assert value.offset in (0, DESCRIBED)
        if value.offset:
            assert (value.intent, value.entity) == ("project_tech_stack", "project:gazprom")
            assert value.limit
            assert value.limit <= MOST
