"""Where a router goes: its conditions over the facts of the steps it needs."""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.contracts.contract import thaw
from groundplan.contracts.facts import StepFacts
from groundplan.contracts.plan import Step
from groundplan.contracts.step_outcome import StepOutcome, failed


def route(step: Step, outcomes: Mapping[str, StepOutcome]) -> StepOutcome:
    """The first route whose condition holds, else the default; a condition that cannot be decided is a failure."""
    import cel  # loaded only for plans that have a router

    facts = {need: visible(outcomes[need].facts) for need in step.needs}
    for candidate in step.routes:
        try:
            holds = cel.compile(candidate.when).execute(facts)
        except (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError) as error:
            return failed("condition", step.id, f"the condition {candidate.when!r} cannot be decided: {error}")
        if holds is True:
            return StepOutcome(status="finished", to=candidate.to)
    return StepOutcome(status="finished", to=step.default or "")


def visible(facts: StepFacts | None) -> dict[str, object]:
    """What a condition sees of a step."""
    if facts is None:
        return {"found": False, "rows": 0, "first": {}}
    return {"found": facts.found, "rows": facts.rows or 0, "first": thaw(facts.first)}
