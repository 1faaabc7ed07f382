"""The gate's verdict on a plan."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from groundplan.contracts.approval import EffectCall, fingerprint_of
from groundplan.contracts.contract import Contract
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import CheckedPlan


class Passed(Contract):
    """The plan may run."""

    plan: CheckedPlan
    issues: tuple[Issue, ...] = ()  # warnings only


class ToApprove(Passed):
    """The plan may run once a person approves these calls."""

    effects: tuple[EffectCall, ...]

    @property
    def fingerprint(self) -> str:
        """Of the plan and the values: whoever approves it approves both."""
        return fingerprint_of(self.plan, self.effects)


class Refused(Contract):
    """The plan may not run; planners get this back for the next attempt."""

    issues: Annotated[tuple[Issue, ...], Field(min_length=1)]
    missing: tuple[str, ...] = ()  # requirement ids that no step covers
    remove: tuple[str, ...] = ()  # step ids that serve no requirement


Verdict = Passed | Refused
