"""The browser with a service that has keys. Alone in its file: the browser keeps a loop, in which no other can run."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.asking.tables.described import SALES
from tests.patience import HANGS
from tests.service.conftest import empty_postgres, postgres  # noqa: F401
from tests.service.processes import make_key, process, served
from tests.web.accessibility import violations

expect.set_options(timeout=HANGS * 1000)


@pytest.fixture(scope="module")
def key(postgres: str) -> str:  # noqa: F811
    return make_key(postgres, "the-team")


def test_a_key_is_asked_for_and_kept_for_the_tab(
    key: str,
    postgres: str,  # noqa: F811
    browser: Browser,
    tmp_path: Path,
) -> None:
    with (
        process(tmp_path, "worker", str(SALES), "--database", postgres),
        served(tmp_path, str(SALES), "--database", postgres) as client,
    ):
        context = browser.new_context(base_url=str(client.base_url))
        page = context.new_page()
        page.goto("/")
        expect(page.get_by_label("Key", exact=True)).to_be_visible()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert violations(page) == [], scheme
        page.get_by_label("Key", exact=True).fill("gp_wrong")
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_text("The service does not know this key.")).to_be_visible()
        page.get_by_label("Key", exact=True).fill(key)
        page.get_by_role("button", name="Continue").click()
        page.get_by_label("Your question").fill("total revenue by region")
        page.get_by_label("Your question").press("Enter")
        expect(page.get_by_test_id("answer-text")).to_contain_text("West")
        page.reload()
        expect(page.get_by_test_id("answer-text")).to_contain_text("West")
        assert key not in page.content()
        assert page.evaluate("Object.values(localStorage)") == []
        other = context.new_page()
        other.goto(page.url)
        expect(other.get_by_label("Key", exact=True)).to_be_visible()
        context.close()
