"""The answers that the table of README.md promises. Its commands run in CI, by `.ci/newcomer.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from groundplan.project import Project
from tests.interfaces.test_cli import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| [^|]+ \| `(?P<question>[^`]+)` \| (?P<told>[^|]+) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def sales() -> Iterator[Project]:
    with Project(str(ROOT / "examples" / "sales.csv")) as project:
        yield project


@pytest.mark.parametrize(
    ("question", "told"), [found.groups() for found in ROW.finditer(README) if "tools of your own" not in found["told"]]
)
def test_an_answer_is_as_the_table_says(sales: Project, question: str, told: str) -> None:
    text = plain(sales.ask(question).text)
    parts = map(plain, re.sub(r"\(exit code \d\)", "", told).split("…"))
    assert [part for part in parts if part not in text] == []


def plain(text: str) -> str:
    """Without the marks of lists and sentences."""
    return re.sub(r"[\s,.;:()-]+", " ", text).strip()
