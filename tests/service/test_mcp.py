"""MCP over HTTP: real processes of `groundplan serve`, asked by the client of the official SDK."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult, InputRequiredResult

from groundplan.project import Project
from groundplan.state.keys import id_of
from mcp import Client
from tests.asking.tables.described import SALES
from tests.patience import HANGS
from tests.service.processes import MAIN, get, make_key, process, served, until
from tests.sources.mcp.calling import rows, shop_command

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serve.md"
QUESTION, UNCLEAR = "total revenue by region", "total revenue on 03/04/2025"
MAIL = 'Send an email to {} with the subject "Hello" and the body "There".'
OLDER, NEWER = "legacy", "auto"  # generations of the protocol


@dataclass
class Person:
    """Whoever sits at a client that can ask back."""

    replies: list[ElicitResult]
    asked: list[Any] = field(default_factory=list)

    async def reply(self, _: object, params: Any) -> ElicitResult:
        self.asked.append(params)
        return self.replies.pop(0)


def says(reply: str | bool) -> ElicitResult:
    return ElicitResult(action="accept", content={"reply": reply})


@asynccontextmanager
async def connected(
    service: httpx.Client, key: str | None = None, person: Person | None = None, mode: Any = NEWER
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * HANGS))
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=HANGS))
        transport = streamable_http_client(f"{service.base_url}/mcp", http_client=http)
        asking = person.reply if person else None
        yield await stack.enter_async_context(Client(transport, mode=mode, elicitation_callback=asking))


def called(
    service: httpx.Client,
    *calls: tuple[str, dict[str, Any]],
    key: str | None = None,
    person: Person | None = None,
    mode: str = NEWER,
) -> list[Any]:
    """The results of these calls, in one session."""

    async def call() -> list[Any]:
        async with connected(service, key, person, mode) as client:
            return [await client.call_tool(name, given) for name, given in calls]

    return asyncio.run(call())


def asked(service: httpx.Client, question: str, **more: Any) -> dict[str, Any]:
    [found] = called(service, ("ask", {"question": question}), **more)
    assert not found.is_error, found.content
    told: dict[str, Any] = found.structured_content
    return told


def run_of(told: dict[str, Any]) -> str:
    run: str = told["link"].rpartition("/")[2]
    return run


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("mcp-alone")
    shutil.copy(SALES, folder / "sales.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDPLAN_STATE", str(folder / "state"))
        with served(folder, "sales.csv") as found:
            yield found


@pytest.mark.requirement("R57", part="mcp")
@pytest.mark.parametrize("mode", [NEWER, OLDER])
def test_a_client_asks_plans_checks_runs_and_explains(mode: str, alone: httpx.Client) -> None:
    with Project(SALES) as project:
        said = project.ask(QUESTION).text

    async def session() -> None:
        async with connected(alone, mode=mode) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == ["ask", "plan", "check", "run", "explain", "verify_sql", "feedback"]
            assert all(tool.output_schema for tool in tools)

            async def call(name: str, **given: Any) -> dict[str, Any]:
                found: dict[str, Any] = (await client.call_tool(name, given)).structured_content
                return found

            answer = await call("ask", question=QUESTION)
            assert (answer["kind"], answer["text"]) == ("answer", said)
            assert len(answer["tables"][0]["rows"]) == 5
            assert get(alone, run_of(answer))["state"] == "succeeded", "it is a run like any other"
            plan = (await call("plan", question=QUESTION))["proposal"]
            assert (await call("check", proposal=plan))["passed"]
            assert not (await call("check", proposal={"reading": {}, "plan": {}}))["passed"]
            assert (await call("run", proposal=plan))["text"] == said
            assert (await call("explain", question=QUESTION))["reasons"]
            assert (await call("ask", question="revenue by salesperson"))["issues"][0]["code"]
            sql = "SELECT region, SUM(revenue) AS revenue FROM sales GROUP BY region"
            sound = await call("verify_sql", question=QUESTION, sql=sql)
            assert (sound["result"], sound["read_as"]) == ("sound", "Read as: total revenue by region.")
            wrong = await call("verify_sql", question=QUESTION, sql="SELECT AVG(revenue) FROM sales")
            assert [finding["code"] for finding in wrong["findings"]] == ["function/total"]

    asyncio.run(session())


@pytest.mark.parametrize("mode", [NEWER, OLDER])
def test_a_clarification_is_answered_by_the_person_at_the_client(mode: str, alone: httpx.Client) -> None:
    person = Person([says("2025-03-04")])
    told = asked(alone, UNCLEAR, person=person, mode=mode)
    assert (told["kind"], told["read_as"]) == ("answer", "Read as: total revenue of rows where date is on 2025-03-04.")
    [form] = person.asked
    assert form.requested_schema["properties"]["reply"]["enum"] == ["2025-04-03", "2025-03-04"]
    assert get(alone, run_of(told))["state"] == "succeeded"


@pytest.mark.parametrize(("reply", "kind"), [(True, "answer"), (False, "refusal")])
def test_one_reading_is_confirmed_by_the_person_at_the_client(reply: bool, kind: str, alone: httpx.Client) -> None:
    person = Person([says(reply)])
    told = asked(alone, "total revenue in early May 2025", person=person, mode=NEWER)
    assert told["kind"] == kind
    [form] = person.asked
    assert form.requested_schema["properties"]["reply"]["type"] == "boolean"
    assert "from 2025-05-01 to 2025-05-31" in form.message


@pytest.mark.parametrize("mode", [NEWER, OLDER])
@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_who_does_not_reply_is_asked_once_and_the_run_waits(mode: str, action: Any, alone: httpx.Client) -> None:
    person = Person([ElicitResult(action=action)])
    told = asked(alone, UNCLEAR, person=person, mode=mode)
    assert told["kind"] == "clarification"
    assert get(alone, run_of(told))["state"] == "waiting_answer"


@pytest.mark.parametrize("mode", [NEWER, OLDER])
def test_a_client_that_cannot_ask_gets_the_link(mode: str, alone: httpx.Client) -> None:
    told = asked(alone, UNCLEAR, mode=mode)
    assert (told["kind"], told["candidates"]) == ("clarification", ["2025-04-03", "2025-03-04"])
    assert told["link"].startswith(f"{alone.base_url}/runs/")
    assert httpx.get(told["link"], timeout=HANGS).headers["content-type"].startswith("text/html")
    assert alone.post(f"/v1/runs/{run_of(told)}/answer", json={"text": "1"}).status_code == 200
    until(lambda: get(alone, run_of(told))["state"] == "succeeded")


def test_the_next_question_of_a_conversation_is_the_reply_to_its_clarification(alone: httpx.Client) -> None:
    thread = uuid.uuid4().hex
    unclear, clear, next_ = called(
        alone,
        ("ask", {"question": UNCLEAR, "thread": thread}),
        ("ask", {"question": "2", "thread": thread}),
        ("ask", {"question": QUESTION, "thread": thread}),
    )
    assert unclear.structured_content["kind"] == "clarification"
    assert clear.structured_content["read_as"].endswith("2025-03-04.")
    assert run_of(clear.structured_content) == run_of(unclear.structured_content) != run_of(next_.structured_content)


def test_the_session_of_the_how_to_says_what_the_page_says(alone: httpx.Client, tmp_path: Path) -> None:
    code, output = re.findall(r"^```(?:python|text)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)[-2:]
    (tmp_path / "session.py").write_text(code.replace("localhost:8000", f"localhost:{alone.base_url.port}"))
    done = subprocess.run(
        [sys.executable, "session.py"], cwd=tmp_path, capture_output=True, text=True, timeout=2 * HANGS
    )
    assert (done.stdout, done.returncode) == (output, 0), done.stderr


def test_what_is_wrong_is_an_error_of_the_tool(alone: httpx.Client) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("ask", {"question": ""}),
        ("ask", {"question": "a\0b"}),
        ("ask", {"question": QUESTION, "thread": "a\0b"}),
        ("ask", {"question": QUESTION, "today": "soon"}),
        ("ask", {"question": "x" * 20_001}),
        ("ask", {"question": "Yes!", "thread": "a"}),
        ("plan", {}),
    ]
    assert [found.is_error for found in called(alone, *wrong)] == [True] * len(wrong)


def test_a_page_of_another_site_and_too_much_are_refused(alone: httpx.Client) -> None:
    def status(content: Any = b"{}", **headers: str) -> int:
        return alone.post("/mcp", content=content, headers={"Content-Type": "application/json", **headers}).status_code

    assert status(Host="evil.example") == 421
    assert status(Origin="https://evil.example") == 403
    assert status(b" " * 1_000_001) == 413
    assert status(iter([b" " * 600_000] * 2)) == 413
    assert status(b"[" * 100_000) == 400
    assert alone.get("/v1/runs").status_code == 200


@dataclass
class Shop:
    servers: list[httpx.Client]
    keys: dict[str, str]
    database: Path

    def sent_to(self, recipient: str) -> int:
        return len(rows(self.database, f"select 1 from outbox where recipient = '{recipient}'"))

    def audit(self) -> list[tuple[str, str, str]]:
        found = self.servers[0].get("/v1/audit", headers={"Authorization": f"Bearer {self.keys['admin']}"}).json()
        return [(entry["actor"], entry["action"], entry["about"].split()[0]) for entry in found]


@pytest.fixture(scope="module")
def shop(own_postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Two servers and a worker over a server with tools that change something; at most 4 open runs of a tenant."""
    folder = tmp_path_factory.mktemp("mcp-shop")
    database = folder / "shop.sqlite"
    command = json.dumps(shop_command(database))
    (folder / "groundplan.toml").write_text(f"[sources.shop]\nmcp = {command}\n[service]\nopen_runs = 4\n")
    keys = {name: make_key(own_postgres, "ours") for name in ("ask", "other")}
    keys |= {"admin": make_key(own_postgres, "ours", "admin"), "theirs": make_key(own_postgres, "theirs")}
    keys["metrics"] = make_key(own_postgres, "ours", "metrics")
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("GROUNDPLAN_STATE", str(folder / "state"))
        subprocess.run([*MAIN, "trust", "--yes"], cwd=folder, check=True)
        servers = [stack.enter_context(served(folder, "--database", own_postgres)) for _ in range(2)]
        stack.enter_context(process(folder, "worker", "--database", own_postgres))
        yield Shop(servers, keys, database)


def test_a_task_asks_for_what_is_missing_then_for_approval_and_is_done_once(shop: Shop) -> None:
    recipient = f"{uuid.uuid4().hex[:8]}@example.org"
    person = Person([says('with the subject "Hello" and the body "There"'), says(True)])
    told = asked(shop.servers[0], f"Send an email to {recipient}.", key=shop.keys["ask"], person=person)
    assert told["kind"] == "answer", told
    assert recipient in person.asked[-1].message
    assert person.asked[-1].requested_schema["properties"]["reply"]["type"] == "boolean"
    assert person.asked[0].requested_schema["properties"]["reply"] == {"type": "string", "title": "Reply"}
    assert shop.sent_to(recipient) == 1
    assert shop.audit()[0] == (id_of(shop.keys["ask"]), "plan.approved", run_of(told))


@pytest.mark.parametrize("reply", [ElicitResult(action="decline"), says(False), says("yes")], ids=str)
def test_what_is_not_approved_is_not_done(reply: ElicitResult, shop: Shop) -> None:
    recipient = f"{uuid.uuid4().hex[:8]}@example.org"
    told = asked(shop.servers[0], MAIL.format(recipient), key=shop.keys["ask"], person=Person([reply]))
    assert (told["kind"], told["issues"][0]["code"]) == ("refusal", "access/unapproved")
    assert shop.sent_to(recipient) == 0
    assert shop.audit()[0] == (id_of(shop.keys["ask"]), "plan.declined", run_of(told))


@pytest.mark.parametrize("person", [None, Person([])], ids=["no elicitation", "elicitation"])
def test_an_older_client_of_a_team_approves_by_the_link(person: Person | None, shop: Shop) -> None:
    """Servers keep no sessions, so they cannot ask during a call."""
    recipient, key = f"{uuid.uuid4().hex[:8]}@example.org", shop.keys["ask"]
    told = asked(shop.servers[0], MAIL.format(recipient), key=key, person=person, mode=OLDER)
    assert told["issues"][0]["code"] == "access/unapproved"
    headers = {"Authorization": f"Bearer {key}"}
    run = shop.servers[1].get(f"/v1/runs/{run_of(told)}", headers=headers).json()
    assert run["state"] == "waiting_approval"
    assert shop.sent_to(recipient) == 0
    body = {"plan": run["approve"], "approved": True}
    assert shop.servers[1].post(f"/v1/runs/{run['id']}/approval", json=body, headers=headers).status_code == 200
    until(lambda: shop.sent_to(recipient) == 1)


Using = Callable[[Client], Awaitable[Any]]


def using(shop: Shop, server: int, key: str, work: Using) -> Any:
    async def use() -> Any:
        async with connected(shop.servers[server], shop.keys[key], Person([])) as client:
            return await work(client)

    return asyncio.run(use())


def again(given: dict[str, Any], state: str | None, reply: ElicitResult) -> Using:
    """Call `ask` with the reply to an earlier result."""

    async def call(client: Client) -> Any:
        try:
            return await client.session.call_tool(
                "ask", given, input_responses={"reply": reply}, request_state=state, allow_input_required=True
            )
        except MCPError as error:
            return error

    return call


def test_another_server_takes_the_reply_another_tenant_cannot_give_it(shop: Shop) -> None:
    recipient = f"{uuid.uuid4().hex[:8]}@example.org"
    given = {"question": MAIL.format(recipient)}
    first = using(shop, 0, "ask", lambda client: client.session.call_tool("ask", given, allow_input_required=True))
    assert isinstance(first, InputRequiredResult)
    approved = again(given, first.request_state, says(True))
    foreign = using(shop, 1, "theirs", approved)
    assert foreign.is_error
    assert "there is no run" in foreign.content[0].text
    assert shop.sent_to(recipient) == 0
    told = [using(shop, 1, "other", approved).structured_content for _ in range(2)]
    assert {one["kind"] for one in told} == {"answer"}, "a call that is repeated changes nothing"
    assert shop.sent_to(recipient) == 1
    assert shop.audit()[0][0] == id_of(shop.keys["other"])
    listed = shop.servers[0].get("/v1/runs", headers={"Authorization": f"Bearer {shop.keys['theirs']}"}).json()
    assert listed["runs"] == []


@pytest.mark.parametrize("state", ["", "none", "e30=", "é"])
def test_a_state_that_nobody_wrote_is_refused(state: str, shop: Shop) -> None:
    refused = using(shop, 0, "ask", again({"question": "x"}, state, says(True)))
    assert isinstance(refused, MCPError)
    assert "requestState" in str(refused)


@pytest.mark.requirement("R77", part="quotas")
def test_the_limit_of_open_runs_holds_here_too(shop: Shop) -> None:
    calls = [("ask", {"question": MAIL.format(f"quota-{number}@example.org")}) for number in range(5)]
    found = called(shop.servers[0], *calls, key=shop.keys["theirs"])
    assert [one.is_error for one in found] == [False] * 4 + [True]
    assert "4 of your runs" in found[-1].content[0].text


@pytest.mark.parametrize("key", [None, "gp_wrong", "metrics"])
def test_without_a_key_that_may_ask_nothing_is_told(key: str | None, shop: Shop) -> None:
    with pytest.raises(BaseException) as raised:
        called(shop.servers[0], ("ask", {"question": QUESTION}), key=shop.keys.get(key or "", key))
    assert raised.value
    sent = shop.keys.get(key or "", key)
    headers = {"Authorization": f"Bearer {sent}"} if sent else {}
    reply = shop.servers[0].post("/mcp", json={}, headers=headers)
    assert reply.status_code == (403 if key == "metrics" else 401)
