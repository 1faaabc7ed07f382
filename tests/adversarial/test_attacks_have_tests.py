"""The page on what we defend against names tests for the attacks F1 to F18 and A1 to A22 and the standing suite."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "explanation" / "what-we-defend-against.md"
ROW = re.compile(r"^\| (A\d+) \| .* \| `(.+)::(test_\w+)` \|$", re.MULTILINE)
SUITE = re.compile(r"^\| (\d+(?:, \d+)*) [^|]+ \| [^|]+ \|$", re.MULTILINE)


def test_each_attack_has_a_test() -> None:
    rows = ROW.findall(PAGE.read_text("utf-8"))
    assert {attack for attack, _, _ in rows} == {f"A{number}" for number in range(1, 23)}
    for attack, file, name in rows:
        assert f"def {name}(" in (TESTS / file).read_text("utf-8"), (attack, file, name)


def test_each_module_is_on_the_page() -> None:
    page, here = PAGE.read_text("utf-8"), Path(__file__).parent
    attacks = {path.name for path in here.glob("test_[fa][0-9]*.py")}
    assert {name[5:8] for name in attacks if name[5] == "f"} == {f"f{number:02}" for number in range(1, 19)}
    assert {name for name in attacks if name not in page} == set()
    suite = {int(path.name[5:7]) for path in here.glob("test_[0-9]*.py")}
    assert suite == {number for row in SUITE.findall(page) for number in map(int, row.split(", "))}
