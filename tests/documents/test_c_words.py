"""Source document C without a model: its questions, yes or no, and everything in the language of the question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest

import groundplan
from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.project import Project
from groundplan.settings import trust_folder
from tests.documents.c import DEVELOPER, PORTFOLIO

pytestmark = pytest.mark.needs("knowledge")


@pytest.fixture(scope="module")
def portfolio() -> Iterator[Project]:
    with groundplan.open(PORTFOLIO) as project:
        yield project


@pytest.fixture(scope="module")
def developer() -> Iterator[Project]:
    with groundplan.open(DEVELOPER) as project:
        yield project


def said(project: Project, question: str, thread: str | None = None) -> str:
    outcome = project.ask(question, thread=thread).outcome
    assert isinstance(outcome, Answer), outcome
    assert outcome.issues == ()
    return outcome.text


@pytest.mark.requirement("R8", "R49")
def test_experience_is_told_whatever_opens_the_question(portfolio: Project) -> None:
    lines = said(portfolio, "Расскажи про опыт Мирона").splitlines()
    assert len(lines) == 5
    assert lines[0] == "- Principal Engineer at Kedrovik, since April 2023"


@pytest.mark.requirement("R8", "R49", "R52")
@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Он знает Kubernetes?", "Да: Vertushka, Lotsman, Sova, Ptarmigan."),
        ("Знает ли Мирон Kubernetes?", "Да: Vertushka, Lotsman, Sova, Ptarmigan."),
        ("Does he know Kubernetes?", "Yes: Vertushka, Lotsman, Sova, Ptarmigan."),
        (
            "Он работал в Талвик Банке?",
            "Да.\n- Lead Data Engineer at Talvik Bank, June 2021 to March 2023\n"
            "- Data Engineer at Talvik Bank, September 2019 to May 2021",
        ),
    ],
)
def test_yes_and_where(question: str, text: str, portfolio: Project) -> None:
    assert said(portfolio, question) == text


@pytest.mark.requirement("R8")
def test_an_intent_of_the_only_person_is_walked_back(developer: Project) -> None:
    assert said(developer, "Он знает Kafka?") == "Да: АЛОР Брокер."


@pytest.mark.requirement("R10")
@pytest.mark.parametrize("question", ["Он знает Kubernetes?", "Он не знает Kafka?"])
def test_what_is_not_here_is_never_affirmed(question: str, developer: Project) -> None:
    outcome = developer.ask(question).outcome
    assert isinstance(outcome, Refusal)
    assert outcome.text == "Ни в графе, ни в документах об этом ничего не сказано."


@pytest.mark.parametrize("question", ["Контакты Мирона?", "Где применял RAG?", "Какие технологии знает Мирон?"])
def test_a_list_is_no_yes(question: str, portfolio: Project) -> None:
    assert said(portfolio, question).startswith("- ")


@pytest.mark.requirement("R2", "R8")
def test_there_means_what_was_found(developer: Project) -> None:
    said(developer, "Где применял RAG?", "there")
    lines = said(developer, "а какие технологии там использовались?", "there").splitlines()
    assert [line for line in lines if not line.startswith("- ")] == [
        *("Технологии, AI-Portfolio:", "Технологии, Помощник поддержки:"),
    ]
    assert lines.count("- RAG") == 2
    said(developer, "Достижения на проекте АЛОР", "of it")
    assert "- Kafka" in said(developer, "а какие технологии там использовались?", "of it")


@pytest.mark.requirement("R71", part="clarifications")
@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Достижения на Вертужке", "Названия «Вертужке» здесь нет. Имеется в виду Вертушка?"),
        ("Он использовал Kafka в Лоцмане?", "В вопросе названы Apache Kafka и Lotsman. О чём он?"),
    ],
)
def test_questions_back_are_in_russian(question: str, text: str, portfolio: Project) -> None:
    outcome = portfolio.ask(question).outcome
    assert isinstance(outcome, Clarification)
    assert outcome.text == text


@pytest.mark.requirement("R49")
def test_a_long_list_says_how_many_more_can_be_asked_for(portfolio: Project) -> None:
    text = said(portfolio, "Какие технологии знает Мирон?")
    assert text.splitlines()[-1] == "…и ещё 25 (по запросу могу вывести)."


@pytest.mark.requirement("R8", "R52")
@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Does he know Fortran?", "Neither the graph nor the documents say so."),
        ("Он знает Fortran?", "Ни в графе, ни в документах об этом не сказано."),
    ],
)
def test_a_known_name_without_a_relation_is_an_honest_no(question: str, text: str, tmp_path: Path) -> None:
    base = tmp_path / "portfolio"
    copytree(PORTFOLIO, base)
    trust_folder(base)
    technologies = base / "technologies.yaml"
    unused = "  - {id: 'technology:fortran', type: technology, name: Fortran}\n"
    lines = technologies.read_text(encoding="utf-8").splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if line.startswith("nodes:"))
    technologies.write_text("".join([*lines[: place + 1], unused, *lines[place + 1 :]]), encoding="utf-8")
    with groundplan.open(base) as project:
        assert said(project, question) == text


@pytest.mark.requirement("R8")
@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Which technologies were used in Lotsman?", "Read as: technologies, Lotsman."),
        ("Does he know Kubernetes?", "Read as: used in, Kubernetes; yes or no."),
        ("Где применял RAG?", "Понято так: где применялось, RAG."),
        ("Он знает Kubernetes?", "Понято так: где применялось, Kubernetes; да или нет."),
    ],
)
def test_a_look_up_says_how_it_was_read(question: str, line: str, portfolio: Project) -> None:
    outcome = portfolio.ask(question).outcome
    assert isinstance(outcome, Answer)
    assert outcome.read_as == line
