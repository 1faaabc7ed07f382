"""Lists that go on, in English and Russian: from Python, over the command line, over the service and in a report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import groundplan
from groundplan.contracts.answer import Answer, Refusal
from groundplan.interfaces.report import write
from groundplan.project import Project
from tests.interfaces.test_cli import groundplan as command
from tests.knowledge.portfolio import FOLDER, nodes, walk
from tests.service.processes import ask, served

MIRON = "person:miron-zasekin"
NAMES = {node["id"]: node["name"] for node in nodes()}
ALL = [NAMES[id_] for id_ in walk(MIRON, ["worked_on", "uses"])]  # 37 technologies; 12 are shown at a time
FIRST = 12


@pytest.fixture(scope="module")
def portfolio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDPLAN_STATE", str(tmp_path_factory.mktemp("state")))
        with groundplan.open(FOLDER) as project:
            yield project


def items(text: str) -> list[str]:
    return [line.removeprefix("- ") for line in text.splitlines() if line.startswith("- ")]


def said(project: Project, question: str, thread: str) -> str:
    outcome = project.ask(question, thread=thread).outcome
    assert isinstance(outcome, Answer), outcome
    assert outcome.issues == ()
    return outcome.text


@pytest.mark.requirement("R2", "R49", "R55")
@pytest.mark.needs("knowledge")
@pytest.mark.parametrize(
    ("question", "rest", "over"),
    [
        ("Which technologies does Miron know?", "show the rest", "That was all: there are no more."),
        ("Какие технологии знает Мирон?", "покажи остальные", "Это всё: больше ничего нет."),
        ("Какие технологии знает Мирон?", "а остальные?", "Это всё: больше ничего нет."),
    ],
)
def test_the_rest_comes_after_the_first_and_then_there_is_no_more(
    question: str, rest: str, over: str, portfolio: Project
) -> None:
    thread = f"{question} {rest}"
    first = said(portfolio, question, thread)
    assert items(first) == ALL[:FIRST]
    assert first.splitlines()[-1].endswith(("…and 25 more (on request).", "…и ещё 25 (по запросу могу вывести)."))
    assert items(said(portfolio, rest, thread)) == ALL[FIRST:]
    assert said(portfolio, rest, thread) == over


@pytest.mark.requirement("R2", "R49")
def test_pages_follow_each_other_without_gap_or_repetition(portfolio: Project) -> None:
    texts = [said(portfolio, "Name 5 technologies that Miron knows", "pages")]
    texts += [said(portfolio, question, "pages") for question in ("next 5", "more", "ещё 3", "show the rest")]
    assert [len(items(text)) for text in texts] == [5, 5, 5, 3, 19]
    assert [item for text in texts for item in items(text)] == ALL
    assert texts[0].endswith("…and 32 more (on request).")
    assert texts[3].endswith("…и ещё 19 (по запросу могу вывести).")


@pytest.mark.requirement("R2", "R47")
@pytest.mark.parametrize(("question", "more"), [("Technologies of Lotsman", "show more"), ("Стек Лоцмана", "ещё")])
def test_after_a_complete_list_nothing_is_searched(question: str, more: str, portfolio: Project) -> None:
    assert len(items(said(portfolio, question, question))) == 8
    outcome = portfolio.ask(more, thread=question).outcome
    assert isinstance(outcome, Answer)
    assert outcome.text in ("That was all: there are no more.", "Это всё: больше ничего нет.")
    assert [step.tool for step in outcome.plan.steps] == ["graph_query"]


@pytest.mark.requirement("R2")
def test_a_follow_up_after_the_rest_keeps_the_entity(portfolio: Project) -> None:
    said(portfolio, "The first 2 technologies of Lotsman", "further")
    assert len(items(said(portfolio, "show the rest", "further"))) == 6
    assert "8" in said(portfolio, "And its achievements?", "further")
    assert items(said(portfolio, "as a table", "further")) == []


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    ("question", "word"), [("show the rest", "no list"), ("покажи остальные", "Продолжать нечего")]
)
def test_without_a_list_it_says_so(question: str, word: str, portfolio: Project) -> None:
    outcome = portfolio.ask(question, thread=f"new {question}").outcome
    assert isinstance(outcome, Refusal)
    assert word in outcome.text


@pytest.mark.requirement("R49")
@pytest.mark.needs("knowledge")
def test_several_lists_have_headings_each_its_own_limit_and_go_on(portfolio: Project) -> None:
    text = said(portfolio, "Contacts and technologies of Miron", "headed")
    assert [line for line in text.splitlines() if not line.startswith("- ")] == [
        *("Contacts:", "Technologies (37):", "…and 25 more (on request)."),
    ]
    assert items(text)[4:] == ALL[:FIRST]
    rest = said(portfolio, "show the rest", "headed")
    assert rest.splitlines()[0] == "Technologies:"
    assert items(rest) == ALL[FIRST:]


@pytest.mark.requirement("R49")
@pytest.mark.needs("knowledge")
def test_one_intent_of_two_projects_has_their_names_in_the_headings(portfolio: Project) -> None:
    text = said(portfolio, "Стек Лоцмана и Совы", "two")
    assert [line for line in text.splitlines() if not line.startswith("- ")] == [
        *("Технологии, Lotsman:", "Технологии, Sova:"),
    ]


@pytest.mark.requirement("R49")
@pytest.mark.needs("knowledge")
@pytest.mark.parametrize("manner", ["", ", as a table"])
def test_a_report_has_the_headings_apart_from_the_lists(manner: str, portfolio: Project, tmp_path: Path) -> None:
    question = f"Technologies and achievements of Sova{manner}"
    outcome = portfolio.ask(question).outcome
    assert isinstance(outcome, Answer)
    write(outcome, tmp_path, question)
    lines = (tmp_path / "report.md").read_text(encoding="utf-8").splitlines()
    assert lines[lines.index("Technologies:") + 1] == ""
    assert (lines[lines.index("Achievements:") - 1], lines[lines.index("Achievements:") + 1]) == ("", "")
    assert ("|Java|" if manner else "- Java") in lines


@pytest.mark.requirement("R2", "R55")
def test_over_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))
    for question, count in (("The first 3 technologies of Lotsman", 3), ("show the rest", 5), ("ещё", 0)):
        done = command("ask", FOLDER, question, "--thread", "work")
        assert done.returncode == 0, done.stderr
        assert len(items(done.stdout)) == count
    assert "Это всё" in done.stdout


@pytest.mark.requirement("R2")
@pytest.mark.requirement("R57", part="http")
def test_over_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    with served(tmp_path, str(FOLDER)) as client:
        first = ask(client, "The first 3 technologies of Lotsman", thread="work")["outcome"]["text"]
        rest = ask(client, "show the rest", thread="work")["outcome"]["text"]
        over = ask(client, "anything else?", thread="work")["outcome"]["text"]
    assert (len(items(first)), len(items(rest))) == (3, 5)
    assert over == "That was all: there are no more."
