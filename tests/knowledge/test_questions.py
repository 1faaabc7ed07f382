"""The example's questions, read without a model: what each asks of which entity, and what is asked back."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from groundplan.asking.lookup.read import GENERAL, Read, read_lookup
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.knowledge import Conversation, KnowledgeSchema
from groundplan.contracts.reading import IntentAsked, Reading
from groundplan.text.entities import Registry, build_registry
from tests.knowledge.portfolio import cases, marked, rows, schema

CASES = cases("questions.yaml")
TODAY = date(2026, 1, 15)


def listed(*sections: str) -> list[object]:
    return [marked(case["question"], case, notyet=CASES["notyet"]) for section in sections for case in CASES[section]]


@pytest.fixture(scope="module")
def registry() -> Registry:
    return build_registry(rows())


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeSchema:
    return schema()


@pytest.mark.requirement("R2", "R3", "R4", "R60")
@pytest.mark.needs("knowledge")  # Russian forms come from its dictionary
@pytest.mark.parametrize(("question", "case"), listed("regression", "more"))
def test_question_asks_exactly_these_intents_of_these_entities(
    question: str, case: dict[str, Any], knowledge: KnowledgeSchema, registry: Registry
) -> None:
    found = read(question, knowledge, registry, case.get("after"))
    assert isinstance(found, Reading)
    assert asked(found) == {(intent, entity) for intent in case["intents"] for entity in case["entities"]}
    assert found.follow_up is case.get("follow_up", False)


@pytest.mark.requirement("R47")
@pytest.mark.parametrize(("question", "case"), listed("documents"))
def test_what_no_relation_says_is_left_to_the_documents(
    question: str, case: dict[str, Any], knowledge: KnowledgeSchema, registry: Registry
) -> None:
    found = read(question, knowledge, registry)
    assert isinstance(found, Reading)
    assert {intent for intent, _ in asked(found)} == {GENERAL}


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(("question", "case"), listed("unanswered"))
def test_what_is_unclear_is_asked_back_and_what_is_unknown_never_guessed(
    question: str, case: dict[str, Any], knowledge: KnowledgeSchema, registry: Registry
) -> None:
    found = read(question, knowledge, registry)
    if case["outcome"] == "refusal":
        assert isinstance(found, Refusal) or (isinstance(found, Reading) and {i for i, _ in asked(found)} == {GENERAL})
        return
    names = {id_: (name, *aliases) for id_, _, name, aliases in rows()}
    assert isinstance(found, Clarification)
    for entity in case["candidates"]:
        assert any(candidate.startswith(names[entity]) for candidate in found.candidates)


def read(question: str, knowledge: KnowledgeSchema, registry: Registry, after: str | None = None) -> Read:
    """After another question, with what was understood of that one as its context."""
    before = read(after, knowledge, registry) if after else None
    context = None
    if isinstance(before, Reading):
        context = Conversation(question=before.question, entities=before.entities)
    return read_lookup(question, knowledge, registry, today=TODAY, context=context)


def asked(reading: Reading) -> set[tuple[str, str | None]]:
    values = (requirement.value for requirement in reading.requirements)
    return {(value.intent, value.entity) for value in values if isinstance(value, IntentAsked)}
