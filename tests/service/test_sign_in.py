"""People sign in at an issuer: two servers with one database, a real issuer on loopback, and what attackers try."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from groundplan.errors import UsageError
from groundplan.service.browser_sessions import BrowserSessions
from groundplan.service.code_flow import CodeFlow, SignInFailed
from groundplan.service.oidc import IssuerUnavailable, Tokens
from groundplan.service.sign_in import add_sign_in, local_page
from groundplan.settings import OidcSettings, SignInSettings, load_settings, trust_folder, wanted_by
from groundplan.state.postgres import open_postgres
from groundplan.state.sessions import Session, Sessions
from tests.asking.tables.described import SALES
from tests.patience import HANGS
from tests.service.issuer import AUDIENCE, AUTHORIZE, TOKEN, Client, Issuer, issuing, send, signer
from tests.service.processes import free_port, make_key, served

CLIENT = "the-service"
SESSION, PENDING = "groundplan-session", "groundplan-sign-in"
RSA, STRANGER = signer("rsa"), signer("rsa")
RUN = "0123456789abcdef01234567"


@dataclass
class Browser:
    """Follows what a browser follows, step by step."""

    url: str
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=HANGS))

    def begin(self, page: str = "/", server: str = "") -> str:
        """The address at the issuer."""
        reply = self.http.get(f"{server or self.url}/sign-in", params={"next": page})
        assert reply.status_code == 302, reply.text
        return reply.headers["location"]

    def at_issuer(self, address: str, login: str = "alice") -> str:
        """The address to which the issuer sends the browser."""
        assert "<form" in httpx.get(address).text
        return httpx.post(address, data={"login": login}).headers["location"]

    def sign_in(self, login: str = "alice", page: str = "/") -> httpx.Response:
        return self.http.get(self.at_issuer(self.begin(page), login))

    def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        """As a script of our page sends it."""
        headers = {"Sec-Fetch-Site": "same-origin"} | ({} if method == "GET" else {"Origin": self.url})
        return self.http.request(method, f"{self.url}{path}", headers=headers, **more)

    def is_in(self) -> bool:
        return self.send("GET", "/v1/runs").status_code == 200


@dataclass
class Service:
    url: str
    other: str  # another server with the same database
    issuer: Issuer
    database: str
    folder: Path

    def browser(self) -> Browser:
        return Browser(self.url)

    def logs(self) -> str:
        return "".join(file.read_text() for file in self.folder.glob("serve-*.log"))


def configure(folder: Path, issuer: str, url: str, more: str = "") -> None:
    (folder / "groundplan.toml").write_text(
        f'[service.oidc]\nissuer = "{issuer}"\naudience = "{AUDIENCE}"\n'
        f'[service.oidc.sign_in]\nurl = "{url}"\nclient_id = "{CLIENT}"\n{more}'
    )
    trust_folder(folder)


@pytest.fixture(scope="module")
def service(own_postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder, port = tmp_path_factory.mktemp("sign-in"), free_port()
    url, database = f"http://127.0.0.1:{port}", ("--database", own_postgres)
    with pytest.MonkeyPatch.context() as patch, issuing(RSA) as issuer:
        patch.setenv("GROUNDPLAN_STATE", str(folder / "state"))
        issuer.clients[CLIENT] = Client(f"{url}/sign-in/callback")
        configure(folder, issuer.url, url, 'name = "Example"\n')
        with served(folder, str(SALES), *database, port=port), served(folder, str(SALES), *database) as other:
            yield Service(url, str(other.base_url).rstrip("/"), issuer, own_postgres, folder)


@pytest.fixture(autouse=True)
def right_tokens(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "service" in request.fixturenames:
        request.getfixturevalue("service").issuer.id_token = None


def test_one_signs_in_asks_and_signs_out(service: Service) -> None:
    browser, page = service.browser(), f"/runs/{RUN}"
    offered = {"name": "Example", "url": f"{service.url}/sign-in"}
    assert browser.send("GET", "/v1/session").json() == {"person": None, "sign_in": offered}
    assert browser.send("GET", "/v1/runs").json()["detail"].startswith("sign in, or send a key")
    back = browser.sign_in(page=page)
    assert (back.status_code, back.headers["location"], back.headers["cache-control"]) == (302, page, "no-store")
    [kept] = [one for one in back.headers.get_list("set-cookie") if one.startswith(f"{SESSION}=")]
    parts = {part.strip().lower() for part in kept.split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/", "max-age=28800"} <= parts
    assert not any(part.startswith("domain") for part in parts)
    assert PENDING not in browser.http.cookies
    assert browser.send("GET", "/v1/session").json() == {"person": "Alice", "sign_in": offered}
    assert browser.send("POST", "/v1/runs", json={"question": "total revenue"}).status_code == 202
    assert browser.send("GET", "/v1/runs").headers["cache-control"] == "no-store"
    token = browser.http.cookies[SESSION]
    assert browser.send("DELETE", "/v1/session").status_code == 204
    assert SESSION not in browser.http.cookies
    for server in (service.url, service.other):
        assert httpx.get(f"{server}/v1/runs", headers={"Cookie": f"{SESSION}={token}"}).status_code == 401
    admin = {"Authorization": f"Bearer {make_key(service.database, 'acme', 'admin')}"}
    log = httpx.get(f"{service.url}/v1/audit", headers=admin).json()
    done = [(entry["action"], entry["actor"]) for entry in log if entry["action"].startswith("session.")]
    assert {("session.started", "oidc:alice"), ("session.ended", "oidc:alice")} <= {*done}
    assert token not in str(log)
    assert token not in service.logs()


def test_a_sign_in_that_begins_at_one_server_ends_at_another(service: Service) -> None:
    browser = service.browser()
    back = browser.at_issuer(browser.begin(server=service.other)).replace(service.url, service.other)
    assert browser.http.get(back).status_code == 302
    assert browser.is_in()
    assert browser.http.get(f"{service.other}/v1/runs").status_code == 200


def test_the_request_to_the_issuer_is_bound_to_this_sign_in(service: Service) -> None:
    asked = [dict(parse_qsl(urlsplit(service.browser().begin()).query)) for _ in range(2)]
    for one in asked:
        assert one["redirect_uri"] == f"{service.url}/sign-in/callback"
        assert (one["response_type"], one["code_challenge_method"], one["scope"]) == ("code", "S256", "openid profile")
    for name in ("state", "nonce", "code_challenge"):
        assert len({one[name] for one in asked}) == 2
        assert all(len(one[name]) == 43 for one in asked)


@pytest.mark.parametrize("page", ["/", "/runs", "/sources", f"/runs/{RUN}"])
def test_one_comes_back_to_where_one_was(page: str) -> None:
    assert local_page(page) == page


ELSEWHERE = [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https://evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "/runs/../../evil",
    "/runs//evil.example",
    "/%2F/evil.example",
    "/\t/evil.example",
    "/runs\r\nSet-Cookie: a=b",
    "/sign-in?next=//evil.example",
    "/v1/runs",
    "/runs@evil.example",
    " /runs",
    "",
]


@pytest.mark.parametrize("page", ELSEWHERE)
def test_nobody_is_led_elsewhere(page: str, service: Service) -> None:
    assert local_page(page) == "/"
    browser = service.browser()
    address = browser.begin(page)
    assert address.startswith(f"{service.issuer.url}{AUTHORIZE}?")
    assert browser.http.get(browser.at_issuer(address)).headers["location"] == "/"


def test_the_page_in_the_cookie_is_looked_at_again(service: Service) -> None:
    browser = service.browser()
    address = browser.begin()
    begun, page = browser.http.cookies[PENDING].strip('"').rsplit(".", 1)
    assert page == "/"
    back = httpx.get(browser.at_issuer(address), headers={"Cookie": f'{PENDING}="{begun}.//evil"'})
    assert (back.status_code, back.headers["location"]) == (302, "/")


def refused(reply: httpx.Response, status: int) -> str:
    """The text of the page that says why nobody is signed in."""
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"].startswith("text/html")
    assert "default-src 'self'" in reply.headers["content-security-policy"]
    assert not any(one.startswith(f"{SESSION}=") for one in reply.headers.get_list("set-cookie"))
    assert "You are not signed in" in reply.text
    return reply.text


def test_a_sign_in_that_another_browser_began_is_refused(service: Service) -> None:
    """Login CSRF: the attacker's code, or state, in the browser of somebody else."""
    attacker, victim, signed_in = service.browser(), service.browser(), service.browser()
    address = attacker.at_issuer(attacker.begin(), "mallory")
    assert "has not begun this sign-in" in refused(victim.http.get(address), 400)
    victim.begin()
    assert "has not begun this sign-in" in refused(victim.http.get(address), 400)
    assert victim.at_issuer(victim.begin())
    signed_in.sign_in()
    refused(signed_in.http.get(address), 400)
    assert signed_in.send("GET", "/v1/session").json()["person"] == "Alice"


def test_a_wrong_state_is_refused_and_the_right_one_still_works(service: Service) -> None:
    browser = service.browser()
    back = browser.at_issuer(browser.begin())
    state = dict(parse_qsl(urlsplit(back).query))["state"]
    for wrong in ("", "x", state[:-1], state + "A", "é"):
        refused(browser.http.get(back.replace(state, wrong)), 400)
    refused(browser.http.get(back.replace("state=", "estate=")), 400)
    assert browser.http.get(back).status_code == 302


def test_a_code_is_used_once(service: Service) -> None:
    browser = service.browser()
    back = browser.at_issuer(browser.begin())
    begun = browser.http.cookies[PENDING]
    assert browser.http.get(back).status_code == 302
    again = httpx.get(back, headers={"Cookie": f"{PENDING}={begun}"})
    assert "the code is used" in refused(again, 400)
    assert "has not begun this sign-in" in refused(browser.http.get(back), 400)  # the way back in the browser
    assert browser.is_in()


def test_a_stolen_code_is_worth_nothing_in_another_sign_in(service: Service) -> None:
    victim, thief = service.browser(), service.browser()
    stolen = dict(parse_qsl(urlsplit(victim.at_issuer(victim.begin())).query))["code"]
    own = dict(parse_qsl(urlsplit(thief.begin()).query))["state"]
    sent = {"code": stolen, "state": own, "iss": service.issuer.url}
    assert "not of this sign-in" in refused(thief.http.get(f"{service.url}/sign-in/callback", params=sent), 400)


@pytest.mark.parametrize("iss", ["https://login.example.org", "", None])
def test_a_reply_of_another_issuer_is_refused(iss: str | None, service: Service) -> None:
    browser = service.browser()
    sent = dict(parse_qsl(urlsplit(browser.at_issuer(browser.begin())).query)) | {"iss": iss}
    params = {name: value for name, value in sent.items() if value is not None}
    assert "of another issuer" in refused(browser.http.get(f"{service.url}/sign-in/callback", params=params), 403)


def test_who_declines_is_told_so_and_nothing_of_the_issuer_is_quoted(service: Service) -> None:
    browser = service.browser()
    back = httpx.post(browser.begin("/runs"), data={"declined": "yes"}).headers["location"]
    text = refused(browser.http.get(f"{back}&error_description=<script>alert(1)</script>"), 403)
    assert "alert" not in text
    assert 'href="/runs"' in text
    again = httpx.post(browser.begin(), data={"declined": "yes"}).headers["location"]
    told = browser.http.get(again, headers={"Accept-Language": "ru-RU,ru;q=0.9"})
    assert "Войти не удалось" in told.text
    assert '<html lang="ru">' in told.text


NOW = int(time.time())
WRONG: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "foreign nonce": ("of another sign-in", lambda claims: RSA.sign(claims | {"nonce": secrets.token_urlsafe(32)})),
    "no nonce": ("of another sign-in", lambda claims: RSA.sign({k: v for k, v in claims.items() if k != "nonce"})),
    "odd nonce": ("of another sign-in", lambda claims: RSA.sign(claims | {"nonce": ["\ud800"]})),
    "audience": ("for another audience", lambda claims: RSA.sign(claims | {"aud": "another"})),
    "bearer's audience": ("for another audience", lambda claims: RSA.sign(claims | {"aud": AUDIENCE})),
    "audiences": ("for another client", lambda claims: RSA.sign(claims | {"aud": [CLIENT, "another"]})),
    "party": ("for another client", lambda claims: RSA.sign(claims | {"aud": [CLIENT], "azp": "another"})),
    "expired": ("has expired", lambda claims: RSA.sign(claims | {"exp": NOW - 3600})),
    "issuer": ("of another issuer", lambda claims: RSA.sign(claims | {"iss": "https://login.example.org"})),
    "signature": ("signature or form", lambda claims: STRANGER.sign(claims)),
    "no tenant": ("&#x27;tenant&#x27; names no tenant", lambda claims: RSA.sign(claims | {"tenant": None})),
    "tenant of all": ("names no tenant", lambda claims: RSA.sign(claims | {"tenant": "*"})),
    "no subject": ("signature or form", lambda claims: RSA.sign({k: v for k, v in claims.items() if k != "sub"})),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_id_token_signs_nobody_in(name: str, service: Service) -> None:
    why, service.issuer.id_token = WRONG[name]
    browser = service.browser()
    assert why in refused(browser.sign_in(), 403)
    assert not browser.is_in()


def test_an_id_token_is_of_its_tenant_and_role(service: Service) -> None:
    service.issuer.id_token = lambda claims: RSA.sign(claims | {"tenant": "globex", "role": "admin", "name": "\n"})
    browser, other = service.browser(), service.browser()
    browser.sign_in("bob")
    run = browser.send("POST", "/v1/runs", json={"question": "total revenue"}).json()["id"]
    assert browser.send("GET", "/v1/session").json()["person"] == "bob"
    assert browser.send("GET", "/v1/keys").status_code == 200
    assert browser.send("GET", "/metrics").status_code == 403
    service.issuer.id_token = None
    other.sign_in()
    assert other.send("GET", f"/v1/runs/{run}").status_code == 404
    assert other.send("GET", "/v1/keys").status_code == 403


def test_each_sign_in_has_a_new_token_and_the_old_one_ends(service: Service) -> None:
    browser = service.browser()
    planted = secrets.token_urlsafe(32)
    browser.http.cookies.set(SESSION, planted, "127.0.0.1", "/")
    browser.sign_in()
    first = browser.http.cookies[SESSION]
    browser.sign_in()
    assert len({planted, first, browser.http.cookies[SESSION]}) == 3
    assert browser.is_in()
    for token in (planted, first):
        assert httpx.get(f"{service.url}/v1/runs", headers={"Cookie": f"{SESSION}={token}"}).status_code == 401


OWN, EVIL = "own", "https://evil.example"
CASES: list[tuple[str, dict[str, str], bool]] = [
    ("POST", {"Origin": OWN, "Sec-Fetch-Site": "same-origin"}, True),
    ("POST", {"Origin": OWN}, True),
    ("POST", {"Sec-Fetch-Site": "same-origin"}, True),
    ("POST", {}, False),
    ("POST", {"Origin": EVIL}, False),
    ("POST", {"Origin": "null"}, False),
    ("POST", {"Origin": EVIL, "Sec-Fetch-Site": "same-origin"}, False),
    ("POST", {"Origin": OWN, "Sec-Fetch-Site": "cross-site"}, False),
    ("POST", {"Sec-Fetch-Site": "same-site"}, False),
    ("POST", {"Sec-Fetch-Site": "none"}, False),
    ("POST", {"Referer": OWN}, False),
    ("DELETE", {}, False),
    ("DELETE", {"Origin": EVIL}, False),
    ("PUT", {"Sec-Fetch-Site": "cross-site"}, False),
    ("GET", {}, True),
    ("GET", {"Sec-Fetch-Site": "same-origin"}, True),
    ("GET", {"Sec-Fetch-Site": "none"}, True),
    ("GET", {"Sec-Fetch-Site": "cross-site"}, False),
    ("GET", {"Sec-Fetch-Site": "same-site"}, False),
    ("GET", {"Origin": EVIL}, False),
]


@pytest.mark.parametrize(("method", "headers", "allowed"), CASES, ids=str)
def test_a_page_of_another_site_cannot_use_the_cookie(
    method: str, headers: dict[str, str], allowed: bool, signed_in: Browser
) -> None:
    sent = {name: signed_in.url if value == OWN else value for name, value in headers.items()}
    paths = {"POST": "/v1/plans", "DELETE": "/v1/session", "PUT": "/v1/column-settings?table=t&column=c"}
    reply = signed_in.http.request(
        method, f"{signed_in.url}{paths.get(method, '/v1/runs')}", headers=sent, json={"question": "total revenue"}
    )
    assert (reply.status_code == 200) == allowed, reply.text
    if not allowed:
        assert (reply.status_code, reply.json()["code"]) == (403, "service/origin")
    assert signed_in.is_in()


@pytest.fixture(scope="module")
def signed_in(service: Service) -> Browser:
    browser = service.browser()
    browser.sign_in()
    return browser


def test_keys_and_tokens_need_no_origin_and_are_not_replaced_by_the_cookie(
    service: Service, signed_in: Browser
) -> None:
    key = make_key(service.database, "another-tenant")
    for bearer in (key, service.issuer.token(tenant="another-tenant")):
        headers = {"Authorization": f"Bearer {bearer}", "Origin": EVIL, "Sec-Fetch-Site": "cross-site"}
        assert signed_in.http.get(f"{service.url}/v1/runs", headers=headers).json()["runs"] == []
        asked = httpx.post(f"{service.url}/v1/plans", headers=headers, json={"question": "total revenue"})
        assert asked.status_code == 200
    wrong = signed_in.http.get(f"{service.url}/v1/runs", headers={"Authorization": "Bearer gp_wrong"})
    assert wrong.status_code == 401


def test_a_cookie_that_this_service_did_not_make_is_unknown(service: Service, signed_in: Browser) -> None:
    token = signed_in.http.cookies[SESSION]
    made_up = [secrets.token_urlsafe(32), token[:-1] + ("A" if token[-1] != "A" else "B"), token[:-1], "", "'; --", "é"]
    for cookie in made_up:
        headers = {"Cookie": f"{SESSION}={cookie}".encode(), "Sec-Fetch-Site": "same-origin"}
        assert httpx.get(f"{service.url}/v1/runs", headers=headers).status_code == 401
        assert httpx.get(f"{service.url}/v1/session", headers=headers).json()["person"] is None


def test_a_session_of_another_service_and_an_expired_one_are_unknown(
    own_postgres: str, postgres: str, service: Service
) -> None:
    async def begun(url: str, hours: float) -> str:
        async with open_postgres(url) as database:
            return await Sessions(database).start(Session("acme", "ask", "oidc:alice", "Alice"), hours)

    def status(token: str) -> int:
        return httpx.get(f"{service.url}/v1/runs", headers={"Cookie": f"{SESSION}={token}"}).status_code

    assert status(asyncio.run(begun(own_postgres, 1.0))) == 200
    assert status(asyncio.run(begun(own_postgres, -0.001))) == 401
    assert status(asyncio.run(begun(postgres, 1.0))) == 401


def test_expired_sessions_are_deleted_and_their_tokens_are_stored_nowhere(own_postgres: str) -> None:
    async def begun() -> tuple[str, str]:
        async with open_postgres(own_postgres) as database:
            sessions, person = Sessions(database), Session("brief", "ask", "oidc:bea", "Bea")
            return await sessions.start(person, -1.0), await sessions.start(person, 1.0)

    tokens = asyncio.run(begun())
    with psycopg.connect(own_postgres, autocommit=True) as connection:
        rows = connection.execute("select * from sessions where tenant = 'brief'").fetchall()
    assert len(rows) == 1
    assert not any(token in str(rows) for token in tokens)


def settings(issuer: str, url: str = "https://groundplan.example.org", **more: Any) -> OidcSettings:
    sign_in = SignInSettings(url=url, client_id=CLIENT, **more)
    return OidcSettings(issuer=issuer, audience=AUDIENCE, sign_in=sign_in)


def flow(oidc: OidcSettings) -> CodeFlow:
    assert oidc.sign_in is not None
    return CodeFlow(oidc.sign_in, oidc.issuer, Tokens(oidc))


def test_over_https_cookies_are_bound_to_the_host() -> None:
    app = FastAPI()
    with issuing(RSA) as issuer:
        oidc = settings(issuer.url)
        assert oidc.sign_in is not None
        sessions = BrowserSessions(oidc.sign_in, oidc.issuer, Sessions(NoDatabase()))  # type: ignore[arg-type]
        add_sign_in(app, flow(oidc), sessions)
        reply = TestClient(app, follow_redirects=False).get("/sign-in", headers={"Host": "evil.example"})
    kept = reply.headers["set-cookie"]
    assert kept.startswith("__Host-groundplan-sign-in=")
    assert {"secure", "httponly", "path=/", "samesite=lax"} <= {part.strip().lower() for part in kept.split(";")}
    asked = dict(parse_qsl(urlsplit(reply.headers["location"]).query))
    assert asked["redirect_uri"] == "https://groundplan.example.org/sign-in/callback"


class NoDatabase:
    now = ""

    def of(self, _: str) -> NoDatabase:
        return self


def signed_in_by(oidc: OidcSettings) -> Session:
    async def finished() -> Session:
        one = flow(oidc)
        pending, address = await one.begin("/")
        back = await asyncio.to_thread(lambda: httpx.post(address, data={"login": "alice"}).headers["location"])
        return await one.finish(pending, dict(parse_qsl(urlsplit(back).query)))

    return asyncio.run(finished())


@pytest.mark.parametrize("proof", ["client_secret_basic", "client_secret_post"])
def test_a_client_with_a_secret_proves_itself_as_the_issuer_wants_it(
    proof: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_SECRET", "s&e:cret +%")
    with issuing(RSA) as issuer:
        issuer.about = {"token_endpoint_auth_methods_supported": [proof]}
        oidc = settings(issuer.url, client_secret_env="THE_SECRET")
        issuer.clients[CLIENT] = Client("https://groundplan.example.org/sign-in/callback", "s&e:cret +%", proof)
        assert signed_in_by(oidc) == Session("acme", "ask", "oidc:alice", "Alice")
        monkeypatch.setenv("THE_SECRET", "wrong")
        with pytest.raises(SignInFailed, match="check client_id, its secret") as failed:
            signed_in_by(oidc)
    assert "wrong" not in str(failed.value)


def test_a_secret_that_is_not_set_is_named_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THE_SECRET", raising=False)
    with pytest.raises(UsageError, match="THE_SECRET has no client secret"):
        flow(settings("https://login.example.org", client_secret_env="THE_SECRET"))


@pytest.mark.parametrize(
    "about",
    [
        {"authorization_endpoint": "http://login.example.org/authorize"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": None},
        {"token_endpoint": "http://login.example.org/token"},
        {"token_endpoint": ["https://login.example.org/token"]},
    ],
    ids=str,
)
def test_addresses_of_the_issuer_must_be_safe(about: dict[str, Any]) -> None:
    with issuing(RSA) as issuer:
        issuer.about, issuer.clients[CLIENT] = about, Client("https://groundplan.example.org/sign-in/callback")
        with pytest.raises(IssuerUnavailable, match="with a safe address"):
            signed_in_by(settings(issuer.url))
        assert TOKEN not in issuer.requests


@pytest.mark.parametrize(
    "reply",
    [
        lambda handler: send(handler, b"", 302, Location="/elsewhere"),
        lambda handler: send(handler, b"{}", 500),
        lambda handler: send(handler, b"[" * 100_000),
        lambda handler: send(handler, b" " * 1_000_000),
        lambda handler: send(handler, b'{"id_token": 7}'),
        lambda handler: send(handler, b"{}"),
    ],
    ids=["moved", "failed", "deep", "large", "odd token", "no token"],
)
def test_a_token_endpoint_that_misbehaves_signs_nobody_in(reply: Any) -> None:
    with issuing(RSA) as issuer:
        issuer.clients[CLIENT] = Client("https://groundplan.example.org/sign-in/callback")
        issuer.reply = lambda handler: handler.path == TOKEN and reply(handler)
        with pytest.raises(IssuerUnavailable):
            signed_in_by(settings(issuer.url))
        assert "/elsewhere" not in issuer.requests


def test_while_the_issuer_is_dead_the_page_says_so() -> None:
    app, oidc = FastAPI(), settings(f"http://127.0.0.1:{free_port()}")
    assert oidc.sign_in is not None
    add_sign_in(app, flow(oidc), BrowserSessions(oidc.sign_in, oidc.issuer, Sessions(NoDatabase())))  # type: ignore[arg-type]
    reply = TestClient(app, follow_redirects=False).get("/sign-in?next=/runs")
    assert "cannot be completed now" in reply.text
    assert (reply.status_code, reply.headers["cache-control"]) == (503, "no-store")


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("https://groundplan.example.org", "https://groundplan.example.org"),
        ("https://Groundplan.Example.org:443/", "https://groundplan.example.org"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_the_url_is_kept_as_browsers_name_the_origin(written: str, kept: str) -> None:
    assert SignInSettings(url=written, client_id=CLIENT).url == kept


@pytest.mark.parametrize(
    "line",
    [
        'url = "http://groundplan.example.org"',
        'url = "https://groundplan.example.org/path"',
        'url = "https://groundplan.example.org/?a"',
        'url = "https://a:b@groundplan.example.org"',
        'url = "https://groundplan.example.org:port"',
        'url = "https://пример.рф"',
        'url = "https://groundplan.example.org"\nscopes = ["profile"]',
        'url = "https://groundplan.example.org"\nhours = 0',
        "",
    ],
)
def test_wrong_settings_are_named(line: str, tmp_path: Path) -> None:
    oidc = '[service.oidc]\nissuer = "https://login.example.org"\naudience = "a"'
    (tmp_path / "groundplan.toml").write_text(f'{oidc}\n[service.oidc.sign_in]\nclient_id = "c"\n{line}\n')
    with pytest.raises(UsageError, match=r"service\.oidc\.sign_in\.(url|scopes|hours): "):
        load_settings(tmp_path)


def test_a_folder_that_sends_a_secret_is_used_when_it_is_trusted(tmp_path: Path) -> None:
    (tmp_path / "groundplan.toml").write_text(
        '[service.oidc]\nissuer = "https://login.example.org/a"\naudience = "a"\n'
        '[service.oidc.sign_in]\nurl = "https://a.org"\nclient_id = "a"\nclient_secret_env = "AWS_SECRET"\n'
    )
    assert wanted_by(tmp_path)[0] == (
        "[service.oidc] lets in whoever https://login.example.org/a vouches for",
        "[service.oidc.sign_in] sends the secret in the environment variable AWS_SECRET",
    )
