"""Steps that run once for each item of an earlier step's list."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from groundplan.contracts.contract import freeze, thaw
from groundplan.contracts.facts import Complete, StepFacts
from groundplan.contracts.plan import CheckedPlan, Limits, Step
from groundplan.contracts.references import references
from groundplan.contracts.step_outcome import StepOutcome, failed
from groundplan.contracts.tool import Tool
from groundplan.running.references import referred
from groundplan.text.safe import plain


def looked_up_first(plan: CheckedPlan) -> tuple[str, ...]:
    """The steps to run before approval: all that a step for each item needs, except effects and what needs those."""
    effects: set[str] = set()
    for step in plan.steps:
        if step.id in plan.writes or effects & set(step.needs):
            effects.add(step.id)
    steps = {step.id: step for step in plan.steps}
    wanted: set[str] = set()
    waiting = [need for step in plan.changes_each for need in steps[step].needs]
    while waiting:
        if (name := waiting.pop()) not in wanted | effects:
            wanted.add(name)
            waiting += steps[name].needs
    return tuple(step.id for step in plan.steps if step.id in wanted)


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
    problem = f"step {step.id!r} failed for {len(broken)} of {len(each)} items: {broken[0].problem}"
    issue = broken[0].model_copy(update={"problem": problem})
    return StepOutcome(status="failed", facts=facts if done else None, issue=issue, each=each)


def changed_items(plan: CheckedPlan, outcomes: Mapping[str, StepOutcome]) -> dict[str, tuple[str, ...]]:
    """For each step that changes the items of a known list, what it takes from each item."""
    return {
        step.id: tuple(_taken(step, plan.tools[step.tool or ""], outcomes, item) for item in items)
        for step in plan.steps
        if step.id in plan.changes_each and step.for_each in outcomes
        if not isinstance(items := items_of(step, outcomes, plan.limits), StepOutcome)
    }


def _taken(step: Step, tool: Tool, outcomes: Mapping[str, StepOutcome], item: StepOutcome) -> str:
    """`to: ada@example.org`: the params that take something from the item; the whole item if some are not known yet."""
    params = referred(step, tool, {**outcomes, step.for_each or "": item})
    assert item.facts is not None
    if isinstance(params, StepOutcome):
        return _shown(item.facts.first)
    taking = {path.split(".")[1] for path, one in references(step.params) if one.step == step.for_each}
    known = cast(Mapping[str, object], tool.params.get("properties", {}))
    return _shown({name: params[name] for name in known if name in taking})


def _shown(fields: Mapping[str, object]) -> str:
    """Each value in quotes, so that no text in one can pass for another."""
    return ", ".join(f"{name}: {_quoted(thaw(value))}" for name, value in fields.items())


def _quoted(value: object) -> str:
    return json.dumps(plain(value) if isinstance(value, str) else value, ensure_ascii=False)


def keeps_for(step: Step, plan: CheckedPlan) -> int:
    """How many items of this step's list to keep."""
    return plan.limits.each if any(other.for_each == step.id for other in plan.steps) else 0
