"""The authorization code flow with PKCE: where a browser is sent, and whom the issuer names when it comes back."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import quote_plus, urlencode

from groundplan.errors import GroundplanError
from groundplan.service import oidc
from groundplan.service.oidc import IssuerUnavailable, Tokens
from groundplan.settings import SignInSettings, is_safe_address, read_secret
from groundplan.state.sessions import Session

CALLBACK = "/sign-in/callback"
AT_ONCE = 16  # codes that are exchanged at the same time; strangers can send false ones
UNAVAILABLE = "the issuer cannot be reached now"


class Pending(NamedTuple):
    """A sign-in that has begun. The browser keeps it in a cookie, so any server can finish it."""

    state: str
    nonce: str
    verifier: str
    page: str  # where the person goes on


class SignInFailed(GroundplanError):
    """The person is not signed in; the message says why, and quotes nothing that the issuer sent."""

    def __init__(self, kind: Literal["expired", "declined", "refused"], why: str) -> None:
        super().__init__(why)
        self.kind = kind


class CodeFlow:
    def __init__(self, settings: SignInSettings, issuer: str, tokens: Tokens) -> None:
        self._settings, self._issuer, self._tokens = settings, issuer, tokens
        self._secret = read_secret(settings.client_secret_env, None, "client_secret", "client secret")
        self._exchanging = asyncio.Semaphore(AT_ONCE)
        self._redirect = f"{settings.url}{CALLBACK}"

    async def begin(self, page: str) -> tuple[Pending, str]:
        """A new sign-in, and the address at the issuer to which the browser goes."""
        endpoint = await self._endpoint("authorization_endpoint")
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        pending = Pending(state, nonce, verifier, page)
        asked = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self._redirect,
            "scope": " ".join(self._settings.scopes),
            "state": pending.state,
            "nonce": pending.nonce,
            "code_challenge": _challenge(pending.verifier),
            "code_challenge_method": "S256",
        }
        return pending, f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"

    async def finish(self, pending: Pending | None, sent: Mapping[str, str]) -> Session:
        """Whom the issuer names, given what it had the browser send; SignInFailed, TokenRefused, IssuerUnavailable."""
        if pending is None or not hmac.compare_digest(sent.get("state", "").encode(), pending.state.encode()):
            raise SignInFailed("expired", "this browser has not begun this sign-in, or has begun another one since")
        await self._refuse_another_issuer(sent)
        if "error" in sent or not sent.get("code"):
            raise SignInFailed("declined", "the issuer sent no code")
        token = await self._exchange(sent["code"], pending.verifier)
        caller, name = await self._tokens.identify(token, self._settings.client_id, pending.nonce)
        return Session(caller.tenant, caller.role, caller.actor, name)

    async def _refuse_another_issuer(self, sent: Mapping[str, str]) -> None:
        """RFC 9207: the reply names its issuer, if the issuer says that it does."""
        named = (await self._tokens.about()).get("authorization_response_iss_parameter_supported") is True
        if sent.get("iss", None if named else self._issuer) != self._issuer:
            raise SignInFailed("refused", "the reply is of another issuer")

    async def _exchange(self, code: str, verifier: str) -> str:
        """The ID token for a code."""
        endpoint = await self._endpoint("token_endpoint")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect,
            "code_verifier": verifier,
            "client_id": self._settings.client_id,
        }
        proof = await self._proof()
        try:
            async with asyncio.timeout(oidc.SECONDS), self._exchanging:
                status, reply = await oidc.fetch("POST", endpoint, data=form | proof.form, auth=proof.basic)
        except oidc.UNREADABLE as error:
            raise IssuerUnavailable(UNAVAILABLE) from error
        return _id_token(status, reply)

    async def _proof(self) -> _Proof:
        """The client's secret, if it has one: in a header, or in the form if the issuer asks (RFC 6749, 2.3.1)."""
        if self._secret is None:
            return _Proof({}, None)
        accepted = (await self._tokens.about()).get("token_endpoint_auth_methods_supported")
        if isinstance(accepted, list) and "client_secret_basic" not in accepted:
            return _Proof({"client_secret": self._secret}, None)
        return _Proof({}, (quote_plus(self._settings.client_id), quote_plus(self._secret)))

    async def _endpoint(self, name: str) -> str:
        address = (await self._tokens.about()).get(name)
        if not isinstance(address, str) or not is_safe_address(address) or "#" in address:
            raise IssuerUnavailable(f"the issuer names no {name} with a safe address")
        return address


class _Proof(NamedTuple):
    form: dict[str, str]
    basic: tuple[str, str] | None


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _id_token(status: int, reply: Mapping[str, Any]) -> str:
    if reply.get("error") == "invalid_grant":
        raise SignInFailed("expired", "the issuer says that the code is used, expired or not of this sign-in")
    if status in (400, 401, 403):
        raise SignInFailed(
            "refused", "the issuer does not accept this service; check client_id, its secret and the URL"
        )
    token = reply.get("id_token")
    if status != 200 or not isinstance(token, str):
        raise IssuerUnavailable("the issuer sent no ID token")
    return token
