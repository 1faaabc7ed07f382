"""The plan of a look-up shows exactly the part of the list that was asked for, and the gate proves it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.asking.lookup.plan import propose
from groundplan.checking.gate import check
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Entity, Evidence, IntentAsked, Reading, Requirement
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verdict import Passed, Refused, Verdict
from tests.asking.lookup.portfolio import SCHEMA
from tests.checking.asked import catalog

CATALOG = catalog()
SCHEMAS = {"knowledge": SourceSchema(source="knowledge", engine="graph", tables=(), knowledge=SCHEMA)}
INTENTS = {intent.name: intent for intent in SCHEMA.intents if intent.about == "project"}
GAZPROM = Entity(id="project:gazprom", type="project", name="Газпром")


def reading(*asked: IntentAsked) -> Reading:
    told = [
        Requirement(id=f"intent:{value.intent}@{value.entity}", value=value, evidence=Evidence(text="it", start=0))
        for value in asked
    ]
    return Reading(question="it", requirements=tuple(told), entities=(GAZPROM,))


def stack(**manner: Any) -> IntentAsked:
    return IntentAsked(intent="project_tech_stack", entity=GAZPROM.id, path=("uses",), **manner)


def verdict(plan: Plan, of: Reading) -> Verdict:
    return check(plan, of, CATALOG, SCHEMAS)


@st.composite
def asked(draw: st.DrawFn) -> Reading:
    """One or several look-ups of a project, each with its own part of the list, all in one style."""
    names = draw(st.lists(st.sampled_from(sorted(INTENTS)), min_size=1, max_size=3, unique=True))
    style = draw(st.sampled_from([None, "SHORT", "BULLETS", "GROUPED_BULLETS", "TABLE"]))
    values = [
        IntentAsked(
            intent=name,
            entity=GAZPROM.id,
            path=INTENTS[name].path,
            style=style,
            limit=draw(st.none() | st.integers(1, 1_000)),
            offset=draw(st.integers(0, 5_000)),
        )
        for name in names
    ]
    return reading(*values)


@pytest.mark.requirement("R22", "R32")
@given(asked())
def test_every_part_of_a_list_is_planned_as_it_is_asked(of: Reading) -> None:
    plan = propose(of, SCHEMA)
    assert isinstance(verdict(plan, of), Passed)
    goes_on = any(isinstance(r.value, IntentAsked) and r.value.offset for r in of.requirements)
    assert ("documents" in {step.id for step in plan.steps}) is not goes_on


def changed(plan: Plan, **params: Any) -> Plan:
    first, *others = plan.steps
    return plan.model_copy(update={"steps": (first.model_copy(update={"params": {**first.params, **params}}), *others)})


@pytest.mark.requirement("R32")
@given(st.integers(0, 100), st.integers(0, 100))
def test_another_offset_is_refused(wanted: int, other: int) -> None:
    of = reading(stack(offset=wanted))
    found = verdict(changed(propose(of, SCHEMA), offset=other), of)
    assert isinstance(found, Passed) is (wanted == other)
    if isinstance(found, Refused):
        assert "coverage/other-list" in {issue.code for issue in found.issues}


@pytest.mark.requirement("R32")
def test_another_number_or_style_is_refused() -> None:
    of = reading(stack(limit=3, style="TABLE"))
    plan = propose(of, SCHEMA)
    more = plan.model_copy(update={"limits": plan.limits.model_copy(update={"items": 4})})
    for other in (more, changed(plan, limit=2), plan.model_copy(update={"render": "SHORT"})):
        found = verdict(other, of)
        assert isinstance(found, Refused)
        assert {issue.code for issue in found.issues} == {"coverage/other-list"}


@pytest.mark.requirement("R22")
def test_a_single_list_has_the_limit_of_its_description_and_several_their_own() -> None:
    one = propose(reading(stack()), SCHEMA)
    assert one.limits.items == INTENTS["project_tech_stack"].limit
    assert "heading" not in one.steps[0].params
    details = IntentAsked(intent="project_details", entity=GAZPROM.id)
    several = propose(reading(stack(limit=3), details), SCHEMA)
    assert [step.params.get("limit") for step in several.steps] == [3, 10, None]
    assert [step.params.get("heading") for step in several.steps] == ["en", "en", None]


@pytest.mark.requirement("R22")
def test_more_calls_than_the_knowledge_base_allows_are_refused() -> None:
    names = [f"project:p{number}" for number in range(6)]
    values = [stack().model_copy(update={"entity": name}) for name in names]
    of = reading(*values).model_copy(update={"entities": tuple(Entity(id=name, type="project") for name in names)})
    found = verdict(propose(of, SCHEMA), of)
    assert isinstance(found, Refused)
    [issue] = found.issues
    assert issue.code == "limits/too-many-calls"
    assert "7 calls" in issue.problem
