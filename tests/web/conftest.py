"""One real browser and one real `groundplan serve` for all of these tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from groundplan.service.pages import BUILT
from tests.asking.tables.described import SALES
from tests.patience import HANGS
from tests.service.processes import served

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install --group dev")

CHROMIUM = Path("/usr/bin/chromium")
HOSTILE = '"<img src=x onerror=document.title=1>",amount\n'
LONG = "w" * 10_000
ANSI = "\x1b[31mred\x1b[0m"


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    """For one file only: while it is open, no other event loop can run in this process."""
    if not CHROMIUM.exists():
        pytest.skip(f"needs {CHROMIUM}: apt-get install chromium")
    if not (BUILT / "index.html").is_file():
        pytest.skip("the pages are not built: npm --prefix web ci && npm --prefix web run build")
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=str(CHROMIUM), args=flags)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Sales, a table whose names and cells attack a page, and one of 10,000 rows."""
    folder = tmp_path_factory.mktemp("web")
    data = folder / "data"
    data.mkdir()
    shutil.copy(SALES, data / "sales.csv")
    cells = [
        "<script>document.title='x'</script>",
        "</td></table><h1>out</h1>",
        "\u202eright-to-left",
        LONG,
        ANSI,
        "=1+1",
    ]
    rows = "".join(f'"{cell}",{number}\n' for number, cell in enumerate(cells, 1))
    (data / "hostile.csv").write_text(HOSTILE + rows)
    (data / "parts.csv").write_text("part,weight\n" + "".join(f"part {n:05},{n % 97}\n" for n in range(10_000)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDPLAN_STATE", str(folder / "state"))
        with served(folder, "data") as found:
            yield found


@pytest.fixture
def context(browser: playwright.Browser, client: httpx.Client) -> Iterator[playwright.BrowserContext]:
    made = browser.new_context(
        base_url=str(client.base_url), viewport={"width": 1280, "height": 900}, color_scheme="light"
    )
    made.set_default_timeout(HANGS * 1000)
    yield made
    made.close()


@pytest.fixture
def page(context: playwright.BrowserContext, client: httpx.Client) -> Iterator[playwright.Page]:
    """A page that must ask nobody else, raise nothing, and break no rule of its policy."""
    opened, faults, asked = context.new_page(), [], []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    opened.on("request", lambda request: asked.append(request.url))
    yield opened
    assert faults == []
    elsewhere = [url for url in asked if not url.startswith((str(client.base_url), "blob:", "data:"))]
    assert elsewhere == []
