"""What the pages say in each language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from groundplan.catalog.catalog import Catalog

TEXTS = Path(__file__).parents[2] / "web" / "src" / "texts"


@pytest.mark.parametrize("language", ["en", "ru"])
def test_every_tool_of_the_catalog_is_said_in_words(language: str, catalog: Catalog) -> None:
    told = re.search(r"does: \{(.*?)\}", (TEXTS / f"{language}.ts").read_text(encoding="utf-8"), re.DOTALL)
    assert told is not None
    assert sorted(re.findall(r"^ +(\w+): \"", told[1], re.MULTILINE)) == sorted(catalog.tools)
