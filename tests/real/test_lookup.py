"""Questions to the example's knowledge base with a real model of 1.5 billion parameters, and the same as recorded.

When a prompt changes, record again: `read_all` on a served model, with `recording(RECORDED)` as the transport; then
take the folder out of the name that the server gives its model.
"""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

import httpx2

from groundplan.asking.lookup.read import GENERAL, Read, read_lookup
from groundplan.asking.lookup.read_with_model import read_lookup_with
from groundplan.contracts.answer import Usage
from groundplan.contracts.knowledge import Conversation
from groundplan.contracts.reading import IntentAsked, Reading
from groundplan.llm.calls import Calls
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from groundplan.llm.recording import replaying
from groundplan.settings import Endpoint
from groundplan.text.entities import build_registry
from tests.knowledge.portfolio import cases, rows, schema

pytest_plugins = ["tests.models"]

RECORDED = Path(__file__).parent / "recordings" / "lookup.json"
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
RIGHT = 4  # of six; five when recorded, and the sixth is left to the documents
Result = tuple[Read, tuple[str, ...], Usage]


async def read_all(url: str, transport: httpx2.AsyncBaseTransport | None = None) -> dict[str, Result]:
    """Every question in turn, each with a deadline of its own."""
    knowledge, registry = schema(), build_registry(rows())
    now: dict[str, Any] = {"today": TODAY, "timezone": "UTC"}
    before = {case["question"]: case["after"] for case in REGRESSION if "after" in case}
    results: dict[str, Result] = {}
    async with Model.open(Endpoint(name="qwen", url=url, model="qwen"), transport) as model:
        for question in (*(case["question"] for case in REGRESSION), *OTHER_WORDS, UNANSWERED):
            calls = Calls(Cascade((model,)), SECONDS)
            last = read_lookup(before[question], knowledge, registry, **now) if question in before else None
            context = (
                Conversation(question=last.question, entities=last.entities) if isinstance(last, Reading) else None
            )
            read, notes = await read_lookup_with(calls, question, knowledge, registry, context=context, **now)
            results[question] = read, notes, calls.usage
    return results


@pytest.fixture(scope="module")
def served(qwen_url: str) -> dict[str, Result]:
    return asyncio.run(read_all(qwen_url))


@pytest.fixture(scope="module")
def recorded() -> dict[str, Result]:
    with replaying(RECORDED) as transport:
        return asyncio.run(read_all("http://127.0.0.1:9/v1", transport))


@pytest.fixture(params=["recorded", pytest.param("served", marks=pytest.mark.model)])
def results(request: pytest.FixtureRequest) -> dict[str, Result]:
    found: dict[str, Result] = request.getfixturevalue(request.param)
    return found


@pytest.mark.requirement("R4", "R60")
def test_the_regression_questions_are_read_right_and_cost_nothing(results: dict[str, Result]) -> None:
    for case in REGRESSION:
        read, notes, usage = results[case["question"]]
        assert asked(read) == {(intent, entity) for intent in case["intents"] for entity in case["entities"]}
        assert (notes, usage) == ((), Usage())


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


@pytest.mark.requirement("R3", "R10")
def test_a_miss_is_left_to_the_documents_and_the_entity_stays(results: dict[str, Result]) -> None:
    """Whatever the model says, nothing but the entity of the words is looked up."""
    for question, (_, entity) in OTHER_WORDS.items():
        assert {about for _, about in asked(results[question][0])} == {entity}


@pytest.mark.requirement("R10")
def test_what_the_knowledge_base_does_not_say_is_not_read_as_something_else(results: dict[str, Result]) -> None:
    assert asked(results[UNANSWERED][0]) == {(GENERAL, "person:miron-zasekin")}


def asked(read: Read) -> set[tuple[str, str | None]]:
    assert isinstance(read, Reading), read
    values = (requirement.value for requirement in read.requirements)
    return {(value.intent, value.entity) for value in values if isinstance(value, IntentAsked)}
