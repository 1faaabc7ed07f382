"""People sign in in a real browser. Alone in its file: the browser keeps a loop, in which no other can run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.asking.tables.described import SALES
from tests.patience import HANGS
from tests.service.conftest import own_postgres  # noqa: F401
from tests.service.issuer import Client, Issuer, issuing, signer
from tests.service.processes import free_port, make_key, process, served
from tests.service.test_sign_in import CLIENT, SESSION, configure
from tests.web.accessibility import violations

expect.set_options(timeout=HANGS * 1000)
PROVIDER = Path(__file__).parents[1] / "service" / "provider.mjs"
INSTALLED = Path(__file__).parents[2] / "web" / "node_modules" / "oidc-provider"
NODE = Path(sys.executable).with_name("node")
NAME = "Example Identity of all Regional Departments"


@pytest.fixture(scope="module")
def key(own_postgres: str) -> str:  # noqa: F811
    return make_key(own_postgres, "acme")  # before a browser is there


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing(signer("rsa")) as found:
        yield found


@pytest.fixture(scope="module")
def url(
    issuer: Issuer,
    own_postgres: str,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("sign-in"), free_port()
    url, database = f"http://127.0.0.1:{port}", ("--database", own_postgres)
    issuer.clients[CLIENT] = Client(f"{url}/sign-in/callback")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDPLAN_STATE", str(folder / "state"))
        configure(folder, issuer.url, url, f'name = "{NAME}"\n')
        with process(folder, "worker", str(SALES), *database), served(folder, str(SALES), *database, port=port):
            yield url


@pytest.fixture
def context(key: str, url: str, browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(base_url=url, viewport={"width": 380, "height": 800}, locale="en-GB")
    yield made
    made.close()


def sign_in(page: Page, login: str = "ada") -> None:
    page.get_by_role("link", name=f"Sign in with {NAME}").click()
    page.get_by_label("Login").fill(login)
    page.get_by_role("button", name="Sign in").click()


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to ask your data")).to_be_visible()


def test_one_signs_in_asks_and_signs_out_and_nothing_stays(context: BrowserContext) -> None:
    page, faults = context.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    page.goto("/sources")
    offered = page.get_by_role("link", name=f"Sign in with {NAME}")
    expect(offered).to_be_visible()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert violations(page) == [], scheme
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    sign_in(page)
    expect(page.get_by_role("heading", name="Your data")).to_be_visible()
    assert page.url.endswith("/sources")
    page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_label("Your question").fill("total revenue by region")
    page.get_by_label("Your question").press("Enter")
    expect(page.get_by_test_id("answer-text")).to_contain_text("West")
    page.reload()
    expect(page.get_by_test_id("answer-text")).to_contain_text("West")
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("[...Object.values(localStorage), ...Object.values(sessionStorage)]") == []
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("Signed in as Ada")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    sign_out(page)
    assert SESSION not in {cookie["name"] for cookie in context.cookies()}
    for _ in range(2):
        page.go_back()
        expect(offered).to_be_visible()
        expect(page.get_by_text("West")).to_have_count(0)
    assert faults == []


def test_a_session_that_ends_elsewhere_is_asked_for_again(
    context: BrowserContext,
    own_postgres: str,  # noqa: F811
) -> None:
    page = context.new_page()
    page.goto("/")
    sign_in(page)
    expect(page.get_by_label("Your question")).to_be_visible()
    with psycopg.connect(own_postgres, autocommit=True) as connection:
        connection.execute("delete from sessions")
    page.get_by_label("Your question").fill("total revenue")
    page.keyboard.press("Enter")  # the page may have found out by itself already
    expect(page.get_by_role("link", name=f"Sign in with {NAME}")).to_be_visible()
    sign_in(page)
    expect(page.get_by_label("Your question")).to_be_visible()


def test_a_key_can_be_used_instead_and_the_keyboard_is_enough(context: BrowserContext, key: str) -> None:
    page = context.new_page()
    page.goto("/")
    expect(page.get_by_role("link", name=f"Sign in with {NAME}")).to_be_visible()
    expect(page.get_by_label("Key", exact=True)).to_be_hidden()
    page.get_by_role("link", name=f"Sign in with {NAME}").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Key", exact=True)).to_be_focused()
    page.keyboard.type(key)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your question")).to_be_visible()


def test_who_is_not_signed_in_reads_why_and_goes_back(context: BrowserContext) -> None:
    page = context.new_page()
    page.goto("/runs")
    page.get_by_role("link", name=f"Sign in with {NAME}").click()
    page.get_by_role("button", name="Decline").click()
    expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.get_by_role("link", name="Back to groundplan").click()
    expect(page.get_by_role("link", name=f"Sign in with {NAME}")).to_be_visible()
    assert page.url.endswith("/runs")


def test_another_site_cannot_act_for_who_is_signed_in(context: BrowserContext, issuer: Issuer, url: str) -> None:
    """Another port is another origin of the same site, so the browser sends the cookie."""
    page = context.new_page()
    page.goto("/")
    sign_in(page)
    expect(page.get_by_label("Your question")).to_be_visible()
    evil = context.new_page()
    evil.goto(f"{issuer.url}/authorize")
    with evil.expect_response(f"{url}/v1/session") as read, evil.expect_response(f"{url}/v1/runs/**") as sent:
        evil.evaluate(
            """async (url) => {
                const simple = { mode: "no-cors", credentials: "include" };
                await fetch(url + "/v1/session", simple);
                await fetch(url + "/v1/runs/0123456789abcdef01234567/cancel", { ...simple, method: "POST" });
            }""",
            url,
        )
    assert (read.value.status, sent.value.status) == (403, 403)  # 200 and 401 without a cookie


@contextmanager
def provided(url: str, client: Client) -> Iterator[None]:
    """oidc-provider at this URL: an implementation that is not ours."""
    if not INSTALLED.is_dir() or not NODE.is_file():
        pytest.skip("oidc-provider is not there: npm --prefix web ci")
    environment = os.environ | ({"CLIENT_SECRET": client.secret} if client.secret else {})
    command = [str(NODE), str(PROVIDER), url, CLIENT, client.redirect]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        try:
            assert running.stdout is not None
            assert any("listening" in line for line in running.stdout)
            yield
        finally:
            os.killpg(running.pid, signal.SIGKILL)  # `node` is a script that starts the real one


@pytest.mark.parametrize("secret", [None, "s e:cret/+%"], ids=["public", "with a secret"])
def test_one_signs_in_at_a_provider_that_is_not_ours(
    secret: str | None,
    key: str,
    own_postgres: str,  # noqa: F811
    browser: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("THE_SECRET", secret or "")
    port, issuer = free_port(), f"http://127.0.0.1:{free_port()}"
    url = f"http://127.0.0.1:{port}"
    configure(tmp_path, issuer, url, 'client_secret_env = "THE_SECRET"\n' if secret else "")
    with (
        provided(issuer, Client(f"{url}/sign-in/callback", secret)),
        served(tmp_path, str(SALES), "--database", own_postgres, port=port),
    ):
        context = browser.new_context(base_url=url, locale="en-GB")
        page = context.new_page()
        page.goto("/runs")
        page.get_by_role("link", name="Sign in with 127.0.0.1").click()
        page.locator("input[name=login]").fill("grace")
        page.locator("input[name=password]").fill("any")
        page.get_by_role("button", name="Sign-in").click()
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading", name="Runs")).to_be_visible()
        assert page.url == f"{url}/runs"
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_text("Signed in as grace of Acme")).to_be_visible()
        page.get_by_role("menuitem", name="Sign out").click()
        expect(page.get_by_role("link", name="Sign in with 127.0.0.1")).to_be_visible()
        context.close()
