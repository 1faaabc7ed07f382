"""Real questions, asked as people type them: wrong answers never become more.

What is right is measured, not held: `benchmarks/grammar_use.py` scores each set without what it alone taught the
grammar. The sets in `kept_apart` are not looked at; they are scored by `make slow` alone.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from groundplan.evaluation.suites.questions import evaluate

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("GROUNDPLAN_QUESTIONS", HERE.parents[1].parent / "shared/benchmarks/questions"))
MOST_WRONG = {  # answers of each set: ceilings that only fall
    "fresh/driving_and_pests": 0,
    "fresh/gym_and_freight": 1,
    "fresh/hire_and_bakery": 0,
    "fresh/library_and_calls": 1,
    "fresh/parking_and_restaurants": 0,
    "fresh/shelter_and_batches": 1,
    "fresh/trees_and_food": 0,
    "fresh/vets_and_solar": 4,  # one of them shows a crew without inspections, too
    "kept_apart/blood_and_milk": 1,
    "kept_apart/claims_and_brewery": 1,
    "kept_apart/hotels_and_tickets": 1,
    "kept_apart/opticians_and_towing": 1,
    "kept_apart/rentals_and_garage": 2,
    "kept_apart/translation_and_recycling": 1,
    "kept_apart/turbines_and_furniture": 0,
}
SOON = ("fresh/hire_and_bakery", "fresh/vets_and_solar")
SOME = 96  # evenly spread, in CI
SETS = [pytest.param(name, marks=[] if name in SOON else [pytest.mark.slow]) for name in MOST_WRONG]


@pytest.mark.skipif(not FOLDER.exists(), reason="the question benchmark is not here; set GROUNDPLAN_QUESTIONS")
@pytest.mark.parametrize("sample", [SOME, pytest.param(None, marks=pytest.mark.slow)])
def test_the_benchmark(sample: int | None) -> None:
    assert len(wrong_in(FOLDER, sample)) <= 1


@pytest.mark.parametrize("name", SETS)
def test_questions_by_fresh_eyes(name: str) -> None:
    assert len(wrong := wrong_in(HERE / name)) <= MOST_WRONG[name], wrong


def wrong_in(folder: Path, sample: int | None = None) -> list[str]:
    """The questions that are answered wrong; some are answered right, so that the set was really asked."""
    found = asyncio.run(evaluate(folder, sample, lambda *_: None))
    assert found.scores["right"] > 0
    return [miss.question for miss in found.misses if miss.why == "wrong"]
