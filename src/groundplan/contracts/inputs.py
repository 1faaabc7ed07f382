"""Workflows with inputs: each run gives them values, and the plan that is approved and run has these values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.contracts.contract import Scalar, thaw
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import INPUT, Plan, WorkflowInput
from groundplan.contracts.reading import Reading
from groundplan.contracts.references import FROM, JOIN, Join, Taken, filled, references

TRUE, FALSE = ("true", "yes", "1"), ("false", "no", "0")


def missing_inputs(plan: Plan, values: Mapping[str, Scalar]) -> tuple[WorkflowInput, ...]:
    """The inputs that a plan takes and that nobody has given."""
    return tuple(one for one in plan.takes if values.get(one.name) in (None, ""))


def wrong_inputs(plan: Plan, values: Mapping[str, Scalar]) -> tuple[Issue, ...]:
    """Values for inputs that the plan does not take, and values of another type."""
    takes = {one.name: one for one in plan.takes}
    known = ", ".join(takes) or "none"
    issues = [
        Issue(code="inputs/unknown", problem=f"the workflow takes no input {name!r}", hint=f"it takes {known}")
        for name, value in values.items()
        if name not in takes and value is not None
    ]
    for one in plan.takes:
        given = values.get(one.name)
        if given not in (None, "") and _typed(given, one.type) is None:
            problem = f"the input {one.name!r} is a {one.type}, and {given!r} is none"
            issues.append(Issue(code="inputs/wrong-type", problem=problem, hint="give another value"))
    return tuple(issues)


def with_inputs(plan: Plan, reading: Reading, values: Mapping[str, Scalar]) -> tuple[Plan, Reading]:
    """The plan with the values in place, and the reading of the task that says them."""
    given = {one.name: _typed(values.get(one.name), one.type) for one in plan.takes}

    def fill(found: Taken) -> object:
        if isinstance(found, Join):
            parts = [part if isinstance(part, str) else fill(part) for part in found.parts]
            return {JOIN: [part if isinstance(part, str | dict) else str(part) for part in parts]}
        return given[found.field] if found.step == INPUT else {FROM: str(found)}

    steps = []
    for step in plan.steps:
        taken = any(reference.step == INPUT for _, reference in references(step.params))
        params: Any = thaw(filled(step.params, fill)) if taken else step.params
        steps.append(type(step).model_validate({**step.model_dump(), "params": params}) if taken else step)
    said = "".join(f"\n{name}: {value}" for name, value in given.items())
    return (
        plan.model_copy(update={"steps": tuple(steps), "takes": ()}),
        reading.model_copy(update={"question": reading.question + said}),
    )


def _typed(value: Scalar, type_: str) -> Scalar:
    """The value as this type; None if it is none of it."""
    text = str(value).strip()
    try:
        match type_:
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "boolean":
                return True if text.lower() in TRUE else False if text.lower() in FALSE else None
    except ValueError:
        return None
    return text if value is not None else None
