"""Who is on trial: a stable share of the conversations, and none of them changes sides."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from groundplan.contracts.rollout import Rollout, Share
from groundplan.rollout.assigning import SHARES, Before, is_on_trial, next_share, side_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TALKS = [f"talk {number}" for number in range(5_000)]


def rollout(share: Share, id_: str = "r1") -> Rollout:
    return Rollout(id=id_, variant="large", current="settings", share=share, started=NOW, changed=NOW)


@pytest.mark.requirement("R62", part="share")
def test_each_share_is_as_large_as_it_says_and_holds_the_smaller_ones() -> None:
    held = [{talk for talk in TALKS if is_on_trial("r1", "acme", talk, share)} for share in SHARES]
    for share, smaller, larger in zip(SHARES[1:], held, held[1:], strict=False):
        assert abs(len(larger) / len(TALKS) - share / 100) < 0.02
        assert smaller < larger
    assert (len(held[0]), len(held[-1])) == (0, len(TALKS))


def test_another_tenant_or_rollout_draws_others() -> None:
    mine = {talk for talk in TALKS if is_on_trial("r1", "acme", talk, 25)}
    for id_, tenant in (("r1", "other"), ("r2", "acme")):
        both = mine & {talk for talk in TALKS if is_on_trial(id_, tenant, talk, 25)}
        assert 0.04 < len(both) / len(TALKS) < 0.09


@pytest.mark.requirement("R62", part="share")
def test_a_conversation_stays_where_it_was_answered_first() -> None:
    for talk in TALKS[:300]:
        before = Before()
        sides = list[str]()
        for share in SHARES:
            side = side_of(rollout(share), "acme", talk, before)
            before, sides = Before(exists=True, side=side), [*sides, side.side]
        assert {*sides} == {"current"}, "it began in the shadow"
        before = Before()
        for share in SHARES[1:]:
            side = side_of(rollout(share), "acme", talk, before)
            assert before.side is None or side.side == before.side.side
            before = Before(exists=True, side=side)


def test_after_another_rollout_a_conversation_is_with_the_current_variant() -> None:
    trial = side_of(rollout(100), "acme", "talk", Before())
    assert (trial.side, trial.variant) == ("trial", "large")
    assert side_of(rollout(100, "r2"), "acme", "talk", Before(exists=True, side=trial)).side == "current"
    assert side_of(rollout(100), "acme", "talk", Before(exists=True)).side == "current"


def test_the_steps() -> None:
    assert [next_share(share) for share in SHARES] == [10, 25, 50, 75, 100, None]
