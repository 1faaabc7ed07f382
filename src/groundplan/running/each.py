"""Steps that run once for each item of an earlier step's list."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from groundplan.contracts.contract import freeze, thaw
from groundplan.contracts.facts import Complete, StepFacts
from groundplan.contracts.plan import CheckedPlan, Limits, Step
from groundplan.contracts.references import references
from groundplan.contracts.step_outcome import StepOutcome, failed
from groundplan.text.safe import plain

MOST_NAMED = 20  # items that failed, in one message


def items_of(step: Step, outcomes: Mapping[str, StepOutcome], limits: Limits) -> tuple[StepOutcome, ...] | StepOutcome:
    """The list's outcome once for each item, with the item as its first row; a failure if there are too many items."""
    outcome = outcomes[step.for_each or ""]
    facts = outcome.facts
    count = (facts.rows or 0) if facts else 0
    if count > limits.each:
        problem = f"{step.for_each!r} found {count:,} items, and step {step.id!r} may run for at most {limits.each}"
        return failed(
            "too-many-items", step.id, problem, "narrow the list, or allow more: --most-items, limits.each of a plan"
        )
    if facts is None or len(facts.listed) != count:
        return failed("no-items", step.id, f"the items that {step.for_each!r} found were not kept")
    return tuple(outcome.model_copy(update={"facts": _only(facts, item)}) for item in facts.listed)


def _only(facts: StepFacts, item: Mapping[str, object]) -> StepFacts:
    return facts.model_copy(update={"first": freeze(item), "items": (), "listed": ()})


def together(step: Step, outcomes: Sequence[StepOutcome]) -> StepOutcome:
    """One outcome for all items: failed if the step failed for any of them."""
    each = tuple(outcomes)
    done = [outcome.facts for outcome in each if outcome.facts]
    facts = StepFacts(
        step=step.id,
        found=any(one.found for one in done),
        rows=len(done),
        items=tuple(item for one in done for item in one.items),
        groups=tuple(group for one in done for group in one.groups),
        sources=tuple({cited.id: cited for one in done for cited in one.sources}.values()),
        state=next((one.state for one in done if one.state.kind != "complete"), Complete()),
    )
    broken = [outcome.issue for outcome in each if outcome.issue]
    if not broken:
        return StepOutcome(status="finished", facts=facts, each=each)
    names = [named(step, outcome.given) for outcome in each if outcome.issue]
    listed = "; ".join(names[:MOST_NAMED]) + ("; …" if len(names) > MOST_NAMED else "")
    problem = f"step {step.id!r} failed for {len(broken)} of {len(each)} items ({listed}): {broken[0].problem}"
    issue = broken[0].model_copy(update={"problem": problem})
    return StepOutcome(status="failed", facts=facts if done else None, issue=issue, each=each)


def named(step: Step, params: Mapping[str, object]) -> str:
    """`to: "ada@example.org"`: the params that earlier steps supply, or all of them; values in quotes."""
    taking = {path.split(".")[1] for path, _ in references(step.params)}
    shown = {name: value for name, value in params.items() if name in taking} or params
    return ", ".join(f"{name}: {_quoted(thaw(value))}" for name, value in shown.items())


def _quoted(value: object) -> str:
    """In quotes, so that no text in a value can pass for another value."""
    return json.dumps(plain(value) if isinstance(value, str) else value, ensure_ascii=False)


def keeps_for(step: Step, plan: CheckedPlan) -> int:
    """How many items of this step's list to keep."""
    return plan.limits.each if any(other.for_each == step.id for other in plan.steps) else 0
