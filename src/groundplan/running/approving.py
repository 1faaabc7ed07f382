"""Finds out, before anybody is asked, with which values the steps that change something will be called."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from groundplan.contracts.approval import EffectCall
from groundplan.contracts.plan import CheckedPlan, Step
from groundplan.contracts.references import references
from groundplan.contracts.step_outcome import StepOutcome
from groundplan.contracts.tool import Tool
from groundplan.running.each import items_of, named
from groundplan.running.references import referred


def takes_values(plan: CheckedPlan) -> bool:
    """Whether an earlier step supplies a value, or the items, of a step that changes something."""
    return any(_sources(step) for step in plan.steps if step.id in plan.writes)


def looked_up_first(plan: CheckedPlan, known: Mapping[str, StepOutcome], approved: Collection[str]) -> tuple[str, ...]:
    """The steps to run before the next approval: those that supply values to steps which are not approved yet.

    A step that changes something is among them only if it is approved; no step of the fallback is.
    """
    held = {step for step in plan.writes if step not in approved}
    held |= set(plan.fallback.steps) if plan.fallback else set()
    waiting = [
        need for step in plan.steps if step.id in plan.writes and step.id not in approved for need in _sources(step)
    ]
    for step in plan.steps:
        if held & set(step.needs):
            held.add(step.id)
    steps, wanted = {step.id: step for step in plan.steps}, set[str]()
    while waiting:
        if (name := waiting.pop()) not in wanted | held:
            wanted.add(name)
            waiting += steps[name].needs
    return tuple(step.id for step in plan.steps if step.id in wanted and step.id not in known)


def effects_of(plan: CheckedPlan, known: Mapping[str, StepOutcome]) -> dict[str, tuple[EffectCall, ...]]:
    """The calls of each step that changes something, if its values are known; none if a value is missing."""
    return {
        step.id: tuple(_calls(step, plan, known))
        for step in plan.steps
        if step.id in plan.writes and _sources(step) <= set(known)
    }


def _sources(step: Step) -> set[str]:
    """The steps from which it takes values or items."""
    found = {one.step for _, one in references(step.params)}
    return found | ({step.for_each} if step.for_each else set())


def _calls(step: Step, plan: CheckedPlan, known: Mapping[str, StepOutcome]) -> Iterator[EffectCall]:
    tool = plan.tools[step.tool or ""]
    ports = {port.name for port in tool.inputs}
    items = items_of(step, known, plan.limits) if step.for_each else (None,)
    for place, item in enumerate(items if isinstance(items, tuple) else ()):
        given = referred(step, tool, {**known, step.for_each: item} if step.for_each and item else known)
        if not isinstance(given, StepOutcome):
            order = [*_properties(tool), *given]
            params = {name: given[name] for name in order if name in given and name not in ports}
            yield EffectCall(step=step.id, tool=tool.name, params=params, item=place if step.for_each else None)


def _properties(tool: Tool) -> Mapping[str, object]:
    return cast(Mapping[str, object], tool.params.get("properties", {}))


def told(step: Step, calls: Sequence[EffectCall]) -> str:
    """` with to: "ada@example.org"`, ` for each of the 2 items that 'all' found (…)`; empty if the plan says it all."""
    shown = "; ".join(named(step, call.params) for call in calls)
    if step.for_each:
        return f" for each of the {len(calls)} items that {step.for_each!r} found ({shown})"
    return f" with {shown}" if _sources(step) else ""
