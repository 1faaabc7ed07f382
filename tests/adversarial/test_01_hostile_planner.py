"""A planner gives 500 broken plans: each is refused with a code before a source is called, at little cost."""

from __future__ import annotations

import json
import random
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import groundplan
from groundplan.contracts.answer import Refusal
from groundplan.contracts.verdict import Passed
from groundplan.sources.tables.source import Tables

ROOT = Path(__file__).parents[2]
SOUND: dict[str, Any] = json.loads((ROOT / "examples/sales_plan.json").read_text(encoding="utf-8"))
STRANGE: list[Any] = [
    None, True, -1, 1e308, "", "x" * 5_000, "'; DROP TABLE sales; --", "\u202e", [], {}, [[]], {"sql": "SELECT 1"},
    {"$from": "nowhere.at_all"}, "../../etc/passwd", "http://169.254.169.254/", "__import__('os').system('id')", 10**18,
]  # fmt: skip
KEYS = ["sql", "code", "formula", "url", "path", "regex", "__class__", "lc", "constructor", "$ref", "tool", "steps"]
RAW = [
    "{", "", "null", "[]", "\ufeff{}", '{"plan": NaN}', '{"plan": 1e999}', '{"plan": -Infinity}', '{"a": "\\ud800"}',
    '{"plan": {}, "plan": {}}', "[" * 1_000 + "]" * 1_000, '{"a":' * 1_000 + "1" + "}" * 1_000, "9" * 5_000,
    '{"plan": "' + "x" * 5_000_000 + '"}', "[" * 100_000, "\x00", json.dumps(SOUND) + "{}", "<plan/>", "plan: {}",
]  # fmt: skip


def broken_plans() -> Iterator[str]:
    """Texts that are no plans, and a sound plan with one to four things wrong."""
    chance = random.Random(20261116)
    yield from RAW
    for _ in range(500 - len(RAW)):
        plan: Any = json.loads(json.dumps(SOUND))
        for _ in range(chance.randint(1, 4)):
            damage(plan, chance)
        yield json.dumps(plan)


def damage(plan: dict[str, Any], chance: random.Random) -> None:
    steps = plan["plan"]["steps"]
    step = chance.choice([step for step in steps if isinstance(step, dict)] or [{}])
    match chance.randrange(6):
        case 0:
            step["tool"] = chance.choice(["run_sql", "exec", "aggregat", "", "aggregate; drop", None, 7])
        case 1:
            chance.choice([plan, plan["plan"], plan["reading"], step])[chance.choice(KEYS)] = chance.choice(STRANGE)
        case 2:
            step["params"] = chance.choice(
                [*STRANGE, {"columns": ["secrets"]}, {"column": 'Region"; drop table t; --'}]
            )
        case 3:
            step["needs"] = chance.choice([["nowhere"], [step.get("id", "a")], "a", [None], ["a"] * 1_000])
        case 4:
            step["id"] = chance.choice(["", "a b", "x" * 999, None, "../x"])
        case _:
            plan["plan"]["steps"] = chance.choice([[step] * 200, {}, "steps", [None], [*steps, 7]])


@pytest.mark.timed
@pytest.mark.requirement("R31", "R35")
def test_five_hundred_broken_plans_are_refused_before_a_source_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    monkeypatch.setattr(Tables, "call", lambda _, call: calls.append(call))
    with groundplan.open(ROOT / "examples/sales.csv") as project:
        tracemalloc.start()
        for number, text in enumerate(broken_plans()):
            tracemalloc.reset_peak()
            held, begun = tracemalloc.get_traced_memory()[0], time.thread_time()
            outcome = project.run(text).outcome
            seconds, grown = time.thread_time() - begun, tracemalloc.get_traced_memory()[1] - held
            assert isinstance(outcome, Refusal), (number, text[:2_000])
            assert outcome.issues, number
            assert all("/" in issue.code for issue in outcome.issues)
            assert grown < 100_000_000, (number, grown)
            assert seconds < 0.5, (number, seconds)  # of this thread; 0.2 where nothing is traced
        tracemalloc.stop()
    assert calls == []


def test_the_sound_plan_passes() -> None:
    """So that the test above breaks something."""
    with groundplan.open(ROOT / "examples/sales.csv") as project:
        assert isinstance(project.check(json.dumps(SOUND)), Passed)
