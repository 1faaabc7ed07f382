"""The browser with a service whose steps change something."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.extras import missing
from tests.patience import HANGS
from tests.service.processes import MAIN, WAIT, served, settled
from tests.web.accessibility import violations

if not missing("mcp"):
    from tests.mcp.tasks import BOOKINGS, MAILS, TASKS
    from tests.sources.mcp.calling import rows, served_shop

expect.set_options(timeout=HANGS * 1000)


@pytest.mark.needs("mcp")
@pytest.mark.parametrize("approved", [True, False])
def test_what_changes_something_is_shown_value_by_value(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, approved: bool
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    task = next(task for task in TASKS if task.mails and task.bookings)
    shop = tmp_path / "shop.sqlite"
    with served_shop(shop) as url:
        (tmp_path / "groundplan.toml").write_text(f'[sources.shop]\nmcp = "{url}"\n')
        subprocess.run([*MAIN, "trust", "--yes"], cwd=tmp_path, check=True)
        with served(tmp_path) as client:
            run = client.post("/v1/runs", json={"plan": task.plan}, headers=WAIT).json()
            assert run["state"] == "waiting_approval"
            context = browser.new_context(base_url=str(client.base_url))
            page = context.new_page()
            page.goto(f"/runs/{run['id']}")
            dialog = page.get_by_role("dialog", name="Approve this change?")
            expect(dialog).to_be_visible()
            effects = {issue["step"] for issue in run["waiting"]["issues"]}
            params = [step["params"] for step in run["waiting"]["plan"]["steps"] if step["id"] in effects]
            assert params
            for name in {name for one in params for name in one}:
                expect(dialog.get_by_role("rowheader", name=name, exact=True).first).to_be_visible()
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                page.wait_for_timeout(300)  # colours change slowly
                assert violations(page) == [], scheme
            expect(dialog).not_to_contain_text("calls 'shop")  # the values are in the table, once
            if approved:
                shows_items_as_rows(context, run)
            dialog.get_by_role("button", name="Approve and run" if approved else "Decline").click()
            expect(dialog).to_be_hidden()
            ended = settled(client, run["id"])
            expect(page.get_by_role("dialog")).to_have_count(0)
            context.close()
    assert ended["state"] == ("succeeded" if approved else "refused")
    assert rows(shop, MAILS) == (sorted(task.mails) if approved else [])
    assert rows(shop, BOOKINGS) == (sorted(task.bookings) if approved else [])


def shows_items_as_rows(context: BrowserContext, run: dict[str, Any]) -> None:
    """The same step for each of three items, as the service says it."""
    [call, *_] = run["waiting"]["effects"]
    values = next(name for name, value in call["params"].items() if isinstance(value, str))
    items = [call | {"item": at, "params": call["params"] | {values: f"item {at}"}} for at in range(3)]
    page = context.new_page()
    page.set_viewport_size({"width": 380, "height": 800})
    asked = {**run, "waiting": {**run["waiting"], "effects": items}}
    page.route(f"**/v1/runs/{run['id']}", lambda route: route.fulfill(json=asked))
    page.goto(f"/runs/{run['id']}")
    dialog = page.get_by_role("dialog", name="Approve this change?")
    for name in call["params"]:
        expect(dialog.get_by_role("columnheader", name=name, exact=True)).to_be_visible()
    expect(dialog.get_by_role("row")).to_have_count(4)
    expect(dialog.get_by_role("row").nth(2)).to_contain_text("item 1")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()
