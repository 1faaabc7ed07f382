"""A library's tools, and tasks for them composed with the product's own search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from groundplan.asking.tasks.plan import NoWorkflow, Workflow, compose
from groundplan.asking.tasks.read import read_task
from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.parts import search_parts
from groundplan.checking.gate import check
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.tool import Tool
from groundplan.contracts.verdict import Verdict
from tests.catalog.search.tooling import searching

TEXT, NUMBER, WHOLE, YES_OR_NO = ({"type": kind} for kind in ("string", "number", "integer", "boolean"))
GROUP = {"type": "string", "enum": ["adult", "student", "teacher"]}
DAY = {"type": "string", "format": "date", "description": "The day, as 2026-01-31."}


def tool(name: str, description: str, params: Mapping[str, Any], returns: Mapping[str, Any], **more: Any) -> Tool:
    """Every param is required, but for those whose names end with a question mark."""
    properties = {param.removesuffix("?"): schema for param, schema in params.items()}
    return Tool.model_validate(
        {
            "name": name,
            "description": description,
            "source": "library",
            "capabilities": ["act" if more.get("effect") == "write" else "retrieve"],
            "params": {
                "type": "object",
                "properties": properties,
                "required": [param for param in params if not param.endswith("?")],
                "additionalProperties": False,
            },
            "output": {"kind": "facts"},
            "returns": {"type": "object", "properties": dict(returns)},
            "effect": "read",
            **more,
        }
    )


FIND_MEMBER = tool(
    "find_member",
    "Find a member of the library by email address.",
    {"email": TEXT},
    {"id": WHOLE, "name": TEXT, "email": TEXT, "group": GROUP, "debt": NUMBER, "blocked": YES_OR_NO},
)
LIST_LOANS = tool(
    "list_loans", "List the loans that a member has at home.", {"member_id": WHOLE}, {"loan_id": WHOLE, "due": TEXT}
)
FIND_BOOK = tool(
    "find_book",
    "Find a book by its title.",
    {"title": TEXT},
    {"isbn": TEXT, "copies": WHOLE, "tags": {"type": "array"}},
)
SEND_NOTE = tool(
    "send_note",
    "Send a note by email to somebody.",
    {"to": TEXT, "subject": TEXT, "text": TEXT},
    {"note_id": TEXT},
    effect="write",
)
RESERVE_DESK = tool(
    "reserve_desk",
    "Reserve a desk in the reading room for a day.",
    {"day": DAY, "hours": WHOLE, "title": TEXT},
    {"desk_id": TEXT},
    effect="write",
)
CHARGE_FEE = tool(
    "charge_fee",
    "Charge a member a fee.",
    {"member_id": WHOLE, "amount": NUMBER, "day?": DAY},
    {"receipt": TEXT},
    effect="write",
)
ORDER_BOOK = tool(
    "order_book",
    "Order a book from the publisher.",
    {"isbn": TEXT, "copies": WHOLE},
    {"order_id": TEXT},
    effect="write",
)
TOOLS = (FIND_MEMBER, LIST_LOANS, FIND_BOOK, SEND_NOTE, RESERVE_DESK, CHARGE_FEE, ORDER_BOOK)
LIBRARY = Catalog.of(TOOLS)
SEARCH = search_parts(searching(LIBRARY), LIBRARY)
NOTE = 'with the subject "Hello" and the text "Come by"'


def composed(task: str) -> Workflow | NoWorkflow:
    return compose(read_task(task), LIBRARY, SEARCH)


@cache
def plan_of(task: str) -> Plan:
    made = composed(task)
    assert isinstance(made, Workflow), made.problem
    return made.plan


def steps_of(plan: Plan) -> dict[str, Step]:
    return {step.id: step for step in plan.steps}


def writing(plan: Plan) -> Iterator[Step]:
    return (step for step in plan.steps if step.tool and LIBRARY.tools[step.tool].effect == "write")


def params_of(plan: Plan, step: str) -> Any:
    return thaw(steps_of(plan)[step].params)


def verdict_of(task: str, plan: Plan) -> Verdict:
    return check(plan, read_task(task), LIBRARY)
