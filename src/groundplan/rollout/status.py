"""How the variant on trial compares with the current one, and whether the next step is supported."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from groundplan.contracts.contract import Contract
from groundplan.contracts.estimate import Estimate, wilson
from groundplan.contracts.rollout import Measured, Rollout, Share, Side
from groundplan.rollout.assigning import next_share

ENOUGH = 30  # questions of the trial at a share, before the next step
AGREED = 0.8  # of the questions that both read: with less, somebody has to look at those that differ
MOST_POINTS, MOST_DIFFERING = 60, 20


class SideStatus(Contract):
    """One side of a rollout; shares have 95 % intervals, and are missing without questions."""

    n: int
    errors: Estimate | None = None
    refused: Estimate | None = None
    asked: Estimate | None = None
    thumbs_down: Estimate | None = None  # of the questions
    thumbs: int = 0
    fell_back: int = 0
    p50: float = 0.0  # seconds; of the shadow, to read and plan
    p95: float = 0.0
    tokens: float = 0.0  # for each question
    attempts: float = 0.0


class Point(Contract):
    """Shares of the first `n` questions of a side."""

    n: int
    errors: float
    thumbs_down: float


class RolloutStatus(Contract):
    current: str  # the variant in force
    variants: tuple[str, ...] = ()  # of groundplan.toml
    rollout: Rollout | None = None  # that is running, or the last one
    sides: dict[Side, SideStatus] = {}
    same_meaning: Estimate | None = None
    same_rows: Estimate | None = None
    differing: tuple[str, ...] = ()  # runs whose question the shadow read otherwise, the newest first
    curves: dict[Side, tuple[Point, ...]] = {}
    next_share: Share | None = None
    supported: bool = False
    advice: str = "No variant is on trial."


def status_of(current: str, rollout: Rollout | None, questions: Sequence[Measured]) -> RolloutStatus:
    if rollout is None:
        return RolloutStatus(current=current)
    by_side: dict[Side, list[Measured]] = {"current": [], "trial": [], "shadow": []}
    for one in questions:
        by_side[one.side].append(one)
    shadow = by_side["shadow"]
    found = RolloutStatus(
        current=current,
        rollout=rollout,
        sides={side: _side(told) for side, told in by_side.items() if told},
        same_meaning=_agreement([one.same_meaning for one in shadow]),
        same_rows=_agreement([one.same_rows for one in shadow]),
        differing=tuple(one.run for one in reversed(shadow) if one.same_meaning is False)[:MOST_DIFFERING],
        curves={side: _curve(told) for side, told in by_side.items() if told},
        next_share=next_share(rollout.share) if rollout.state == "running" else None,
    )
    doubts = _doubts(found, rollout, [one for one in by_side["trial"] if one.share == rollout.share])
    ready = rollout.state == "running" and not doubts
    return found.model_copy(update={"supported": ready, "advice": _advice(found, rollout, doubts)})


def _side(told: Sequence[Measured]) -> SideStatus:
    n, seconds = len(told), sorted(one.seconds for one in told)
    return SideStatus(
        n=n,
        errors=wilson(sum(one.is_error for one in told), n),
        refused=wilson(sum(one.status == "refused" for one in told), n),
        asked=wilson(sum(one.status == "asked" for one in told), n),
        thumbs_down=wilson(sum(one.is_disliked for one in told), n),
        thumbs=sum(one.thumb is not None for one in told),
        fell_back=sum(one.fell_back is not None for one in told),
        p50=_quantile(seconds, 0.5),
        p95=_quantile(seconds, 0.95),
        tokens=round(sum(one.tokens for one in told) / n, 1),
        attempts=round(sum(one.attempts for one in told) / n, 2),
    )


def _doubts(found: RolloutStatus, rollout: Rollout, trial: Sequence[Measured]) -> list[str]:
    """Why the next step is not supported yet."""
    if rollout.share == 0:
        return _doubts_of_shadow(found)
    if len(trial) < ENOUGH:
        return [f"{len(trial)} of {ENOUGH} questions at {rollout.share} % have been answered"]
    side, bounds, doubts = _side(trial), rollout.bounds, list[str]()
    for what, share, bound in (
        ("errors", side.errors, bounds.errors),
        ("thumbs down", side.thumbs_down, bounds.thumbs_down),
    ):
        if share and share.value > bound.acceptable and share.high > bound.unacceptable:
            doubts.append(f"{what} may be {share.high:.0%}, and {bound.unacceptable:.0%} would be too many")
    if side.p95 > bounds.seconds:
        doubts.append(f"5 % of the questions take longer than {side.p95:.1f} s; {bounds.seconds:.0f} s are allowed")
    return doubts


def _doubts_of_shadow(found: RolloutStatus) -> list[str]:
    shadow, current = found.sides.get("shadow"), found.sides.get("current")
    n = shadow.n if shadow else 0
    if shadow is None or n < ENOUGH:
        return [f"{n} of {ENOUGH} questions have been read by the shadow"]
    doubts = list[str]()
    if shadow.errors and shadow.errors.low > (current.errors.high if current and current.errors else 0.0):
        doubts.append(f"the shadow fails in {shadow.errors.value:.0%} of the questions")
    if shadow.refused and current and current.refused and shadow.refused.low > current.refused.high:
        doubts.append(f"it refuses {shadow.refused.value:.0%}, the current variant {current.refused.value:.0%}")
    if found.same_meaning and found.same_meaning.low < AGREED:
        doubts.append(
            f"it reads {found.same_meaning.value:.0%} of the questions as the current variant does: look at those that "
            f"differ, beginning with run {found.differing[0]}"
            if found.differing
            else "the readings differ"
        )
    return doubts


def _advice(found: RolloutStatus, rollout: Rollout, doubts: Sequence[str]) -> str:
    if rollout.state == "stopped":
        return f"The trial of {rollout.variant} has stopped{f': {rollout.why}' if rollout.why else ''}."
    if rollout.state == "promoted":
        return f"{rollout.variant} was promoted."
    following = f"a share of {found.next_share} %" if found.next_share else "promotion"
    if doubts:
        return f"Wait before {following}: {'; '.join(doubts)}."
    return f"Nothing speaks against {following}."


def _agreement(told: Sequence[bool | None]) -> Estimate | None:
    known = [one for one in told if one is not None]
    return wilson(sum(known), len(known))


def _curve(told: Sequence[Measured]) -> tuple[Point, ...]:
    every = max(1, ceil(len(told) / MOST_POINTS))
    ends = [*range(every, len(told), every), len(told)]
    return tuple(
        Point(
            n=end,
            errors=round(sum(one.is_error for one in told[:end]) / end, 4),
            thumbs_down=round(sum(one.is_disliked for one in told[:end]) / end, 4),
        )
        for end in ends
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    return round(ordered[min(len(ordered) - 1, ceil(share * len(ordered)) - 1)], 3)
