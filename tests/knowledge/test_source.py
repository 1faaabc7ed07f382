"""The example through the knowledge source itself: what its tools give for the questions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from groundplan.contracts.facts import Item, StepFacts, Truncated
from groundplan.contracts.plan import Limits
from groundplan.contracts.tool import Tool
from groundplan.sources.interface import Call
from groundplan.sources.knowledge.source import Knowledge
from tests.knowledge.portfolio import FOLDER, cases, edges, rows, schema
from tests.sources.knowledge.small import edge_count

CASES = cases("questions.yaml")
LISTED = [*CASES["regression"], *CASES["more"]]
REFUSED = [case for case in CASES["unanswered"] if case["outcome"] == "refusal"]


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Knowledge]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GROUNDPLAN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield Knowledge.open(FOLDER)


def test_folder_is_loaded_whole(knowledge: Knowledge) -> None:
    told = sorted((id_, kind, name, sorted(aliases)) for id_, kind, name, aliases in knowledge.entities())
    assert told == sorted((id_, kind, name, sorted(set(aliases))) for id_, kind, name, aliases in rows())
    assert edge_count(knowledge.graph) == len(edges())


@pytest.mark.requirement("R44", "R47", "R60")
@pytest.mark.parametrize("case", LISTED, ids=lambda case: case["question"])
def test_graph_gives_every_expected_item_and_no_other(case: dict[str, Any], knowledge: Knowledge) -> None:
    found = [
        called(knowledge, "graph_query", intent=intent, entity=entity)
        for intent in case["intents"]
        for entity in case["entities"]
    ]
    assert sorted(item.title for facts in found for item in listed(facts)) == sorted(case["items"])


def test_list_over_its_limit_tells_how_many_there_are(knowledge: Knowledge) -> None:
    limits = {intent.name: intent.limit for intent in schema().intents}
    for case in (case for case in LISTED if "limit" in case):
        intent, entity = case["intents"][0], case["entities"][0]
        facts = called(knowledge, "graph_query", intent=intent, entity=entity, limit=limits[intent])
        assert (len(facts.items), facts.rows) == (case["limit"], len(case["items"]))
        assert isinstance(facts.state, Truncated)


@pytest.mark.requirement("R47", "R60")
@pytest.mark.parametrize("case", CASES["documents"], ids=lambda case: case["question"])
def test_document_that_answers_comes_first(case: dict[str, Any], knowledge: Knowledge) -> None:
    best = called(knowledge, "document_search", query=case["question"]).items[0]
    assert best.source == f"document:{case['document']}"
    assert case["says"].lower() in " ".join(best.text.split()).lower()


@pytest.mark.requirement("R10")
@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["question"])
def test_documents_that_do_not_say_it_are_not_found(case: dict[str, Any], knowledge: Knowledge) -> None:
    assert not called(knowledge, "document_search", query=case["question"]).found


def called(knowledge: Knowledge, tool: str, **params: Any) -> StepFacts:
    entries = yaml.safe_load(Knowledge.tools()[0].read_text(encoding="utf-8"))["tools"]
    described = next(Tool(source="knowledge", **entry) for entry in entries if entry["name"] == tool)
    return asyncio.run(knowledge.call(Call("run", "a_step", described, params, {}, Limits(), 30))).facts


def listed(facts: StepFacts) -> list[Item]:
    """Items of a list or of its groups; an entity's own attributes are details, not items."""
    items = [*facts.items, *(item for group in facts.groups for item in group.items)]
    return [item for item in items if item.kind != "attribute"]
