"""Decides whether a step runs, is skipped or is blocked, once the steps it needs have ended."""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.contracts.plan import CheckedPlan, Coverage, Step
from groundplan.contracts.step_outcome import SKIPPED, StepOutcome, blocked


def hindrance(step: Step, plan: CheckedPlan, outcomes: Mapping[str, StepOutcome]) -> StepOutcome | None:
    """The outcome of a step that cannot run (blocked or skipped), or None if it can.

    A step that joins branches runs if at least one branch that fills its input ran.
    """
    bound = [binding.steps for binding in plan.inputs.get(step.id, {}).values() if binding.steps]
    others = [(need,) for need in step.needs if not any(need in steps for steps in bound)]
    for steps in (*bound, *others):
        ended = [outcomes[need] for need in steps]
        went_here = [
            o.to in (None, step.id) if _is_router(plan, n) else True for n, o in zip(steps, ended, strict=True)
        ]
        if any(o.status == "finished" and here for o, here in zip(ended, went_here, strict=True)):
            continue
        broken = [need for need in steps if outcomes[need].status in ("failed", "blocked")]
        return blocked(step.id, broken[0]) if broken else SKIPPED
    return None


def _is_router(plan: CheckedPlan, step_id: str) -> bool:
    return any(step.id == step_id and step.kind == "router" for step in plan.steps)


def fallback_is_due(plan: CheckedPlan, outcomes: Mapping[str, StepOutcome]) -> bool:
    """Whether the plan's fallback conditions hold, so that its fallback steps run."""
    if plan.fallback is None:
        return False
    nothing = not any(outcomes[end].found for end in plan.ends if end in outcomes)
    partly = any(not item.ok for item in covered(plan, outcomes))
    broken = any(outcome.status == "failed" for outcome in outcomes.values())
    due = {"NO_RESULTS": nothing, "LOW_COVERAGE": partly, "FAILED": broken}
    return any(due[condition] for condition in plan.fallback.when)


def covered(plan: CheckedPlan, outcomes: Mapping[str, StepOutcome]) -> tuple[Coverage, ...]:
    """The coverage after the run: a requirement is met if a step that cites it found facts."""
    return tuple(
        item.model_copy(update={"ok": any(outcomes[step].found for step in item.steps if step in outcomes)})
        for item in plan.coverage
    )
