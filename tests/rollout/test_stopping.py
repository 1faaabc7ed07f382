"""The sequential test that stops a trial, simulated: bad ones within 100 questions, good ones hardly ever."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import accumulate

import pytest

from groundplan.contracts.rollout import Bound, Counts, Measured, StopBounds
from groundplan.rollout.stopping import FALSE_ALARMS, why_stop
from groundplan.state.rollouts import counts_of

BOUNDS = StopBounds()
TRIALS = 1_000
FAST, SLOW = 1.0, 2 * BOUNDS.seconds
Drawn = Callable[[random.Random], tuple[bool, bool, bool]]  # of a question: an error, a thumb down, slow


def stopped_at(drawn: Drawn, questions: int, chance: random.Random, bounds: StopBounds = BOUNDS) -> int | None:
    """The question after which a simulated trial stops, looked at after every one."""
    told = (drawn(chance) for _ in range(questions))
    totals = accumulate(told, lambda sums, one: tuple(a + b for a, b in zip(sums, one, strict=True)))
    for n, (errors, bad, slow) in enumerate(totals, 1):
        if why_stop(Counts(n=n, errors=errors, bad=bad, slow=slow), bounds):
            return n
    return None


def drawing(errors: float = 0.0, bad: float = 0.0, slow: float = 0.0) -> Drawn:
    def draw(chance: random.Random) -> tuple[bool, bool, bool]:
        fails = chance.random() < errors
        return fails, not fails and chance.random() < bad, chance.random() < slow

    return draw


def share_stopped(drawn: Drawn, questions: int, seed: int = 7) -> float:
    chance = random.Random(seed)
    return sum(stopped_at(drawn, questions, chance) is not None for _ in range(TRIALS)) / TRIALS


@pytest.mark.parametrize(
    "bad",
    [drawing(errors=0.2), drawing(bad=0.1), drawing(slow=0.2), drawing(errors=0.2, bad=0.1)],
    ids=["errors 20 %", "wrong meanings 10 %, with thumbs down", "slow 20 %", "both"],
)
def test_a_bad_variant_is_stopped_within_a_hundred_of_its_questions(bad: Drawn) -> None:
    assert share_stopped(bad, 100) >= 0.95


@pytest.mark.parametrize(
    "good",
    [drawing(), drawing(errors=0.01, bad=0.005, slow=0.01), drawing(errors=0.05, bad=0.01, slow=0.05)],
    ids=["faultless", "usual", "as bad as is acceptable"],
)
def test_a_good_variant_is_falsely_stopped_in_at_most_five_of_a_hundred(good: Drawn) -> None:
    assert share_stopped(good, 1_000) <= FALSE_ALARMS


def test_thumbs_that_come_late_stop_no_good_variant() -> None:
    """The thumb of a question is known only when fifty more were asked."""
    chance, stops = random.Random(3), 0
    for _ in range(TRIALS):
        bad = [chance.random() < 0.01 for _ in range(500)]
        known = [0] * 50 + [*accumulate(bad)]
        stops += any(why_stop(Counts(n=n, bad=known[n - 1]), BOUNDS) is not None for n in range(1, 501))
    assert stops / TRIALS <= FALSE_ALARMS


def test_it_says_which_kind_of_failure() -> None:
    assert why_stop(Counts(n=10, errors=6), BOUNDS) == "errors: 6 of 10 questions, where 5.0% are acceptable"
    assert why_stop(Counts(n=10, bad=3), BOUNDS) == "thumbs down: 3 of 10 questions, where 1.0% are acceptable"
    assert why_stop(Counts(n=10, slow=6), BOUNDS) == "slow: 6 of 10 questions, where 5.0% are acceptable"
    assert why_stop(Counts(n=0), BOUNDS) is None


def test_a_bound_moves_up_with_what_is_common_already() -> None:
    bound = Bound(acceptable=0.01, unacceptable=0.06)
    assert bound.at_least(0.005) == bound
    moved = bound.at_least(0.1)
    assert (moved.acceptable, round(moved.unacceptable, 2)) == (0.1, 0.15)
    assert bound.at_least(1.0).unacceptable < 1
    with pytest.raises(ValueError, match="acceptable one first"):
        Bound(acceptable=0.2, unacceptable=0.1)


def test_what_counts_against_the_trial() -> None:
    def one(number: int, **told: object) -> Measured:
        return Measured.model_validate({"run": str(number), "side": "trial", "share": 10, "status": "answered", **told})

    questions = (
        one(1, fell_back="error", thumb="bad"),  # the current variant's answer got the thumb
        one(2, fell_back="budget"),
        one(3, thumb="bad", seconds=SLOW),
        one(4, status="failed"),  # the current variant failed, too
        one(5, status="refused", seconds=FAST),
        one(6, side="shadow", status="failed"),
    )
    assert counts_of(questions, "trial", BOUNDS) == Counts(n=5, errors=1, bad=1, slow=1)
