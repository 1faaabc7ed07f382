"""One question of one variant in figures."""

from __future__ import annotations

from groundplan.contracts.answer import Answer, Outcome, Refusal
from groundplan.contracts.matching_rows import tell_the_same
from groundplan.contracts.reading import Reading
from groundplan.contracts.rollout import Measured, RunSide, Side, Status
from groundplan.rollout.agreement import same_meaning


def measured(run: str, side: Side, share: int, outcome: Outcome, seconds: float) -> Measured:
    status: Status = "answered"
    if not isinstance(outcome, Answer):
        status = "refused" if isinstance(outcome, Refusal) else "asked"
    code = outcome.issues[0].code if isinstance(outcome, Refusal) and outcome.issues else ""
    return Measured.model_validate(
        {
            "run": run,
            "side": side,
            "share": share,
            "status": status,
            "attempts": len(outcome.proposals),
            "tokens": outcome.usage.tokens,
            "seconds": round(seconds, 3),
            "code": code,
        }
    )


def agree(one: Reading | None, other: Reading | None) -> bool | None:
    """Whether two variants read it with the same meaning; None if one of them read nothing."""
    return same_meaning(one, other) if one and other else None


def shows_the_same(one: Answer, other: Answer) -> bool:
    """Whether two answers show the same rows, table by table."""
    if len(one.tables) != len(other.tables):
        return False
    pairs = zip(one.tables, other.tables, strict=True)
    return all(mine.row_count == theirs.row_count and tell_the_same(mine.rows, theirs.rows) for mine, theirs in pairs)


def failed(run: str, side: RunSide, seconds: float, code: str) -> Measured:
    return Measured(run=run, side=side.side, share=side.share, status="failed", seconds=round(seconds, 3), code=code)
