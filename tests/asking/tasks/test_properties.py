"""Generated tasks for a library: every workflow passes the gate, says what was said and waits for its conditions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.asking.tasks.plan import NoWorkflow, Workflow
from groundplan.asking.tasks.read import read_task
from groundplan.contracts.reading import Goal
from groundplan.contracts.references import references
from groundplan.contracts.said import is_said
from groundplan.contracts.verdict import Passed
from tests.asking.tasks.library import composed, verdict_of, writing

PEOPLE = st.lists(
    st.sampled_from(["ann@lib.org", "ben@lib.org", "cem@lib.org", "d.e+f@lib.co.uk"]),
    min_size=1,
    max_size=3,
    unique=True,
)
TITLES = st.sampled_from(["Dune", "War, and send Peace", "If so, call me", "Ünïcode – 本", "{name}", "7", "ann@x.org"])
ACTS = st.sampled_from(
    [
        'send {who} a note with the subject "{title}" and the text "Hello {{name}}, {number}"',
        'send a note with the subject "{number}" and the text "{title}" to {who}',
        'reserve a desk on {day} for {number} hours with the title "{title}"',
        "charge member {number} a fee of {amount}",
        'find the book "{title}" and order {number} copies of it',
        "find the member {who}",
        "list the loans of {who}",
        'find the book "{title}"',
    ]
)
CONDITIONS = st.sampled_from(
    [
        "{one} is a student",
        "{one} is not a teacher",
        "{one} is blocked",
        "{one} has a debt over {number}",
        "{one} has no loans",
        'the book "{title}" has fewer than {number} copies',
    ]
)
FRAMES = st.sampled_from(
    [
        "{first}.",
        "{first}, and {second}.",
        "Please {first}. Then {second}!",
        "If {condition}, {first}.",
        "If {condition}, {first}, otherwise {second}.",
        "Check whether {condition}, then {first}. Also {second}.",
        "{fourth}. If {condition}, {first}; if {other}, {second}; otherwise {third}.",
        "For {who}: if they are students, {first}, otherwise {second}.",
        "{first} if {condition}.",
    ]
)


@st.composite
def tasks(draw: st.DrawFn) -> str:
    frame, people = draw(FRAMES), draw(PEOPLE)
    people = people[:1] if "{condition}" in frame else people
    values = {
        "who": " and ".join(people),
        "one": people[0],
        "title": draw(TITLES),
        "number": draw(st.integers(1, 99)),
        "amount": draw(st.decimals(1, 99, places=2)),
        "day": draw(st.dates()).isoformat(),
    }
    acts = draw(st.lists(ACTS, min_size=4, max_size=4, unique=True))
    parts = dict(zip(("first", "second", "third", "fourth"), (act.format(**values) for act in acts), strict=True))
    conditions = {place: draw(CONDITIONS).format(**values) for place in ("condition", "other")}
    return frame.format(**parts, **conditions, **values)


@pytest.mark.requirement("R20", "R21", "R31", "R36")
@settings(max_examples=150, deadline=None)
@given(tasks())
def test_every_workflow_passes_the_gate_says_what_was_said_and_waits_for_its_conditions(task: str) -> None:
    made = composed(task)
    if isinstance(made, NoWorkflow):
        assert made.problem
        assert made.hint
        return
    verdict = verdict_of(task, made.plan)
    assert isinstance(verdict, Passed), verdict.issues
    assert not verdict.issues
    goals = {requirement.id: requirement.value for requirement in read_task(task).requirements}
    routers = {step.id: step for step in made.plan.steps if step.kind == "router"}
    for step in writing(made.plan):
        assert all(is_said(value, task) for value in step.params.values())
        for goal in (goals[id_] for id_ in step.satisfies):
            assert isinstance(goal, Goal)
            waits = [router for need in step.needs if (router := routers.get(need))]
            assert goal.when is None or any(goal.when in router.satisfies for router in waits)


@pytest.mark.requirement("R21")
@settings(max_examples=150, deadline=None)
@given(tasks())
def test_references_go_backwards_alone_and_the_same_task_is_the_same_plan(task: str) -> None:
    made = composed(task)
    assert composed(task) == made
    if isinstance(made, Workflow):
        before: set[str] = set()
        for step in made.plan.steps:
            assert {reference.step for _, reference in references(step.params)} <= before & set(step.needs)
            assert set(step.needs) <= before
            before.add(step.id)
