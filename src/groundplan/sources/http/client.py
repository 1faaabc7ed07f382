"""One server, asked within a step's budget: three tries for what may pass, and no redirects."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import stamina
from pydantic import BaseModel, TypeAdapter, ValidationError

from groundplan.errors import DeadlineExceeded, GroundplanError, SourceError, TransientError, UsageError
from groundplan.sources.http.tracker import Access

try:
    import httpx
except ImportError as error:
    raise UsageError(
        "servers are asked by httpx: pip install 'groundplan[trackers]' or 'groundplan[tableau]'"
    ) from error

TRIES = 3
PASSING = (408, 429, 502, 503, 504)
MOST_BYTES = 32 * 1024 * 1024  # of one answer, once unpacked
Wire = TypeVar("Wire", bound=BaseModel)


@dataclass
class Budget:
    """What one step may still spend at a server."""

    until: float  # on the monotonic clock
    requests: int

    @property
    def seconds(self) -> float:
        return max(self.until - time.monotonic(), 0)

    def spend(self) -> None:
        if self.requests < 1:
            raise SourceError("the step has sent all the requests it may; ask for less, or raise `requests`")
        self.requests -= 1


@dataclass(frozen=True)
class Request:
    """`before` is called ahead of each try and may refuse it: for what a server counts by the hour."""

    method: Literal["GET", "POST"]
    path: str
    params: Mapping[str, str | int] = field(default_factory=dict)
    content: bytes | None = field(default=None, repr=False)  # JSON
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    before: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Reply:
    status: int
    content: bytes = field(repr=False)
    headers: httpx.Headers = field(repr=False)
    who: str

    def listed(self, model: type[Wire]) -> list[Wire]:
        """The items of a JSON list; what the server wrote stays out of the message."""
        return self._parsed(TypeAdapter(list[model]), f"a list of {model.__name__}")  # type: ignore[valid-type,no-any-return]

    def read(self, model: type[Wire]) -> Wire:
        """One JSON object, checked the same way."""
        return self._parsed(TypeAdapter(model), model.__name__)  # type: ignore[no-any-return]

    def _parsed(self, adapter: TypeAdapter[Any], wanted: str) -> Any:
        try:
            return adapter.validate_json(self.content, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        problem = f"{'.'.join(map(str, first['loc']))} {first['type']}".strip()
        raise SourceError(f"{self.who} did not send {wanted} ({problem}); is the url right?")


def refused(reply: Reply) -> GroundplanError:
    """In our own words: what an error page says may hold anything."""
    status, who = reply.status, reply.who
    if status in PASSING:
        return busy(reply, f"{who} is busy (HTTP {status})")
    match status:
        case 401:
            return SourceError(f"{who} refused the token (HTTP 401); set token_env or token_file to a valid one")
        case 403:
            return SourceError(f"{who} forbids this (HTTP 403); give the token the right to read")
        case 404:
            return SourceError(f"{who} is not there, or the token may not see it (HTTP 404); check url and projects")
        case _:
            return failed(reply)


def failed(reply: Reply) -> SourceError:
    """What is left when nothing more is known than the status."""
    if 300 <= reply.status < 400:
        where = f"{reply.who} points elsewhere (HTTP {reply.status})"
        return SourceError(f"{where}, where no token is sent; correct the url")
    return SourceError(f"{reply.who} failed (HTTP {reply.status}); see the server's own log")


def busy(reply: Reply, said: str) -> TransientError:
    """Worth another try, when the server says it is."""
    error = TransientError(said)
    error.retry_after = _seconds(reply.headers.get("retry-after"))
    return error


class Server:
    """Headers with a token travel to the configured address alone; `refused` says what a failure means."""

    def __init__(
        self,
        address: Access,
        headers: Mapping[str, str] | None = None,
        refused: Callable[[Reply], GroundplanError] = refused,
    ) -> None:
        self._address, self._refused = address, refused
        # Its debug log prints the headers of a response as they come, and a server may send a token back.
        logging.getLogger("httpcore").setLevel(logging.INFO)
        self._client = httpx.AsyncClient(
            headers={"Accept": "application/json", **(headers or {})},
            follow_redirects=False,
            trust_env=False,  # no proxy, and no password of a .netrc
            verify=httpx.create_ssl_context(),  # which does look at SSL_CERT_FILE
        )

    def budget(self, seconds: float) -> Budget:
        """Of one step; a part of its time is left for what is made of the answers."""
        return Budget(time.monotonic() + 0.9 * seconds, self._address.requests)

    async def get(self, path: str, params: Mapping[str, str | int], budget: Budget) -> Reply:
        return await self.ask(Request("GET", path, params), budget)

    async def ask(self, request: Request, budget: Budget) -> Reply:
        """The answer to one request; a failure says what to do about it."""
        late = f"{self._who(request)} did not answer in the step's time; ask for less, or allow more time"
        try:
            async with asyncio.timeout(budget.seconds):
                return await self._with_tries(request, budget)
        except TimeoutError:
            raise DeadlineExceeded(late) from None
        except TransientError as error:
            # not worth a try of the whole step: the runner would read every page again
            raise SourceError(f"{error}; try again later") from None

    async def close(self) -> None:
        await self._client.aclose()

    async def _with_tries(self, request: Request, budget: Budget) -> Reply:
        def wait(error: Exception) -> bool | float:
            """As long as the server asks for, unless that is past the deadline."""
            if not isinstance(error, TransientError):
                return False
            asked = error.retry_after
            return True if asked is None else asked if asked < budget.seconds else False

        async for attempt in stamina.retry_context(
            on=wait, attempts=TRIES, timeout=budget.seconds, wait_initial=0.1, wait_max=5.0, wait_jitter=0.1
        ):
            with attempt:
                budget.spend()
                request.before()
                return await self._send(request)
        raise AssertionError("stamina re-raises the last error")

    async def _send(self, request: Request) -> Reply:
        """The failure is raised outside the handler: the client's own error holds the request and its headers."""
        failure: GroundplanError
        seconds = self._address.request_seconds
        try:
            async with asyncio.timeout(seconds), self._stream(request, seconds) as response:
                reply = Reply(
                    response.status_code, await self._body(response, request), response.headers, self._who(request)
                )
                if response.is_success:
                    return reply
                failure = self._refused(reply)
        except (httpx.RequestError, TimeoutError) as error:
            failure = TransientError(f"{self._who(request)} cannot be reached ({type(error).__name__})")
        raise failure

    def _stream(self, request: Request, seconds: float) -> AbstractAsyncContextManager[httpx.Response]:
        typed = {} if request.content is None else {"Content-Type": "application/json"}
        return self._client.stream(
            request.method,
            self._address.url + request.path,
            params=dict(request.params),
            content=request.content,
            headers={**typed, **request.headers},
            timeout=seconds,
        )

    async def _body(self, response: httpx.Response, request: Request) -> bytes:
        content = bytearray()
        async for piece in response.aiter_bytes():
            content += piece
            if len(content) > MOST_BYTES:
                raise SourceError(f"{self._who(request)} sent more than {MOST_BYTES:,} bytes; ask for less")
        return bytes(content)

    def _who(self, request: Request) -> str:
        return f"{self._address.url}{request.path}"


def _seconds(header: str | None) -> float | None:
    """A Retry-After in seconds; as a date it is left to the usual waiting."""
    return float(header) if header and header.strip().isdigit() else None
