"""What is refused before a model sees it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from groundplan.checking.gate import check_text
from groundplan.checking.parsing import parse
from groundplan.contracts.plan import Proposal
from groundplan.contracts.verdict import Passed, Refused
from tests.checking.asked import SCHEMA, catalog

GOOD = {
    "reading": {"question": "how many rows?", "requirements": []},
    "plan": {"strategy": "hand", "steps": [{"id": "a", "tool": "show_table"}]},
}


def code_of(text: str | bytes) -> str:
    verdict = parse(text)
    assert isinstance(verdict, Refused), verdict
    return verdict.issues[0].code


def test_a_proposal_is_read() -> None:
    assert isinstance(parse(json.dumps(GOOD)), Proposal)


@pytest.mark.requirement("R31", "R35")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "shape/json"),
        ("{", "shape/json"),
        ("[]", "shape/wrong-type"),
        (b"\xff\xfe{}", "shape/json"),
        ('{"reading": {}, "reading": {}}', "shape/duplicate-key"),
        ('{"plan": {"confidence": NaN}}', "shape/number"),
        ('{"plan": {"confidence": -Infinity}}', "shape/number"),
        ('{"plan": {"confidence": 1e999}}', "shape/number"),
        ('{"plan": {"confidence": ' + "9" * 4000 + "}}", "shape/number"),
        (json.dumps({**GOOD, "sql": "select 1"}), "shape/unknown-key"),
        (json.dumps({"plan": GOOD["plan"]}), "shape/missing-field"),
        ('{"a": "\\ud800"}', "shape/json"),
    ],
)
def test_faulty_text_is_refused_with_its_code(text: str | bytes, code: str) -> None:
    assert code_of(text) == code


def test_a_plan_written_before_the_language_of_expressions_still_passes() -> None:
    text = (Path(__file__).parent / "earlier_plan.json").read_text(encoding="utf-8")
    verdict = check_text(text, catalog(), {"tables": SCHEMA})
    assert isinstance(verdict, Passed), verdict


def test_a_plan_of_another_version_is_refused_with_what_to_do() -> None:
    later = {**GOOD, "plan": {**GOOD["plan"], "budget": 3}}
    verdict = parse(json.dumps(later))
    assert isinstance(verdict, Refused)
    assert verdict.issues[0].path == "plan.budget"
    assert "make it again with `groundplan plan`" in verdict.issues[0].hint


@pytest.mark.requirement("R31")
def test_a_refusal_names_the_path() -> None:
    broken = {**GOOD, "plan": {"strategy": "hand", "steps": [{"id": "a", "params": 3}]}}
    verdict = parse(json.dumps(broken))
    assert isinstance(verdict, Refused)
    assert verdict.issues[0].path == "plan.steps.0.params"


@pytest.mark.timed
@pytest.mark.requirement("R35")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a": "' + "x" * 5_000_000 + '"}', "limits/size"),
        ("[" * 1_000 + "]" * 1_000, "limits/depth"),
        ('{"a":' * 1_000 + "1" + "}" * 1_000, "limits/depth"),
        ("[" * 100_000, "limits/depth"),
        ('"' + '\\"[' * 60_000 + '"', "shape/wrong-type"),
        ("[" + "1," * 100_000 + "1]", "shape/wrong-type"),
    ],
    ids=["5 MB", "1,000 lists", "1,000 objects", "unclosed", "brackets in a string", "long list"],
)
def test_huge_and_deep_texts_are_refused_for_little_work(text: str, code: str) -> None:
    assert min(seconds_to_refuse(text, code) for _ in range(3)) < 0.5  # of a processor; 0.1 where nothing else runs


def seconds_to_refuse(text: str, code: str) -> float:
    began = time.thread_time()
    assert code_of(text) == code
    return time.thread_time() - began


def test_text_goes_through_the_same_gate() -> None:
    verdict = check_text(json.dumps(GOOD), catalog())
    assert isinstance(verdict, Refused)
    assert "names/no-source" in {issue.code for issue in verdict.issues}
