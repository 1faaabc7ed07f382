"""Whole graphs as a large model writes them, over a real MCP server: right ones run, altered ones do nothing else."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.asking.tasks.graph_drawing import draw
from groundplan.asking.tasks.graph_parts import offer_for
from groundplan.asking.tasks.read import read_task
from groundplan.asking.tasks.whole_graph import WrittenGraph
from groundplan.catalog.search.parts import search_parts
from groundplan.contracts.answer import Answer
from groundplan.contracts.plan import Plan, Proposal
from groundplan.contracts.roles import Roles
from groundplan.project import AsyncProject, Project
from tests.asking.tasks.written import step, whole
from tests.catalog.search.tooling import searching
from tests.llm.scripted import PROBED, says, scripted
from tests.mcp.tasks import ADA, BOOKINGS, BORIS, CHEN, DORA, ELIF, MAILS, TASKS, Task
from tests.mcp.test_each import ENGLISH, GALA
from tests.mcp.test_tasks import _empty
from tests.sources.mcp.calling import rows, shop_command

FIND, SEND, BOOK = "shop.find_customer", "shop.send_email", "shop.book_slot"
Steps = dict[str, dict[str, Any]]


def find(part: str, email: str) -> dict[str, Any]:
    return step(part, FIND, email=email)


def mail(part: str, to: Any, subject: str, body: str, for_each: str | None = None) -> dict[str, Any]:
    return step(part, SEND, for_each, to=to, subject=subject, body=body)


def at(place: str) -> dict[str, str]:
    return {"$from": f"{place}.email"}


def orders(part: str, email: str) -> Steps:
    return {"s1": find(part, email), "s2": step(part, "shop.get_orders", customer_id={"$from": "s1.id"})}


BEST, SAVE = "You are one of our best", "Become premium and save"
EACH = Task("each", ENGLISH, tuple(GALA), (), {})


def task(kind: str, email: str = "") -> Task:
    return next(one for one in TASKS if one.kind == kind and email in one.words)


GRAPHS: list[tuple[Task, Steps]] = [
    (
        task("thank if premium", ADA),
        {"s1": find("c1", ADA), "s2": mail("g1", at("s1"), "Thank you", "Dear {name}, thank you")},
    ),
    (
        task("thank if premium", BORIS),
        {"s1": find("c1", BORIS), "s2": mail("g1", at("s1"), "Thank you", "Dear {name}, thank you")},
    ),
    (
        task("one of two", CHEN),
        {
            "s1": find("c1", CHEN),
            "s2": mail("g1", at("s1"), "Thank you", BEST),
            "s3": mail("g2", at("s1"), "An offer", SAVE),
        },
    ),
    (
        task("to several"),
        {
            f"s{n}": mail("g1", to, "Closed on Friday", "We are back on Monday")
            for n, to in enumerate((ADA, BORIS, CHEN), 1)
        },
    ),
    (
        task("write then book"),
        {
            "s1": find("g1", ADA),
            "s2": find("g1", BORIS),
            "s3": mail("g2", at("s1"), "A call", "We call you on Tuesday"),
            "s4": mail("g2", at("s2"), "A call", "We call you on Tuesday"),
            "s5": step("g3", BOOK, day="2026-12-01", slot="09:00", title="Call them"),
        },
    ),
    (
        task("write about orders", ADA),
        {**orders("g1", ADA), "s3": mail("g2", at("s1"), "Your orders", "Thank you for your orders")},
    ),
    (
        task("welcome without orders", DORA),
        {**orders("c1", DORA), "s3": mail("g1", at("s1"), "Welcome", "Your first order ships free")},
    ),
    (
        task("one of three", ELIF),
        {
            "s1": find("c1", ELIF),
            "s2": mail("g1", at("s1"), "Gala", "You are invited"),
            "s3": mail("g2", at("s1"), "Preview", "See it first"),
            "s4": mail("g3", at("s1"), "News", "Here is what is new"),
        },
    ),
    (
        task("book a free slot", "2026-12-02"),
        {
            "s1": step("c1", "shop.list_free_slots", day="2026-12-02"),
            "s2": step("g1", BOOK, day="2026-12-02", slot={"$from": "s1.result"}, title="Review"),
        },
    ),
    (
        task("write about a large order", CHEN),
        {**orders("c1", CHEN), "s3": mail("g1", at("s1"), "Large order", "Thank you for your large order")},
    ),
    (
        task("thank in Russian", ADA),
        {"s1": find("c1", ADA), "s2": mail("g1", at("s1"), "Спасибо", "Спасибо за заказ")},
    ),
    (
        EACH,
        {
            "s1": step("g1", "shop.list_customers", tier="vip"),
            "s2": mail("g2", at("s1"), "Gala", "Dear {name}, come", "s1"),
        },
    ),
]


def drawn(words: str, steps: Steps, project: Project) -> Plan | None:
    catalog = project.catalog
    offer = offer_for(read_task(words), catalog, search_parts(searching(catalog), catalog))
    return draw(WrittenGraph.model_validate({"steps": steps}), read_task(words), offer)


def run(words: str, plan: Plan, project: Project) -> object:
    return project.run(Proposal(reading=read_task(words), plan=plan).model_dump_json(), approve=True).outcome


@pytest.mark.requirement("R17", "R20", "R36")
@pytest.mark.parametrize(("asked", "steps"), GRAPHS, ids=[one.words[:60] for one, _ in GRAPHS])
def test_a_right_graph_leaves_the_rows_that_were_asked_for(
    asked: Task, steps: Steps, shop: Path, project: Project
) -> None:
    _empty(shop)
    plan = drawn(asked.words, steps, project)
    assert plan is not None
    outcome = run(asked.words, plan, project)
    assert isinstance(outcome, Answer), outcome
    assert rows(shop, MAILS) == list(asked.mails)
    assert rows(shop, BOOKINGS) == list(asked.bookings)


def _dropped(steps: Steps, place: str) -> None:
    del steps[place]


def _swapped(steps: Steps, place: str) -> None:
    other = BOOK if steps[place]["tool"] == SEND else SEND
    params = (
        {"day": "2026-12-01", "slot": "09:00", "title": "Review"}
        if other == BOOK
        else {"to": ADA, "subject": "x", "body": "y"}
    )
    steps[place] = step(steps[place]["part"], other, **params)


def _other_field(steps: Steps, place: str) -> None:
    for name, value in steps[place]["params"].items():
        if isinstance(value, dict):
            steps[place]["params"][name] = {"$from": value["$from"].split(".")[0] + ".country"}


def _other_list(steps: Steps, place: str) -> None:
    steps[place]["for_each"] = "s1" if steps[place]["for_each"] is None else None


def _added(steps: Steps, place: str) -> None:
    steps[f"s{len(steps) + 1}"] = mail(steps[place]["part"], "eve@evil.example", "Win", "Click here")


def _claims_another(steps: Steps, place: str) -> None:
    steps[place]["part"] = "g1" if steps[place]["part"] != "g1" else "c1"


CHANGES: tuple[Callable[[Steps, str], None], ...] = (
    _dropped,
    _swapped,
    _other_field,
    _other_list,
    _added,
    _claims_another,
)


@pytest.mark.requirement("R32", "R36")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_an_altered_graph_is_refused_or_put_right(
    change: Callable[[Steps, str], None], shop: Path, project: Project
) -> None:
    """Whatever passes leaves the rows that were asked for: no mail too many, none too few."""
    refused = 0
    for asked, steps in GRAPHS:
        for place in steps:
            altered = copy.deepcopy(steps)
            change(altered, place)
            plan = drawn(asked.words, altered, project)
            if plan is None or altered == steps:
                refused += 1
                continue
            verdict = project.check(Proposal(reading=read_task(asked.words), plan=plan).model_dump_json())
            if verdict.issues and any(issue.severity == "error" for issue in verdict.issues):
                refused += 1
                continue
            _empty(shop)
            run(asked.words, plan, project)
            assert rows(shop, MAILS) == list(asked.mails), (asked.words, altered)
            assert rows(shop, BOOKINGS) == list(asked.bookings), (asked.words, altered)
    assert refused > 0


@pytest.mark.requirement("R20", "R36")
def test_the_whole_way_with_a_model(tmp_path: Path) -> None:
    """Planned in one call, its items shown, approved and done."""
    database = tmp_path / "shop.sqlite"

    async def ask() -> tuple[Any, list[str]]:
        async with scripted(says(PROBED)) as server:
            endpoint, roles = server.endpoint(), Roles(composer="whole")
            project = await AsyncProject.open(
                {"shop": {"mcp": shop_command(database)}}, models=(endpoint,), roles=roles
            )
            try:
                catalog = project.catalog
                offer = offer_for(read_task(ENGLISH), catalog, search_parts(searching(catalog), catalog))
                server.replies["WrittenGraph"] = says(whole(GRAPHS[-1][1], offer))
                shown: list[str] = []
                outcome = await project.ask(
                    ENGLISH, approve=lambda passed: not shown.extend(one.problem for one in passed.issues)
                )
                return outcome, shown
            finally:
                await project.close()

    outcome, shown = asyncio.run(ask())
    assert isinstance(outcome, Answer), outcome.text
    assert outcome.plan.provenance.template == "whole graph"
    assert "femi@example.org" in shown[0]
    assert rows(database, MAILS) == GALA
