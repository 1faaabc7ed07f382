"""A server on loopback that computes its answers, and misbehaves on the calls that a test names."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from tests.patience import HANGS

Fault = Literal[
    "timeout",
    "reset",
    "half a body",
    "401",
    "403",
    "404",
    "408",
    "429",
    "429 after 0",
    "429 after 600",
    "500",
    "503",
    "bad JSON",
    "empty body",
    "a page of HTML",
    "the page before",
]


@dataclass(frozen=True)
class Request:
    path: str  # as it was sent, still encoded
    query: dict[str, list[str]]
    headers: dict[str, str]  # names in lower case

    def one(self, name: str) -> str | None:
        return self.query.get(name, [None])[-1]


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class RateLimit:
    """So many requests in each window of seconds; `tells` when to come again."""

    requests: int
    seconds: float
    tells: bool
    began: float = 0.0
    used: int = 0

    def refuses(self) -> bool:
        if time.monotonic() - self.began > self.seconds:
            self.began, self.used = time.monotonic(), 0
        self.used += 1
        return self.used > self.requests


@dataclass
class Served:
    """`fails` says by number, from 1, which calls meet the fault."""

    answer: Callable[[Request], Reply]
    fault: Fault | None = None
    fails: Callable[[int], bool] = lambda _: True
    limit: RateLimit | None = None
    before: Callable[[int], None] = lambda _: None  # what happens on the server before a call is answered
    slow: float = 0.0
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    most_at_once: int = 0
    at_once: int = 0
    last: Reply | None = None
    guard: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)  # the server is shut: hang no longer


@contextmanager
def serving(answer: Callable[[Request], Reply], **settings: object) -> Iterator[Served]:
    served = Served(answer, **settings)  # type: ignore[arg-type]
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(served))
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield served
    finally:
        served.over.set()
        server.shutdown()
        server.server_close()


def every(number: int) -> Callable[[int], bool]:
    return lambda call: call % number == 0


def only(number: int) -> Callable[[int], bool]:
    return lambda call: call == number


def _handler(served: Served) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            with served.guard:
                parts = urlsplit(self.path)
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(parts.path, parse_qs(parts.query, keep_blank_values=True), headers)
                served.requests.append(request)
                number = len(served.requests)
                served.at_once += 1
                served.most_at_once = max(served.most_at_once, served.at_once)
            time.sleep(served.slow)
            served.before(number)
            self._answer(request, number)
            with served.guard:
                served.at_once -= 1

        def _answer(self, request: Request, number: int) -> None:
            if served.limit and served.limit.refuses():
                told = {"Retry-After": str(max(round(served.limit.seconds), 1))} if served.limit.tells else {}
                self._send(Reply(429, b'{"message":{"error":"requested too many times"}}', told))
            elif served.fault and served.fails(number):
                self._misbehave(served.fault, request)
            else:
                served.last = served.answer(request)
                self._send(served.last)

        def _misbehave(self, fault: Fault, request: Request) -> None:
            whole = served.answer(request)
            match fault:
                case "timeout":
                    served.over.wait(HANGS)
                    self.close_connection = True
                case "reset":
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                    self.close_connection = True
                case "half a body":
                    self._send(Reply(200, whole.body[: len(whole.body) // 2]), promised=len(whole.body))
                    self.close_connection = True
                case "429 after 0" | "429 after 600":
                    self._send(Reply(429, b"{}", {"Retry-After": fault.rpartition(" ")[2]}))
                case "bad JSON":
                    self._send(Reply(200, whole.body[:-2], whole.headers))
                case "empty body":
                    self._send(Reply(200, b"", whole.headers))
                case "a page of HTML":
                    self._send(Reply(200, b"<html>CANARY please sign in</html>"))
                case "the page before":
                    self._send(served.last or whole)
                case status:
                    self._send(Reply(int(status), b'{"message":"CANARY","error_description":"CANARY"}'))

        def _send(self, reply: Reply, promised: int | None = None) -> None:
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply.body) if promised is None else promised))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet: the tests look at `requests`."""

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True  # the client went away first

    return Handler
