"""What a column means, changed in the browser, by a real Chromium against the real service."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.service.processes import ask
from tests.web.accessibility import violations
from tests.web.test_browser import tab_to, text_of

ASKED = "total revenue by bailiwick"


@pytest.fixture(autouse=True)
def nothing_said(client: httpx.Client) -> Iterator[None]:
    yield
    for one in client.get("/v1/column-settings").json()["columns"]:
        client.delete("/v1/column-settings", params={"table": one["table"], "column": one["column"]})


def region(page: Page) -> Locator:
    """The row of the column `region`."""
    return page.get_by_role("listitem").filter(
        has=page.get_by_role("button", name="Change what region means", exact=True)
    )


def open_form(page: Page) -> Locator:
    page.goto("/sources")
    page.get_by_role("button", name="Change what region means", exact=True).click()
    form = page.get_by_role("form", name="What region means")
    expect(form.get_by_label("Other words for it")).to_be_focused()
    return form


def send(page: Page, question: str) -> None:
    page.goto("/")
    page.get_by_label("Your question").fill(question)
    page.get_by_label("Your question").press("Enter")
    page.wait_for_url("**/runs/*")


def test_the_page_says_which_values_a_category_has(page: Page) -> None:
    page.goto("/sources")
    expect(region(page)).to_contain_text("Central, East, North, South, West")
    expect(region(page)).not_to_contain_text("different values")


def test_a_word_is_added_asked_with_and_taken_back(page: Page, client: httpx.Client) -> None:
    assert ask(client, ASKED)["state"] != "succeeded"
    form = open_form(page)
    form.get_by_label("Other words for it").fill("bailiwick, county palatine")
    form.get_by_role("button", name="Save").click()
    expect(region(page)).to_contain_text("also called: bailiwick, county palatine")
    expect(region(page)).to_contain_text("changed by you or your team")
    send(page, ASKED)
    expect(text_of(page)).to_contain_text("West")
    form = open_form(page)
    expect(form.get_by_label("Other words for it")).to_have_value("bailiwick, county palatine")
    form.get_by_role("button", name="Reset to what was found").click()
    expect(region(page)).not_to_contain_text("bailiwick")
    send(page, ASKED)
    expect(page.get_by_text("nothing called 'bailiwick'").first).to_be_visible()
    assert client.get("/v1/column-settings").json()["columns"] == []


def test_numbers_become_an_identifier(page: Page, client: httpx.Client) -> None:
    assert ask(client, "average weight")["state"] == "succeeded"
    page.goto("/sources")
    page.get_by_role("button", name="Change what weight means").click()
    form = page.get_by_role("form", name="What weight means")
    form.get_by_label("What its values are").select_option("identifier: only counted")
    form.get_by_role("button", name="Save").click()
    row = page.get_by_role("listitem").filter(has=page.get_by_role("button", name="Change what weight means"))
    expect(row).to_contain_text("changed by you or your team")
    expect(row).to_contain_text("identifier")
    assert ask(client, "average weight")["state"] != "succeeded"


def test_a_word_that_cannot_be_used_is_refused_beside_its_field(page: Page, client: httpx.Client) -> None:
    form = open_form(page)
    words = form.get_by_label("Other words for it")
    for typed, said in (
        ("area, channel", "'channel' is what the column 'channel' is called"),
        ("total", "'total' has a meaning of its own"),
        ("x" * 81, "at most 80 characters"),
    ):
        words.fill(typed)
        form.get_by_role("button", name="Save").click()
        expect(words).to_have_attribute("aria-invalid", "true")
        expect(words).to_have_accessible_description(re.compile(re.escape(said)))
    assert client.get("/v1/column-settings").json()["columns"] == []


def test_the_keyboard_opens_and_leaves_the_form(page: Page, client: httpx.Client) -> None:
    page.goto("/sources")
    expect(page.get_by_role("button", name="Change what region means", exact=True)).to_be_enabled()
    tab_to(page, "Change what region means")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Other words for it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("form")).to_have_count(0)
    expect(page.get_by_role("button", name="Change what region means", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("bailiwick")
    page.keyboard.press("Enter")
    expect(region(page)).to_contain_text("also called: bailiwick")
    assert len(client.get("/v1/column-settings").json()["columns"]) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_open_form(browser: Browser, client: httpx.Client, scheme: str) -> None:
    context = browser.new_context(base_url=str(client.base_url), color_scheme=scheme, reduced_motion="reduce")
    try:
        page = context.new_page()
        form = open_form(page)
        assert violations(page) == []
        form.get_by_label("Other words for it").fill("total")
        form.get_by_role("button", name="Save").click()
        expect(form.get_by_text("has a meaning of its own")).to_be_visible()
        assert violations(page) == [], "refused"
        form.get_by_label("Other words for it").fill("bailiwick")
        form.get_by_role("button", name="Save").click()
        expect(region(page)).to_contain_text("changed by you")
        assert violations(page) == [], "changed"
    finally:
        context.close()
