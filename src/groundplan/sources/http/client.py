"""One server, asked with GET: three tries for what may pass, no redirects, all within a step's budget."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import stamina
from pydantic import BaseModel, TypeAdapter, ValidationError

from groundplan.errors import DeadlineExceeded, GroundplanError, SourceError, TransientError, UsageError
from groundplan.sources.http.tracker import Tracker

try:
    import httpx
except ImportError as error:
    raise UsageError("a tracker needs the extra `trackers`: pip install 'groundplan[trackers]'") from error

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
class Reply:
    content: bytes
    headers: httpx.Headers
    who: str

    def listed(self, model: type[Wire]) -> list[Wire]:
        """The items of a JSON list; what the server wrote stays out of the message."""
        try:
            return TypeAdapter(list[model]).validate_json(self.content, strict=True)  # type: ignore[valid-type]
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        problem = f"{'.'.join(map(str, first['loc']))} {first['type']}".strip()
        raise SourceError(f"{self.who} did not send a list of {model.__name__} ({problem}); is the url right?")


class Server:
    """The token travels in one header, to the configured address alone."""

    def __init__(self, tracker: Tracker, header: str, scheme: str = "") -> None:
        self._tracker = tracker
        token = tracker.read_token()
        # Its debug log prints the headers of a response as they come, and a server may send a token back.
        logging.getLogger("httpcore").setLevel(logging.INFO)
        self._client = httpx.AsyncClient(
            headers={"Accept": "application/json"} | ({header: scheme + token} if token else {}),
            follow_redirects=False,
            trust_env=False,  # no proxy, and no password of a .netrc
            verify=httpx.create_ssl_context(),  # which does look at SSL_CERT_FILE
        )

    def budget(self, seconds: float) -> Budget:
        """Of one step; a part of its time is left for what is made of the answers."""
        return Budget(time.monotonic() + 0.9 * seconds, self._tracker.requests)

    async def get(self, path: str, params: Mapping[str, str | int], budget: Budget) -> Reply:
        """The answer to one request; a failure says what to do about it."""
        late = f"{self._who(path)} did not answer in the step's time; ask for a shorter period, or allow more time"
        try:
            async with asyncio.timeout(budget.seconds):
                return await self._with_tries(path, params, budget)
        except TimeoutError:
            raise DeadlineExceeded(late) from None
        except TransientError as error:
            # not worth a try of the whole step: the runner would read every page again
            raise SourceError(f"{error}; try again later") from None

    async def close(self) -> None:
        await self._client.aclose()

    async def _with_tries(self, path: str, params: Mapping[str, str | int], budget: Budget) -> Reply:
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
                return await self._send(path, params)
        raise AssertionError("stamina re-raises the last error")

    async def _send(self, path: str, params: Mapping[str, str | int]) -> Reply:
        """The failure is raised outside the handler: the client's own error holds the request and its headers."""
        failure: GroundplanError
        seconds = self._tracker.request_seconds
        try:
            async with (
                asyncio.timeout(seconds),
                self._client.stream("GET", self._tracker.url + path, params=dict(params), timeout=seconds) as response,
            ):
                if response.status_code == httpx.codes.OK:
                    return Reply(await self._body(response, path), response.headers, self._who(path))
                failure = self._refused(response, path)
        except (httpx.RequestError, TimeoutError) as error:
            failure = TransientError(f"{self._who(path)} cannot be reached ({type(error).__name__})")
        raise failure

    async def _body(self, response: httpx.Response, path: str) -> bytes:
        content = bytearray()
        async for piece in response.aiter_bytes():
            content += piece
            if len(content) > MOST_BYTES:
                raise SourceError(f"{self._who(path)} sent more than {MOST_BYTES:,} bytes; ask for a shorter period")
        return bytes(content)

    def _refused(self, response: httpx.Response, path: str) -> GroundplanError:
        """In our own words: what an error page says may hold anything."""
        status, who = response.status_code, self._who(path)
        if status in PASSING:
            busy = TransientError(f"{who} is busy (HTTP {status})")
            busy.retry_after = _seconds(response.headers.get("retry-after"))
            return busy
        match status:
            case 401:
                return SourceError(f"{who} refused the token (HTTP 401); set token_env or token_file to a valid one")
            case 403:
                return SourceError(f"{who} forbids this (HTTP 403); give the token the right to read")
            case 404:
                return SourceError(
                    f"{who} is not there, or the token may not see it (HTTP 404); check url and projects"
                )
            case _ if response.is_redirect:
                return SourceError(f"{who} points elsewhere (HTTP {status}), where no token is sent; correct the url")
            case _:
                return SourceError(f"{who} failed (HTTP {status}); see the server's own log")

    def _who(self, path: str) -> str:
        return f"{self._tracker.url}{path}"


def _seconds(header: str | None) -> float | None:
    """A Retry-After in seconds; as a date it is left to the usual waiting."""
    return float(header) if header and header.strip().isdigit() else None
