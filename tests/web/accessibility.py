"""What axe finds on a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def violations(page: Page) -> list[str]:
    if not AXE.is_file():
        pytest.skip("axe-core is not there: npm --prefix web ci")
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})")["violations"]
    return [f"{one['id']}: {json.dumps([node['html'][:120] for node in one['nodes']][:3])}" for one in found]
