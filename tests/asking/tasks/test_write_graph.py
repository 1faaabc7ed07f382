"""A graph of a model as a plan: what becomes of its parts, and what goes back by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.asking.tasks.graph_parts import GraphOffer, offer_for
from groundplan.asking.tasks.graph_reply import GraphReply
from groundplan.asking.tasks.read import read_task
from groundplan.asking.tasks.write_graph import _drawn
from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.parts import search_parts
from groundplan.checking.gate import check
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import Plan
from groundplan.llm.schema import strict_schema
from groundplan.proposing.loop import Faults
from groundplan.running.model.tools import TOOLS as MODEL_TOOLS
from tests.asking.tasks.library import LIBRARY, NOTE
from tests.asking.tasks.written import edge, graph, llm, node, router
from tests.catalog.search.tooling import searching

ANN, BEN, EVE = "ann@lib.org", "ben@lib.org", "eve@evil.example"
STUDENT = f"If {ANN} is a student, send her a note {NOTE}."
SEVERAL = f"Send a note {NOTE} to {ANN} and {BEN}."
WITH_MODEL = Catalog.of([*LIBRARY.tools.values(), *MODEL_TOOLS])
SEARCH = search_parts(searching(LIBRARY), LIBRARY)
Graph = dict[str, Any]


def note(id_: str, to: str, words: str = "send her a note", **more: Any) -> Graph:
    return node(id_, "send_note", words, to=to, **{"subject": "Hello", "text": "Come by", **more})


FIND = node("find", "find_member", f"{ANN} is a student", email=ANN)
CHECK = router("check", f"If {ANN} is a student")
IF_STUDENT = edge("check", "note", "find.group == 'student'")
RIGHT = graph([FIND, CHECK, note("note", "{find.email}")], (IF_STUDENT,))


def offered(task: str) -> GraphOffer:
    return offer_for(read_task(task), WITH_MODEL, SEARCH)


def drawn(task: str, told: Graph) -> Plan | Faults:
    return _drawn(offered(task), GraphReply.model_validate_json(json.dumps(told)))


def faults(task: str, told: Graph) -> list[str]:
    """What goes back: by the words of the task, or by the gate."""
    plan = drawn(task, told)
    if isinstance(plan, Faults):
        return [*plan.problems]
    return [one.problem for one in check(plan, read_task(task), WITH_MODEL).issues if one.severity == "error"]


@pytest.mark.requirement("R20")
def test_a_right_graph_is_a_plan_whose_condition_code_has_written() -> None:
    plan = drawn(STUDENT, RIGHT)
    assert isinstance(plan, Plan)
    find, choice, send = plan.steps
    assert (find.tool, choice.kind, send.tool) == ("find_member", "router", "send_note")
    assert [route.when for route in choice.routes] == ['find.first.group == "student"']
    assert thaw(send.params) == {"to": {"$from": "find.email"}, "subject": "Hello", "text": "Come by"}
    assert faults(STUDENT, RIGHT) == []


def with_note(**changed: Any) -> Graph:
    return graph([FIND, CHECK, note("note", **{"to": "{find.email}", **changed})], (IF_STUDENT,))


def if_(condition: str, *more: Graph) -> Graph:
    return graph([FIND, CHECK, note("note", "{find.email}"), *more], (edge("check", "note", condition),))


@pytest.mark.requirement("R21", "R31", "R32", "R36")
@pytest.mark.parametrize(
    ("task", "told", "fault"),
    [
        pytest.param(STUDENT, graph([FIND]), "no node does 'send her a note", id="a part without a node"),
        pytest.param(STUDENT, graph([note("note", ANN)]), "runs whether or not", id="a condition lost"),
        pytest.param(STUDENT, if_("find.group == 'teacher'"), "it must run if", id="another condition"),
        pytest.param(STUDENT, if_("find.group != 'student'"), "it must run if", id="the contrary"),
        pytest.param(STUDENT, if_("find.group == 'vip'"), "is never 'vip'", id="a word that the field never has"),
        pytest.param(STUDENT, if_("find.rank == 'student'"), "gives no 'rank'", id="a field that is not there"),
        pytest.param(STUDENT, if_("group is student"), "names the field of a node", id="no condition"),
        pytest.param(STUDENT, if_("else"), "no edge with a condition", id="nothing but else"),
        pytest.param(STUDENT, with_note(subject="Win a prize"), "does not say 'Win a prize'", id="a text nobody said"),
        pytest.param(STUDENT, with_note(to="{find.name}x"), "does not say 'x'", id="a text added to a field"),
        pytest.param(STUDENT, with_note(to=EVE), f"does not say {EVE!r}", id="a recipient nobody said"),
        pytest.param(
            STUDENT, with_note(to="{finds.email}"), "no node with results before", id="a node that is not there"
        ),
        pytest.param(STUDENT, with_note(to="{find.mail}"), "does not return 'mail'", id="a field that no tool gives"),
        pytest.param(STUDENT, with_note(cc="{find.email}"), "has no param 'cc'", id="an unknown param"),
        pytest.param(
            STUDENT,
            graph([{**FIND, "tool": "find_members"}, CHECK, note("note", "{find.email}")], (IF_STUDENT,)),
            "did you mean find_member",
            id="an unknown tool",
        ),
        pytest.param(
            STUDENT,
            if_(
                "find.group == 'student'", node("fee", "charge_fee", "send her a note", member_id="{find.id}", amount=3)
            ),
            "changes something that the task does not ask for",
            id="a change added",
        ),
        pytest.param(
            STUDENT,
            if_("find.group == 'student'", note("again", ANN)),
            "runs whether or not",
            id="the same person a second time",
        ),
        pytest.param(SEVERAL, graph([note("one", ANN, "Send a note")]), f"no node has {BEN!r}", id="one left out"),
        pytest.param(
            SEVERAL,
            graph([note("one", ANN, "Send"), note("two", BEN, "Send"), note("three", BEN, "Send", text="Hello")]),
            "more often than the task says",
            id="one too many",
        ),
        pytest.param(STUDENT, graph([FIND, FIND]), "two nodes have the id", id="an id twice"),
        pytest.param(
            STUDENT,
            graph([FIND, note("note", "{find.email}")], (edge("find", "note"), edge("note", "find"))),
            "in a circle",
            id="a circle",
        ),
        pytest.param(STUDENT, graph([FIND], (edge("find", "there"),)), "is no node", id="an edge to nowhere"),
    ],
)
def test_what_is_wrong_goes_back_by_name(task: str, told: Graph, fault: str) -> None:
    found = faults(task, told)
    assert any(fault in one for one in found), found


def test_what_the_task_forbids_is_not_said() -> None:
    task = f"Send a note {NOTE} to {ANN}. Do not send it to {BEN}."
    assert faults(task, graph([note("one", ANN, "Send a note")])) == []
    assert any(BEN in one for one in faults(task, graph([note("one", ANN, "Send"), note("two", BEN, "Send")])))


def test_a_value_of_a_condition_may_not_be_left_out() -> None:
    task = f"Find the member {ANN}; if she is a student and lives in Norway, send her a note {NOTE}."
    told = graph(
        [{**FIND, "words": f"Find the member {ANN}"}, CHECK, note("note", "{find.email}")],
        (edge("check", "note", "find.group == 'student'"),),
    )
    assert faults(task, told) == [
        "the router 'check' does not look at 'Norway', which 'she is a student and lives in Norway' says"
    ]


@pytest.mark.requirement("R20")
def test_a_change_behind_what_a_condition_leads_to_waits_for_the_condition_too() -> None:
    task = f'If {ANN} is a student, write her a kind note and send it with the subject "Hello".'
    told = graph(
        [
            FIND,
            CHECK,
            llm("kind", "write her a kind note", "find.name"),
            note("note", "{find.email}", "send it", text="{kind.text}"),
        ],
        (edge("check", "kind", "find.group == 'student'"),),
    )
    plan = drawn(task, told)
    assert isinstance(plan, Plan), plan
    routers = [step for step in plan.steps if step.kind == "router"]
    assert {route.to for one in routers for route in one.routes} == {"kind", "note"}
    assert faults(task, told) == []


def test_the_schema_of_a_reply_is_small_and_the_same_for_every_task() -> None:
    assert len(json.dumps(strict_schema(GraphReply))) < 4_000


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_text_as_a_condition_is_read_or_sent_back(text: str) -> None:
    """Whatever is read, the gate can compile."""
    plan = drawn(STUDENT, if_(text))
    if isinstance(plan, Plan):
        verdict = check(plan, read_task(STUDENT), WITH_MODEL)
        assert "types/unfit-condition" not in {issue.code for issue in verdict.issues}
