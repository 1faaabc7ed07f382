"""Questions to the example's knowledge base, planned by a real model of 1.5 billion parameters."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.asking.lookup.read import GENERAL, Read, read_lookup
from groundplan.asking.lookup.read_with_model import read_lookup_with
from groundplan.contracts.answer import Usage
from groundplan.contracts.knowledge import Conversation
from groundplan.contracts.reading import IntentAsked, Reading
from groundplan.llm.calls import Calls
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from groundplan.settings import Endpoint
from groundplan.text.entities import build_registry
from tests.knowledge.portfolio import cases, rows, schema

pytest_plugins = ["tests.models"]
pytestmark = pytest.mark.model

TODAY = date(2026, 1, 15)
SECONDS = 120.0
REGRESSION: list[dict[str, Any]] = cases("questions.yaml")["regression"]
OTHER_WORDS = {  # none of these verbs and nouns stands in knowledge.yaml
    "What runs inside Vertushka?": ("project_tech_stack", "project:vertushka"),
    "Кто заказал Полынью?": ("project_company", "project:polynya"),
    "How do I ring Miron?": ("contacts", "person:miron-zasekin"),
    "Which tongues is Miron fluent in?": ("languages", "person:miron-zasekin"),
    "Что внутри у Куропатки?": ("project_tech_stack", "project:ptarmigan"),
    "Where has Kubernetes come in handy?": ("technology_usage", "technology:kubernetes"),
}
UNANSWERED = "Какая зарплата у Мирона?"
RIGHT = 4  # of six
Result = tuple[Read, tuple[str, ...], Usage]


async def read_all(url: str) -> dict[str, Result]:
    """Every question in turn, each with a deadline of its own."""
    knowledge, registry = schema(), build_registry(rows())
    now: dict[str, Any] = {"today": TODAY, "timezone": "UTC"}
    before = {case["question"]: case["after"] for case in REGRESSION if "after" in case}
    results: dict[str, Result] = {}
    async with Model.open(Endpoint(name="qwen", url=url, model="qwen")) as model:
        for question in (*(case["question"] for case in REGRESSION), *OTHER_WORDS, UNANSWERED):
            calls = Calls(Cascade((model,)), SECONDS)
            last = read_lookup(before[question], knowledge, registry, **now) if question in before else None
            context = (
                Conversation(question=last.question, entities=last.entities) if isinstance(last, Reading) else None
            )
            read, notes = await read_lookup_with(calls, question, knowledge, registry, log=[], context=context, **now)
            results[question] = read, notes, calls.usage
    return results


@pytest.fixture(scope="module")
def results(qwen_url: str) -> dict[str, Result]:
    return asyncio.run(read_all(qwen_url))


@pytest.mark.requirement("R4", "R60")
def test_the_regression_questions_are_read_right(results: dict[str, Result]) -> None:
    for case in REGRESSION:
        meant = {(intent, entity) for intent in case["intents"] for entity in case["entities"]}
        assert asked(results[case["question"]][0]) == meant


@pytest.mark.requirement("R4", "R22", "R27")
def test_other_words_are_read_as_the_intents_they_mean(results: dict[str, Result]) -> None:
    missed = {
        question: asked(results[question][0])
        for question, meant in OTHER_WORDS.items()
        if asked(results[question][0]) != {meant}
    }
    assert len(missed) <= len(OTHER_WORDS) - RIGHT, missed
    for question in OTHER_WORDS:
        _, [note], usage = results[question]
        assert "qwen" in note
        assert usage.models == ("qwen",)


@pytest.mark.requirement("R10")
def test_what_the_knowledge_base_does_not_say_is_not_read_as_something_else(results: dict[str, Result]) -> None:
    assert {intent for intent, _ in asked(results[UNANSWERED][0])} == {GENERAL}


def asked(read: Read) -> set[tuple[str, str | None]]:
    assert isinstance(read, Reading), read
    values = (requirement.value for requirement in read.requirements)
    return {(value.intent, value.entity) for value in values if isinstance(value, IntentAsked)}
