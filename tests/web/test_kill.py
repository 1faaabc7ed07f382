"""A worker dies while somebody looks at its run. Alone in its file, as `test_keys.py` is."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from playwright.sync_api import Browser, expect

from tests.patience import HANGS
from tests.service.conftest import ACTIVE, data, empty_postgres, postgres  # noqa: F401
from tests.service.processes import ask, make_key, process, served, until

expect.set_options(timeout=HANGS * 1000)


@pytest.fixture(scope="module")
def key(postgres: str) -> str:  # noqa: F811
    return make_key(postgres, "watching")


@pytest.mark.requirement("R76", part="resumed")
def test_the_page_goes_on_by_itself_when_a_worker_is_killed(
    key: str,
    postgres: str,  # noqa: F811
    data: str,  # noqa: F811
    browser: Browser,
    tmp_path: Path,
) -> None:
    worker = ("worker", data, "--database", postgres)
    with (
        psycopg.connect(data, autocommit=True) as engine,
        served(tmp_path, data, "--database", postgres, key=key) as client,
        process(tmp_path, *worker) as first,
    ):

        def active() -> int:
            return int(str(engine.execute(ACTIVE).fetchall()[0][0]))

        text = ask(client, "total revenue by region")["outcome"]["text"]
        engine.execute("insert into apart.flag values (true)")
        context = browser.new_context(base_url=str(client.base_url))
        page = context.new_page()
        page.goto("/")
        page.get_by_label("Key", exact=True).fill(key)
        page.get_by_role("button", name="Continue").click()
        page.get_by_label("Your question").fill("total revenue by region")
        page.get_by_label("Your question").press("Enter")
        working = page.get_by_role("region", name="Working on it")
        expect(working.locator("[data-status=started]").first).to_be_visible()
        until(active)
        page.reload()
        expect(working.locator("[data-status=started]").first).to_be_visible()
        loads: list[str] = []
        page.on("load", lambda loaded: loads.append(loaded.url))
        first.kill()
        first.wait()
        expect(working).to_be_visible()
        engine.execute("delete from apart.flag")
        with process(tmp_path, *worker):
            expect(page.get_by_test_id("answer-text")).to_have_text(text)
        assert loads == []
        assert client.get(f"/v1/runs/{page.url.rpartition('/')[2]}").json()["attempt"] == 2
        context.close()
