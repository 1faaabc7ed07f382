"""The example is whole: what it names exists, and its questions have exactly the answers they expect."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from tests.knowledge.portfolio import FOLDER, aliases, cases, description, edges, nodes, schema, walk

QUESTIONS = cases("questions.yaml")
ALIASES = cases("aliases.yaml")
LISTED = [*QUESTIONS["regression"], *QUESTIONS["more"]]
EVERY = [*LISTED, *QUESTIONS["documents"], *QUESTIONS["unanswered"]]
LEAST = {"project": 8, "technology": 30, "achievement": 40, "contact": 3, "company": 3, "school": 2}


def test_intents_and_relations_connect() -> None:
    assert {intent.name for intent in schema().intents} >= {"current_job", "technology_usage", "contacts"}


def test_every_type_relation_and_intent_has_words_of_both_languages() -> None:
    told = description()
    for kind in ("types", "relations", "intents"):
        assert [name for name, value in told[kind].items() if set(value["words"]) != {"en", "ru"}] == []


def test_edges_join_nodes_of_the_types_their_relation_says() -> None:
    types = {node["id"]: node["type"] for node in nodes()}
    ends = {relation.name: (relation.origin, relation.target) for relation in schema().relations}
    assert [edge for edge in edges() if (types.get(edge[0]), types.get(edge[2])) != ends.get(edge[1])] == []
    assert len(set(edges())) == len(edges())


def test_no_node_is_told_twice_or_left_alone() -> None:
    ids = [node["id"] for node in nodes()]
    joined = {end for start, _, target in edges() for end in (start, target)}
    assert (len(set(ids)), set(ids)) == (len(ids), joined)


def test_there_is_enough_to_ask_about() -> None:
    counted = Counter(node["type"] for node in nodes())
    assert {kind: counted[kind] for kind in LEAST if counted[kind] < LEAST[kind]} == {}


def test_every_achievement_has_a_figure() -> None:
    texts = [node["name"] for node in nodes() if node["type"] == "achievement"]
    assert [text for text in texts if not re.search(r"\d", text)] == []


def test_what_people_ask_for_by_name_has_a_russian_name() -> None:
    named = [node for node in nodes() if node["type"] not in ("achievement", "contact")]
    assert [node["id"] for node in named if not re.search("[а-яё]", " ".join(node["aliases"]["ru"]).lower())] == []


def test_readme_counts_what_is_there_and_its_questions_are_among_the_cases() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    counted = Counter(node["type"] for node in nodes())
    documents = len(list((FOLDER / "documents").glob("*.md")))
    assert f"{counted['project']} projects, {counted['technology']} technologies" in text
    assert f"{counted['achievement']} achievements, {counted['job']} jobs, and {documents} longer documents" in text
    asked = re.findall(r"^\| (\S.*?) \|", text.split("| question |")[1].split("\n\n")[0], re.MULTILINE)
    assert len(asked) == 12
    assert set(asked) <= {case["question"] for case in EVERY}


@pytest.mark.requirement("R60")
@pytest.mark.parametrize("case", LISTED, ids=lambda case: case["question"])
def test_expected_items_are_all_that_the_path_leads_to(case: dict[str, Any]) -> None:
    names = {node["id"]: node["name"] for node in nodes()}
    intents = {intent.name: intent for intent in schema().intents}
    reached = [
        names[place]
        for name in case["intents"]
        for entity in case["entities"]
        for place in walk(entity, list(intents[name].path))
    ]
    assert sorted(case["items"]) == sorted(reached)
    assert case.get("limit") == (intents[case["intents"][0]].limit if _is_over(case, intents) else None)


@pytest.mark.parametrize("case", QUESTIONS["documents"], ids=lambda case: case["question"])
def test_only_its_document_holds_the_answer(case: dict[str, Any]) -> None:
    texts = {
        file.relative_to(FOLDER).as_posix(): " ".join(file.read_text(encoding="utf-8").split())
        for file in FOLDER.rglob("*.md")
    }
    assert [name for name, text in texts.items() if case["says"].lower() in text.lower()] == [case["document"]]


def test_no_question_is_asked_twice_and_what_is_not_yet_read_is_among_them() -> None:
    asked = Counter((case["question"], case.get("after")) for case in EVERY)
    assert max(asked.values()) == 1
    assert set(QUESTIONS["notyet"]) <= {question for question, _ in asked}


def test_expected_entities_exist() -> None:
    ids = {node["id"] for node in nodes()}
    told = [entity for case in LISTED for entity in case["entities"]]
    told += [entity for case in QUESTIONS["unanswered"] for entity in case.get("candidates", [])]
    told += [entity for _, entity in [*ALIASES["found"], *ALIASES["decided"], *ALIASES["suggested"]]]
    told += [entity for _, candidates in ALIASES["asked"] for entity in candidates]
    assert set(told) <= ids


def test_names_that_are_asked_about_are_shared_by_exactly_their_candidates() -> None:
    for name in ("Atlas", "Атлас", "Talvik", "Талвик"):
        bearers = [node["id"] for node in nodes() if name in aliases(node)]
        assert bearers in [sorted(candidates) for _, candidates in ALIASES["asked"]]


def _is_over(case: dict[str, Any], intents: dict[str, Any]) -> bool:
    """Whether a list is longer than its limit; in groups the limit is each group's own, and none is so long here."""
    first = intents[case["intents"][0]]
    return len(case["intents"]) == 1 and first.render != "GROUPED_BULLETS" and len(case["items"]) > first.limit
