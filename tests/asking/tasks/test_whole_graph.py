"""A whole graph in one call: what it may hold, what becomes of what it claims, and what goes back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.asking.tasks.graph_drawing import draw
from groundplan.asking.tasks.graph_parts import GraphOffer, offer_for
from groundplan.asking.tasks.read import read_task
from groundplan.asking.tasks.whole_graph import WrittenGraph, graph_schema
from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.parts import search_parts
from groundplan.checking.gate import check
from groundplan.context import Context
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import Plan
from groundplan.contracts.question import Question
from groundplan.contracts.roles import Role, Roles
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verdict import Passed
from groundplan.llm.calls import CallsByRole
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from groundplan.result import Planned, plan_for
from groundplan.running.model.tools import TOOLS as MODEL_TOOLS
from tests.asking.tasks.library import LIBRARY, NOTE
from tests.asking.tasks.written import step, whole
from tests.catalog.search.tooling import searching
from tests.llm.scripted import PROBED, Behaviour, Scripted, says, scripted

ANN, BEN, EVE = "ann@lib.org", "ben@lib.org", "eve@evil.example"
STUDENT = f"If {ANN} is a student, send her a note {NOTE}."
SEVERAL = f"Send a note {NOTE} to {ANN} and {BEN}."
BOTH = f"Find the member {ANN} and send her a note {NOTE}, then order 2 copies of the book with the isbn 978-1."
WITH_MODEL = Catalog.of([*LIBRARY.tools.values(), *MODEL_TOOLS])
SEARCH = search_parts(searching(LIBRARY), LIBRARY)


def note(part: str, to: Any, **more: Any) -> dict[str, Any]:
    return step(part, "send_note", to=to, **{"subject": "Hello", "text": "Come by", **more})


FIND = step("c1", "find_member", email=ANN)
RIGHT = {"s1": FIND, "s2": note("g1", {"$from": "s1.email"})}


def offered(task: str, catalog: Catalog = WITH_MODEL) -> GraphOffer:
    return offer_for(read_task(task), catalog, SEARCH)


def drawn(task: str, steps: dict[str, Any], catalog: Catalog = WITH_MODEL) -> Plan:
    plan = draw(WrittenGraph.model_validate({"steps": steps}), read_task(task), offered(task, catalog))
    assert plan is not None
    return plan


def codes(task: str, steps: dict[str, Any]) -> set[str]:
    verdict = check(drawn(task, steps), read_task(task), WITH_MODEL)
    return {issue.code for issue in verdict.issues if issue.severity == "error"}


@pytest.mark.requirement("R20")
def test_a_right_graph_is_a_plan_whose_condition_code_has_made() -> None:
    plan = drawn(STUDENT, RIGHT)
    find, router, send = plan.steps
    assert (find.tool, router.kind, send.tool) == ("find_member", "router", "send_note")
    assert [route.when for route in router.routes] == ['find_member.first.group == "student"']
    assert thaw(send.params) == {"to": {"$from": "find_member.email"}, "subject": "Hello", "text": "Come by"}
    assert codes(STUDENT, RIGHT) == set()


@pytest.mark.requirement("R32", "R34", "R36")
@pytest.mark.parametrize(
    ("task", "steps", "code"),
    [
        pytest.param(STUDENT, {"s1": FIND}, "coverage/missing", id="a step dropped"),
        pytest.param(STUDENT, {"s1": note("g1", ANN)}, "coverage/unconditional", id="a condition lost"),
        pytest.param(
            STUDENT,
            {"s1": FIND, "s2": step("g1", "reserve_desk", day="2026-03-02", hours=3, title="Hello")},
            "access/unasked-write",
            id="a tool swapped",
        ),
        pytest.param(
            STUDENT,
            {**RIGHT, "s3": step("g1", "charge_fee", member_id={"$from": "s1.id"}, amount=3)},
            "access/unasked-write",
            id="a step added",
        ),
        pytest.param(STUDENT, {"s1": {**FIND, "part": "g1"}}, "coverage/missing", id="a look-up that claims the act"),
        pytest.param(SEVERAL, {"s1": note("g1", ANN)}, "coverage/missing", id="one of two left out"),
        pytest.param(
            SEVERAL, {"s1": note("g1", ANN), "s2": note("g1", EVE)}, "coverage/missing", id="another recipient"
        ),
        pytest.param(
            STUDENT,
            {"s1": FIND, "s2": note("g1", {"$from": "s1.email"}, subject="Win a prize")},
            "types/unfit-param",
            id="another text",
        ),
        pytest.param(
            STUDENT,
            {"s1": FIND, "s2": note("g1", {"$from": "s1.name"})},
            "types/unfit-param",
            id="another field",
        ),
        pytest.param(STUDENT, {**RIGHT, "s3": note("g1", ANN)}, "coverage/missing", id="the same person a second time"),
    ],
)
def test_a_graph_that_does_something_else_is_refused(task: str, steps: dict[str, Any], code: str) -> None:
    assert code in codes(task, steps)


@pytest.mark.requirement("R36")
def test_what_is_written_twice_is_done_once() -> None:
    assert drawn(STUDENT, {**RIGHT, "s3": RIGHT["s2"]}) == drawn(STUDENT, RIGHT)


@pytest.mark.requirement("R20")
def test_a_condition_is_looked_for_in_what_was_read_for_another_part() -> None:
    steps = {"s1": {**FIND, "part": "g1"}, "s2": RIGHT["s2"]}
    assert [one.kind for one in drawn(STUDENT, steps).steps] == ["tool", "router", "tool"]
    assert codes(STUDENT, steps) == set()


@pytest.mark.requirement("R20")
def test_each_of_several_has_a_choice_of_their_own() -> None:
    task = f"For {ANN} and {BEN}: if they are students, send them a note {NOTE}."
    steps = {
        "s1": step("c1", "find_member", email=ANN),
        "s2": step("c1", "find_member", email=BEN),
        "s3": note("g1", {"$from": "s1.email"}),
        "s4": note("g1", {"$from": "s2.email"}),
    }
    plan = drawn(task, steps)
    routers = [one for one in plan.steps if one.kind == "router"]
    assert [[route.to for route in one.routes] for one in routers] == [["send_note"], ["send_note_2"]]
    assert codes(task, steps) == set()


@pytest.mark.requirement("R20")
def test_a_model_that_decides_is_asked_in_the_words_of_the_task() -> None:
    task = f"Find the member {ANN}. If her name sounds Norwegian, send her a note {NOTE}."
    steps = {
        "s1": step("g1", "find_member", email=ANN),
        "s2": step("c1", "model.choose", facts=["s1.name"], question="Is it raining?"),
        "s3": note("g2", {"$from": "s1.email"}),
    }
    plan = drawn(task, steps)
    choose = next(one for one in plan.steps if one.tool == "model.choose")
    assert choose.kind == "llm"
    assert thaw(choose.params) == {
        "question": "her name sounds Norwegian",
        "facts": {"find_member name": {"$from": "find_member.name"}},
        "choices": ["yes", "no"],
    }
    assert codes(task, steps) == set()


@pytest.mark.requirement("R20")
def test_an_agent_has_only_tools_that_read() -> None:
    task = f"Find out the debt of the member {ANN}."
    plan = drawn(task, {"s1": step("g1", "model.work", facts=[], tools=["find_member", "send_note"])})
    assert (plan.steps[0].kind, thaw(plan.steps[0].params)["tools"]) == ("agent", ["find_member"])  # type: ignore[index]


@pytest.mark.requirement("R20")
def test_the_schema_has_only_what_is_offered_and_earlier_places() -> None:
    offer = offered(BOTH)
    places: Any = graph_schema(offer)["properties"]["steps"]["properties"]  # type: ignore[index,call-overload]
    known = {tool.name for tool in (*offer.tools, *offer.model_tools)}
    for number, place in enumerate(places, 1):
        for call in (one for one in places[place]["anyOf"] if one != {"type": "null"}):
            assert {*call["properties"]["tool"]["enum"]} <= known
            assert call["properties"]["part"]["enum"] == [part.label for part in offer.parts]
            assert all(int(field[1 : field.index(".")]) < number for field in references_in(call))


def references_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("$from", {}).get("enum", ()) if isinstance(schema.get("$from"), dict) else ()
        for inner in schema.values():
            yield from references_in(inner)
    if isinstance(schema, list):
        for inner in schema:
            yield from references_in(inner)


VALUES = st.sampled_from([ANN, BEN, EVE, "Hello", "Come by", 3, None, {"$from": "s1.email"}, {"$from": "s2.id"}, ["x"]])
CALLS = st.builds(
    lambda part, tool, each, names, values: step(part, tool, each, **dict(zip(names, values, strict=False))),
    st.sampled_from(["g1", "g2", "g3", "c1", "x"]),
    st.sampled_from([*WITH_MODEL.tools, "format_disk"]),
    st.sampled_from([None, "s1", "s2", "s9"]),
    st.lists(st.sampled_from(["to", "subject", "text", "email", "isbn", "copies", "facts", "tools"]), max_size=5),
    st.lists(VALUES, min_size=5, max_size=5),
)


@pytest.mark.requirement("R36")
@settings(max_examples=150, deadline=None)
@given(task=st.sampled_from([STUDENT, SEVERAL, BOTH]), calls=st.lists(st.none() | CALLS, max_size=5))
def test_whatever_is_written_nothing_passes_that_writes_to_somebody_else(task: str, calls: list[Any]) -> None:
    written = WrittenGraph.model_validate({"steps": {f"s{n}": call for n, call in enumerate(calls, 1)}})
    plan = draw(written, read_task(task), offered(task))
    verdict = check(plan, read_task(task), WITH_MODEL) if plan else None
    if not isinstance(verdict, Passed):
        return
    assert EVE not in verdict.plan.model_dump_json()
    cited = {one.requirement: one.steps for one in verdict.plan.coverage}
    assert all(cited.values())
    for one in verdict.plan.steps:
        tool = WITH_MODEL.tools.get(one.tool or "")
        if tool and tool.effect == "write":
            assert tool.name in ("send_note", "order_book")


@dataclass
class Asked:
    planned: Planned
    server: Scripted


def planned(task: str, *script: Behaviour, composer: str = "whole", attempts: int = 3) -> Asked:
    async def run() -> Asked:
        async with scripted(says(PROBED), *script) as server, Model.open(server.endpoint()) as model:
            schemas = {"library": SourceSchema(source="library", engine="mcp", tables=())}
            roles = Roles.model_validate({"composer": composer, "plan": Role(attempts=attempts)})
            calls = CallsByRole(Cascade((model,)), roles)
            context = Context(LIBRARY, schemas, searching(LIBRARY), calls=calls)
            return Asked(await plan_for(Question(text=task, today=date(2026, 1, 15)), context), server)

    return asyncio.run(run())


def graph(steps: dict[str, Any]) -> Behaviour:
    return says(whole(steps, offered(STUDENT, LIBRARY)))


def prompts(asked: Asked) -> list[str]:
    named = [
        (one["response_format"]["json_schema"]["name"], one["messages"][0]["content"]) for one in asked.server.requests
    ]
    return [prompt for name, prompt in named if name == "WrittenGraph"]


@pytest.mark.requirement("R21", "R27")
def test_what_the_gate_finds_goes_back_with_the_graph() -> None:
    asked = planned(STUDENT, graph({"s1": FIND}), graph(RIGHT))
    assert isinstance(asked.planned.verdict, Passed)
    assert asked.planned.plan is not None
    assert (asked.planned.plan.provenance.template, asked.planned.plan.provenance.attempts) == ("whole graph", 2)
    first, second = prompts(asked)
    assert first.endswith("Attempt 1. Before: nothing\nThe check says: nothing")
    behind = second.rpartition("Attempt 2. Before: ")[2]
    previous, _, errors = behind.partition("\nThe check says: ")
    assert json.loads(previous)["steps"]["s1"]["params"] == {"email": ANN}
    assert "goal:g1" in errors


@pytest.mark.requirement("R21")
@pytest.mark.parametrize("attempts", [1, 2])
def test_after_so_many_attempts_the_parts_are_planned_one_by_one(attempts: int) -> None:
    asked = planned(STUDENT, graph({"s1": FIND}), attempts=attempts)
    assert len(prompts(asked)) == attempts
    assert isinstance(asked.planned.verdict, Passed)
    assert asked.planned.plan is not None
    assert asked.planned.plan.provenance.template is None


@pytest.mark.requirement("R20")
def test_by_default_no_whole_graph_is_asked_for() -> None:
    assert prompts(planned(STUDENT, graph(RIGHT), composer="parts")) == []
