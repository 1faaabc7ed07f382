"""One tenant cannot use up a service: not by requests, not by open questions, not by slow connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from groundplan.contracts.answer import Clarification
from groundplan.contracts.run import RunRequest
from groundplan.service import access, connections
from groundplan.service.access import Access, Rate
from groundplan.service.connections import TimedConnection
from groundplan.service.oidc import Caller
from groundplan.state.database import SQLite
from groundplan.state.runs import Runs, TooMany

ASKED = RunRequest(question="total revenue")
Messages = list[MutableMapping[str, Any]]


class _Keys:
    """One key for each role: `gp_read` has the role `read`."""

    async def find(self, sent: str) -> Any:
        role = sent.removeprefix("gp_")
        return type("Key", (), {"tenant": f"tenant-{role}", "role": role, "id": role})()


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})


async def _asked(guard: Access, path: str, role: str, method: str = "GET", body: Messages | None = None) -> Messages:
    sent: Messages = []
    waiting = body or [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> MutableMapping[str, Any]:
        if not waiting:
            await asyncio.sleep(60)
        return waiting.pop(0)

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    headers = [(b"authorization", f"Bearer gp_{role}".encode()), (b"host", b"x")]
    scope = {"type": "http", "method": method, "path": path, "headers": headers, "query_string": b""}
    await guard(scope, receive, send)
    return sent


def _guard(**more: Any) -> Access:
    return Access(_echo, _Keys(), "", **more)  # type: ignore[arg-type]


def test_too_many_requests_are_refused_for_a_while_and_others_are_not() -> None:
    guard = _guard(minute_requests=5)

    async def work() -> list[int]:
        mine = [(await _asked(guard, "/v1/runs", "ask"))[0]["status"] for _ in range(7)]
        return [*mine, (await _asked(guard, "/v1/runs", "admin"))[0]["status"]]

    assert asyncio.run(work()) == [200] * 5 + [429] * 2 + [200]


def test_requests_come_back_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(access.time, "monotonic", lambda: now)
    rate = Rate(60)
    assert [rate.wait("a") > 0 for _ in range(61)] == [False] * 60 + [True]
    now = 1.5
    assert [rate.wait("a") > 0 for _ in range(2)] == [False, True]


def test_a_body_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "BODY_SECONDS", 0.2)
    half: Messages = [{"type": "http.request", "body": b"{", "more_body": True}]
    begin = time.monotonic()
    sent = asyncio.run(_asked(_guard(), "/v1/runs", "ask", "POST", half))
    assert sent[0]["status"] == 408
    assert time.monotonic() - begin < 30


def test_text_of_data_is_never_taken_for_a_page() -> None:
    sent = asyncio.run(_asked(_guard(), "/v1/runs", "ask"))
    assert (b"x-content-type-options", b"nosniff") in sent[0]["headers"]


def test_a_key_that_reads_approves_nothing() -> None:
    approval = f"/v1/runs/{'0' * 24}/approval"
    assert asyncio.run(_asked(_guard(), approval, "read", "POST"))[0]["status"] == 403
    assert asyncio.run(_asked(_guard(), approval, "ask", "POST"))[0]["status"] == 200
    assert asyncio.run(_asked(_guard(), "/v1/runs", "read", "POST"))[0]["status"] == 200
    assert asyncio.run(_asked(_guard(), "/v1/keys", "read"))[0]["status"] == 403
    assert Caller("t", "read", "a").role == "read"


def test_a_key_that_reads_changes_no_meanings_for_others() -> None:
    path = "/v1/column-settings"
    assert [asyncio.run(_asked(_guard(), path, "read", method))[0]["status"] for method in ("PUT", "DELETE")] == [
        403
    ] * 2
    assert asyncio.run(_asked(_guard(), path, "read", "GET"))[0]["status"] == 200
    assert asyncio.run(_asked(_guard(), path, "ask", "PUT"))[0]["status"] == 200


def test_questions_that_nobody_answers_lock_nobody_out(tmp_path: Path) -> None:
    async def work() -> None:
        database = SQLite(tmp_path, "t")
        runs = Runs(database)
        for number in range(7):
            await runs.add(ASKED, f"key {number}", most=3)
            claim = await runs.claim()
            assert claim is not None
            asked = Clarification(text="Which one?", missing="", candidates=("a", "b"))
            await runs.write(claim, state="waiting_answer", waiting=asked, reply=None)
        states = [run.state for run in await runs.page(None, 20)]
        assert states.count("waiting_answer") <= 4, "the oldest are given up"
        assert states.count("cancelled") >= 3
        for number in range(3):
            await runs.add(ASKED, f"more {number}", most=3)
        with pytest.raises(TooMany):
            await runs.add(ASKED, "one too many", most=3)

    asyncio.run(work())


def test_a_connection_that_sends_half_a_request_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)

    async def work() -> None:
        config = uvicorn.Config(_echo, "127.0.0.1", 0, http=TimedConnection, lifespan="off", log_level="error")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            for sent in (b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(sent)
                assert await asyncio.wait_for(reader.read(), 30) == b"", "closed by the server"
                writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for _ in range(2):  # a connection that is used again is not closed too early
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                assert (await asyncio.wait_for(reader.readline(), 30)).startswith(b"HTTP/1.1 200")
                await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), 30)
            writer.write(b"GET / HTTP/1.1\r\nHost:")
            assert await asyncio.wait_for(reader.read(), 30) == b""
            writer.close()
        finally:
            server.should_exit = True
            await serving

    asyncio.run(work())
