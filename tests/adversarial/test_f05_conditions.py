"""A router's condition ends: whatever its text, the check and the run take milliseconds and little memory."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.contracts.facts import StepFacts
from groundplan.contracts.plan import Route, Step
from groundplan.contracts.step_outcome import StepOutcome
from groundplan.running.routing import route
from groundplan.text.conditions import ERRORS, FUNCTIONS, compile_condition, evaluate_condition

TEN = "[0,1,2,3,4,5,6,7,8,9]"


def nested(macro: str, levels: int) -> str:
    """Loops within loops: each level multiplies the time by ten."""
    names = "abcdefghijkl"[:levels]
    return "".join(f"{TEN}.{macro}({name}, " for name in names) + "true" + ")" * levels


DOUBLING = "['" + "a" * 60 + "']" + ".map(a, a+a+a+a+a+a+a+a)" * 9  # 60 characters become 8 GB
HOSTILE = [
    nested("all", 10),
    nested("exists", 9).replace("true", "false"),
    nested("filter", 9),
    nested("map", 9),
    DOUBLING,
    "[1] . all ( a, true )",
    "[1].\tall(a, true)",
    "[1].all//\n(a, true)",
    "[1].all\n(a, true)",
    "cel.bind(a, [1], a.all(b, true))",
    "x.first.text.matches('(a+)+$')",
    "[[1]].flatten() == [1]",
]


def routed(when: str, facts: StepFacts) -> StepOutcome:
    step = Step(id="r", kind="router", needs=("x",), routes=(Route(when=when, to="b"),))
    return route(step, {"x": StepOutcome(status="finished", facts=facts)})


@pytest.mark.timed
@pytest.mark.parametrize("when", HOSTILE)
def test_a_loop_is_refused_before_it_starts_by_the_gate_and_by_the_runner(when: str) -> None:
    begin = time.monotonic()
    with pytest.raises(ValueError, match=r"loops|printed|calls|compile"):
        compile_condition(when)
    assert routed(when[:500], StepFacts(step="x", found=True)).status == "failed"
    assert time.monotonic() - begin < 1


def test_the_gate_asks_that_check() -> None:
    """In a process that is killed: without the check this would run for days."""
    program = f"""
import json, sys
from groundplan.checking.gate import check_text
from groundplan.project import load_catalog
from tests.mcp.workflows import proposal
router = {{"id": "r", "kind": "router", "needs": [], "routes": [{{"when": {nested("all", 10)!r}, "to": "b"}}]}}
steps = [router, {{"id": "b", "tool": "show_table", "params": {{}}}}]
verdict = check_text(json.dumps(proposal(steps)), load_catalog())
print([issue.code for issue in verdict.issues])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert "types/unfit-condition" in done.stdout


@pytest.mark.timed
def test_large_facts_are_not_multiplied() -> None:
    when = " + ".join(["x.first.text"] * 30) + " == 'a'"
    begin = time.monotonic()
    outcome = routed(when, StepFacts(step="x", found=True, first={"text": "a" * 30_000_000}))
    assert outcome.status == "failed"
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    "when",
    [
        "x.rows > 3 && x.first.price > 1.5",
        "x.first.name in ['a', 'b'] ? true : !x.found",
        "has(x.first.name) && x.first.name.contains('map') || size(x.first.name) == 1",
        "timestamp(x.first.day) > timestamp('2025-01-01T00:00:00Z')",
    ],
)
def test_what_people_write_still_works(when: str) -> None:
    first = {"name": "a", "price": 2.0, "day": "2026-01-01T00:00:00Z"}
    assert routed(when, StepFacts(step="x", found=True, rows=4, first=first)).to == "b"


WORDS = [
    "x",
    "x.rows",
    "x.first.t",
    "'a'",
    "1",
    "1.5",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&&",
    "||",
    "?",
    ":",
    "[",
    "]",
    "(",
    ")",
]
WORDS += [
    ",",
    ".",
    "{",
    "}",
    "all",
    "map",
    "size",
    " in ",
    "==",
    "<",
    "!",
    "null",
    "b'x'",
    "r'\\'",
    '"""',
    "\\",
    *FUNCTIONS,
]


@settings(max_examples=300, deadline=5_000)
@given(st.lists(st.sampled_from(WORDS), max_size=80).map("".join))
def test_any_text_ends_in_a_value_or_an_ordinary_error(when: str) -> None:
    try:
        evaluate_condition(compile_condition(when[:500]), {"x": {"rows": 1, "found": True, "first": {"t": "abc"}}})
    except ERRORS:
        return
