"""Makes the pictures of the browser from a real service and a real Chromium: `python docs/make_screenshots.py`.

Build the pages first: `npm --prefix web ci && npm --prefix web run build`. Look at the pictures before you commit them.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

DOCS = Path(__file__).parent
PICTURES = DOCS / "pictures" / "browser"
CHROMIUM = "/usr/bin/chromium"
WIDE, NARROW = {"width": 1120, "height": 800}, {"width": 380, "height": 780}
SHADOWED = ("total cost by region", "average units by channel", "monthly cost", "revenue by channel in 2025")
QUESTION = "total revenue by region in 2025, top 3"

VARIANTS = '[variants.plain]\nroles = { reader = "words" }\n'
QUOTAS = b"region,manager,quota\nEast,Ada,310000\nNorth,Ben,240000\nSouth,Cleo,280000\nWest,Dan,350000\n"


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with served() as url, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        for question in ("monthly revenue by channel", "revenue by salesperson", QUESTION):
            ask(browser, url, question)
        photograph(browser, url)
        browser.close()


def photograph(browser: Browser, url: str) -> None:
    page = opened(browser, url)
    page.get_by_role("button", name="monthly revenue trend").wait_for()
    keep(page, "ask")
    page.get_by_label("Your question").fill(QUESTION)
    page.get_by_label("Your question").press("Enter")
    chip = page.get_by_role("region", name="How it was read").get_by_role("button", name="by region")
    chip.wait_for()
    page.locator("canvas").wait_for()
    answer = page.url
    page.get_by_role("button", name="10.3 million").hover()
    keep(page, "evidence")
    chip.click()
    page.get_by_role("button", name="channel", exact=True).hover()
    keep(page, "change")
    page.get_by_role("button", name="channel", exact=True).click()
    page.get_by_role("button", name="Run this reading").wait_for()
    page.mouse.move(1, 1)
    keep(page, "checked")
    for name, path in (("data", "/sources"), ("runs", "/runs")):
        page.goto(url + path)
        page.get_by_role("heading", level=1).wait_for()
        keep(page, name)
    page.goto(f"{url}/sources")
    page.get_by_role("button", name="Change what region means").click()
    page.get_by_label("Other words for it").fill("territory, area")
    page.get_by_role("heading", name="sales").evaluate("(heading) => window.scrollTo(0, heading.offsetTop - 120)")
    page.mouse.move(1, 1)
    keep(page, "meaning")
    page.goto(url)
    page.get_by_label("Your question").fill("total revenue on 03/04/2025")
    page.get_by_label("Your question").press("Enter")
    page.get_by_role("button", name="2025-04-03").wait_for()
    keep(page, "question-back")
    plan = opened(browser, answer)
    plan.locator("canvas").wait_for()
    plan.locator("summary").first.click()
    plan.locator("summary").nth(1).click()
    plan.locator("summary").first.evaluate("(summary) => window.scrollBy(0, summary.getBoundingClientRect().top - 90)")
    keep(plan, "plan")
    dark = opened(browser, answer, scheme="dark")
    dark.locator("canvas").wait_for()
    keep(dark, "dark")
    phone = opened(browser, answer, narrow=True)
    phone.locator("canvas").wait_for()
    keep(phone, "phone")
    thumbs = opened(browser, answer)
    thumbs.get_by_role("button", name="Bad").click()
    thumbs.get_by_label("What is wrong? (optional)").fill("net revenue was meant")
    thumbs.get_by_label("What is wrong? (optional)").scroll_into_view_if_needed()
    keep(thumbs, "feedback")
    adding = opened(browser, f"{url}/sources")
    adding.locator("input[type=file]").set_input_files({"name": "quotas.csv", "mimeType": "text/csv", "buffer": QUOTAS})
    adding.get_by_text("quotas.csv can be asked about now.").wait_for()
    keep(adding, "added")
    trial = opened(browser, f"{url}/rollout")
    trial.get_by_role("button", name="Start in the shadow").click()
    trial.get_by_text("questions have been read by the shadow").wait_for()
    for question in SHADOWED:
        ask(browser, url, question)
    trial.get_by_text(f"{len(SHADOWED)} of 30 questions").wait_for()
    keep(trial, "variants")


def ask(browser: Browser, url: str, question: str) -> None:
    page = opened(browser, url)
    page.get_by_label("Your question").fill(question)
    page.get_by_label("Your question").press("Enter")
    page.get_by_role("button", name="Ask", exact=True).wait_for()
    page.wait_for_timeout(3_000)
    page.context.close()


def opened(browser: Browser, url: str, scheme: str = "light", narrow: bool = False) -> Page:
    view = NARROW if narrow else WIDE
    page = browser.new_context(viewport=view, color_scheme=scheme, locale="en-US").new_page()  # type: ignore[arg-type]
    page.goto(url)
    return page


def keep(page: Page, name: str) -> None:
    page.wait_for_timeout(600)  # until nothing moves
    page.screenshot(path=str(PICTURES / f"{name}.png"))


@contextmanager
def served() -> Iterator[str]:
    """The address of `groundplan serve` with the example, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        shutil.copy(DOCS.parent / "examples" / "sales.csv", folder)
        Path(folder, "groundplan.toml").write_text(VARIANTS)
        command = [sys.executable, "-m", "groundplan.interfaces.cli.main", "serve", "sales.csv", "--port", str(port)]
        running = subprocess.Popen(command, cwd=folder, env={**os.environ, "GROUNDPLAN_STATE": f"{folder}/state"})
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(f"{url}/readyz")
            yield url
        finally:
            running.terminate()
            running.wait()


def wait_for(url: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(url)
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise TimeoutError(f"{url} does not answer")


if __name__ == "__main__":
    main()
