"""Source document C: an answering model writes from the listed facts only; anything else is refused, then rendered."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Answer
from tests.documents.c import DEVELOPER, PORTFOLIO, drafts, plans, talk
from tests.llm.scripted import Behaviour

pytestmark = pytest.mark.needs("knowledge")

RAG = "Где применял RAG?"
USAGE = plans(("TECHNOLOGY_USAGE", "RAG"))
RENDERED = (
    "- AI-Portfolio: Ассистент, который отвечает на вопросы о портфолио.\n"
    "- Помощник поддержки: Подсказывает ответы операторам."
)


def written(question: str, plan: Behaviour, *script: Behaviour, folder: Path = DEVELOPER) -> tuple[Answer, list[str]]:
    [outcome], prompts = talk(folder, [question], plan, *script, writer="model")
    assert isinstance(outcome, Answer), outcome
    return outcome, prompts[1:]


@pytest.mark.requirement("R50", "R52")
@pytest.mark.parametrize(
    "sentences",
    [
        ["RAG применял в проектах {n1} и {n3}."],
        ["RAG применял в проектах AI-Portfolio и Помощник поддержки."],  # copied names are taken for their slots
    ],
)
def test_a_natural_sentence_from_the_facts_is_the_answer(sentences: list[str]) -> None:
    answer, [prompt] = written(RAG, USAGE, drafts(*sentences))
    assert answer.text == "RAG применял в проектах AI-Portfolio и Помощник поддержки."
    assert [cited.fact for cited in answer.citations] == ["facts.items.0.title", "facts.items.1.title"]
    assert "{n1} = AI-Portfolio (name)" in prompt
    assert not any(id_ in prompt for id_ in ("project:", "technology:", "confidence"))


@pytest.mark.requirement("R50", "R52")
def test_texts_stand_with_their_own_names_and_full_stops_are_not_doubled() -> None:
    answer, _ = written(RAG, USAGE, drafts("RAG применял в {n1}: {t2}", "Также в {n3}: {t4}"))
    assert answer.text == (
        "RAG применял в AI-Portfolio: Ассистент, который отвечает на вопросы о портфолио. "
        "Также в Помощник поддержки: Подсказывает ответы операторам."
    )


@pytest.mark.requirement("R49")
def test_the_list_follows_if_a_name_is_left_out() -> None:
    answer, _ = written(RAG, USAGE, drafts("RAG применял в проекте {n1}."))
    assert answer.text == f"RAG применял в проекте AI-Portfolio.\n\n{RENDERED}"
    assert all(answer.text[cited.start or 0 :].startswith(cited.text) for cited in answer.citations)


REFUSED = {
    "RAG применял в проектах {n1}, {n3} и Луна-парк.": "'Луна' is neither a fact",
    "RAG применял в 3 проектах: {n1} и {n3}.": "'3' cannot be checked",
    "RAG не применял в {n1} и {n3}.": "'не' is neither a fact",
    "RAG успешно применял в {n1} и {n3}.": "'успешно' is neither a fact",
    "RAG применял в {n1} и {n9}.": "there is no slot {n9}",
    "RAG применял в {n1}: {t4} Также в {n3}.": "{t4} stands after the name that it belongs to",
    "Да, RAG применял в {n1} и {n3}.": "neither a fact",
    "RAG применял в {n1} и {n3} (confidence: 0.9).": "a confidence",
    "RAG применял в [{n1}](http://evil.example) и {n3}.": "'[' cannot be checked",
    "Применял.": "the sentence has no slot",
}


@pytest.mark.requirement("R51", "R52")
@pytest.mark.parametrize("bad", REFUSED)
def test_what_is_no_fact_is_refused_and_written_again_once(bad: str) -> None:
    answer, prompts = written(RAG, USAGE, drafts(bad), drafts("RAG применял в {n1} и {n3}."))
    assert answer.text == "RAG применял в AI-Portfolio и Помощник поддержки."
    assert REFUSED[bad] in prompts[1]
    assert "one or two very short sentences" in prompts[1]
    assert [(attempt.role, bool(attempt.faults)) for attempt in answer.proposals[1:]] == [
        *(("write", True), ("write", False)),
    ]


@pytest.mark.requirement("R51")
def test_after_the_second_refusal_code_renders() -> None:
    bad = drafts("RAG применял в Луна-парке и {n1}.")
    answer, prompts = written(RAG, USAGE, bad, bad)
    assert answer.text == RENDERED
    assert len(prompts) == 2
    assert "was refused 2 times" in next(entry.thought for entry in answer.trace if entry.stage == "answer")


@pytest.mark.requirement("R52")
def test_yes_is_said_if_the_graph_says_it() -> None:
    knows = plans(("technology_usage", "Kubernetes"))
    yes, _ = written("Он знает Kubernetes?", knows, drafts("Да, знает: {n1}, {n2}, {n3} и {n4}."), folder=PORTFOLIO)
    assert yes.text == "Да, знает: Vertushka, Lotsman, Sova и Ptarmigan."


@pytest.mark.requirement("R52")
def test_items_of_several_lists_are_not_mixed() -> None:
    both = plans(("PROJECT_TECH_STACK", "AI-Portfolio"), ("PROJECT_TECH_STACK", "Помощник поддержки"))
    question = "Какие технологии в AI-Portfolio и Помощнике поддержки?"
    mixed = drafts("{g8}: {n2}, {n3}, {n4}, {n5}, {n6}, {n7}.", "{g1}: {n9}.")
    right = drafts("{g1}: {n2}, {n3}, {n4}, {n5}, {n6}, {n7}.", "{g8}: {n9}.")
    answer, prompts = written(question, both, mixed, right)
    assert "stands after the title of its own group" in prompts[1]
    assert answer.text.startswith("Технологии, AI-Portfolio: RAG, Python")
