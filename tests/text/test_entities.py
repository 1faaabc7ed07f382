"""Names are found whole, in any form and either language, and never by likeness."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.contracts.answer import Clarification
from groundplan.text.entities import CASED, FORMED, SPELLED, WORDED, Registry, build_registry
from groundplan.text.words import normalise, words_of
from tests.asking.lookup.portfolio import REGISTRY, ROWS, asked, read


def found(question: str, registry: Registry = REGISTRY) -> dict[str, float]:
    text = normalise(question)
    return {mention.entity.id: mention.confidence for mention in registry.find(text, words_of(text))}


@pytest.mark.requirement("R3")
@pytest.mark.parametrize("form", ["Газпром", "Газпрома", "Газпрому", "Газпромом", "о Газпроме"])
def test_a_russian_name_is_found_in_every_case(form: str) -> None:
    assert "project:gazprom" in found(f"Что известно: {form}?")


@pytest.mark.requirement("R3")
def test_a_hit_carries_id_type_aliases_and_confidence() -> None:
    text = "стек Alor"
    (mention,) = REGISTRY.find(text, words_of(text))
    assert (mention.entity.id, mention.entity.type, mention.entity.name) == ("project:alor", "project", "АЛОР Брокер")
    assert mention.entity.aliases == ("АЛОР", "Alor")
    assert mention.confidence == SPELLED


def test_confidence_falls_from_letters_to_signs_to_capitals_to_endings() -> None:
    registry = build_registry([("a", "film", "Oh! Brothers", ())])
    said = ["Oh! Brothers", "Oh Brothers", "oh brothers", "Oh brother"]
    assert [found(f"about {name} now", registry)["a"] for name in said] == [SPELLED, WORDED, CASED, FORMED]


def test_the_longest_name_hides_the_shorter_ones_inside_it() -> None:
    assert found("Достижения АЛОР Брокер") == {"project:alor": SPELLED}


def test_a_shorter_name_stays_when_it_is_spelled_better() -> None:
    registry = build_registry([("person", "person", "Ann Lee", ()), ("film", "film", "Directed by Ann Lee", ())])
    assert found("who starred in films directed by Ann Lee", registry) == {"person": SPELLED, "film": CASED}


def test_a_sign_tells_two_names_apart() -> None:
    registry = build_registry([("plain", "film", "Hush", ()), ("loud", "film", "Hush!", ())])
    assert found("when was Hush! released", registry) == {"plain": WORDED, "loud": SPELLED}
    assert found("when was Hush released", registry) == {"plain": SPELLED, "loud": WORDED}


def test_entities_that_share_their_words_are_all_found() -> None:
    assert set(found("АЛОР")) == {"project:alor", "company:alor"}


@pytest.mark.requirement("R10")
@pytest.mark.parametrize("name", ["Апор", "Аларм", "Алар"])
def test_a_name_that_only_looks_alike_never_binds(name: str) -> None:
    assert found(f"Достижения на проекте {name}") == {}
    reading = read(f"Достижения на проекте {name}")
    assert isinstance(reading, Clarification)
    assert reading.missing in (name, "entity")


@pytest.mark.needs("knowledge")  # Russian forms come from its dictionary
def test_a_likely_name_is_suggested() -> None:
    reading = read("Достижения на Газпраме")
    assert isinstance(reading, Clarification)
    assert reading.candidates == ("Газпром",)


def test_an_alias_is_suggested_too() -> None:
    reading = read("где применял Петона")
    assert isinstance(reading, Clarification)
    assert reading.candidates == ("Питон",)


def test_ordinary_words_are_no_names_unless_written_as_one() -> None:
    rows = [*ROWS, ("project:contacts", "project", "Contacts", ())]
    registry = build_registry(rows)
    assert "project:contacts" in found("contacts of Dmitry", registry)
    assert asked("contacts of Dmitry") == [("contacts", "person:dmitry", ("has_contact",))]


@pytest.mark.usefixtures("without_dictionary")
def test_stems_alone_serve_where_the_dictionary_is_not_installed() -> None:
    assert "technology:python" in found("что на Питоне", build_registry(ROWS))


@given(st.lists(st.from_regex(r"[A-Z][a-z]{2,9}( [A-Z][a-z]{2,9}){0,3}", fullmatch=True), min_size=1, unique=True))
def test_every_name_finds_its_own_entity_when_said_as_written(names: list[str]) -> None:
    registry = build_registry((name, "thing", name, ()) for name in names)
    for name in names:
        assert found(f"so: {name}", registry).get(name) == SPELLED


@pytest.mark.timed
def test_a_question_costs_a_few_milliseconds_of_a_processor_among_fifty_thousand_names() -> None:
    names = [f"The {chr(65 + n % 26)}{chr(97 + n // 26 % 26)}ron{chr(97 + n // 676 % 26)}el {n}" for n in range(50_000)]
    registry = build_registry((name, "film", name, ()) for name in names)
    found(f"who made {names[777]} and the rest", registry)
    began = time.thread_time()
    for name in names[:2000:100]:
        assert found(f"who made {name} and the rest", registry)[name] == SPELLED
    assert (time.thread_time() - began) / 20 < 0.05  # 0.001 s; to look at every name takes longer
