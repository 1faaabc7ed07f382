"""Rolling out a variant: its state, its bounds, and what is kept of each question. Never a text of a question."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, model_validator

from groundplan.contracts.contract import Contract

SETTINGS = "settings"  # the name of the settings' own values, beside those of [variants.NAME]

VariantName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
Share = Literal[0, 10, 25, 50, 75, 100]
"""Percent of the conversations that the trial answers; 0 is the shadow, in which the current variant answers all."""

Side = Literal["current", "trial", "shadow"]
Status = Literal["answered", "refused", "asked", "failed"]
Fallback = Literal["error", "model", "timeout", "budget"]
"""Why the current variant answered: the trial failed, its model did, it took too long, or its budget is spent."""


class Bound(Contract):
    """A share of failures that is acceptable, and one that is not."""

    acceptable: float
    unacceptable: float

    @model_validator(mode="after")
    def _is_ordered(self) -> Bound:
        if not 0 < self.acceptable < self.unacceptable < 1:
            raise ValueError("give two shares between 0 and 1, the acceptable one first")
        return self

    def at_least(self, share: float) -> Bound:
        """The same width above a share that is common already: a trial need not be better than what it replaces."""
        if share <= self.acceptable:
            return self
        acceptable = min(share, 0.8)
        return Bound(acceptable=acceptable, unacceptable=min(acceptable + self.unacceptable - self.acceptable, 0.95))


class StopBounds(Contract):
    """How badly a trial may do. A question is slow if it takes longer than `seconds`: 5 % of them may."""

    errors: Bound = Bound(acceptable=0.05, unacceptable=0.15)
    thumbs_down: Bound = Bound(acceptable=0.01, unacceptable=0.06)
    slow: Bound = Bound(acceptable=0.05, unacceptable=0.15)
    seconds: Annotated[float, Field(gt=0, le=3_600)] = 30.0


class RolloutLimits(Contract):
    """What a trial may cost."""

    shadowed: Annotated[int, Field(ge=1, le=100)] = 100  # percent of the questions that the shadow reads
    day_tokens: Annotated[int, Field(ge=0)] = 5_000_000  # of the trial in 24 hours
    day_seconds: Annotated[float, Field(ge=0)] = 4 * 3_600.0  # of the shadow in 24 hours
    timeout: Annotated[float, Field(gt=0, le=3_600)] = 60.0  # seconds of one question, until the current one answers


class Rollout(Contract):
    id: str
    variant: str  # on trial
    current: str
    share: Share = 0
    state: Literal["running", "stopped", "promoted"] = "running"
    why: str = ""  # it stopped
    bounds: StopBounds = StopBounds()
    limits: RolloutLimits = RolloutLimits()
    started: datetime
    changed: datetime


class RunSide(Contract):
    """Which variant answers a run while another is on trial; the answer itself says nothing of it."""

    rollout: str
    variant: str
    side: Literal["current", "trial"]
    share: Share
    fell_back: Fallback | None = None  # to the current variant


class Measured(Contract):
    """How one variant did one question."""

    run: str
    side: Side
    share: Share
    status: Status
    attempts: int = 0  # proposals of models
    tokens: int = 0
    seconds: float = 0.0  # in the shadow: to read and plan
    code: str = ""  # of the first issue, if it was refused or failed
    fell_back: Fallback | None = None
    same_meaning: bool | None = None  # of the shadow: as the current variant read it; None if one of them did not
    same_rows: bool | None = None
    thumb: Literal["good", "bad"] | None = None

    @property
    def is_error(self) -> bool:
        """The trial failed where the current variant did not; a spent budget is no fault of its."""
        return self.fell_back not in (None, "budget") or (self.side != "trial" and self.status == "failed")

    @property
    def is_disliked(self) -> bool:
        """A thumb for the current variant's answer, after a fallback, says nothing of the trial."""
        return self.thumb == "bad" and self.fell_back is None


class Counts(Contract):
    """Questions of one side, and how many of them failed in which way."""

    n: int
    errors: int = 0
    bad: int = 0
    slow: int = 0
