"""Every rule, by its YAML cases: steps that pass it and steps that fail it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import CODES, RULES
from groundplan.running.model.tools import TOOLS as MODEL_TOOLS
from tests.checking.asked import catalog, draft

FILES = sorted(Path(__file__).parent.glob("*.yaml"))
CASES = [(file.stem, case) for file in FILES for case in yaml.safe_load(file.read_text())]
BY_NAME = {rule.__name__: rule for rule in RULES}
CODE = {rule.__name__: code for code, rule in CODES.items()}


@pytest.fixture(scope="module")
def tools() -> dict[bool, Catalog]:
    """Without a model and with one."""
    return {False: catalog(), True: catalog(*MODEL_TOOLS)}


@pytest.mark.requirement("R31", "R32", "R34")
@pytest.mark.parametrize(("family", "case"), CASES, ids=[f"{f}-{c['rule']}-{i}" for i, (f, c) in enumerate(CASES)])
def test_rule_passes_and_fails_as_its_cases_say(family: str, case: dict[str, Any], tools: dict[bool, Catalog]) -> None:
    rule, known = BY_NAME[case["rule"]], tools[case.get("model", False)]
    given = {key: case[key] for key in ("fallback", "limits", "strategy", "bounds", "lacks") if key in case}
    source = case.get("source") != "none"
    if "passes" in case:
        assert [*rule(draft(case["passes"], case["asks"], known, source, **given))] == []
    if "fails" in case:
        issues = [*rule(draft(case["fails"], case["asks"], known, source, **given))]
        assert issues, "the case should fail the rule"
        assert {issue.code for issue in issues} == {CODE[case["rule"]]}
        assert any(case.get("problem", "") in issue.problem for issue in issues), [i.problem for i in issues]
        assert any(case.get("hint", "") in issue.hint for issue in issues), [i.hint for i in issues]


@pytest.mark.requirement("R34")
def test_every_rule_has_a_passing_case_a_failing_case_and_a_manual_page() -> None:
    passing = {case["rule"] for _, case in CASES if "passes" in case}
    failing = {case["rule"] for _, case in CASES if "fails" in case}
    assert passing == failing == set(BY_NAME)
    for rule in RULES:
        assert rule.__doc__, rule.__name__
        assert "Fails:" in rule.__doc__, rule.__name__


def test_codes_are_stable_and_one_to_one() -> None:
    assert len(CODES) == len(RULES)
    families = {"shape", "names", "types", "coverage", "meaning", "each", "flow", "access", "limits"}
    assert {code.split("/")[0] for code in CODES} == families
