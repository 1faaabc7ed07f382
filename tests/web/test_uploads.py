"""Files chosen or dropped in the browser, by a real Chromium against the real service."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.accessibility import violations
from tests.web.test_browser import tab_to, text_of

TARGETS = b"branch,quota\nNorth,10\nSouth,32\nNorth,12\n"
DROP = """([name, content]) => {
    const carried = new DataTransfer();
    carried.items.add(new File([content], name));
    const told = (kind) => new DragEvent(kind, {dataTransfer: carried, bubbles: true, cancelable: true});
    document.body.dispatchEvent(told("dragover"));
    return () => document.body.dispatchEvent(told("drop"));
}"""


@pytest.fixture(autouse=True)
def no_uploads_left(client: httpx.Client) -> Iterator[None]:
    yield
    for file in client.get("/v1/uploads").json()["files"]:
        client.delete(f"/v1/uploads/{file['id']}")


def choose(page: Page, name: str, content: bytes) -> None:
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})


def drop(page: Page, name: str, content: bytes) -> None:
    page.evaluate(f"(given) => {{ window.letGo = ({DROP})(given) }}", [name, content.decode()])
    expect(page.get_by_text("Drop the file to add it")).to_be_visible()
    page.evaluate("window.letGo()")


@pytest.mark.parametrize("how", [choose, drop], ids=["chosen", "dropped"])
@pytest.mark.parametrize("path", ["/", "/sources"])
def test_a_file_is_added_and_asked_about(page: Page, how: object, path: str) -> None:
    page.goto(path)
    expect(page.get_by_role("button", name="Choose files")).to_be_enabled()
    assert callable(how)
    how(page, "quotas.csv", TARGETS)
    expect(page.get_by_text("quotas.csv can be asked about now.")).to_be_visible()
    table = page.get_by_role("article").filter(has=page.get_by_role("heading", name="quotas"))
    expect(table).to_contain_text("3 rows")
    expect(table).to_contain_text("branch")
    page.goto("/")
    page.get_by_role("button", name="average quota by branch").click()
    expect(text_of(page)).to_contain_text("South")


def test_the_keyboard_chooses_a_file(page: Page) -> None:
    file = {"name": "quotas.csv", "mimeType": "text/csv", "buffer": TARGETS}
    page.on("filechooser", lambda chooser: chooser.set_files(file))  # before the page: it takes effect a little later
    page.goto("/sources")
    expect(page.get_by_role("button", name="Choose files")).to_be_enabled()
    tab_to(page, "Choose files")
    page.keyboard.press("Enter")
    expect(page.get_by_text("quotas.csv can be asked about now.")).to_be_visible()


def test_what_the_service_refuses_is_said_in_its_words(page: Page, client: httpx.Client) -> None:
    page.goto("/")
    expect(page.get_by_role("button", name="Choose files")).to_be_enabled()
    choose(page, "broken.parquet", b"not a table")
    refused = page.get_by_role("alert").filter(has_text="broken.parquet was not added")
    expect(refused).to_contain_text("broken.parquet: cannot be read")
    drop(page, "notes.txt", b"words")
    expect(page.get_by_role("alert")).to_contain_text("upload one of .csv")
    assert client.get("/v1/uploads").json()["files"] == []
    choose(page, "quotas.csv", TARGETS)
    expect(page.get_by_text("quotas.csv can be asked about now.")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_several_files_are_sent_one_after_the_other(page: Page, client: httpx.Client) -> None:
    page.goto("/sources")
    expect(page.get_by_role("button", name="Choose files")).to_be_enabled()
    files = [(f"part{number}.csv", TARGETS) for number in range(2)] + [("empty.csv", b"")]
    given = [{"name": name, "mimeType": "text/csv", "buffer": content} for name, content in files]
    page.locator("input[type=file]").set_input_files(given)  # type: ignore[arg-type]
    expect(page.get_by_role("alert")).to_contain_text("empty.csv: is empty")
    expect(page.get_by_text("part1.csv can be asked about now.")).to_be_visible()
    assert [file["name"] for file in client.get("/v1/uploads").json()["files"]] == ["part0.csv", "part1.csv"]


def test_a_file_is_deleted_after_a_second_look(page: Page, client: httpx.Client) -> None:
    page.goto("/sources")
    expect(page.get_by_role("button", name="Choose files")).to_be_enabled()
    choose(page, "quotas.csv", TARGETS)
    page.get_by_role("button", name="Delete quotas.csv").click()
    expect(page.get_by_text("The file is deleted for everybody")).to_be_visible()
    page.get_by_role("button", name="Keep it").click()
    assert len(client.get("/v1/uploads").json()["files"]) == 1
    page.get_by_role("button", name="Delete quotas.csv").click()
    page.get_by_role("button", name="Delete quotas.csv").click()
    expect(page.get_by_role("heading", name="quotas")).to_have_count(0)
    assert client.get("/v1/uploads").json()["files"] == []


def test_a_file_in_russian(browser: Browser, client: httpx.Client) -> None:
    context = browser.new_context(base_url=str(client.base_url), locale="ru-RU")
    try:
        page = context.new_page()
        page.goto("/")
        expect(page.get_by_role("button", name="Выбрать файлы")).to_be_enabled()
        choose(page, "планы.csv", "филиал,план\nСевер,10\nЮг,32\n".encode())
        expect(page.get_by_text("О файле планы.csv уже можно спрашивать.")).to_be_visible()
        choose(page, "пусто.csv", b"")
        expect(page.get_by_role("alert")).to_contain_text("Файл пусто.csv не добавлен")
    finally:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_where_files_are_added(browser: Browser, client: httpx.Client, scheme: str) -> None:
    context = browser.new_context(base_url=str(client.base_url), color_scheme=scheme, reduced_motion="reduce")
    try:
        page = context.new_page()
        for path in ("/", "/sources"):
            page.goto(path)
            expect(page.get_by_role("button", name="Choose files")).to_be_enabled()
            choose(page, "quotas.csv", TARGETS)
            expect(page.get_by_text("quotas.csv can be asked about now.")).to_be_visible()
            assert violations(page) == [], path
            choose(page, "empty.csv", b"")
            expect(page.get_by_role("alert")).to_contain_text(re.compile("is empty"))
            assert violations(page) == [], path
        page.get_by_role("button", name="Delete quotas.csv").click()
        assert violations(page) == [], "before a file is deleted"
    finally:
        context.close()
