"""Document B, flow by flow: a model writes the graph of a task, code checks it, and it runs over a real server."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.contracts.proposing import ModelAttempt
from groundplan.contracts.roles import Roles
from groundplan.contracts.verdict import Passed
from groundplan.project import Project
from groundplan.service.data import Data
from groundplan.service.http import create_app
from groundplan.service.projects import Projects
from groundplan.state.database import SQLite
from tests.asking.tasks.written import edge, llm, node, router, written
from tests.documents.asking import ADA, CHEN, FEMI, FIND, LIST, ORDERS, SEND, asked, in_turn, planned
from tests.llm.scripted import PROBED, says, scripted
from tests.mcp.tasks import BOOKINGS, MAILS
from tests.sources.mcp.calling import rows, shop_command

PREMIUM = "Check if user is premium, then send personalized email"
PREMIUM_GRAPH = written(
    [
        node("find", FIND, "Check if user is premium", email="{input.email}"),
        router("tier", "if user is premium"),
        llm("text", "send personalized email", "find.name", "find.country"),
        node("mail", SEND, "send personalized email", to="{find.email}", subject="{input.subject}", body="{text.text}"),
    ],
    edge("tier", "text", "find.tier == 'premium'"),
    inputs=[{"name": "email", "means": "the user's address"}, {"name": "subject"}],
    reasoning="Look the user up, then write to them.",
)
GIVEN = {"email": ADA, "subject": "Hello"}
WROTE = json.dumps({"text": "Dear Ada Brown, greetings to Norway."})


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a state of its own: a workflow that was planned before costs no call."""
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    return tmp_path / "shop.sqlite"


@pytest.mark.requirement("R88")
@pytest.mark.requirement("R20", "R36")
def test_b1_the_documents_example_is_a_workflow_with_inputs(shop: Path) -> None:
    made, _ = planned(shop, PREMIUM, PREMIUM_GRAPH)
    response = made.response
    assert isinstance(made.verdict, Passed), made.why
    assert [one.name for one in response.plan.takes] == ["email", "subject"]
    assert {node.id: node.config.mode for node in response.graph.nodes} == {
        "find": "tool",
        "tier": None,
        "tier_2": None,
        "text": "llm",
        "mail": "tool",
    }
    assert ("tier", "text", 'find.first.tier == "premium"') in {
        (one.source, one.target, one.condition) for one in response.graph.edges
    }
    outcome = asked(shop, PREMIUM, PREMIUM_GRAPH, inputs=GIVEN, Written=in_turn(WROTE))
    assert isinstance(outcome, Answer), outcome.text
    assert rows(shop, MAILS) == [(ADA, "Hello", "Dear Ada Brown, greetings to Norway.")]


def test_b1_an_input_that_is_missing_is_asked_for(shop: Path) -> None:
    outcome = asked(shop, PREMIUM, PREMIUM_GRAPH)
    assert isinstance(outcome, Clarification)
    assert outcome.text == "What is the email (the user's address)?"
    assert rows(shop, MAILS) == []


@pytest.mark.requirement("R79", part="tasks")
@pytest.mark.requirement("R20", "R37")
def test_b2_what_a_model_wrote_is_sent(shop: Path) -> None:
    task = (
        f"Find the customer {ADA}, write a personal text about where she lives "
        'and send it to her with the subject "Hello".'
    )
    told = written(
        [
            node("find", FIND, f"Find the customer {ADA}", email=ADA),
            llm("text", "write a personal text about where she lives", "find.name", "find.country"),
            node(
                "mail",
                SEND,
                'send it to her with the subject "Hello"',
                to="{find.email}",
                subject="Hello",
                body="{text.text}",
            ),
        ]
    )
    outcome = asked(shop, task, told, Written=in_turn(WROTE))
    assert isinstance(outcome, Answer), outcome.text
    assert rows(shop, MAILS) == [(ADA, "Hello", "Dear Ada Brown, greetings to Norway.")]


@pytest.mark.requirement("R20", "R37")
def test_b3_a_router_over_a_fact_parallel_branches_and_a_join(shop: Path) -> None:
    task = (
        f'If {CHEN} is vip, send {CHEN} an email with the subject "Gala" and the body "Come", otherwise send an '
        f'email with the subject "News" and the body "Read". Find the customers {ADA} and {FEMI}, then '
        "write one greeting to both."
    )
    told = written(
        [
            node("chen", FIND, f"If {CHEN} is vip", email=CHEN),
            router("tier", f"If {CHEN} is vip"),
            node("gala", SEND, f"send {CHEN} an email", to="{chen.email}", subject="Gala", body="Come"),
            node("news", SEND, "otherwise send an email", to="{chen.email}", subject="News", body="Read"),
            node("ada", FIND, "Find the customers", email=ADA),
            node("femi", FIND, "Find the customers", email=FEMI),
            llm("both", "write one greeting to both", "ada.name", "femi.name"),
        ],
        edge("tier", "gala", "chen.tier == 'vip'"),
        edge("tier", "news", "else"),
    )
    outcome = asked(shop, task, told, Written=in_turn(json.dumps({"text": "Dear Ada and Femi"})))
    assert isinstance(outcome, Answer), outcome.text
    assert rows(shop, MAILS) == [(CHEN, "Gala", "Come")]
    assert "Dear Ada and Femi" in outcome.text
    steps = {step.id: step for step in outcome.plan.steps}
    assert steps["ada"].needs == steps["femi"].needs == ()
    assert {*steps["both"].needs} == {"ada", "femi"}


@pytest.mark.requirement("R20", "R37")
def test_b4_an_agent_comes_first_and_a_later_step_uses_what_it_found(shop: Path) -> None:
    task = f'Find out what {ADA} ordered last and send her the findings with the subject "Your orders".'
    told = written(
        [
            {"id": "look", "kind": "agent", "words": f"Find out what {ADA} ordered last", "tools": [FIND, ORDERS]},
            node("mail", SEND, "send her the findings", to=ADA, subject="Your orders", body="{look.text}"),
        ]
    )
    calls = [
        {"next": {"tool": FIND, "params": {"email": ADA, "id": None}}},
        {"next": {"tool": ORDERS, "params": {"customer_id": 1}}},
        {"next": {"done": True}},
    ]
    outcome = asked(
        shop,
        task,
        told,
        Turn=in_turn(*map(json.dumps, calls)),
        Written=in_turn(json.dumps({"text": "Your last order is open."})),
    )
    assert isinstance(outcome, Answer), outcome.text
    assert rows(shop, MAILS) == [(ADA, "Your orders", "Your last order is open.")]


THANKS = f'If {ADA} is premium, send them an email with the subject "Thank you" and the body "Hello".'


def thanks(tool: str = SEND, **more: Any) -> str:
    return written(
        [
            node("find", FIND, f"If {ADA} is premium", email=ADA),
            router("tier", f"If {ADA} is premium"),
            node("mail", tool, "send them an email", to="{find.email}", subject="Thank you", body="Hello"),
        ],
        edge("tier", "mail", "find.tier == 'premium'"),
        **more,
    )


@pytest.mark.requirement("R81", part="in the result")
@pytest.mark.requirement("R21", "R27", "R31")
def test_b5_bad_json_then_an_unknown_tool_then_right(shop: Path) -> None:
    """Three attempts; each gets the fault of the one before, and all are in the log."""
    fenced = f"Here is the graph:\n```json\n{thanks(reasoning='by tier')}\n```\nIt has three nodes."
    made, prompts = planned(shop, THANKS, '{"nodes": [', thanks("shop.mail"), fenced)
    response = made.response
    assert isinstance(made.verdict, Passed), made.why
    assert [bool(one.faults) for one in response.attempts] == [True, True, False]
    assert "no JSON object" in response.attempts[0].faults[0]
    assert "calls 'shop.mail', which is no tool here" in response.attempts[1].faults[0]
    assert len(response.log) == 3
    assert "attempt 2 of 3" in prompts[1]
    assert "shop.mail" in prompts[2]
    assert "which is no tool here" in prompts[2]
    assert THANKS.split(",")[0] in prompts[0]
    assert (response.reasoning, response.confidence) == ("by tier", 0.4)
    assert response.tokens > 0
    assert response.duration_ms > 0


@pytest.mark.requirement("R20")
def test_b5_the_analysis_of_a_model_goes_into_the_prompt(shop: Path) -> None:
    analysis = {
        "complexity": "moderate",
        "requires_tools": True,
        "requires_routing": True,
        "suggested_node_types": ["tool", "router"],
        "key_entities": ["user", "premium", "email"],
        "intent": "Conditional email sending based on user tier",
    }
    made, prompts = planned(
        shop, THANKS, thanks(), roles=Roles(analyst="model"), TaskAnalysis=in_turn(json.dumps(analysis))
    )
    assert made.response.analysis is not None
    assert made.response.analysis.model_dump(mode="json") == analysis
    assert "suggested_node_types" in prompts[1]


@pytest.mark.requirement("R10", "R21")
def test_b5_a_model_that_never_gets_it_right_leaves_it_to_the_words(shop: Path) -> None:
    wrong = written([node("mail", SEND, "send", to="eve@evil.example", subject="Thank you", body="Hello")])
    outcome = asked(shop, THANKS, wrong)
    assert isinstance(outcome, Answer), outcome.text
    assert rows(shop, MAILS) == [(ADA, "Thank you", "Hello")]
    assert [one.model for one in outcome.proposals if one.faults] == ["scripted"] * 2  # the same again is not asked for


NORWAY = "Notify all customers from Norway by email"
NOTICE = f'{NORWAY} with the subject "Closed" and the body "Dear {{name}}, we are closed".'


@pytest.mark.requirement("R36")
def test_b6_a_country_is_no_address(shop: Path) -> None:
    """The customers of a country are found first; an address made of a country goes back."""
    wrong = written([node("mail", SEND, NORWAY, to="Norway", subject="Closed", body="Dear {name}, we are closed")])
    every = written(
        [
            node("list", LIST, "all customers from Norway"),
            node(
                "mail",
                SEND,
                NORWAY,
                "list",
                to="{list.country}",
                subject="Closed",
                body="Dear {list.name}, we are closed",
            ),
        ]
    )
    outcome = asked(shop, NOTICE, wrong, every, every, strategy="compose")
    assert not isinstance(outcome, Answer), outcome.text
    faults = [fault for attempt in outcome.proposals for fault in attempt.faults]
    assert any("no address" in fault for fault in faults), faults
    assert rows(shop, MAILS) == []


def test_b_what_no_tool_does_is_said_by_the_model(shop: Path) -> None:
    outcome = asked(shop, "Paint the shop blue", json.dumps({"cannot": "nothing here paints"}))
    assert not isinstance(outcome, Answer)
    assert rows(shop, MAILS) == rows(shop, BOOKINGS) == []


@pytest.mark.requirement("R88")
@pytest.mark.requirement("R27")
def test_b_a_response_is_kept_as_a_file_and_run_again(shop: Path, tmp_path: Path) -> None:
    made, _ = planned(
        shop,
        THANKS.replace(ADA, "the user"),
        thanks().replace(ADA, "the user").replace('"value": "the user"', '"value": "{input.email}"'),
    )
    assert isinstance(made.verdict, Passed), made.why
    file = tmp_path / "workflow.json"
    file.write_text(made.response.model_dump_json())
    with Project({"shop": {"mcp": shop_command(shop)}}) as project:
        missing = project.run(file.read_text(), approve=True).outcome
        assert isinstance(missing, Refusal)
        assert [issue.code for issue in missing.issues] == ["inputs/missing"]
        wrong = project.run(file.read_text(), approve=True, inputs={"mail": ADA}).outcome
        assert [issue.code for issue in wrong.issues] == ["inputs/unknown"]
        for email in (ADA, "elif@example.org"):
            assert isinstance(project.run(file.read_text(), approve=True, inputs={"email": email}).outcome, Answer)
    assert [recipient for recipient, *_ in rows(shop, MAILS)] == [ADA, "elif@example.org"]


def test_attempts_are_told_as_they_are_made(shop: Path) -> None:
    told: list[ModelAttempt] = []
    stages: list[str] = []
    made, _ = planned(shop, THANKS, thanks("shop.mail"), thanks(), on_attempt=told.append, on_stage=stages.append)
    assert [bool(one.faults) for one in told] == [True, False]
    assert stages == ["route", "read", "plan", "check"]
    assert tuple(told) == made.attempts


@pytest.mark.requirement("R27")
def test_b5_over_http_with_every_attempt_streamed(shop: Path, tmp_path: Path) -> None:
    """`curl -N -H 'Accept: text/event-stream' …/v1/plans` shows the same."""
    asked_for = {"question": PREMIUM, "inputs": GIVEN}
    again, events = asyncio.run(over_http(shop, tmp_path, asked_for, "no graph", PREMIUM_GRAPH))
    assert {"stage", "attempt"} <= {kind for kind, _ in events}
    kind, reply = events[-1][0], json.loads(events[-1][1])
    assert kind == "done"
    assert [bool(one["faults"]) for one in reply["attempts"]] == [True, False]
    assert {node["id"] for node in reply["graph"]["nodes"]} >= {"find", "tier", "text", "mail"}
    assert reply["reasoning"] == "Look the user up, then write to them."
    assert reply["analysis"] is not None
    assert len(reply["log"]) >= 2
    assert min(reply["tokens"], reply["duration_ms"], reply["confidence"]) > 0
    assert [one["name"] for one in reply["plan"]["takes"]] == ["email", "subject"]
    assert again["fingerprint"] == reply["fingerprint"], "the workflow is remembered"


async def over_http(database: Path, folder: Path, body: Any, *graphs: str) -> tuple[Any, list[tuple[str, str]]]:
    """The events of the request, and the reply if it is made again."""
    async with scripted(says(PROBED)) as server:
        data = Data({"shop": {"mcp": shop_command(database)}}, (server.endpoint(),))
        projects = Projects(SQLite(folder / "service", data.tenant), data.open)
        transport = httpx.ASGITransport(create_app(projects, data.tenant))
        try:
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
                server.replies["GraphReply"] = in_turn(*graphs)
                streamed = await client.post("/v1/plans", json=body, headers={"Accept": "text/event-stream"})
                reply = await client.post("/v1/plans", json=body)
        finally:
            await projects.close()
    assert (reply.status_code, streamed.status_code) == (200, 200), reply.text
    return reply.json(), re.findall(r"event: (\w+)\ndata: (.+)\n", streamed.text)
