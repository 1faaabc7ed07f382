"""The regression questions of the source specification (its section 10.2), in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import groundplan
from groundplan.answering.verifying.artefacts import find_artefacts
from groundplan.contracts.answer import Answer
from groundplan.project import Project

FOLDER = Path(__file__).parent / "developer"
IDS = [node["id"] for node in yaml.safe_load((FOLDER / "knowledge.yaml").read_text(encoding="utf-8"))["nodes"]]
STACK = ["RAG", "Python", "FastAPI", "LangGraph", "ChromaDB", "React"]
RAG = [
    "AI-Portfolio: Ассистент, который отвечает на вопросы о портфолио.",
    "Помощник поддержки: Подсказывает ответы операторам.",
]
ASTON = ["Помощник поддержки: Подсказывает ответы операторам.", "Билеты: Продажа билетов на электрички."]
CASES = {
    "Где сейчас работает Дмитрий?": ["Ведущий разработчик в Aston, с мая 2022 года"],
    "Достижения на проекте АЛОР": [
        "Заявка доходит до биржи за 9 мс вместо 70.",
        "Терминал выдержал 40 тысяч клиентов одновременно.",
        "Покрытие тестами выросло с 12% до 81%.",
    ],
    "Где применял RAG?": RAG,
    "Какие технологии использовал в AI-Portfolio?": STACK,
    "Контакты Дмитрия": ["Email: dmitry@portfolio.example", "Telegram: @dmitry_example"],
}
NEGATIONS = re.compile(r"\bне\b|\bнет\b|других|уточн|рекоменд", re.IGNORECASE)


@pytest.fixture(scope="module")
def developer() -> Iterator[Project]:
    with groundplan.open(FOLDER) as project:
        yield project


def lines(answer: Answer) -> list[str]:
    """The items of the answer, however they are shown."""
    return [line.removeprefix("- ").rstrip(".") for line in answer.text.splitlines()]


def answered(project: Project, question: str, thread: str | None = None) -> Answer:
    outcome = project.ask(question, thread=thread).outcome
    assert isinstance(outcome, Answer), outcome
    return outcome


def assert_clean(answer: Answer) -> None:
    assert answer.issues == ()  # the verifier accounts for every word
    assert not NEGATIONS.search(answer.text)
    assert not re.search(r"confidence|\[\d+\]", answer.text)
    assert not any(id_ in answer.text for id_ in IDS)
    assert not [what for what, _ in find_artefacts(answer.text) if "@" not in answer.text]


@pytest.mark.requirement("R10", "R49", "R50", "R60")
@pytest.mark.needs("knowledge")  # Russian forms come from its dictionary
@pytest.mark.parametrize("question", CASES)
def test_the_answer_is_the_whole_list_and_nothing_else(question: str, developer: Project) -> None:
    answer = answered(developer, question)
    assert lines(answer) == [item.rstrip(".") for item in CASES[question]]
    assert_clean(answer)
    assert [step.id for step in answer.plan.steps if step.tool == "graph_query"] == ["found1"]
    assert [failure.step for failure in answer.facts.failures] == ["documents"]


@pytest.mark.requirement("R2", "R60")
@pytest.mark.needs("knowledge")
def test_the_follow_up_names_its_own_company_and_inherits_nothing(developer: Project) -> None:
    assert lines(answered(developer, "Где применял RAG?", "work")) == [item.rstrip(".") for item in RAG]
    answer = answered(developer, "А какие проекты в Aston?", "work")
    assert lines(answer) == [item.rstrip(".") for item in ASTON]
    assert_clean(answer)
    assert answer.reading
    assert not answer.reading.follow_up


@pytest.mark.requirement("R22", "R47")
def test_what_the_graph_does_not_say_is_looked_for_in_the_documents(developer: Project) -> None:
    answer = answered(developer, "Почему ассистент молчит?")
    assert "выдуманный ответ" in answer.text
    assert answer.plan.render == "SHORT"


@pytest.mark.requirement("R4", "R49")
@pytest.mark.needs("knowledge")
@pytest.mark.parametrize(
    ("question", "headings"),
    [
        ("Технологии и достижения проекта АЛОР", ["Технологии:", "Достижения:"]),
        ("Technologies and achievements of Alor", ["Technologies:", "Achievements:"]),
        ("Контакты и опыт Дмитрия", ["Контакты:", "Опыт:"]),
        ("Contacts and experience of Dmitry", ["Contacts:", "Experience:"]),
    ],
)
def test_two_intents_have_a_heading_each(question: str, headings: list[str], developer: Project) -> None:
    answer = answered(developer, question)
    assert [line for line in answer.text.splitlines() if not line.startswith("- ")] == headings
    assert answer.issues == ()
    cited = {citation.text: citation.fact for citation in answer.citations}
    assert [cited[heading.rstrip(":")] for heading in headings] == ["facts.groups.0.title", "facts.groups.1.title"]
