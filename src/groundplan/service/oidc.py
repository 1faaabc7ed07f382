"""Tokens of an OIDC issuer: verified here, with the keys that the issuer publishes."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import math
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import httpx2
import jwt

from groundplan.errors import GroundplanError, TransientError
from groundplan.settings import OidcSettings, is_safe_address
from groundplan.state.keys import TENANT, Role

ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)  # none with a shared secret
MOST_CHARACTERS = 8_192  # of a token
MOST_BYTES = 256_000  # of a document of the issuer
SECONDS = 5.0  # for the issuer to reply
LEEWAY = 30.0  # seconds by which clocks may differ
FRESH = 600.0  # seconds until the keys are fetched again
KEPT = 3_600.0  # seconds for which they are used if the issuer cannot be reached
BETWEEN = 10.0  # seconds between two attempts to fetch them, whatever tokens name
SUBJECT = re.compile(r"[ -~]{1,255}")
NAMES = ("name", "preferred_username", "email", "sub")  # claims that name a person, the most readable first
MOST_OF_NAME = 100  # characters
FAULTS: Mapping[type[Exception], str] = {
    jwt.ExpiredSignatureError: "it has expired",
    jwt.ImmatureSignatureError: "it is not valid yet",
    jwt.InvalidAudienceError: "it is for another audience",
    jwt.InvalidIssuerError: "it is of another issuer",
}
UNREADABLE = (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, RecursionError)  # of a reply of the issuer

log = logging.getLogger("groundplan.oidc")


class Caller(NamedTuple):
    tenant: str
    role: Role
    actor: str  # as the audit log names them


class TokenRefused(GroundplanError):
    """The token proves nothing; the message says why, and quotes nothing of it."""


class IssuerUnavailable(TransientError):
    """No token can be verified, because the issuer's keys cannot be fetched."""


class Tokens:
    def __init__(self, settings: OidcSettings) -> None:
        self._settings = settings
        self._about: dict[str, Any] = {}
        self._keys: dict[str, jwt.PyJWK] = {}
        self._renewed = self._tried = -math.inf
        self._renewing = asyncio.Lock()

    async def verify(self, token: str) -> Caller:
        """Whom a bearer token names; TokenRefused or IssuerUnavailable if it proves nothing."""
        return self._caller(await self._claims(token, self._settings.audience))

    async def identify(self, token: str, client: str, nonce: str) -> tuple[Caller, str]:
        """Whom an ID token of this client and sign-in names, and the person's name as a page shows it."""
        claims = await self._claims(token, client)
        if claims.get("azp", claims["aud"]) not in (client, [client]):
            raise TokenRefused("the token is refused: it is for another client")
        sent = claims.get("nonce")
        if not isinstance(sent, str) or not hmac.compare_digest(sent.encode("utf-8", "replace"), nonce.encode()):
            raise TokenRefused("the token is refused: it is of another sign-in")
        caller, names = self._caller(claims), (claims.get(name) for name in NAMES)
        shown = (name for name in names if isinstance(name, str) and name.strip() and name.isprintable())
        return caller, next(shown, caller.actor)[:MOST_OF_NAME]

    async def about(self) -> Mapping[str, Any]:
        """The discovery document of the issuer."""
        await self._refresh(lambda: bool(self._about))
        return self._about

    async def _claims(self, token: str, audience: str) -> dict[str, Any]:
        key = await self._key(_named_key(token))
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],  # the key's, whatever the token says
                issuer=self._settings.issuer,
                audience=audience,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"], "enforce_minimum_key_length": True},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            why = next(
                (text for kind, text in FAULTS.items() if isinstance(error, kind)), "its signature or form is wrong"
            )
            raise TokenRefused(f"the token is refused: {why}") from error

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        settings, subject = self._settings, claims["sub"]
        tenant, given = claims.get(settings.tenant_claim), claims.get(settings.role_claim)
        if not isinstance(tenant, str) or not TENANT.fullmatch(tenant):
            raise TokenRefused(f"the token is refused: its claim {settings.tenant_claim!r} names no tenant")
        if not isinstance(subject, str) or not SUBJECT.fullmatch(subject):
            raise TokenRefused("the token is refused: its claim 'sub' names nobody")
        named = given if isinstance(given, list) else [given]
        known: tuple[Role, ...] = ("admin", "ask", "read")
        role = next((one for one in known if one in named), None)
        if role is None and settings.default_role == "none":
            raise TokenRefused(f"the token is refused: its claim {settings.role_claim!r} names no role")
        return Caller(tenant, role or "ask", f"oidc:{subject}")

    async def _key(self, named: str) -> jwt.PyJWK:
        await self._refresh(lambda: named in self._keys)
        if named not in self._keys:
            raise TokenRefused("the token is refused: the issuer publishes no such key")
        return self._keys[named]

    async def _refresh(self, known: Callable[[], bool]) -> None:
        """Fetch the issuer's documents if they are old, or if what is asked for is not known."""
        if not (known() and self._age() < (KEPT if self._renewing.locked() else FRESH)):
            async with self._renewing:
                if (not known() or self._age() >= FRESH) and time.monotonic() - self._tried >= BETWEEN:
                    await self._renew()
        if self._age() >= KEPT:
            raise IssuerUnavailable("tokens cannot be verified now: the issuer's keys cannot be fetched")

    def _age(self) -> float:
        return time.monotonic() - self._renewed

    async def _renew(self) -> None:
        """Fetch the keys. If that fails, those that are there stay."""
        self._tried = time.monotonic()
        try:
            async with asyncio.timeout(SECONDS):
                self._about, self._keys = await _discover(self._settings.issuer)
        except UNREADABLE as error:
            log.warning("the keys of the OIDC issuer cannot be fetched: %s", type(error).__name__)
        else:
            self._renewed = time.monotonic()


def _named_key(token: str) -> str:
    """The id of the key that the token says it is signed with."""
    if len(token) > MOST_CHARACTERS:
        raise TokenRefused(f"the token is refused: it has more than {MOST_CHARACTERS:,} characters")
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise TokenRefused("send a key, `Authorization: Bearer gp_…`, or a token of the issuer") from error
    if header.get("alg") not in ALGORITHMS:
        raise TokenRefused("the token is refused: its algorithm is not allowed")
    named = header.get("kid")
    if not isinstance(named, str):
        raise TokenRefused("the token is refused: it names no key")
    return named


async def _discover(issuer: str) -> tuple[dict[str, Any], dict[str, jwt.PyJWK]]:
    """The discovery document of the issuer, and its keys by their ids."""
    about = await _get(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    address = about.get("jwks_uri")
    if about.get("issuer") != issuer or not isinstance(address, str) or not is_safe_address(address):
        raise ValueError("the discovery document is of another issuer, or names no safe address")
    listed = (await _get(address)).get("keys")
    if not isinstance(listed, list):
        raise ValueError("there is no list of keys")  # noqa: TRY004 - of the document
    keys = [(one.get("kid"), _usable(one)) for one in listed if isinstance(one, dict)]
    return about, {named: key for named, key in keys if isinstance(named, str) and key}


async def _get(url: str) -> dict[str, Any]:
    status, document = await fetch("GET", url)
    if status != 200:
        raise ValueError("the reply is not a document")
    return document


async def fetch(method: str, url: str, **more: Any) -> tuple[int, dict[str, Any]]:
    """The status and the JSON object that the issuer replies with; one of UNREADABLE if it does not."""
    headers, content = {"Accept": "application/json", "Accept-Encoding": "identity"}, b""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=SECONDS, follow_redirects=False) as client,
        client.stream(method, url, **more) as reply,
    ):
        if reply.headers.get("content-encoding", "identity") != "identity":
            raise ValueError("the reply is compressed")
        async for part in reply.aiter_raw():
            content += part
            if len(content) > MOST_BYTES:
                raise ValueError("the document is too large")
    document = json.loads(content)
    if not isinstance(document, dict):
        raise ValueError("the document is not an object")  # noqa: TRY004 - of the document
    return reply.status_code, document


def _usable(listed: dict[str, Any]) -> jwt.PyJWK | None:
    """The public key, if it signs with an allowed algorithm."""
    if listed.get("use", "sig") != "sig":
        return None
    try:
        key = jwt.PyJWK.from_dict(listed)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return key if key.algorithm_name in ALGORITHMS else None
