"""The story of a plan is written beside it, and read back as the proposal it is."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from groundplan.asking.tasks.read import analyse, read_task
from groundplan.checking.gate import check_text
from groundplan.checking.parsing import STORY, parse
from groundplan.contracts.plan import Plan, Proposal
from groundplan.contracts.task import Graph, PlanResponse
from groundplan.contracts.verdict import Passed, Refused
from tests.asking.tasks.library import LIBRARY, NOTE, plan_of

TASK = f"If ann@lib.org is a student, send her a note {NOTE}, otherwise charge her a fee of 5."


def response(plan: Plan) -> PlanResponse:
    reading = read_task(TASK)
    return PlanResponse(
        reading=reading,
        plan=plan,
        graph=Graph.of(plan),
        reasoning="because",
        analysis=analyse(reading),
        log=("attempt 1: nothing",),
        tokens=7,
        duration_ms=1.5,
        confidence=0.9,
    )


@pytest.mark.requirement("R27")
def test_a_graph_says_the_same_as_its_plan() -> None:
    plan = plan_of(TASK)
    graph = Graph.of(plan)
    assert [(node.id, node.type, node.config.tool, node.config.default) for node in graph.nodes] == [
        ("find_member", "executor", "find_member", None),
        ("choice_1", "router", None, "charge_fee"),
        ("send_note", "executor", "send_note", None),
        ("charge_fee", "executor", "charge_fee", None),
    ]
    assert [node.config.params for node in graph.nodes] == [step.params for step in plan.steps]
    assert {(edge.source, edge.target, edge.condition) for edge in graph.edges} == {
        ("find_member", "choice_1", None),
        ("find_member", "send_note", None),
        ("choice_1", "send_note", 'find_member.first.group == "student"'),
        ("find_member", "charge_fee", None),
        ("choice_1", "charge_fee", None),
    }


@pytest.mark.requirement("R27", "R36")
def test_a_response_is_checked_as_the_proposal_in_it() -> None:
    whole = response(plan_of(TASK))
    text = whole.model_dump_json()
    assert parse(text) == Proposal(reading=whole.reading, plan=whole.plan)
    assert isinstance(check_text(text, LIBRARY), Passed)
    assert PlanResponse.model_validate_json(text) == whole


@pytest.mark.requirement("R36")
def test_what_the_story_says_changes_nothing_of_what_runs() -> None:
    written = json.loads(response(plan_of(TASK)).model_dump_json())
    lying = {**written, **{key: {"nodes": "rubbish"} for key in STORY}}
    assert parse(json.dumps(lying)) == parse(json.dumps(written))


@pytest.mark.requirement("R36")
def test_an_edited_plan_is_refused_as_any_other() -> None:
    written = json.loads(response(plan_of(TASK)).model_dump_json())
    send = next(step for step in written["plan"]["steps"] if step["id"] == "send_note")
    send["needs"].remove("choice_1")
    refused = check_text(json.dumps(written), LIBRARY)
    assert "coverage/unconditional" in {issue.code for issue in refused.issues}
    unread = parse(json.dumps({**written, "approved": True}))
    assert isinstance(unread, Refused)
    assert {issue.code for issue in unread.issues} == {"shape/unknown-key"}


@pytest.mark.parametrize("confidence", [-0.1, 1.1])
def test_confidence_is_a_share(confidence: float) -> None:
    with pytest.raises(ValidationError):
        PlanResponse.model_validate({**response(plan_of(TASK)).model_dump(), "confidence": confidence})
