"""`Each of them`: what is done for each item of a list that a step finds."""

from __future__ import annotations

import pytest

from groundplan.asking.tasks.plan import NoWorkflow, Workflow, compose
from groundplan.asking.tasks.read import read_task, says_each
from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.parts import search_parts
from groundplan.checking.gate import check
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.verdict import Passed, Refused
from tests.asking.tasks.library import TEXT, WHOLE, tool
from tests.catalog.search.tooling import searching

STATUS = {"type": "string", "enum": ["open", "solved"]}
LIST_TICKETS = tool(
    "list_tickets",
    "List the tickets of a person by email address.",
    {"email": TEXT, "status?": STATUS},
    {"id": WHOLE, "title": TEXT, "status": STATUS},
).model_copy(
    update={
        "returns": {
            "type": "object",
            "properties": {"id": WHOLE, "title": TEXT, "status": STATUS},
            "x-many": True,
        }
    }
)
FIND_PERSON = tool("find_person", "Find a person by email address.", {"email": TEXT}, {"email": TEXT, "name": TEXT})
CLOSE_TICKET = tool("close_ticket", "Close a ticket.", {"ticket_id": WHOLE}, {"closed": TEXT}, effect="write")
COMMENT = tool(
    "comment_ticket",
    "Comment on a ticket with a text.",
    {"ticket_id": WHOLE, "text": TEXT},
    {"comment_id": TEXT},
    effect="write",
)
DESK = Catalog.of((LIST_TICKETS, FIND_PERSON, CLOSE_TICKET, COMMENT))
SEARCH = search_parts(searching(DESK), DESK)
TASK = "List the open tickets of ann@desk.org and close each of them."


def made(task: str) -> Workflow | NoWorkflow:
    return compose(read_task(task), DESK, SEARCH)


def plan_of(task: str) -> Plan:
    workflow = made(task)
    assert isinstance(workflow, Workflow), workflow.problem
    return workflow.plan


def codes_of(task: str, *steps: Step) -> set[str]:
    verdict = check(Plan(strategy="compose", steps=steps), read_task(task), DESK)
    return {issue.code for issue in verdict.issues if issue.severity == "error"}


@pytest.mark.requirement("R17", "R20")
@pytest.mark.parametrize(
    "task",
    [
        TASK,
        "List the open tickets of ann@desk.org, then close all of them.",
        "List the open tickets of ann@desk.org and close them.",
        'List the open tickets of ann@desk.org and comment on each of them with the text "Any news?".',
    ],
)
def test_what_each_of_them_says_is_done_for_each_item(task: str) -> None:
    plan = plan_of(task)
    listing, acting = plan.steps
    assert thaw(listing.params) == {"email": "ann@desk.org", "status": "open"}
    assert acting.for_each == listing.id
    assert thaw(acting.params["ticket_id"]) == {"$from": f"{listing.id}.id"}
    assert isinstance(check(plan, read_task(task), DESK), Passed)


@pytest.mark.requirement("R17")
def test_which_of_them_has_to_be_said() -> None:
    open_ = made("List the open tickets of ann@desk.org and close the ticket.")
    assert isinstance(open_, NoWorkflow)
    assert open_.problem == "close_ticket needs 'ticket_id', and neither the task nor another tool provides it"
    plan = plan_of("List the open tickets of ann@desk.org and close the first ticket.")
    assert [step.for_each for step in plan.steps] == [None, None]


@pytest.mark.requirement("R20")
def test_each_waits_for_its_condition() -> None:
    task = "List the open tickets of ann@desk.org. If there are any, close each of them."
    plan = plan_of(task)
    close = plan.steps[-1]
    router = next(step for step in plan.steps if step.kind == "router")
    assert close.for_each == "list_tickets"
    assert router.id in close.needs
    assert isinstance(check(plan, read_task(task), DESK), Passed)


@pytest.mark.requirement("R32", "R34")
def test_every_change_of_such_a_plan_is_refused() -> None:
    listing, acting = plan_of(TASK).steps
    other = listing.model_copy(update={"id": "others", "params": {"email": "ben@desk.org"}})
    first = acting.model_copy(update={"for_each": None})
    elsewhere = acting.model_copy(update={"for_each": "others"})
    titled = acting.model_copy(update={"params": {"ticket_id": {"$from": "list_tickets.title"}}})
    same = acting.model_copy(update={"params": {"ticket_id": 7}})
    assert codes_of(TASK, listing, acting) == set()
    assert codes_of(TASK, listing, first) == {"each/only-first"}
    assert codes_of(TASK, listing, other, elsewhere) >= {"each/not-a-list", "each/item-unused"}
    assert codes_of(TASK, listing, titled) == {"types/unfit-reference"}
    assert codes_of(TASK, listing, same) == {"each/item-unused"}
    assert codes_of("List the open tickets of ann@desk.org and close one.", listing, acting) == {"each/unasked-each"}


@pytest.mark.parametrize(
    ("words", "each"),
    [
        ("close each of them", True),
        ("write to all customers", True),
        ("напиши каждому из найденных клиентов", True),
        ("отправь всем письмо", True),
        ("закрой их", True),
        ("close the ticket", False),
        ('send a note with the text "each of them"', False),
        ("закрой заявку", False),
    ],
)
def test_words_that_mean_each(words: str, each: bool) -> None:
    assert says_each(words) is each
    assert isinstance(check(Plan(strategy="hand", steps=(Step(id="a"),)), read_task(words), DESK), Refused)
