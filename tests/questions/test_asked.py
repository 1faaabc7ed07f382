"""Real questions, asked as people type them: how many answers are right, and how many are wrong."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from groundplan.evaluation.suites.questions import evaluate

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("GROUNDPLAN_QUESTIONS", HERE.parents[1].parent / "shared/benchmarks/questions"))
FRESH = {  # right of the answerable, wrong of all: floors that only rise
    "blood_and_milk": (0.27, 0.03),
    "claims_and_brewery": (0.36, 0.05),
    "gym_and_freight": (0.52, 0.03),
    "hotels_and_tickets": (0.45, 0.04),
    "library_and_calls": (0.65, 0.04),
    "parking_and_restaurants": (0.55, 0.02),
    "rentals_and_garage": (0.59, 0.04),
    "shelter_and_batches": (0.62, 0.02),
    "translation_and_recycling": (0.38, 0.03),
    "trees_and_food": (0.41, 0.03),
    "turbines_and_furniture": (0.15, 0.02),
    "vets_and_solar": (0.45, 0.09),
}
SETS = [  # every second one is for `make slow`
    pytest.param(name, marks=[pytest.mark.slow] if place % 2 else []) for place, name in enumerate(sorted(FRESH))
]


@pytest.mark.skipif(not FOLDER.exists(), reason="the question benchmark is not here; set GROUNDPLAN_QUESTIONS")
def test_the_benchmark() -> None:
    assert_reached(FOLDER, 0.70, 0.03)


@pytest.mark.parametrize("name", SETS)
def test_questions_by_fresh_eyes(name: str) -> None:
    assert_reached(HERE / "fresh" / name, *FRESH[name])


def assert_reached(folder: Path, right: float, wrong: float) -> None:
    found = asyncio.run(evaluate(folder, None, lambda *_: None))
    wrongly = [miss.question for miss in found.misses if miss.why == "wrong"]
    assert found.outside({"right": right}, {"wrong": wrong}) == [], wrongly
