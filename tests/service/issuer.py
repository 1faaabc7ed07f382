"""A small OIDC issuer on loopback, with ways to misbehave.

It has real keys, a discovery document and a list of keys. People sign in with a form. A code is used once, by
the client for which it was made and with the PKCE verifier.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

DISCOVERY, KEYS = "/.well-known/openid-configuration", "/keys"
AUTHORIZE, TOKEN = "/authorize", "/token"
AUDIENCE = "groundplan"


@dataclass
class Signer:
    kid: str
    algorithm: str
    private: Any
    public: dict[str, Any]  # as the issuer lists it

    def sign(self, claims: dict[str, Any], **header: Any) -> str:
        return jwt.encode(claims, self.private, self.algorithm, {"kid": self.kid, **header})


def signer(kid: str, algorithm: str = "RS256", bits: int = 2048) -> Signer:
    private: Any
    if algorithm == "ES256":
        private, kind = ec.generate_private_key(ec.SECP256R1()), ECAlgorithm
    elif algorithm == "EdDSA":
        private, kind = ed25519.Ed25519PrivateKey.generate(), OKPAlgorithm
    else:
        private, kind = rsa.generate_private_key(65537, bits), RSAAlgorithm
    public = kind.to_jwk(private.public_key(), as_dict=True)
    return Signer(kid, algorithm, private, {**public, "kid": kid, "alg": algorithm, "use": "sig"})


@dataclass
class Client:
    """A service that people sign in to."""

    redirect: str
    secret: str | None = None
    proof: str = "client_secret_basic"


Form = dict[str, str]
FORM = """<!doctype html><html lang="en"><title>Issuer</title><main><h1>Issuer</h1><form method="post">
<label>Login <input name="login"></label><button>Sign in</button>
<button name="declined" value="yes">Decline</button></form></main></html>"""


@dataclass
class Issuer:
    url: str
    listed: list[Signer]
    requests: list[str] = field(default_factory=list)  # paths
    more: list[dict[str, Any]] = field(default_factory=list)  # further entries of the list of keys
    about: dict[str, Any] = field(default_factory=dict)  # other values of the discovery document
    reply: Callable[[BaseHTTPRequestHandler], bool] = lambda _: False  # replies in another way, and says so
    clients: dict[str, Client] = field(default_factory=dict)
    codes: dict[str, tuple[Form, str]] = field(default_factory=dict)  # not used yet: what was asked for, and by whom
    id_token: Callable[[dict[str, Any]], str] | None = None  # signs an ID token in another way

    def token(self, by: Signer | None = None, **claims: Any) -> str:
        """A right token, but for these claims; those that are None are left out."""
        return (by or self.listed[0]).sign(self.claims(**claims))

    def claims(self, **other: Any) -> dict[str, Any]:
        now = int(time.time())
        right = {"iss": self.url, "aud": AUDIENCE, "sub": "alice", "tenant": "acme", "iat": now, "exp": now + 3600}
        return {name: value for name, value in (right | other).items() if value is not None}

    def document(self, path: str) -> dict[str, Any]:
        if path == DISCOVERY:
            return {
                "issuer": self.url,
                "jwks_uri": f"{self.url}{KEYS}",
                "authorization_endpoint": f"{self.url}{AUTHORIZE}",
                "token_endpoint": f"{self.url}{TOKEN}",
                "authorization_response_iss_parameter_supported": True,
                **self.about,
            }
        return {"keys": [*self.more, *(one.public for one in self.listed)]}

    def refuses(self, asked: Form) -> str | None:
        """Why nobody may sign in for this request; what is wrong is never sent to its address."""
        client = self.clients.get(asked.get("client_id", ""))
        if client is None or asked.get("redirect_uri") != client.redirect:
            return "unknown client or address"
        right = {"response_type": "code", "code_challenge_method": "S256"}
        needed = ("state", "nonce", "code_challenge")
        is_right = all(asked.get(name) == value for name, value in right.items()) and all(map(asked.get, needed))
        return None if is_right and "openid" in asked.get("scope", "").split() else "wrong request"

    def sign_in(self, asked: Form, typed: Form) -> str:
        """The address to which the browser goes back."""
        told = {"state": asked["state"], "iss": self.url}
        if "declined" in typed:
            return f"{asked['redirect_uri']}?{urlencode(told | {'error': 'access_denied'})}"
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked, typed["login"]
        return f"{asked['redirect_uri']}?{urlencode(told | {'code': code})}"

    def exchange(self, sent: Form, authorization: str) -> tuple[int, dict[str, Any]]:
        """The status and the reply for a code."""
        if not self._is_client(sent, authorization):
            return 401, {"error": "invalid_client"}
        asked, login = self.codes.pop(sent.get("code", ""), ({}, ""))
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        if (
            asked.get("code_challenge") != base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            or sent.get("grant_type") != "authorization_code"
            or any(sent.get(name) != asked[name] for name in ("redirect_uri", "client_id"))
        ):
            return 400, {"error": "invalid_grant"}
        claims = self.claims(sub=login, name=login.title(), aud=asked["client_id"], nonce=asked["nonce"])
        made = self.id_token(claims) if self.id_token else self.listed[0].sign(claims)
        return 200, {"id_token": made, "access_token": secrets.token_urlsafe(16), "token_type": "Bearer"}

    def _is_client(self, sent: Form, authorization: str) -> bool:
        client = self.clients.get(sent.get("client_id", ""))
        if client is None or client.secret is None:
            return client is not None and not authorization and "client_secret" not in sent
        if client.proof == "client_secret_post":
            return sent.get("client_secret") == client.secret and not authorization
        named, _, given = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        return (unquote_plus(named), unquote_plus(given)) == (sent["client_id"], client.secret)


@contextmanager
def issuing(*listed: Signer) -> Iterator[Issuer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            issuer.requests.append(path)
            if path == AUTHORIZE:
                why = issuer.refuses(self.asked())
                send(self, (why or FORM).encode(), 400 if why else 200, Content_Type="text/html")
            elif path in (DISCOVERY, KEYS) and not issuer.reply(self):
                send(self, json.dumps(issuer.document(path)).encode())

        def do_POST(self) -> None:
            path = urlsplit(self.path).path
            issuer.requests.append(path)
            sent = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            if path == AUTHORIZE and not issuer.refuses(self.asked()):
                send(self, b"", 302, Location=issuer.sign_in(self.asked(), sent))
            elif path == TOKEN and not issuer.reply(self):
                status, reply = issuer.exchange(sent, self.headers.get("Authorization", ""))
                send(self, json.dumps(reply).encode(), status)

        def asked(self) -> Form:
            return dict(parse_qsl(urlsplit(self.path).query))

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        issuer = Issuer(f"http://127.0.0.1:{server.server_port}", [*listed])
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()


def send(handler: BaseHTTPRequestHandler, content: bytes, status: int = 200, **headers: str) -> bool:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(content)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(content)
    return True


def zipped(handler: BaseHTTPRequestHandler) -> bool:
    return send(handler, gzip.compress(b" " * 10_000_000), Content_Encoding="gzip")
