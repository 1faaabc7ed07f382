"""The outcome of one step, in plain JSON, so that it can be checkpointed and loaded by another process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from groundplan.contracts.contract import Contract, JsonObject, freeze
from groundplan.contracts.facts import StepFacts
from groundplan.contracts.issue import Issue


class StepOutcome(Contract):
    """`blocked`: a step it needs failed. `skipped`: a router chose another step, or the fallback was not needed."""

    status: Literal["finished", "failed", "blocked", "skipped"]
    facts: StepFacts | None = None  # for a finished step
    to: str | None = None  # for a finished router: the step it chose
    issue: Issue | None = None  # for a failed or blocked step
    given: JsonObject = {}  # for a failed step that was to be called: its params
    each: tuple[StepOutcome, ...] = ()  # for a step that ran for each item of a list, in the list's order

    @property
    def found(self) -> bool:
        return self.status == "finished" and self.facts is not None and self.facts.found

    def with_given(self, params: Mapping[str, JsonValue]) -> StepOutcome:
        """A copy that records the params the step was called with."""
        if self.facts is None:
            return self.model_copy(update={"given": freeze(params)})
        facts = self.facts.model_copy(update={"given": freeze(params)})
        return self.model_copy(update={"facts": facts})


SKIPPED = StepOutcome(status="skipped")


def failed(code: str, step: str, problem: str, hint: str = "") -> StepOutcome:
    return StepOutcome(status="failed", issue=Issue(code=f"running/{code}", step=step, problem=problem, hint=hint))


def blocked(step: str, by: str) -> StepOutcome:
    return StepOutcome(
        status="blocked",
        issue=Issue(code="running/blocked", step=step, problem=f"step {step!r} needs {by!r}, which failed"),
    )
