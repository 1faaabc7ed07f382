"""The example asked from end to end, without a model: complete, structured, the graph first, and nothing that leaks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import groundplan
from groundplan.answering.verifying.artefacts import find_artefacts
from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.project import Project
from tests.knowledge.portfolio import cases, marked, nodes

CASES = cases("questions.yaml")
ANSWERED: list[dict[str, Any]] = [*CASES["regression"], *CASES["more"], *CASES["documents"]]
PORTFOLIO = Path(__file__).parents[2] / "examples/portfolio"


def listed(*sections: str) -> list[object]:
    return [marked(case["question"], case, notyet=CASES["notyet"]) for section in sections for case in CASES[section]]


@pytest.fixture(scope="module")
def portfolio() -> Iterator[Project]:
    with groundplan.open(PORTFOLIO) as project:
        yield project


@pytest.mark.requirement("R2", "R44", "R47", "R49", "R60")
@pytest.mark.needs("knowledge")  # Russian forms come from its dictionary
@pytest.mark.parametrize(("question", "case"), listed("regression", "more"))
def test_the_answer_lists_all_of_it_from_the_graph(question: str, case: dict[str, Any], portfolio: Project) -> None:
    thread = f"thread of {question}"
    if "after" in case:
        portfolio.ask(case["after"], thread=thread)
    outcome = portfolio.ask(question, thread=thread).outcome
    assert isinstance(outcome, Answer), outcome
    said = [item for item in case["items"] if item.rstrip(".") in outcome.text]
    assert len(said) == min(len(case["items"]), case.get("limit", len(case["items"])))
    assert [failure.step for failure in outcome.facts.failures if failure.status == "skipped"] == ["documents"]


@pytest.mark.requirement("R50")
@pytest.mark.parametrize(
    "case", [*CASES["regression"], *CASES["more"], *CASES["documents"]], ids=lambda case: case["question"]
)
def test_no_id_confidence_or_reference_is_in_the_text(case: dict[str, Any], portfolio: Project) -> None:
    outcome = portfolio.ask(case["question"]).outcome
    if isinstance(outcome, Answer):
        text = outcome.text
        for cited in sorted((citation.text for citation in outcome.citations), key=len, reverse=True):
            text = text.replace(cited, "")
        assert not list(find_artefacts(text))
        assert not any(node["id"] in outcome.text for node in nodes())


@pytest.mark.requirement("R22", "R47")
@pytest.mark.parametrize(("question", "case"), listed("documents"))
def test_what_the_graph_lacks_comes_from_the_documents(question: str, case: dict[str, Any], portfolio: Project) -> None:
    outcome = portfolio.ask(question).outcome
    assert isinstance(outcome, Answer), outcome
    assert case["document"] in {cited.id for cited in outcome.facts.sources} or any(
        cited.id.endswith(case["document"]) for cited in outcome.facts.sources
    )


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(("question", "case"), listed("unanswered"))
def test_the_unclear_is_asked_back_and_the_unknown_refused(
    question: str, case: dict[str, Any], portfolio: Project
) -> None:
    outcome = portfolio.ask(question).outcome
    assert isinstance(outcome, Refusal if case["outcome"] == "refusal" else Clarification), outcome


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("projects without Python", "reading/negation"),
        ("which projects use both Redis and Kafka", "reading/in-common"),
        ("Какие проекты делал в Талвик Банке в 2021 году?", "reading/period"),
    ],
)
def test_what_no_path_can_say_is_refused_and_not_turned_round(question: str, code: str, portfolio: Project) -> None:
    outcome = portfolio.ask(question).outcome
    assert isinstance(outcome, Refusal), outcome
    assert outcome.issues[0].code == code
