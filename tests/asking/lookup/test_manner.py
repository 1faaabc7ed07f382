"""What a question says about its answer outright: style, number and language, by words and without a model."""

from __future__ import annotations

from datetime import date

import pytest

from groundplan.asking.lookup.read import read_lookup
from groundplan.contracts.knowledge import LookupLimits
from groundplan.contracts.reading import IntentAsked, Reading
from groundplan.text.entities import build_registry
from tests.asking.lookup.portfolio import ROWS, SCHEMA, asked, read, understood

STACK = ("project_tech_stack", "project:gazprom")


def shown(question: str) -> IntentAsked:
    """The only look-up of the question."""
    [requirement] = understood(question).requirements
    assert isinstance(requirement.value, IntentAsked)
    return requirement.value


@pytest.mark.requirement("R22", "R49")
@pytest.mark.parametrize(
    ("question", "style"),
    [
        ("In short, the stack of Газпром", "SHORT"),
        ("Кратко: стек Газпрома", "SHORT"),
        ("стек Газпрома вкратце", "SHORT"),
        ("the tech stack of Газпром as a table", "TABLE"),
        ("Покажи стек Газпрома таблицей", "TABLE"),
        ("Стек Газпрома в виде таблицы", "TABLE"),
        ("stack of Газпром as bullet points", "BULLETS"),
        ("Стек Газпрома списком", "BULLETS"),
        ("the stack of Газпром, grouped", "GROUPED_BULLETS"),
        ("Стек Газпрома по группам", "GROUPED_BULLETS"),
        ("Стек Газпрома", None),
    ],
)
def test_a_style_is_read_from_the_words(question: str, style: str | None) -> None:
    value = shown(question)
    assert (value.intent, value.entity) == STACK
    assert value.style == style


@pytest.mark.requirement("R22", "R49")
@pytest.mark.parametrize(
    ("question", "limit"),
    [
        ("the first 3 technologies of Газпром", 3),
        ("first three technologies of Газпром", 3),
        ("no more than 2 technologies of Газпром", 2),
        ("Name 4 technologies of Газпром", 4),
        ("Первые три технологии Газпрома", 3),
        ("Назови пять технологий Газпрома", 5),
        ("не больше 7 технологий Газпрома", 7),
        ("первые 100 технологий Газпрома", 50),
        ("технологии Газпрома", None),
    ],
)
def test_a_number_is_read_from_the_words_up_to_the_limit(question: str, limit: int | None) -> None:
    value = shown(question)
    assert (value.intent, value.entity) == STACK
    assert value.limit == limit


@pytest.mark.parametrize("question", ["the last 3 technologies of Газпром", "последние три технологии Газпрома"])
def test_a_list_has_no_last_ones_so_that_number_is_not_of_the_first(question: str) -> None:
    assert shown(question).limit is None


def test_the_most_is_a_setting_of_the_knowledge_base() -> None:
    few = SCHEMA.model_copy(update={"limits": LookupLimits(items=20)})
    reading = read_lookup("первые 100 технологий Газпрома", few, build_registry(ROWS), today=date(2026, 3, 1))
    assert isinstance(reading, Reading)
    assert isinstance(reading.requirements[0].value, IntentAsked)
    assert reading.requirements[0].value.limit == 20


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Стек Газпрома, на английском", "en"),
        ("Ответь по-английски: стек Газпрома", "en"),
        ("The stack of AI-Portfolio, in Russian please", "ru"),
        ("In Russian: the stack of AI-Portfolio", "ru"),
        ("Стек Газпрома", "ru"),
        ("The stack of AI-Portfolio", "en"),
    ],
)
def test_the_language_of_the_answer_is_that_of_the_question_unless_it_names_one(question: str, language: str) -> None:
    assert understood(question).language == language


@pytest.mark.requirement("R1")
def test_what_says_how_is_evidence_and_asks_for_nothing_else() -> None:
    reading = understood("The first 3 technologies of Газпром, as a table, in English")
    [requirement] = reading.requirements
    assert {evidence.text for evidence in requirement.also} == {"The first 3", "as a table", "in English"}
    assert all(reading.question.startswith(one.text, one.start) for one in requirement.also)
    assert reading.unresolved == ()


def test_a_name_wins_over_words_that_say_how() -> None:
    rows = (*ROWS, ("project:short", "project", "In Short", ()), ("project:three", "project", "First Three", ()))
    for question, entity in (("Stack of In Short", "project:short"), ("Stack of First Three", "project:three")):
        reading = read_lookup(question, SCHEMA, build_registry(rows), today=date(2026, 3, 1))
        assert isinstance(reading, Reading)
        [value] = [r.value for r in reading.requirements]
        assert isinstance(value, IntentAsked)
        assert (value.entity, value.style, value.limit) == (entity, None, None)


def test_a_name_within_the_words_is_no_second_name() -> None:
    rows = (*ROWS, ("technology:english", "technology", "English", ()), ("technology:go", "technology", "Go", ()))
    reading = read_lookup("The stack of AI-Portfolio, in English", SCHEMA, build_registry(rows), today=date(2026, 3, 1))
    assert isinstance(reading, Reading)
    assert [entity.id for entity in reading.entities] == ["project:portfolio"]


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    "question",
    [
        "Which technologies are used in 3 projects of Газпром?",
        "Which technologies are used in at most 3 projects of Газпром?",
        "The stack of the first 3 projects of Газпром",
        "Какие технологии применялись в трёх проектах Газпрома?",
        "The stack of Газпром in English",
        "Стек Газпрома на английском",
    ],
)
def test_a_number_or_a_language_that_may_be_a_condition_is_not_about_the_answer(question: str) -> None:
    found = read(question)
    if isinstance(found, Reading):
        assert found.language == ("ru" if question[0] in "КС" else "en")
        assert not [r for r in found.requirements if r.also]


def test_several_look_ups_are_shown_alike() -> None:
    reading = understood("Какие технологии и достижения в Газпроме, таблицей?")
    values = [requirement.value for requirement in reading.requirements]
    assert [value.style for value in values if isinstance(value, IntentAsked)] == ["TABLE", "TABLE"]


def test_words_that_say_how_do_not_make_a_look_up() -> None:
    assert [intent for intent, _, _ in asked("Кто победил первые три раза?")] == ["general"]
