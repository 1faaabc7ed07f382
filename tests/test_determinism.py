"""The same question gives the same bytes, in whatever process and with whatever hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import groundplan
from tests.asking.tasks.spoken import questions

ROOT = Path(__file__).parents[1]
CHANGING = {"ms", "at", "run", "duration_ms"}  # times and run ids, by key


def tell(count: int, run: int) -> Iterator[str]:
    """One line of JSON for each question: its plan, and for some its answer."""
    today = date(2026, 1, 15)
    with groundplan.open(ROOT / "examples/sales.csv") as project:
        for place, question in enumerate(questions(count)):
            planned = project.plan(question, today=today)
            parts: list[Any] = [planned.reading, planned.plan, planned.ended]
            if place % (count // run) == 0:
                parts.append(project.ask(question, today=today).outcome)
            yield json.dumps([question, *(steady(part.model_dump(mode="json")) if part else None for part in parts)])


def steady(value: Any) -> Any:
    """Without what a clock or a run id puts in."""
    if isinstance(value, dict):
        return {key: steady(item) for key, item in value.items() if key not in CHANGING}
    return [steady(item) for item in value] if isinstance(value, list) else value


def told_with(seed: str, count: int, run: int) -> subprocess.Popen[str]:
    code = f"from tests.test_determinism import tell\nfor line in tell({count}, {run}): print(line)"
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, encoding="utf-8")


@pytest.mark.requirement("R23", "R60")
@pytest.mark.parametrize(("count", "run"), [(60, 10), pytest.param(200, 20, marks=pytest.mark.slow)])
def test_two_processes_with_different_hash_seeds_say_the_same(count: int, run: int) -> None:
    both = [told_with(seed, count, run) for seed in ("1", "4242")]
    first, second = (process.communicate(timeout=300)[0].splitlines() for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert len(first) == count
    answered = [line for line in first if '"kind": "answer"' in line]
    assert len(answered) == run
    assert [one for one, two in zip(first, second, strict=True) if one != two] == []
