"""An HTTP client for one server, limited by a step's budget: transient failures are retried, redirects are refused."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import stamina
from pydantic import BaseModel, TypeAdapter, ValidationError

from groundplan.errors import DeadlineExceeded, GroundplanError, SourceError, TransientError, Unavailable, UsageError
from groundplan.sources.http.tracker import Access

try:
    import httpx
except ImportError as error:
    raise UsageError(
        "sources behind HTTP need httpx: pip install 'groundplan[trackers]' or 'groundplan[tableau]'"
    ) from error

ATTEMPTS = 3
TRANSIENT = (408, 429, 502, 503, 504)
MOST_BYTES = 32 * 1024 * 1024  # of one response
Wire = TypeVar("Wire", bound=BaseModel)


@dataclass
class Budget:
    """The time and the requests that one step may still use."""

    until: float  # on the monotonic clock
    requests: int

    @property
    def seconds(self) -> float:
        return max(self.until - time.monotonic(), 0)

    def spend(self) -> None:
        if self.requests < 1:
            raise SourceError("the step has used up its requests; ask for less, or raise `requests`")
        self.requests -= 1


@dataclass(frozen=True)
class Request:
    """`before` is called before each attempt and may raise, to enforce a rate limit."""

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
        """The items of a JSON list; error messages do not quote the response."""
        return self._parsed(TypeAdapter(list[model]), f"a list of {model.__name__}")  # type: ignore[valid-type,no-any-return]

    def read(self, model: type[Wire]) -> Wire:
        """One JSON object, validated the same way."""
        return self._parsed(TypeAdapter(model), model.__name__)  # type: ignore[no-any-return]

    def _parsed(self, adapter: TypeAdapter[Any], wanted: str) -> Any:
        try:
            return adapter.validate_json(self.content, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        problem = f"{'.'.join(map(str, first['loc']))} {first['type']}".strip()
        raise SourceError(f"{self.who} did not send {wanted} ({problem}); is the url right?")


def refused(reply: Reply) -> GroundplanError:
    """The error for a failed request; it does not quote the response, which may contain anything."""
    status, who = reply.status, reply.who
    if status in TRANSIENT:
        return busy(reply, f"{who} is busy (HTTP {status})")
    match status:
        case 401:
            return SourceError(f"{who} refused the token (HTTP 401); set token_env or token_file to a valid one")
        case 403:
            return SourceError(f"{who} forbids this (HTTP 403); give the token read access")
        case 404:
            return SourceError(f"{who} was not found, or the token has no access (HTTP 404); check url and projects")
        case _:
            return failed(reply)


def failed(reply: Reply) -> SourceError:
    """The error when only the status is known."""
    if 300 <= reply.status < 400:
        redirect = f"{reply.who} redirects to another address (HTTP {reply.status})"
        return SourceError(f"{redirect}, where no token is sent; correct the url")
    return SourceError(f"{reply.who} failed (HTTP {reply.status}); see the server's own log")


def busy(reply: Reply, message: str) -> TransientError:
    """A retryable error, with the delay that the server asks for."""
    error = TransientError(message)
    error.retry_after = _seconds(reply.headers.get("retry-after"))
    return error


class Server:
    """Sends requests only to the configured address; `refused` turns a failed reply into an error."""

    def __init__(
        self,
        address: Access,
        headers: Mapping[str, str] | None = None,
        refused: Callable[[Reply], GroundplanError] = refused,
    ) -> None:
        self._address, self._refused = address, refused
        # httpcore logs response headers at debug level, and a server may send the token back in one.
        logging.getLogger("httpcore").setLevel(logging.INFO)
        self._client = httpx.AsyncClient(
            headers={"Accept": "application/json", "Accept-Encoding": "identity", **(headers or {})},
            follow_redirects=False,
            trust_env=False,  # no proxy, and no password from .netrc
            verify=httpx.create_ssl_context(),  # this one does read SSL_CERT_FILE
        )

    def budget(self, seconds: float) -> Budget:
        """The budget of one step; part of its time is reserved for processing the responses."""
        return Budget(time.monotonic() + 0.9 * seconds, self._address.requests)

    async def get(self, path: str, params: Mapping[str, str | int], budget: Budget) -> Reply:
        return await self.ask(Request("GET", path, params), budget)

    async def ask(self, request: Request, budget: Budget) -> Reply:
        """Send one request, with retries."""
        late = f"{self._who(request)} did not answer in the step's time; ask for less, or allow more time"
        try:
            async with asyncio.timeout(budget.seconds):
                return await self._with_retries(request, budget)
        except TimeoutError:
            raise DeadlineExceeded(late) from None
        except TransientError as error:
            # not a TransientError: on one, the runner would retry the whole step and read every page again
            raise Unavailable(f"{error}; try again later") from None

    async def close(self) -> None:
        await self._client.aclose()

    async def _with_retries(self, request: Request, budget: Budget) -> Reply:
        def wait(error: Exception) -> bool | float:
            """The Retry-After of the server; False, for no retry, if that is past the deadline."""
            if not isinstance(error, TransientError):
                return False
            after = error.retry_after
            return True if after is None else after if after < budget.seconds else False

        async for attempt in stamina.retry_context(
            on=wait, attempts=ATTEMPTS, timeout=budget.seconds, wait_initial=0.1, wait_max=5.0, wait_jitter=0.1
        ):
            with attempt:
                budget.spend()
                request.before()
                return await self._send(request)
        raise AssertionError("stamina re-raises the last error")

    async def _send(self, request: Request) -> Reply:
        """Raises outside the `except` block: httpx's error, which holds the request headers, must not be chained."""
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
        """The body. Compression is refused: kilobytes of it can become gigabytes."""
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise SourceError(f"{self._who(request)} compresses its answers although the request forbids it")
        content = bytearray()
        async for piece in response.aiter_raw():
            content += piece
            if len(content) > MOST_BYTES:
                raise SourceError(f"{self._who(request)} sent more than {MOST_BYTES:,} bytes; ask for less")
        return bytes(content)

    def _who(self, request: Request) -> str:
        return f"{self._address.url}{request.path}"


def _seconds(header: str | None) -> float | None:
    """A Retry-After given in seconds; None for a date, so the usual backoff applies."""
    return float(header) if header and re.fullmatch(r"\s*[0-9]{1,9}\s*", header) else None
