"""The session of a browser: its cookie, which requests may use it, and /v1/session, which tells of it and ends it.

A browser sends the cookie with requests that pages of other sites make, too (CSRF). So a request that has it must be
of our own pages: the browser says so in the headers `Origin` and `Sec-Fetch-Site`, which pages cannot set.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, Field
from starlette.requests import HTTPConnection

from groundplan.service.problems import ForeignOrigin
from groundplan.settings import SignInSettings
from groundplan.state.sessions import HOUR, Session, Sessions

SESSION = "/v1/session"
SIGN_IN = "/sign-in"
COOKIE = "groundplan-session"
READING = ("GET", "HEAD")


class SignInOffer(BaseModel):
    name: str = Field(description="Of the issuer, for the button.")
    url: str = Field(description="Where a sign-in begins; `?next=` names the page to go on with.")


class SessionState(BaseModel):
    """Whether somebody is signed in in this browser, and whether one can sign in."""

    person: str | None = None
    sign_in: SignInOffer | None = None


class BrowserSessions:
    def __init__(self, settings: SignInSettings, issuer: str, store: Sessions) -> None:
        self._settings, self._store = settings, store
        self._is_secure = settings.url.startswith("https://")
        self.offer = SignInOffer(name=settings.name or urlsplit(issuer).hostname or "", url=f"{settings.url}{SIGN_IN}")

    async def find(self, request: HTTPConnection) -> Session | None:
        """Whose session a request uses; None if it has none, ForeignOrigin if it is not of our pages."""
        token = self._token(request)
        if token and not self._is_own(request):
            raise ForeignOrigin("requests from web pages of other origins are refused")
        return await self._store.find(token) if token else None

    def cookie(self, name: str) -> str:
        """The prefix makes browsers refuse a cookie that another host of the same domain sets."""
        return f"__Host-{name}" if self._is_secure else name

    async def start(self, request: Request, response: Response, session: Session) -> None:
        """Sign this person in. The token is new, whatever the browser had before."""
        token = await self._store.start(session, self._settings.hours, self._token(request))
        self.put(response, COOKIE, token, self._settings.hours * HOUR)

    async def end(self, request: Request, response: Response) -> None:
        """Sign out, here and at every server."""
        if await self.find(request):
            await self._store.end(self._token(request))
        self.put(response, COOKIE, "", 0)

    def put(self, response: Response, name: str, value: str, seconds: float) -> None:
        """Set a cookie; with 0 seconds the browser forgets it."""
        response.set_cookie(
            self.cookie(name), value, int(seconds), secure=self._is_secure, httponly=True, samesite="lax"
        )

    def _token(self, request: HTTPConnection) -> str:
        return request.cookies.get(self.cookie(COOKIE), "")

    def _is_own(self, request: HTTPConnection) -> bool:
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
        if origin not in (None, self._settings.url):
            return False
        if request.scope["method"] in READING:
            return site in (None, "same-origin", "none")  # none: typed or bookmarked
        return site == "same-origin" or (site is None and origin is not None)


def add_session(app: FastAPI, sessions: BrowserSessions | None) -> None:
    @app.get(SESSION)
    async def get_session(request: Request) -> SessionState:
        """Who is signed in in this browser, and how one signs in. It needs no key."""
        if sessions is None:
            return SessionState()
        found = await sessions.find(request)
        return SessionState(person=found.name if found else None, sign_in=sessions.offer)

    @app.delete(SESSION, status_code=204)
    async def delete_session(request: Request, response: Response) -> None:
        """Sign out. Requests with this session are refused from now on."""
        if sessions:
            await sessions.end(request, response)
