"""Signs in on the first request, and again when the sign-in has expired."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from groundplan.errors import WorldError
from groundplan.sources.http.client import Budget, Reply, Request, Server
from groundplan.sources.tableau.models import SignedIn
from groundplan.sources.tableau.refusals import EXPIRED, TableauError
from groundplan.sources.tableau.site import Site

SIGN_OUT_SECONDS = 5.0


@dataclass(frozen=True)
class SignIn:
    """`rest` is the path of the site in the REST API."""

    rest: str
    token: str = field(repr=False)

    @property
    def headers(self) -> dict[str, str]:
        return {"X-Tableau-Auth": self.token}


class Session:
    """One sign-in for all steps: a second one with the same token would invalidate the first."""

    def __init__(self, site: Site, server: Server) -> None:
        self._site, self._server = site, server
        self._signed: SignIn | None = None
        self._signing = asyncio.Lock()

    async def ask(self, request: Callable[[SignIn], Request], budget: Budget) -> Reply:
        signed = await self._sign_in(budget, None)
        try:
            return await self._server.ask(request(signed), budget)
        except TableauError as error:
            if error.code != EXPIRED:
                raise
        signed = await self._sign_in(budget, signed)
        return await self._server.ask(request(signed), budget)

    async def close(self) -> None:
        signed, self._signed = self._signed, None
        if signed:
            path = f"{self._api}/auth/signout"
            with suppress(WorldError):  # a failed sign-out is harmless: the sign-in expires
                await self._server.ask(
                    Request("POST", path, headers=signed.headers), self._server.budget(SIGN_OUT_SECONDS)
                )
        await self._server.close()

    async def _sign_in(self, budget: Budget, expired: SignIn | None) -> SignIn:
        """The current sign-in, or a new one if it is the expired one; concurrent callers share the new one."""
        async with self._signing:
            if self._signed is None or self._signed is expired:
                self._signed = None
                self._signed = await self._signed_in(budget)
            return self._signed

    async def _signed_in(self, budget: Budget) -> SignIn:
        credentials = {**self._site.read_credentials(), "site": {"contentUrl": self._site.site}}
        content = json.dumps({"credentials": credentials}).encode()
        reply = await self._server.ask(Request("POST", f"{self._api}/auth/signin", content=content), budget)
        given = reply.read(SignedIn).credentials
        return SignIn(f"{self._api}/sites/{given.site.id}", given.token)

    @property
    def _api(self) -> str:
        return f"/api/{self._site.api_version}"
