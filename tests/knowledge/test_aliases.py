"""Names of the example as people write them: bound when they are the same words, suggested when only alike."""

from __future__ import annotations

import pytest

from groundplan.text.entities import Registry, build_registry
from groundplan.text.words import words_of
from tests.knowledge.portfolio import cases, marked, rows

CASES = cases("aliases.yaml")

pytestmark = pytest.mark.requirement("R3")


def listed(section: str) -> list[object]:
    return [marked(*case, notyet=CASES["notyet"]) for case in CASES[section]]


@pytest.fixture(scope="module")
def registry() -> Registry:
    return build_registry(rows())


@pytest.mark.needs("knowledge")  # Russian forms come from its dictionary
@pytest.mark.parametrize(("text", "entity"), listed("found"))
def test_name_is_found_in_any_form(text: str, entity: str, registry: Registry) -> None:
    assert named(text, registry) == [entity]


@pytest.mark.parametrize(("text", "entity"), listed("decided"))
def test_bearer_that_a_type_word_decides_for_is_among_several(text: str, entity: str, registry: Registry) -> None:
    assert entity in named(text, registry)


@pytest.mark.parametrize("text", CASES["unknown"])
def test_other_words_are_neither_bound_nor_suggested_for(text: str, registry: Registry) -> None:
    assert (named(text, registry), suggested(text, registry)) == ([], [])


def test_what_is_not_yet_read_is_among_the_cases() -> None:
    texts = [case[0] for section in ("found", "asked", "decided", "suggested") for case in CASES[section]]
    assert set(CASES["notyet"]) <= set(texts)
    assert len(set(texts)) == len(texts)


def named(text: str, registry: Registry) -> list[str]:
    return sorted({mention.entity.id for mention in registry.find(text, words_of(text))})


def suggested(text: str, registry: Registry) -> list[str]:
    return [name for word in words_of(text) for name in registry.suggest(word.text)]
