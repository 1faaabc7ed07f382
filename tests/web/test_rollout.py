"""Thumbs under an answer and the page of variants, in a real Chromium against the real service."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.asking.tables.described import SALES
from tests.patience import HANGS
from tests.service.processes import ask, served
from tests.web.accessibility import violations

expect.set_options(timeout=HANGS * 1000)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service with a variant."""
    folder = tmp_path_factory.mktemp("variants")
    (folder / "groundplan.toml").write_text('[variants.plain]\nroles = { reader = "words" }\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDPLAN_STATE", str(folder / "state"))
        with served(folder, str(SALES)) as found:
            yield found


def test_a_thumb_and_a_reason_are_given_and_shown_again(page: Page, client: httpx.Client) -> None:
    run = ask(client, "total revenue by region")["id"]
    page.goto(f"/runs/{run}")
    thumbs = page.get_by_role("region", name="Is this answer good?")
    thumbs.get_by_role("button", name="Bad").click()
    expect(thumbs.get_by_role("button", name="Bad")).to_have_attribute("aria-pressed", "true")
    thumbs.get_by_label("What is wrong? (optional)").fill("<b>the average</b> was meant")
    assert violations(page) == []
    thumbs.get_by_role("button", name="Send").click()
    expect(thumbs).to_contain_text("Somebody will look at how it was read.")
    assert client.get(f"/v1/runs/{run}/feedback").json() == {"thumb": "bad", "reason": "<b>the average</b> was meant"}
    page.reload()
    expect(thumbs).to_contain_text("Somebody will look at how it was read.")
    thumbs.get_by_role("button", name="Good").click()
    expect(thumbs.get_by_role("button", name="Good")).to_have_attribute("aria-pressed", "true")
    expect(thumbs).to_contain_text("Thank you.")
    assert client.get("/v1/reviews").json() == [], "the last thumb counts"


@pytest.mark.timed
def test_a_variant_is_started_looked_at_and_stopped(page: Page, client: httpx.Client) -> None:
    page.goto("/")
    page.get_by_role("link", name="Variants").click()
    page.get_by_role("button", name="Start in the shadow").click()
    expect(page.get_by_text("0 of 30 questions have been read by the shadow")).to_be_visible()
    ask(client, "average cost by channel")
    expect(page.get_by_role("row", name="shadow 1")).to_be_visible()  # the page looks every few seconds
    expect(page.get_by_text("Read with the same meaning")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Go on to 10 %").click()
    expect(page.get_by_text("10 % of new conversations")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("The trial of plain has stopped.")).to_be_visible()
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
