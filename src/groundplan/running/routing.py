"""Evaluates a router's conditions over the facts of the steps it needs."""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.contracts.contract import thaw
from groundplan.contracts.facts import StepFacts
from groundplan.contracts.plan import Step
from groundplan.contracts.step_outcome import StepOutcome, failed
from groundplan.text.conditions import ERRORS, compile_condition, evaluate_condition


def route(step: Step, outcomes: Mapping[str, StepOutcome]) -> StepOutcome:
    """Choose the first route whose condition holds, else the default. A condition that cannot be evaluated fails."""
    facts = {need: visible(outcomes[need].facts) for need in step.needs}
    for candidate in step.routes:
        try:
            holds = evaluate_condition(compile_condition(candidate.when), facts)
        except ERRORS as error:
            return failed("condition", step.id, f"the condition {candidate.when!r} cannot be evaluated: {error}")
        if holds is True:
            return StepOutcome(status="finished", to=candidate.to)
    return StepOutcome(status="finished", to=step.default or "")


def visible(facts: StepFacts | None) -> dict[str, object]:
    """The fields of a step's facts that conditions can use."""
    if facts is None:
        return {"found": False, "rows": 0, "first": {}}
    return {"found": facts.found, "rows": facts.rows or 0, "first": thaw(facts.first)}
