"""A clear follow-up takes over the entity of the turn before; a doubtful one is a new question."""

from __future__ import annotations

import pytest

from tests.asking.lookup.portfolio import after, asked, understood

BEFORE = after("Расскажи про AI-Portfolio")


@pytest.mark.requirement("R2")
@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("а какие там технологии?", "project_tech_stack"),
        ("and its achievements?", "project_achievements"),
        ("А достижения?", "project_achievements"),
        ("Какие технологии в этом проекте?", "project_tech_stack"),
        ("What technologies does it use?", "project_tech_stack"),
    ],
)
def test_a_clear_follow_up_takes_the_entity_over(question: str, intent: str) -> None:
    assert [(name, entity) for name, entity, _ in asked(question, BEFORE)] == [(intent, "project:portfolio")]
    assert understood(question, BEFORE).follow_up


@pytest.mark.requirement("R2")
@pytest.mark.parametrize(
    ("question", "entity"),
    [
        ("А какие проекты в Aston?", "company:aston"),
        ("А контакты Дмитрия?", "person:dmitry"),
        ("and its Python?", "technology:python"),
    ],
)
def test_a_question_that_names_its_own_entity_inherits_nothing(question: str, entity: str) -> None:
    reading = understood(question, after("Где применял RAG?"))
    assert not reading.follow_up
    assert [found.id for found in reading.entities] == [entity]


@pytest.mark.requirement("R2")
@pytest.mark.parametrize(
    "question",
    [
        "Какие технологии?",
        "What technologies are there?",
        "А какие проекты в Luxoft?",
        "And which technologies should one learn first this year to find work?",
        "Какая сегодня погода?",
    ],
)
def test_a_doubtful_question_is_a_new_one(question: str) -> None:
    reading = understood(question, BEFORE)
    assert not reading.follow_up
    assert reading.entities == ()


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("question", ["а какие там технологии?", "Какие технологии?", "А какие проекты в Aston?"])
def test_without_a_turn_before_nothing_is_a_follow_up(question: str) -> None:
    assert not understood(question).follow_up
