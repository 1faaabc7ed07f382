"""The server of the double: what it was sent stays readable, and it misbehaves on the calls that a test names."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from tests.patience import HANGS
from tests.sources.tableau.double.errors import refused

Fault = Literal[
    "408000",
    "429000",
    "429000 after 0",
    "429000 after 1",
    "429000 after 600",
    "403800",
    "500000",
    "503800",
    "503801",
    "504000",
    "400803",
    "400804",
    "slow",
    "timeout",
    "reset",
    "half a body",
    "empty body",
    "bad JSON",
    "a page of HTML",
    "wrong types",
    "error half way",
    "expired token",
    "vanished data source",
]


@dataclass(frozen=True)
class Request:
    method: str
    path: str  # as it was sent, still encoded
    query: dict[str, list[str]]
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def endpoint(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2]

    def one(self, name: str) -> str | None:
        return self.query.get(name, [None])[-1]


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes
    type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Trouble:
    """`skip` calls of the endpoint go well first, then `times` meet the fault (None: all that follow)."""

    fault: Fault
    endpoint: str
    skip: int
    times: int | None

    def meets(self, request: Request) -> bool:
        if request.endpoint != self.endpoint or self.times == 0:
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times = None if self.times is None else self.times - 1
        return True


@dataclass(kw_only=True)
class Served(ABC):
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    slow: float = 0.3  # seconds that a slow answer takes
    guard: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)  # the server is shut: hang no longer

    @abstractmethod
    def answer(self, request: Request) -> Reply: ...

    @abstractmethod
    def strike(self, fault: Fault) -> None:
        """What a fault changes on the server before it answers."""

    def fault(self, fault: Fault, on: str = "query-datasource", skip: int = 0, times: int | None = None) -> None:
        """From now on, calls of the endpoint (the last part of its path) meet the fault."""
        self.troubles.append(Trouble(fault, on, skip, times))

    def count(self, endpoint: str) -> int:
        return len(self.bodies(endpoint))

    def bodies(self, endpoint: str) -> list[bytes]:
        """What was sent to an endpoint, byte for byte."""
        return [request.body for request in self.requests if request.endpoint == endpoint]

    def met(self, request: Request) -> Fault | None:
        with self.guard:
            self.requests.append(request)
            return next((trouble.fault for trouble in self.troubles if trouble.meets(request)), None)


@contextmanager
def serving(served: Served) -> Iterator[None]:
    """What breaks inside the server breaks the test that called it."""
    server = _Server(("127.0.0.1", 0), _handler(served))
    served.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield
    finally:
        served.over.set()
        server.shutdown()
        server.server_close()
    for broken in server.broken:
        raise broken


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.broken: list[BaseException] = []

    def handle_error(self, request: object, client_address: object) -> None:
        broken = sys.exception()
        assert broken is not None
        self.broken.append(broken)


def _handler(served: Served) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle_one(self) -> None:
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length") or 0))
            query = parse_qs(parts.query, keep_blank_values=True)
            request = Request(self.command, parts.path, query, headers, body)
            fault = served.met(request)
            if fault is None:
                self._send(served.answer(request))
            else:
                self._misbehave(fault, request)

        def __getattr__(self, name: str) -> Any:
            if name.startswith("do_"):  # whatever the method: what it may be is the service's to say
                return self.handle_one
            raise AttributeError(name)

        def _misbehave(self, fault: Fault, request: Request) -> None:
            if fault[0].isdigit():
                self._send(_coded(fault))
                return
            if fault in ("timeout", "reset"):
                self._break_off(fault)
                return
            if fault == "slow":
                time.sleep(served.slow)
            served.strike(fault)
            whole = served.answer(request)
            if whole.status != 200:
                self._send(whole)
            elif fault == "half a body":
                self._send(Reply(whole.status, whole.body[: len(whole.body) // 2]), promised=len(whole.body))
                self.close_connection = True
            else:
                self._send(_spoilt(fault, whole))

        def _break_off(self, fault: Fault) -> None:
            if fault == "timeout":
                served.over.wait(HANGS)
            else:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            self.close_connection = True

        def _send(self, reply: Reply, promised: int | None = None) -> None:
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.type)
            self.send_header("Content-Length", str(len(reply.body) if promised is None else promised))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet: the tests look at `requests`."""

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True  # the client went away first

    return Handler


def _coded(fault: Fault) -> Reply:
    code, _, seconds = fault.partition(" after ")
    said = refused(code, "CANARY")
    headers = {"Retry-After": seconds} if seconds else {}
    return Reply(said.status, json.dumps(said.body()).encode(), headers=headers)


def _spoilt(fault: Fault, whole: Reply) -> Reply:
    match fault:
        case "bad JSON":
            return Reply(whole.status, whole.body[:-2])
        case "empty body":
            return Reply(whole.status, b"")
        case "a page of HTML":
            return Reply(200, b"<html>CANARY please sign in</html>", "text/html")
        case "wrong types":
            return Reply(whole.status, json.dumps({"data": _mistyped(json.loads(whole.body))}).encode())
        case "error half way":
            data = json.loads(whole.body)["data"]
            broken = {"data": data[: len(data) // 2], "error": refused("500000", "CANARY").body()}
            return Reply(200, json.dumps(broken).encode())
        case _:
            return whole


def _mistyped(body: dict[str, Any]) -> list[Any]:
    """Numbers become text and text becomes numbers."""
    return [{key: 7 if isinstance(value, str) else str(value) for key, value in row.items()} for row in body["data"]]
