"""Who may call: checked before a request is read.

With keys, the bearer key or token names the tenant, or the session of a browser. Without keys, the service is for one
person on this machine: a web page that the person visits must not reach it, so the Host must be loopback (DNS
rebinding) and the Origin its own (CSRF).
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response

from groundplan.errors import GroundplanError
from groundplan.service.browser_sessions import SESSION, SIGN_IN, BrowserSessions
from groundplan.service.code_flow import CALLBACK
from groundplan.service.oidc import Caller, TokenRefused, Tokens
from groundplan.service.pages import is_page
from groundplan.service.problems import of_error, problem
from groundplan.settings import LOOPBACK
from groundplan.state.audit import ONE_PERSON
from groundplan.state.keys import PREFIX, Keys, Role

OPEN_TO_ALL = ("/livez", "/readyz", SESSION, SIGN_IN, CALLBACK)
ADMINISTERED = ("/v1/keys", "/v1/audit", "/v1/reviews", "/v1/rollout")
METRICS = "/metrics"
UPLOADS, COLUMNS = "/v1/uploads", "/v1/column-settings"
MOST_BYTES = 1_000_000  # of a request without a file
BODY_SECONDS, UPLOAD_SECONDS = 30.0, 600.0  # in which a body, or a file, has to arrive
MANY = 1_000_000  # no limit
MINUTE = 60.0
MOST_TENANTS = 10_000  # whose requests are counted

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class TooLarge(Exception):
    """The body has more bytes than allowed."""


class TooSlow(Exception):
    """The body did not arrive in time."""


class Access:
    """ASGI middleware that sets `state.tenant` and `state.actor`, or answers with a problem."""

    def __init__(
        self,
        app: App,
        keys: Keys | None,
        tenant: str,
        tokens: Tokens | None = None,
        sessions: BrowserSessions | None = None,
        upload_bytes: int = MOST_BYTES,
        minute_requests: int = MANY,
    ) -> None:
        self._rate = Rate(minute_requests)
        self._app, self._keys, self._tokens, self._sessions = app, keys, tokens, sessions
        self._tenant, self._upload_bytes = tenant, upload_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = await self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        started = False

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            started = True
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Cache-Control", "no-store")  # nobody else's browser keeps it
                headers.setdefault("X-Content-Type-Options", "nosniff")  # text of data is never taken for a page
            await send(message)

        most = self._most(scope)
        try:
            await self._app(scope, _bounded(receive, most, time.monotonic() + _patience(most)), sending)
        except TooLarge:
            if not started:
                await self._too_large(scope)(scope, receive, send)
        except TooSlow:
            if not started:
                await problem(408, "too-slow", "the request did not arrive in time; send it again")(
                    scope, receive, send
                )

    def _most(self, scope: Scope) -> int:
        """The bytes that a request may have: only a file may be large."""
        return self._upload_bytes if (scope["method"], scope["path"]) == ("POST", UPLOADS) else MOST_BYTES

    def _too_large(self, scope: Scope) -> Response:
        what = "a file" if scope["path"] == UPLOADS else "a request"
        return problem(413, "too-large", f"{what} has at most {self._most(scope):,} bytes")

    async def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        scope.setdefault("state", {}).update(tenant=self._tenant, actor=ONE_PERSON, role="admin")
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self._most(scope):
            return self._too_large(scope)
        if self._keys is None:
            return _from_elsewhere(headers, is_page(scope["path"]))
        if scope["path"] in OPEN_TO_ALL or is_page(scope["path"]):
            return None
        try:
            found = await self._caller(self._keys, HTTPConnection(scope))
        except TokenRefused as error:
            return _unknown("token", str(error), ', error="invalid_token"')
        except GroundplanError as error:
            return of_error(error)
        if found is None:
            return _unknown(
                "key", f"{'sign in, or ' if self._sessions else ''}send a key: `Authorization: Bearer gp_…`"
            )
        if not _may(found.role, scope["path"], scope["method"]):
            return problem(403, "role", f"a key with the role {found.role!r} may not do this")
        scope["state"].update(tenant=found.tenant, actor=found.actor, role=found.role)
        return self._too_often(found.tenant)

    def _too_often(self, tenant: str) -> Response | None:
        wait = self._rate.wait(tenant)
        if not wait:
            return None
        said = f"at most {self._rate.most:,} requests a minute; try again in {wait:.0f} s"
        return problem(429, "too-often", said, {"Retry-After": f"{wait:.0f}"})

    async def _caller(self, keys: Keys, request: HTTPConnection) -> Caller | None:
        scheme, _, sent = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return await self._bearer(keys, sent.strip())
        session = await self._sessions.find(request) if self._sessions else None
        return Caller(session.tenant, session.role, session.actor) if session else None

    async def _bearer(self, keys: Keys, sent: str) -> Caller | None:
        if self._tokens and not sent.startswith(PREFIX):
            return await self._tokens.verify(sent)
        key = await keys.find(sent)
        return Caller(key.tenant, key.role, key.id) if key else None


def _unknown(code: str, detail: str, more: str = "") -> Response:
    return problem(401, code, detail, {"WWW-Authenticate": f'Bearer realm="groundplan"{more}'})


def _may(role: Role, path: str, method: str) -> bool:
    """The metrics tell of all tenants, so a key that reads them is made by the operator and does nothing else."""
    if role == "metrics" or path == METRICS:
        return role == "metrics" and path == METRICS
    if role == "read" and (path.endswith(("/approval", "/resume")) or (path == COLUMNS and method != "GET")):
        return False
    return role == "admin" or not any(path == one or path.startswith(f"{one}/") for one in ADMINISTERED)


def _from_elsewhere(headers: Headers, page: bool) -> Response | None:
    """A link from elsewhere may open a page, which holds no data."""
    host = headers.get("host", "")
    try:
        named = urlsplit(f"//{host}").hostname
    except ValueError:
        named = None
    if named not in LOOPBACK:
        return problem(421, "host", "this service answers to 127.0.0.1 and localhost only")
    if page:
        return None
    origin = headers.get("origin")
    if (origin is not None and origin != f"http://{host}") or headers.get("sec-fetch-site") in (
        "cross-site",
        "same-site",
    ):
        return problem(403, "origin", "requests from web pages of other origins are refused")
    return None


class Rate:
    """Requests of each tenant to this process: so many at once, and as many again every minute."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # by tenant: what is left, and since when

    def wait(self, tenant: str) -> float:
        """Take one; 0.0, or the seconds until there is one."""
        now = time.monotonic()
        left, since = self._left.pop(tenant, (float(self.most), now))
        left = min(left + (now - since) * self.most / MINUTE, self.most)
        self._left[tenant] = (max(left - 1, 0.0) if left >= 1 else left), now
        while len(self._left) > MOST_TENANTS:
            self._left.popitem(last=False)
        return 0.0 if left >= 1 else max((1 - left) * MINUTE / self.most, 1.0)


def _patience(most: int) -> float:
    """Seconds in which a body of at most so many bytes has to arrive."""
    return BODY_SECONDS if most <= MOST_BYTES else UPLOAD_SECONDS


def _bounded(receive: Receive, most: int, until: float) -> Receive:
    read, whole = 0, False

    async def bounded() -> MutableMapping[str, Any]:
        nonlocal read, whole
        if whole:  # then it waits for the client to leave, which may take as long as it likes
            return await receive()
        try:
            async with asyncio.timeout(max(until - time.monotonic(), 0.0)):
                message = await receive()
        except TimeoutError as error:
            raise TooSlow from error
        read, whole = read + len(message.get("body", b"")), not message.get("more_body", False)
        if read > most:
            raise TooLarge
        return message

    return bounded
