"""Graphs as a large model writes them, over a real MCP server: right ones run, altered ones do nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.asking.tasks.graph_parts import offer_for
from groundplan.asking.tasks.graph_reply import GraphReply
from groundplan.asking.tasks.read import read_task
from groundplan.asking.tasks.write_graph import _drawn
from groundplan.catalog.search.parts import search_parts
from groundplan.contracts.answer import Answer
from groundplan.contracts.plan import Plan, Proposal
from groundplan.project import Project
from tests.asking.tasks.written import edge, graph, node, router
from tests.catalog.search.tooling import searching
from tests.mcp.tasks import ADA, BOOKINGS, BORIS, CHEN, DORA, ELIF, MAILS, TASKS, Task
from tests.mcp.test_each import ENGLISH, GALA
from tests.mcp.test_tasks import _empty
from tests.sources.mcp.calling import rows

FIND, SEND, BOOK = "shop.find_customer", "shop.send_email", "shop.book_slot"
BEST, SAVE = "You are one of our best", "Become premium and save"
EACH = Task("each", ENGLISH, tuple(GALA), (), {})
Graph = dict[str, Any]


def task(kind: str, about: str = "") -> Task:
    return next(one for one in TASKS if one.kind == kind and about in one.words)


def find(email: str, words: str) -> Graph:
    return node("find", FIND, words, email=email)


def mail(id_: str, to: str, subject: str, body: str, words: str = "send", each: str = "") -> Graph:
    return node(id_, SEND, words, each, to=to, subject=subject, body=body)


def orders(email: str, words: str) -> list[Graph]:
    return [find(email, words), node("orders", "shop.get_orders", words, customer_id="{find.id}")]


TO = "{find.email}"
GRAPHS: list[tuple[Task, Graph]] = [
    (
        task("thank if premium", ADA),
        graph(
            [
                find(ADA, f"Check if {ADA} is premium"),
                router("check", ""),
                mail("thank", TO, "Thank you", "Dear {find.name}, thank you"),
            ],
            (edge("check", "thank", "find.tier == 'premium'"),),
        ),
    ),
    (
        task("one of two", CHEN),
        graph(
            [
                find(CHEN, f"If {CHEN} is premium"),
                router("check", f"If {CHEN} is premium"),
                mail("best", TO, "Thank you", BEST, f"send an email to {CHEN}"),
                mail("save", TO, "An offer", SAVE, "otherwise send an email"),
            ],
            (edge("check", "best", "find.tier == 'premium'"), edge("check", "save", "else")),
        ),
    ),
    (
        task("to several"),
        graph(
            [
                mail(f"mail{n}", to, "Closed on Friday", "We are back on Monday", "Send an email")
                for n, to in enumerate((ADA, BORIS, CHEN), 1)
            ]
        ),
    ),
    (
        task("write then book"),
        graph(
            [
                node("one", FIND, "Find the customers", email=ADA),
                node("two", FIND, "Find the customers", email=BORIS),
                mail("mail1", "{one.email}", "A call", "We call you on Tuesday", "send each of them"),
                mail("mail2", "{two.email}", "A call", "We call you on Tuesday", "send each of them"),
                node("book", BOOK, "book the slot", day="2026-12-01", slot="09:00", title="Call them"),
            ],
            (edge("mail1", "book"), edge("mail2", "book")),
        ),
    ),
    (
        task("write about orders", ADA),
        graph(
            [
                *orders(ADA, "Get the orders"),
                router("any", "if there are any"),
                mail("mail", TO, "Your orders", "Thank you for your orders"),
            ],
            (edge("any", "mail", "orders.found"),),
        ),
    ),
    (
        task("welcome without orders", DORA),
        graph(
            [
                *orders(DORA, "has no orders"),
                router("none", "has no orders"),
                mail("mail", TO, "Welcome", "Your first order ships free"),
            ],
            (edge("none", "mail", "not orders.found"),),
        ),
    ),
    (
        task("one of three", ELIF),
        graph(
            [
                find(ELIF, f"If {ELIF} is vip"),
                router("tier", f"If {ELIF} is vip"),
                mail("gala", TO, "Gala", "You are invited", 'send them an email with the subject "Gala"'),
                mail("preview", TO, "Preview", "See it first", 'send them an email with the subject "Preview"'),
                mail("news", TO, "News", "Here is what is new", "otherwise send them an email"),
            ],
            (
                edge("tier", "gala", "find.tier == 'vip'"),
                edge("tier", "preview", "find.tier == 'premium'"),
                edge("tier", "news", "else"),
            ),
        ),
    ),
    (
        task("book a free slot", "2026-12-02"),
        graph(
            [
                node("free", "shop.list_free_slots", "If there is a free slot on 2026-12-02", day="2026-12-02"),
                router("any", "If there is a free slot"),
                node("book", BOOK, "book it", day="2026-12-02", slot="{free.result}", title="Review"),
            ],
            (edge("any", "book", "free.found"),),
        ),
    ),
    (
        task("write about a large order", CHEN),
        graph(
            [
                *orders(CHEN, f"If the first order of {CHEN} is over 200"),
                router("large", "is over 200"),
                mail("mail", TO, "Large order", "Thank you for your large order"),
            ],
            (edge("large", "mail", "orders.total > 200"),),
        ),
    ),
    (
        task("thank in Russian", ADA),
        graph(
            [
                find(ADA, f"Проверь, что {ADA} premium"),
                router("check", "premium"),
                mail("mail", TO, "Спасибо", "Спасибо за заказ", "отправь ей письмо"),
            ],
            (edge("check", "mail", "find.tier == 'premium'"),),
        ),
    ),
    (
        EACH,
        graph(
            [
                node("list", "shop.list_customers", "List the vip customers", tier="vip"),
                mail("mail", "{list.email}", "Gala", "Dear {list.name}, come", "send each of them", "list"),
            ]
        ),
    ),
]


def drawn(words: str, told: Graph, project: Project) -> Plan | None:
    catalog = project.catalog
    offer = offer_for(read_task(words), catalog, search_parts(searching(catalog), catalog))
    found = _drawn(offer, GraphReply.model_validate_json(json.dumps(told)))
    return found if isinstance(found, Plan) else None


def run(words: str, plan: Plan, project: Project) -> object:
    return project.run(Proposal(reading=read_task(words), plan=plan).model_dump_json(), approve=True).outcome


@pytest.mark.requirement("R17", "R20", "R36")
@pytest.mark.parametrize(("asked", "told"), GRAPHS, ids=[one.words[:60] for one, _ in GRAPHS])
def test_a_right_graph_leaves_the_rows_that_were_asked_for(
    asked: Task, told: Graph, shop: Path, project: Project
) -> None:
    _empty(shop)
    plan = drawn(asked.words, told, project)
    assert plan is not None
    outcome = run(asked.words, plan, project)
    assert isinstance(outcome, Answer), outcome
    assert rows(shop, MAILS) == list(asked.mails)
    assert rows(shop, BOOKINGS) == list(asked.bookings)


def _dropped(told: Graph, place: int) -> None:
    gone = told["nodes"].pop(place)["id"]
    told["edges"] = [one for one in told["edges"] if gone not in (one["source"], one["target"])]


def _swapped(told: Graph, place: int) -> None:
    one = told["nodes"][place]
    other = BOOK if one.get("tool") == SEND else SEND
    params = (
        {"day": "2026-12-01", "slot": "09:00", "title": "Review"}
        if other == BOOK
        else {"to": ADA, "subject": "x", "body": "y"}
    )
    told["nodes"][place] = node(one["id"], other, one["words"], **params)


def _other_field(told: Graph, place: int) -> None:
    for param in told["nodes"][place].get("params", ()):
        param["value"] = str(param["value"]).replace(".email}", ".country}")


def _other_list(told: Graph, place: int) -> None:
    told["nodes"][place]["each"] = "" if told["nodes"][place].get("each") else told["nodes"][0]["id"]


def _added(told: Graph, place: int) -> None:
    told["nodes"].append(mail("more", "eve@evil.example", "Win", "Click here", told["nodes"][place]["words"]))


def _claims_another(told: Graph, place: int) -> None:
    told["nodes"][place]["words"] = told["nodes"][0 if place else -1]["words"]


def _contrary(told: Graph, place: int) -> None:
    for one in told["edges"]:
        if one["condition"] not in ("", "else") and one["source"] == told["nodes"][place]["id"]:
            one["condition"] = f"!({one['condition']})"


def _unrouted(told: Graph, place: int) -> None:
    told["edges"] = [one for one in told["edges"] if one["target"] != told["nodes"][place]["id"]]


CHANGES: tuple[Callable[[Graph, int], None], ...] = (
    _dropped,
    _swapped,
    _other_field,
    _other_list,
    _added,
    _claims_another,
    _contrary,
    _unrouted,
)


@pytest.mark.requirement("R32", "R36")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_an_altered_graph_is_refused_or_put_right(
    change: Callable[[Graph, int], None], shop: Path, project: Project
) -> None:
    """Whatever passes leaves the rows that were asked for: no mail too many, none too few."""
    refused = 0
    for asked, told in GRAPHS:
        for place in range(len(told["nodes"])):
            altered = copy.deepcopy(told)
            change(altered, place)
            plan = None if altered == told else drawn(asked.words, altered, project)
            if plan is None:
                refused += 1
                continue
            verdict = project.check(Proposal(reading=read_task(asked.words), plan=plan).model_dump_json())
            if any(issue.severity == "error" for issue in verdict.issues):
                refused += 1
                continue
            _empty(shop)
            run(asked.words, plan, project)
            assert rows(shop, MAILS) == list(asked.mails), (asked.words, altered)
            assert rows(shop, BOOKINGS) == list(asked.bookings), (asked.words, altered)
    assert refused > 0
