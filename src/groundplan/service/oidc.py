"""Bearer tokens of an OIDC issuer: verified here, with the keys that the issuer publishes."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import time
from collections.abc import Mapping
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
SECONDS = 5.0  # to fetch the keys
LEEWAY = 30.0  # seconds by which clocks may differ
FRESH = 600.0  # seconds until the keys are fetched again
KEPT = 3_600.0  # seconds for which they are used if the issuer cannot be reached
BETWEEN = 10.0  # seconds between two attempts to fetch them, whatever tokens name
SUBJECT = re.compile(r"[ -~]{1,255}")
FAULTS: Mapping[type[Exception], str] = {
    jwt.ExpiredSignatureError: "it has expired",
    jwt.ImmatureSignatureError: "it is not valid yet",
    jwt.InvalidAudienceError: "it is for another audience",
    jwt.InvalidIssuerError: "it is of another issuer",
}

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
        self._keys: dict[str, jwt.PyJWK] = {}
        self._renewed = self._tried = -math.inf
        self._renewing = asyncio.Lock()

    async def verify(self, token: str) -> Caller:
        """Whom the token names; TokenRefused or IssuerUnavailable if it proves nothing."""
        key = await self._key(_named_key(token))
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],  # the key's, whatever the token says
                issuer=self._settings.issuer,
                audience=self._settings.audience,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"], "enforce_minimum_key_length": True},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            why = next(
                (text for kind, text in FAULTS.items() if isinstance(error, kind)), "its signature or form is wrong"
            )
            raise TokenRefused(f"the token is refused: {why}") from error
        return self._caller(claims)

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        settings, subject = self._settings, claims["sub"]
        tenant, given = claims.get(settings.tenant_claim), claims.get(settings.role_claim)
        if not isinstance(tenant, str) or not TENANT.fullmatch(tenant):
            raise TokenRefused(f"the token is refused: its claim {settings.tenant_claim!r} names no tenant")
        if not isinstance(subject, str) or not SUBJECT.fullmatch(subject):
            raise TokenRefused("the token is refused: its claim 'sub' names nobody")
        named = given if isinstance(given, list) else [given]
        role: Role | None = "admin" if "admin" in named else "ask" if "ask" in named else None
        if role is None and settings.default_role == "none":
            raise TokenRefused(f"the token is refused: its claim {settings.role_claim!r} names no role")
        return Caller(tenant, role or "ask", f"oidc:{subject}")

    async def _key(self, named: str) -> jwt.PyJWK:
        known = named in self._keys
        if not (known and self._age() < (KEPT if self._renewing.locked() else FRESH)):
            async with self._renewing:
                if (named not in self._keys or self._age() >= FRESH) and time.monotonic() - self._tried >= BETWEEN:
                    await self._renew()
        if self._age() >= KEPT:
            raise IssuerUnavailable("tokens cannot be verified now: the issuer's keys cannot be fetched")
        if named not in self._keys:
            raise TokenRefused("the token is refused: the issuer publishes no such key")
        return self._keys[named]

    def _age(self) -> float:
        return time.monotonic() - self._renewed

    async def _renew(self) -> None:
        """Fetch the keys. If that fails, those that are there stay."""
        self._tried = time.monotonic()
        try:
            async with asyncio.timeout(SECONDS):
                self._keys = await _fetch_keys(self._settings.issuer)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, RecursionError) as error:
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


async def _fetch_keys(issuer: str) -> dict[str, jwt.PyJWK]:
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    async with httpx2.AsyncClient(headers=headers, timeout=SECONDS, follow_redirects=False) as client:
        about = await _fetch(client, f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        address = about.get("jwks_uri")
        if about.get("issuer") != issuer or not isinstance(address, str) or not is_safe_address(address):
            raise ValueError("the discovery document is of another issuer, or names no safe address")
        listed = (await _fetch(client, address)).get("keys")
    if not isinstance(listed, list):
        raise ValueError("there is no list of keys")  # noqa: TRY004 - of the document
    keys = [(one.get("kid"), _usable(one)) for one in listed if isinstance(one, dict)]
    return {named: key for named, key in keys if isinstance(named, str) and key}


async def _fetch(client: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    content = b""
    async with client.stream("GET", url) as reply:
        if reply.status_code != 200 or reply.headers.get("content-encoding", "identity") != "identity":
            raise ValueError("the reply is not a plain document")
        async for part in reply.aiter_raw():
            content += part
            if len(content) > MOST_BYTES:
                raise ValueError("the document is too large")
    document = json.loads(content)
    if not isinstance(document, dict):
        raise ValueError("the document is not an object")  # noqa: TRY004 - of the document
    return document


def _usable(listed: dict[str, Any]) -> jwt.PyJWK | None:
    """The public key, if it signs with an allowed algorithm."""
    if listed.get("use", "sig") != "sig":
        return None
    try:
        key = jwt.PyJWK.from_dict(listed)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return key if key.algorithm_name in ALGORITHMS else None
