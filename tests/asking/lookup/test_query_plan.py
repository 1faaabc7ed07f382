"""A model that plans every look-up: the words are the floor and the cross-check of all that it says."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.asking.lookup.manner import load_manner_words
from groundplan.asking.lookup.plan import propose
from groundplan.asking.lookup.query_plan import QueryPlan, in_manner_of
from groundplan.asking.lookup.read import GENERAL, Read, scan_lookup
from groundplan.asking.lookup.read_with_model import LookupOptions, decide, options_for, read_lookup_with
from groundplan.checking.gate import check
from groundplan.contracts.answer import Answer, Outcome
from groundplan.contracts.plan import RenderStyle
from groundplan.contracts.reading import IntentAsked, Reading
from groundplan.contracts.roles import Roles
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verdict import Passed
from groundplan.llm.calls import Calls
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from groundplan.project import AsyncProject
from tests.asking.lookup.portfolio import REGISTRY, SCHEMA, read, understood
from tests.asking.lookup.test_read_with_model import TODAY, pairs
from tests.checking.asked import catalog
from tests.knowledge.portfolio import FOLDER
from tests.llm.scripted import PROBED, Behaviour, says, scripted

STYLES: tuple[RenderStyle, ...] = ("SHORT", "BULLETS", "GROUPED_BULLETS", "TABLE")
CATALOG = catalog()
Asked = tuple[Read, tuple[str, ...], list[dict[str, Any]]]


def planned(asks_for: str = "technology", *intents: str, **said: Any) -> Behaviour:
    plan = {
        "asks_for": asks_for,
        "intents": intents or ["project_tech_stack"],
        "entities": [],
        "render_style": "BULLETS",
        "max_items": None,
        "answer_style": "NATURAL_RU",
        "confidence": 0.9,
    }
    return says(json.dumps(plan | said))


def ask(question: str, *script: Behaviour, **settings: Any) -> Asked:
    async def run() -> Asked:
        async with scripted(says(PROBED), *script) as server, Model.open(server.endpoint()) as model:
            calls = Calls(Cascade((model,)), 10)
            now: dict[str, Any] = {"today": TODAY, "timezone": "UTC"}
            read, notes = await read_lookup_with(calls, question, SCHEMA, REGISTRY, whole=True, **now, **settings)
            return read, notes, server.requests[1:]

    return asyncio.run(run())


def shown(found: Read) -> tuple[str, str | None, int | None]:
    """Intent, style and number of the only look-up."""
    assert isinstance(found, Reading), found
    [value] = [requirement.value for requirement in found.requirements]
    assert isinstance(value, IntentAsked)
    return value.intent, value.style, value.limit


@pytest.mark.requirement("R7", "R22")
def test_the_reply_is_a_whole_query_plan_from_closed_lists() -> None:
    _, _, [request] = ask("Стек Газпрома", planned())
    fields = request["response_format"]["json_schema"]["schema"]["properties"]
    assert [*fields] == [
        *("asks_for", "intents", "entities"),
        *("render_style", "max_items", "answer_style", "confidence"),
    ]
    assert set(fields["render_style"]["enum"]) == set(STYLES)
    assert fields["answer_style"]["enum"] == ["NATURAL_EN", "NATURAL_RU"]
    assert fields["intents"]["items"]["enum"][-1] == GENERAL


@pytest.mark.requirement("R22")
def test_a_plan_that_agrees_with_the_words_is_marked_so() -> None:
    found, notes, _ = ask("Стек Газпрома", planned())
    assert isinstance(found, Reading)
    assert found.read_by == ("words", "scripted")
    assert notes == ("scripted reads the question as project_tech_stack of Газпром",)
    assert pairs(found) == pairs(read("Стек Газпрома"))


@pytest.mark.requirement("R22")
@pytest.mark.parametrize(
    "other", [planned("achievement", "project_achievements"), planned("project", "project_details")]
)
def test_a_plan_for_another_look_up_does_not_override_the_words(other: Behaviour) -> None:
    found, [note], _ = ask("Стек Газпрома", other)
    assert found == read("Стек Газпрома")
    assert note.endswith("the rules decide")


@pytest.mark.requirement("R22", "R49")
@pytest.mark.parametrize(
    ("question", "said", "expected"),
    [
        ("Стек Газпрома таблицей", {"render_style": "SHORT"}, ("TABLE", None)),
        ("The stack of Газпром in short", {"render_style": "TABLE"}, ("SHORT", None)),
        ("Первые три технологии Газпрома", {"max_items": 8}, (None, 3)),
        ("The first 3 technologies of Газпром", {"max_items": 500}, (None, 3)),
    ],
)
def test_what_the_words_say_outright_is_not_overridden(
    question: str, said: dict[str, Any], expected: tuple[str | None, int | None]
) -> None:
    _, style, limit = shown(ask(question, planned(**{"render_style": "BULLETS"} | said))[0])
    assert (style if expected[0] else None, limit) == expected


@pytest.mark.requirement("R22")
@pytest.mark.parametrize(
    ("question", "said", "expected"),
    [
        ("Стек Газпрома", {"render_style": "TABLE"}, (None, None)),
        ("Стек Газпрома", {"render_style": "SHORT"}, (None, None)),
        ("Стек Газпрома", {"render_style": "GROUPED_BULLETS"}, ("GROUPED_BULLETS", None)),
        ("Стек Газпрома", {"max_items": 2}, ("BULLETS", None)),
        ("Стек Газпрома компактно", {"render_style": "SHORT"}, ("SHORT", None)),
        ("The stack of Газпром gridwise", {"render_style": "TABLE"}, ("TABLE", None)),
        ("Стек Газпрома, штучки 4", {"max_items": 4}, ("BULLETS", 4)),
        ("Стек Газпрома, штучки 4", {"max_items": 2}, ("BULLETS", None)),
    ],
)
def test_a_style_or_number_needs_ground_in_the_question(
    question: str, said: dict[str, Any], expected: tuple[str | None, int | None]
) -> None:
    """Words that nothing explains are ground for a style, the number itself for a number; groups do no harm."""
    intent, style, limit = shown(ask(question, planned(**said))[0])
    assert intent == "project_tech_stack"
    assert (style, limit) == expected


@pytest.mark.requirement("R22")
def test_what_the_words_leave_open_is_what_the_plan_says() -> None:
    question = "What 3 bricks is Газпром assembled from?"
    assert shown(read(question))[0] == GENERAL
    found, _, _ = ask(question, planned(render_style="TABLE", max_items=3))
    assert shown(found) == ("project_tech_stack", None, 3)


@pytest.mark.requirement("R22")
@pytest.mark.parametrize(("threshold", "attempts"), [(0.5, 2), (0.95, 2), (0.4, 1)])
def test_below_the_threshold_it_is_asked_once_more_with_the_reason(threshold: float, attempts: int) -> None:
    unsure = planned(confidence=0.45)
    found, _, requests = ask("What bricks is Газпром assembled from?", unsure, unsure, threshold=threshold)
    assert len(requests) == attempts
    if attempts == 2:
        assert "the confidence was low" in requests[1]["messages"][0]["content"]
        assert shown(found)[0] == GENERAL
    else:
        assert shown(found)[0] == "project_tech_stack"


@pytest.mark.requirement("R22")
@pytest.mark.parametrize(
    "wrong",
    [planned(render_style="SONG"), planned(confidence=7), planned(max_items=0), planned("technology", "salary")],
)
def test_a_plan_outside_the_schema_is_repaired_once_and_then_the_words_decide(wrong: Behaviour) -> None:
    found, [note], requests = ask("Стек Газпрома", wrong, wrong)
    assert found == read("Стек Газпрома")
    assert len(requests) == 2
    assert "the question was read without it" in note


@pytest.mark.parametrize("question", ["show the rest", "ещё", "as a table"])
def test_no_model_is_asked_how_a_list_goes_on(question: str) -> None:
    from tests.asking.lookup.test_continuing import LISTED

    found, notes, requests = ask(question, planned(), context=LISTED)
    assert (found, notes, requests) == (read(question, LISTED), (), [])


@pytest.mark.requirement("R18", "R22")
def test_the_settings_make_the_model_plan_and_say_how_sure_it_must_be() -> None:
    async def run(confidence: float) -> Outcome:
        plan = planned("technology", "project_tech_stack", render_style="SHORT", confidence=0.6)
        async with scripted(says(PROBED), plan) as server:
            roles = Roles(reader="model", confidence=confidence)
            project = await AsyncProject.open(FOLDER, models=[server.endpoint()], roles=roles)
            try:
                return await project.ask("What runs inside Fieldnotes?", today=TODAY)
            finally:
                await project.close()

    believed, doubted = asyncio.run(run(0.5)), asyncio.run(run(0.8))
    assert isinstance(believed, Answer)
    assert "SQLite" in believed.text
    assert not (isinstance(doubted, Answer) and "found1" in {step.id for step in doubted.plan.steps})


QUESTIONS = (
    "Стек Газпрома",
    "Стек Газпрома таблицей",
    "Первые три технологии Газпрома, кратко",
    "Стек Газпрома компактно, штучки 4",
    "Какие технологии и достижения в Газпроме?",
    "What bricks is Газпром assembled from?",
    "Чем Дмитрий гордится в Газпроме?",
    "Name 2 bricks of AI-Portfolio, in Russian",
)


def offered_for(question: str) -> LookupOptions:
    scan = scan_lookup(question, SCHEMA, REGISTRY, today=TODAY, timezone="UTC")
    offer = options_for(scan, understood(question))
    assert offer is not None
    return offer


@st.composite
def any_plan(draw: st.DrawFn) -> tuple[str, QueryPlan]:
    """Whatever the schema lets a model say about one of the questions."""
    question = draw(st.sampled_from(QUESTIONS))
    choices = offered_for(question).choices
    plan = QueryPlan(
        asks_for=draw(st.sampled_from(choices["asks_for"])),
        intents=tuple(draw(st.lists(st.sampled_from(choices["intents"]), min_size=1, max_size=3))),
        entities=tuple(draw(st.lists(st.sampled_from(choices["entities"]), max_size=2))),
        render_style=draw(st.sampled_from(STYLES)),
        max_items=draw(st.none() | st.integers(1, 1_000)),
        answer_style=draw(st.sampled_from(["NATURAL_EN", "NATURAL_RU"])),
        confidence=draw(st.floats(0, 1)),
    )
    return question, plan


@pytest.mark.requirement("R3", "R10", "R22")
@settings(deadline=None, max_examples=200)
@given(any_plan())
def test_whatever_is_planned_keeps_to_the_words_and_passes_the_gate(said: tuple[str, QueryPlan]) -> None:
    question, plan = said
    words, offer = understood(question), offered_for(question)
    decided = decide(offer, plan)
    reading = decided if isinstance(decided, Reading) else words
    shown = in_manner_of(plan, reading, offer.scan)
    assert shown.language == words.language
    numbers = {n for word in offer.scan.said if (n := load_manner_words().number(word))}
    by_words = offer.scan.manner
    for value in (requirement.value for requirement in shown.requirements):
        assert isinstance(value, IntentAsked)
        assert value.limit is None or value.limit in numbers
        assert by_words.limit is None or value.limit == by_words.limit
        assert by_words.style is None or value.style == by_words.style
        assert value.offset == 0
    schemas = {"knowledge": SourceSchema(source="knowledge", engine="graph", tables=(), knowledge=SCHEMA)}
    assert isinstance(check(propose(shown, SCHEMA), shown, CATALOG, schemas), Passed)
