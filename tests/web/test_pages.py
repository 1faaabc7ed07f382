"""What the service sends to a browser: the pages, their policy and their size. No browser is needed."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from groundplan.service.access import Access
from groundplan.service.pages import BUILT, add_pages, is_page

SHELL = 200_000  # bytes, gzipped, before the first paint


class NoKeys:
    async def find(self, key: str) -> None: ...


def app(built: Path, keys: object = None) -> TestClient:
    made = FastAPI()
    made.add_middleware(Access, keys=keys, tenant="here")
    add_pages(made, built)
    return TestClient(made, base_url="http://localhost")


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text('<meta content="__STYLE_NONCE__"><title>groundplan</title>')
    (tmp_path / "assets" / "index-1a2b.js").write_text("let groundplan = 1;" * 50)
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path


@pytest.mark.parametrize("path", ["/", "/runs", "/sources", "/runs/0123456789abcdef01234567"])
def test_each_address_is_the_page_under_a_strict_policy(built: Path, path: str) -> None:
    reply = app(built).get(path)
    assert reply.status_code == 200
    assert "<title>groundplan</title>" in reply.text
    policy = reply.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    nonce = re.search(r"'nonce-([^']+)'", policy)
    assert nonce is not None
    assert nonce[1] in reply.text
    assert nonce[1] not in app(built).get(path).text
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cache-control"] == "no-store"


def test_files_are_kept_for_ever_and_zipped(built: Path) -> None:
    reply = app(built).get("/assets/index-1a2b.js")
    assert reply.headers["content-type"].startswith("text/javascript")
    assert "immutable" in reply.headers["cache-control"]
    assert reply.headers["content-encoding"] == "gzip"
    assert reply.text.startswith("let groundplan")
    plain = app(built).get("/assets/index-1a2b.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers


@pytest.mark.parametrize("path", ["/assets/nothing.js", "/assets/../secret.txt", "/assets/..%2Fsecret.txt", "/assets/"])
def test_no_other_file_is_served(built: Path, path: str) -> None:
    assert app(built).get(path).status_code == 404


def test_without_built_pages_the_page_says_how_to_build_them(tmp_path: Path) -> None:
    reply = app(tmp_path).get("/")
    assert reply.status_code == 200
    assert "npm --prefix web run build" in reply.text


def test_pages_need_no_key_and_may_be_linked_to_but_the_interface_does(built: Path) -> None:
    assert app(built, NoKeys()).get("/runs").status_code == 200
    assert app(built, NoKeys()).get("/v1/runs").status_code == 401
    from_mail = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert app(built).get("/runs", headers=from_mail).status_code == 200
    assert app(built).get("/v1/runs", headers=from_mail).status_code == 403
    assert app(built).get("/", headers={"Host": "evil.example"}).status_code == 421


def test_no_path_of_the_interface_is_a_page(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()
    assert described["paths"]
    assert not [path for path in described["paths"] if is_page(path)]
    assert client.get("/v1/nothing").headers["content-type"] == "application/problem+json"


def test_the_shell_is_small() -> None:
    index = BUILT / "index.html"
    if not index.is_file():
        pytest.skip("the pages are not built: npm --prefix web ci && npm --prefix web run build")
    text = index.read_text()
    named = re.findall(r'(?:src|href)="/(assets/[^"]+)"', text)
    assert any(name.endswith(".css") for name in named)
    size = sum(len(gzip.compress((BUILT / name).read_bytes(), 9)) for name in {*named, "index.html"})
    assert size < SHELL, f"{size:,} bytes"
    assert "inline" not in text
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>", text)
    assert not re.findall(r'(?:src|href)="(?!/)[^"]*"', text)
