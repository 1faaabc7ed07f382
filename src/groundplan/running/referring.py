"""The params of a step with what it takes from earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from jsonschema import Draft202012Validator
from pydantic import JsonValue

from groundplan.contracts.contract import thaw
from groundplan.contracts.facts import StepFacts
from groundplan.contracts.plan import Step
from groundplan.contracts.references import Reference, filled, references
from groundplan.contracts.tool import Tool
from groundplan.running.outcome import Outcome, failed


class _Absent(Exception):
    """An earlier step did not give what is referred to."""


def referred(step: Step, tool: Tool, outcomes: Mapping[str, Outcome]) -> Mapping[str, JsonValue] | Outcome:
    """Filled in; what is not there or does not fit the tool's schema fails the step, before anything is called."""
    if not any(references(step.params)):
        return step.params

    def fill(reference: Reference) -> object:
        outcome = outcomes.get(reference.step)
        return _at(reference, outcome.facts if outcome else None)

    try:
        params = cast(Mapping[str, JsonValue], filled(step.params, fill))
    except _Absent as absent:
        return failed("reference", step.id, f"step {step.id!r} takes {str(absent)!r}, which was not given")
    unfit = next(Draft202012Validator(thaw(tool.params)).iter_errors(params), None)  # type: ignore[arg-type]
    if unfit is None:
        return params
    place = ".".join(str(part) for part in unfit.absolute_path)
    return failed("reference", step.id, f"what step {step.id!r} was given as {place!r} does not fit {tool.name!r}")


def _at(reference: Reference, facts: StepFacts | None) -> object:
    found = thaw(facts.first) if facts else None
    for part in reference.field.split("."):
        if not isinstance(found, Mapping) or found.get(part) is None:
            texts = [item.text for item in facts.items if item.text] if facts else []
            if reference.field == "text" and texts:
                return "\n".join(texts)
            raise _Absent(str(reference))
        found = found[part]
    return found
