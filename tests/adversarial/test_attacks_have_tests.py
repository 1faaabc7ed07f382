"""The page on what we defend against names a test for each of the attacks A1 to A22, and the tests are there."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "explanation" / "what-we-defend-against.md"
ROW = re.compile(r"^\| (A\d+) \| .* \| `(.+)::(test_\w+)` \|$", re.MULTILINE)


def test_each_attack_has_a_test() -> None:
    rows = ROW.findall(PAGE.read_text("utf-8"))
    assert {attack for attack, _, _ in rows} == {f"A{number}" for number in range(1, 23)}
    for attack, file, name in rows:
        assert f"def {name}(" in (TESTS / file).read_text("utf-8"), (attack, file, name)
