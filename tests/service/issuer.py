"""A small OIDC issuer on loopback: real keys, a discovery document and a list of keys, and ways to misbehave."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

DISCOVERY, KEYS = "/.well-known/openid-configuration", "/keys"
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
class Issuer:
    url: str
    listed: list[Signer]
    requests: list[str] = field(default_factory=list)  # paths
    more: list[dict[str, Any]] = field(default_factory=list)  # further entries of the list of keys
    about: dict[str, Any] = field(default_factory=dict)  # other values of the discovery document
    reply: Callable[[BaseHTTPRequestHandler], bool] = lambda _: False  # replies in another way, and says so

    def token(self, by: Signer | None = None, **claims: Any) -> str:
        """A right token, but for these claims; those that are None are left out."""
        return (by or self.listed[0]).sign(self.claims(**claims))

    def claims(self, **other: Any) -> dict[str, Any]:
        now = int(time.time())
        right = {"iss": self.url, "aud": AUDIENCE, "sub": "alice", "tenant": "acme", "iat": now, "exp": now + 3600}
        return {name: value for name, value in (right | other).items() if value is not None}

    def document(self, path: str) -> dict[str, Any]:
        if path == DISCOVERY:
            return {"issuer": self.url, "jwks_uri": f"{self.url}{KEYS}", **self.about}
        return {"keys": [*self.more, *(one.public for one in self.listed)]}


@contextmanager
def issuing(*listed: Signer) -> Iterator[Issuer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.requests.append(self.path)
            if self.path in (DISCOVERY, KEYS) and not issuer.reply(self):
                send(self, json.dumps(issuer.document(self.path)).encode())

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
