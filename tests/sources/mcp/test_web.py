"""A server at an address: its answers are bounded, its redirects not followed, and a token goes nowhere else."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.patience import HANGS, SOON
from tests.sources.mcp.calling import facts, opened, outcome, served_shop
from tests.sources.mcp.hostile_server import CALLS, CANARY, SIZE, Hostile

from groundplan.errors import SourceError, ToolError, UsageError
from groundplan.sources.mcp.source import Mcp

TOKEN = "mcp-token-7f3a9c"
SECONDS = 2.0
Answer = tuple[int, dict[str, str], bytes]
JSON = {"Content-Type": "application/json"}


@dataclass
class Served:
    """What came in: method, path and headers of each request."""

    url: str = ""
    session: int = 1
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


@contextmanager
def serving(call: Callable[[dict[str, Any]], Answer], folder: Path) -> Iterator[Served]:
    """A server that greets and lists as an ordinary one, and answers calls as the test says."""
    hostile = Hostile("over HTTP", folder / "journal")
    hostile.note("start")
    served = Served()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self._note()
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.headers.get("Mcp-Session-Id", str(served.session)) != str(served.session):
                self._send(404, {}, b"")
            elif message.get("method") == "tools/call":
                hostile.note(f"call {message['params']['name']}")
                self._send(*call(message))
            elif "id" not in message:
                self._send(202, {}, b"")
            else:
                self._send(200, {**JSON, "Mcp-Session-Id": str(served.session)}, b"".join(hostile.answers(message)))

        def do_GET(self) -> None:
            self._note()
            self._send(405, {}, b"")

        def do_DELETE(self) -> None:
            self.do_GET()

        def _note(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            served.requests.append((self.command, self.path, headers))

        def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()


def result(message: dict[str, Any], text: str) -> bytes:
    content = {"content": [{"type": "text", "text": text}]}
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": content}).encode()


def event(body: bytes) -> bytes:
    return b"event: message\ndata: " + body + b"\n\n"


def hangs(_: dict[str, Any]) -> Answer:
    time.sleep(HANGS)
    return 200, JSON, b""


STREAM = {"Content-Type": "text/event-stream"}
FAULTS: dict[str, Callable[[dict[str, Any]], Answer]] = {
    "10 MB": lambda message: (200, JSON, result(message, "x" * SIZE)),
    "10 MB in a stream": lambda message: (200, STREAM, event(result(message, "x" * SIZE))),
    "a stream of notifications": lambda _: (
        200,
        STREAM,
        event(b'{"jsonrpc":"2.0","method":"notifications/x"}') * 50_000,
    ),
    "a stream that ends": lambda _: (200, STREAM, b": nothing\n\n"),
    "a bomb": lambda m: (200, {**JSON, "Content-Encoding": "gzip"}, gzip.compress(result(m, "x" * SIZE))),
    "no JSON": lambda _: (200, JSON, b"{" + CANARY.encode()),
    "a page": lambda _: (200, {"Content-Type": "text/html"}, CANARY.encode()),
    "invalid UTF-8": lambda m: (200, JSON, result(m, "HERE").replace(b"HERE", b"\xff")),
    "accepted": lambda _: (202, {}, b""),
    "500": lambda _: (500, {}, CANARY.encode()),
    "404": lambda _: (404, {}, CANARY.encode()),
    "401": lambda _: (401, {}, CANARY.encode()),
    "hangs": hangs,
}


@pytest.mark.requirement("R40")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_typed_and_in_time_and_a_change_is_unknown(fault: str, tmp_path: Path) -> None:
    with serving(FAULTS[fault], tmp_path) as served, opened(served.url) as source:
        for tool in ("shop.look", "shop.change"):
            begun = time.monotonic()
            ended = outcome(source, tool, SECONDS, word="x")
            assert time.monotonic() - begun < SOON
            assert ended.issue is not None
            assert "CANARY" not in ended.model_dump_json()
            if tool == "shop.look":
                assert ended.issue.code in ("running/tool", "running/deadline")
            else:
                assert ended.issue.code == "running/unknown-effect"
                assert "is not known" in ended.issue.problem
    assert (tmp_path / "journal").read_text().count("call change") == 1
    assert (tmp_path / "journal").read_text().count("call look") <= 2


@pytest.mark.parametrize("fault", ["10 MB", "10 MB in a stream"])
def test_what_is_too_large_is_said_to_be(fault: str, tmp_path: Path) -> None:
    with (
        serving(FAULTS[fault], tmp_path) as served,
        opened(served.url) as source,
        pytest.raises(ToolError, match="sent more than 1,000,000 bytes"),
    ):
        facts(source, "shop.look")


def test_a_token_comes_from_where_it_is_kept_and_is_shown_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    said = []
    for fault in ("401", "500", "a page"):
        (tmp_path / fault).mkdir()
        with serving(FAULTS[fault], tmp_path / fault) as served, opened(served.url, token_env="SHOP_TOKEN") as source:
            said.append(outcome(source, "shop.look", SECONDS).model_dump_json())
            said.append(str([vars(source), source.notes, source.changes()]))
    assert TOKEN not in "".join(said)
    assert TOKEN not in caplog.text


def test_no_stream_is_opened_that_nobody_waits_for(tmp_path: Path) -> None:
    with serving(lambda m: (200, JSON, result(m, "done")), tmp_path) as served, opened(served.url) as source:
        assert facts(source, "shop.look").items[0].text == "done"
    assert {method for method, _, _ in served.requests} == {"POST", "DELETE"}
    assert {headers["accept-encoding"] for _, _, headers in served.requests} == {"identity"}


@pytest.mark.parametrize("behaviour", ["gives instructions", "sends wrong types", "sends huge numbers"])
def test_answers_are_read_as_over_stdio(behaviour: str, tmp_path: Path) -> None:
    hostile = Hostile(behaviour, tmp_path / "journal")

    def call(message: dict[str, Any]) -> Answer:
        return 200, JSON, b"".join(CALLS[behaviour](hostile, message))

    with serving(call, tmp_path) as served, opened(served.url) as source:
        ended = outcome(source, "shop.look", SECONDS)
    assert (ended.status == "finished") == (behaviour == "gives instructions")


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(SourceError, match=r"http://127\.0\.0\.1:9/mcp cannot be reached .*is the server running"):
        Mcp.open({"mcp": "http://127.0.0.1:9/mcp"}, "shop")


@pytest.mark.requirement("R43")
def test_a_server_that_forgot_the_session_is_asked_on_a_new_one(tmp_path: Path) -> None:
    with serving(lambda m: (200, JSON, result(m, "done")), tmp_path) as served, opened(served.url) as source:
        for tool in ("shop.look", "shop.change"):
            served.session += 1
            assert facts(source, tool).items[0].text == "done"
    assert (tmp_path / "journal").read_text().count("call ") == 2


def test_nothing_is_sent_to_a_server_that_has_gone(tmp_path: Path) -> None:
    with served_shop(tmp_path / "shop.sqlite") as address:
        source = Mcp.open({"mcp": address}, "shop")
        assert facts(source, "shop.find_customer", id=1).found
    with pytest.raises(SourceError, match="cannot be reached"):
        facts(source, "shop.find_customer", id=1)
    with pytest.raises(SourceError, match="cannot be reached"):
        facts(source, "shop.send_email", to="a", subject="b", body="c")


@pytest.mark.parametrize("address", ["http://user:pass@127.0.0.1/mcp", "http://127.0.0.1/mcp?token=x"])
def test_an_address_holds_no_secret(address: str) -> None:
    with pytest.raises(UsageError) as raised:
        Mcp.open({"mcp": address}, "shop")
    assert "pass@" not in str(raised.value)
    assert "token=x" not in str(raised.value)
