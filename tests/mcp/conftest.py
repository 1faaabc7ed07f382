"""A shop of one module's own behind a real MCP server, and a project that uses it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from groundplan.project import Project
from tests.sources.mcp.calling import shop_command


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shop") / "shop.sqlite"


@pytest.fixture(scope="module")
def project(shop: Path) -> Iterator[Project]:
    with Project({"shop": {"mcp": shop_command(shop)}}) as opened:
        yield opened
