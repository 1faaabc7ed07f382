"""The status of a rollout: intervals, curves, and whether the next step is supported."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from groundplan.contracts.rollout import Measured, Rollout
from groundplan.rollout.status import ENOUGH, MOST_POINTS, RolloutStatus, status_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def told(side: str, number: int, share: int = 10, **more: Any) -> Measured:
    given = {"run": f"{side}-{number}", "side": side, "share": share, "status": "answered", "seconds": 1.0, **more}
    return Measured.model_validate(given)


def status(questions: list[Measured], **changes: Any) -> RolloutStatus:
    given = {"id": "r", "variant": "large", "current": "settings", "share": 10, "started": NOW, "changed": NOW}
    return status_of("settings", Rollout.model_validate({**given, **changes}), questions)


def test_a_step_is_supported_by_enough_good_questions_at_this_share() -> None:
    few = [told("trial", number) for number in range(ENOUGH - 1)]
    earlier = [told("trial", 100 + number, share=0) for number in range(50)]
    found = status([*few, *earlier])
    assert (found.supported, f"29 of {ENOUGH} questions" in found.advice) == (False, True)
    found = status([*few, told("trial", 99)])
    assert (found.supported, found.next_share) == (True, 25)
    assert found.advice == "Nothing speaks against a share of 25 %."
    side = found.sides["trial"]
    assert side.errors is not None
    assert (side.errors.value, side.errors.low, round(side.errors.high, 3), side.n) == (0.0, 0.0, 0.114, 30)


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        ({"fell_back": "error"}, "errors may be"),
        ({"thumb": "bad"}, "thumbs down may be"),
        ({"seconds": 90.0}, "90.0 s"),
    ],
)
def test_too_many_failures_speak_against_it(failing: dict[str, Any], said: str) -> None:
    questions = [told("trial", number, **(failing if number % 10 == 0 else {})) for number in range(40)]
    found = status(questions)
    assert not found.supported
    assert said in found.advice


def test_the_shadow_is_compared_with_the_current_variant() -> None:
    current = [told("current", number, share=0) for number in range(40)]
    same = [told("shadow", number, share=0, same_meaning=True, same_rows=True) for number in range(40)]
    found = status([*current, *same], share=0)
    assert (found.supported, found.next_share) == (True, 10)
    assert found.same_meaning is not None
    assert (found.same_meaning.value, round(found.same_meaning.low, 3)) == (1.0, 0.912)
    other = [told("shadow", number, share=0, same_meaning=number % 2 == 0) for number in range(40)]
    found = status([*current, *other], share=0)
    assert not found.supported
    assert "beginning with run shadow-39" in found.advice
    refusing = [one.model_copy(update={"status": "refused", "same_meaning": None}) for one in same]
    assert "it refuses 100%" in status([*current, *refusing], share=0).advice
    failing = [one.model_copy(update={"status": "failed"}) for one in same]
    assert "the shadow fails in 100%" in status([*current, *failing], share=0).advice


def test_an_ended_trial_says_how_it_ended() -> None:
    assert status([], state="stopped", why="errors").advice == "The trial of large has stopped: errors."
    assert status([], state="promoted").advice == "large was promoted."
    assert status_of("large", None, ()).advice == "No variant is on trial."


def test_a_curve_has_few_points_and_ends_with_the_last_question() -> None:
    questions = [told("trial", number, thumb="bad" if number < 10 else None) for number in range(1_000)]
    curve = status(questions).curves["trial"]
    assert len(curve) <= MOST_POINTS + 1
    assert (curve[-1].n, curve[-1].thumbs_down) == (1_000, 0.01)
    assert curve[0].thumbs_down > curve[-1].thumbs_down
