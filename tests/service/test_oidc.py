"""Bearer tokens of an OIDC issuer: a real one on loopback, and `groundplan serve` that verifies its tokens."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from groundplan.errors import UsageError
from groundplan.service import oidc
from groundplan.service.oidc import Caller, IssuerUnavailable, TokenRefused, Tokens
from groundplan.settings import OidcSettings, load_settings, wanted_by
from tests.asking.tables.described import SALES
from tests.service.issuer import AUDIENCE, KEYS, Issuer, Signer, issuing, send, signer, zipped
from tests.service.processes import MAIN, free_port, make_key, served, until

pytestmark = pytest.mark.filterwarnings("ignore:The RSA key is 1024")
RSA, EC, ED, PSS, WEAK, STRANGER = (
    signer("rsa"),
    signer("ec", "ES256"),
    signer("ed", "EdDSA"),
    signer("pss", "PS256"),
    signer("weak", bits=1024),
    signer("rsa"),  # the id of a key that the issuer publishes
)


@dataclass
class Service:
    client: httpx.Client
    issuer: Issuer
    database: str
    folder: Path

    def get(self, path: str, token: str) -> httpx.Response:
        return self.client.get(path, headers=bearer(token))

    def logs(self) -> str:
        return "".join(file.read_text() for file in self.folder.glob("serve-*.log"))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def configure(folder: Path, issuer: str) -> None:
    (folder / "groundplan.toml").write_text(f'[service.oidc]\nissuer = "{issuer}"\naudience = "{AUDIENCE}"\n')
    subprocess.run([*MAIN, "trust", "--yes"], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def service(own_postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("oidc")
    with pytest.MonkeyPatch.context() as patch, issuing(RSA, EC, ED, PSS, WEAK) as issuer:
        patch.setenv("GROUNDPLAN_STATE", str(folder / "state"))
        configure(folder, issuer.url)
        with served(folder, str(SALES), "--database", own_postgres) as client:
            yield Service(client, issuer, own_postgres, folder)


@pytest.mark.parametrize("by", [RSA, EC, ED, PSS], ids=lambda by: by.algorithm)
def test_a_right_token_is_of_its_tenant(by: Signer, service: Service) -> None:
    tenant = f"tenant-{by.kid}"
    mine, theirs = service.issuer.token(by, tenant=tenant), service.issuer.token(by, tenant=f"other-{by.kid}")
    run = service.client.post("/v1/runs", json={"question": "total revenue"}, headers=bearer(mine)).json()["id"]
    key = make_key(service.database, tenant)
    for token in (mine, key):
        assert [one["id"] for one in service.get("/v1/runs", token).json()["runs"]] == [run]
    assert service.get("/v1/runs", theirs).json()["runs"] == []
    foreign, nobodys = (service.get(f"/v1/runs/{one}", theirs) for one in (run, "f" * 24))
    assert foreign.status_code == nobodys.status_code == 404
    assert foreign.text.replace(run, "") == nobodys.text.replace("f" * 24, "")
    assert service.client.post("/mcp", json={}, headers=bearer(mine)).status_code not in (401, 403)


def test_the_claim_gives_the_role_and_the_audit_log_names_the_subject(service: Service) -> None:
    allowed = {None: False, "ask": False, "admin": True, "metrics": False, "owner": False, 7: False}
    for role, administers in allowed.items():
        token = service.issuer.token(role=role)
        assert service.get("/v1/runs", token).status_code == 200, role
        assert service.get("/v1/keys", token).status_code == (200 if administers else 403), role
        assert service.get("/metrics", token).status_code == 403, role
    admin = bearer(service.issuer.token(tenant="audited", sub="auth0|Ada Lovelace", role=["everyone", "admin"]))
    assert service.client.post("/v1/keys", json={"name": "one"}, headers=admin).status_code == 201
    [entry] = service.client.get("/v1/audit", headers=admin).json()
    assert (entry["actor"], entry["action"]) == ("oidc:auth0|Ada Lovelace", "key.created")


def compact(header: dict[str, Any], claims: dict[str, Any], sign: Callable[[bytes], bytes]) -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims)]
    signed = b".".join(parts)
    return (signed + b"." + base64.urlsafe_b64encode(sign(signed)).rstrip(b"=")).decode()


def with_secret(issuer: Issuer, by: Signer, form: Encoding) -> str:
    """Signed with the public key as if it were a shared secret."""
    kind = PublicFormat.PKCS1 if form is Encoding.DER else PublicFormat.SubjectPublicKeyInfo
    secret = by.private.public_key().public_bytes(form, kind)
    header = {"alg": "HS256", "typ": "JWT", "kid": by.kid}
    return compact(header, issuer.claims(), lambda signed: hmac.digest(secret, signed, hashlib.sha256))


NOW = int(time.time())
WRONG: dict[str, Callable[[Issuer], str]] = {
    "audience": lambda issuer: issuer.token(aud="another"),
    "audiences": lambda issuer: issuer.token(aud=["another", "groundplan2"]),
    "no audience": lambda issuer: issuer.token(aud=None),
    "issuer": lambda issuer: issuer.token(iss="https://login.example.org"),
    "no issuer": lambda issuer: issuer.token(iss=None),
    "expired": lambda issuer: issuer.token(exp=NOW - 3600),
    "no end": lambda issuer: issuer.token(exp=None),
    "odd end": lambda issuer: issuer.token(exp="soon"),
    "endless": lambda issuer: issuer.token(exp=float("inf")),
    "not yet valid": lambda issuer: issuer.token(nbf=NOW + 86_400),
    "of tomorrow": lambda issuer: issuer.token(iat=NOW + 86_400),
    "unknown key": lambda issuer: issuer.token(signer("nobodys")),
    "no key": lambda issuer: jwt.encode(issuer.claims(), RSA.private, "RS256"),
    "stranger": lambda issuer: issuer.token(STRANGER),
    "stranger's own key": lambda issuer: STRANGER.sign(issuer.claims(), jwk=STRANGER.public),
    "weak key": lambda issuer: issuer.token(WEAK),
    "none": lambda issuer: compact({"alg": "none", "kid": "rsa"}, issuer.claims(), lambda _: b""),
    "None": lambda issuer: compact({"alg": "None", "kid": "rsa"}, issuer.claims(), lambda _: b""),
    "no algorithm": lambda issuer: compact({"kid": "rsa"}, issuer.claims(), lambda _: b""),
    "secret from PEM": lambda issuer: with_secret(issuer, RSA, Encoding.PEM),
    "secret from DER": lambda issuer: with_secret(issuer, RSA, Encoding.DER),
    "secret from EC": lambda issuer: with_secret(issuer, EC, Encoding.PEM),
    "another algorithm": lambda issuer: Signer("rsa", "RS512", RSA.private, {}).sign(issuer.claims()),
    "another kind of key": lambda issuer: Signer("ec", "RS256", RSA.private, {}).sign(issuer.claims()),
    "extension": lambda issuer: RSA.sign(issuer.claims(), crit=["odd"], odd=1),
    "no tenant": lambda issuer: issuer.token(tenant=None),
    "tenant of all": lambda issuer: issuer.token(tenant="*"),
    "empty tenant": lambda issuer: issuer.token(tenant=""),
    "odd tenant": lambda issuer: issuer.token(tenant="acme'; drop"),
    "tenant with a line": lambda issuer: issuer.token(tenant="acme\n"),
    "tenant in capitals": lambda issuer: issuer.token(tenant="ACME"),
    "tenants": lambda issuer: issuer.token(tenant=["acme"]),
    "long tenant": lambda issuer: issuer.token(tenant="a" * 64),
    "no subject": lambda issuer: issuer.token(sub=None),
    "empty subject": lambda issuer: issuer.token(sub=""),
    "subject with a line": lambda issuer: issuer.token(sub="a\nb"),
    "long subject": lambda issuer: issuer.token(sub="a" * 256),
    "oversized": lambda issuer: issuer.token(more="x" * 8_192),
    "deep": lambda _: f"{base64.urlsafe_b64encode(b'[' * 5_000).decode()}.e30.AA",
    "changed": lambda issuer: issuer.token()[:-8] + "AAAAAAAA",
    "cut": lambda issuer: issuer.token().rpartition(".")[0],
    "no token": lambda _: "x",
    "odd characters": lambda _: "é.é.é",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_token_is_refused(name: str, service: Service) -> None:
    token = WRONG[name](service.issuer)
    refused = service.client.get("/v1/runs", headers={"Authorization": f"Bearer {token}".encode()})
    assert (refused.status_code, refused.json()["code"]) == (401, "service/token"), refused.text
    assert refused.headers["www-authenticate"] == 'Bearer realm="groundplan", error="invalid_token"'
    assert service.get("/v1/runs", service.issuer.token()).status_code == 200
    assert len(token) < 10 or token not in service.logs()


def test_many_unknown_keys_bring_few_requests_to_the_issuer_and_a_new_key_is_found(service: Service) -> None:
    new = signer("new")
    service.get("/v1/runs", service.issuer.token(new))
    before, began = service.issuer.requests.count(KEYS), time.monotonic()
    for number in range(50):
        unknown = Signer(f"unknown-{number}", "RS256", new.private, {})
        assert service.get("/v1/runs", service.issuer.token(unknown)).status_code == 401
    fetched = service.issuer.requests.count(KEYS) - before
    assert fetched <= (time.monotonic() - began) / oidc.BETWEEN + 1
    service.issuer.listed.append(new)
    until(lambda: service.get("/v1/runs", service.issuer.token(new)).status_code == 200)


def test_while_the_issuer_is_dead_tokens_wait_and_keys_work(
    own_postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    dead = Issuer(f"http://127.0.0.1:{free_port()}", [RSA])
    configure(tmp_path, dead.url)
    key = make_key(own_postgres, "acme")
    with served(tmp_path, str(SALES), "--database", own_postgres, key=key) as client:
        for _ in range(5):
            refused = client.get("/v1/runs", headers=bearer(dead.token()))
            assert (refused.status_code, refused.json()["code"]) == (503, "service/unavailable")
            assert int(refused.headers["Retry-After"]) > 0
            assert client.get("/v1/runs").status_code == 200
    [log] = tmp_path.glob("serve-*.log")
    assert "the keys of the OIDC issuer cannot be fetched: ConnectError" in log.read_text()
    assert dead.token() not in log.read_text()


def verified(tokens: Tokens, *sent: str) -> list[Caller]:
    async def verify() -> list[Caller]:
        return [await tokens.verify(token) for token in sent]

    return asyncio.run(verify())


def tokens_of(issuer: Issuer, **more: Any) -> Tokens:
    return Tokens(OidcSettings(issuer=issuer.url, audience=AUDIENCE, **more))


def test_claims_can_have_other_names_and_a_role_can_be_asked_for() -> None:
    with issuing(RSA) as issuer:
        tokens = tokens_of(issuer, tenant_claim="https://a.org/org", role_claim="groups", default_role="none")
        right = issuer.token(tenant=None, **{"https://a.org/org": "acme", "groups": ["staff", "ask"]})
        assert verified(tokens, right) == [("acme", "ask", "oidc:alice")]
        with pytest.raises(TokenRefused, match="'groups' names no role"):
            verified(tokens, issuer.token(**{"https://a.org/org": "acme", "groups": ["staff"], "role": "admin"}))


def test_clocks_may_differ_a_little() -> None:
    with issuing(RSA) as issuer:
        late = issuer.token(exp=int(time.time()) + 3600, nbf=int(time.time()) + 10, iat=int(time.time()) + 10)
        assert verified(tokens_of(issuer), late)


def test_what_the_issuer_lists_is_used_only_if_it_is_a_public_key_for_signatures() -> None:
    secret = base64.urlsafe_b64encode(b"s" * 32).decode()
    encrypts = {**EC.public, "kid": "enc", "use": "enc"}
    odd = [{"kty": "oct", "k": secret, "kid": "secret"}, {"kty": "RSA", "kid": "half"}, {"kid": 7}, encrypts, {}]
    with issuing(RSA) as issuer:
        issuer.more = [*odd, "odd", None]  # type: ignore[list-item]
        tokens = tokens_of(issuer)
        assert verified(tokens, issuer.token())
        for kid in ("secret", "half", "enc"):
            with pytest.raises(TokenRefused, match="publishes no such key"):
                verified(tokens, Signer(kid, "ES256", EC.private, {}).sign(issuer.claims()))


def moved(handler: BaseHTTPRequestHandler) -> bool:
    return send(handler, b"", 302, Location="/elsewhere")


def endless(handler: BaseHTTPRequestHandler) -> bool:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(1_000):
        handler.wfile.write(b" " * 100_000)
    return True


def silent(_: BaseHTTPRequestHandler) -> bool:
    time.sleep(5)
    return True


@pytest.mark.parametrize(
    "reply",
    [
        moved,
        endless,
        silent,
        zipped,
        lambda handler: send(handler, b"{}", 500),
        lambda handler: send(handler, b"[" * 100_000),
        lambda handler: send(handler, b"[]"),
        lambda handler: send(handler, b'{"keys": {}}'),
        lambda handler: send(handler, b"\xff"),
    ],
    ids=["moved", "endless", "silent", "zipped", "failed", "deep", "list", "no keys", "no text"],
)
def test_an_issuer_that_misbehaves_is_not_believed(
    reply: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(oidc, "SECONDS", 1.0)
    caplog.set_level(logging.WARNING, "groundplan.oidc")
    with issuing(RSA) as issuer:
        issuer.reply = reply
        with pytest.raises(IssuerUnavailable):
            verified(tokens_of(issuer), issuer.token())
        assert "/elsewhere" not in issuer.requests
    assert "cannot be fetched" in caplog.text


@pytest.mark.parametrize(
    "about",
    [
        {"issuer": "https://login.example.org"},
        {"jwks_uri": "http://login.example.org/keys"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "https://user:password@login.example.org/keys"},
        {"jwks_uri": ["https://login.example.org/keys"]},
        {"jwks_uri": None},
    ],
    ids=str,
)
def test_a_discovery_document_of_another_or_with_an_unsafe_address_is_not_believed(about: dict[str, Any]) -> None:
    with issuing(RSA) as issuer:
        issuer.about = about
        with pytest.raises(IssuerUnavailable):
            verified(tokens_of(issuer), issuer.token())
        assert KEYS not in issuer.requests


def test_keys_are_used_for_a_while_after_the_issuer_has_died(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc, "FRESH", 0.0)
    monkeypatch.setattr(oidc, "BETWEEN", 0.0)
    with issuing(RSA) as issuer:
        tokens = tokens_of(issuer)
        verified(tokens, issuer.token(), issuer.token())
        assert issuer.requests.count(KEYS) == 2, "they are fetched again when they are old"
    assert verified(tokens, issuer.token())
    monkeypatch.setattr(oidc, "KEPT", 0.0)
    with pytest.raises(IssuerUnavailable):
        verified(tokens, issuer.token())


def test_a_key_that_the_issuer_no_longer_lists_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc, "FRESH", 0.0)
    monkeypatch.setattr(oidc, "BETWEEN", 0.0)
    with issuing(RSA, EC) as issuer:
        tokens = tokens_of(issuer)
        assert verified(tokens, issuer.token(RSA))
        issuer.listed.remove(RSA)
        with pytest.raises(TokenRefused, match="publishes no such key"):
            verified(tokens, issuer.token(RSA))
        assert verified(tokens, issuer.token(EC))


def test_many_tokens_at_once_bring_one_request() -> None:
    with issuing(RSA) as issuer:
        tokens = tokens_of(issuer)

        async def at_once() -> list[Caller]:
            return await asyncio.gather(*(tokens.verify(issuer.token()) for _ in range(20)))

        assert len(asyncio.run(at_once())) == 20
        assert issuer.requests.count(KEYS) == 1


@pytest.mark.parametrize(
    "issuer",
    [
        "http://login.example.org",
        "https://",
        "https://a@login.example.org",
        "https://login.example.org/?a=b",
        "login",
        "",
    ],
)
def test_an_issuer_whose_word_is_not_safe_is_refused(issuer: str, tmp_path: Path) -> None:
    (tmp_path / "groundplan.toml").write_text(f'[service.oidc]\nissuer = "{issuer}"\naudience = "a"\n')
    with pytest.raises(UsageError, match=r"service\.oidc\.issuer: use an https URL"):
        load_settings(tmp_path)


def test_a_folder_that_names_an_issuer_is_used_when_it_is_trusted(tmp_path: Path) -> None:
    (tmp_path / "groundplan.toml").write_text(
        '[service.oidc]\nissuer = "https://login.example.org/a"\naudience = "a"\n'
    )
    assert wanted_by(tmp_path)[0] == ("[service.oidc] lets in whoever https://login.example.org/a vouches for",)
