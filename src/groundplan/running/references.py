"""The params of a step with what it takes from earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import cast

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from pydantic import JsonValue

from groundplan.contracts.contract import thaw
from groundplan.contracts.facts import StepFacts
from groundplan.contracts.plan import Step
from groundplan.contracts.references import Join, Reference, Taken, filled, taken
from groundplan.contracts.step_outcome import StepOutcome, failed
from groundplan.contracts.tool import Tool


class _Unusable(Exception):
    """An earlier step did not give what is referred to, or nothing that can be put into a text."""


def referred(step: Step, tool: Tool, outcomes: Mapping[str, StepOutcome]) -> Mapping[str, JsonValue] | StepOutcome:
    """Filled in; what is not there or does not fit the tool's schema fails the step, before anything is called."""
    if not any(taken(step.params)):
        return step.params
    try:
        params = cast(Mapping[str, JsonValue], filled(step.params, lambda found: _fill(found, outcomes)))
    except _Unusable as unusable:
        return failed("reference", step.id, f"step {step.id!r} takes {unusable}")
    unfit = next(_faults(params, tool), None)
    if unfit is None:
        return params
    place = ".".join(str(part) for part in unfit.absolute_path)
    return failed("reference", step.id, f"what step {step.id!r} was given as {place!r} does not fit {tool.name!r}")


def _faults(params: Mapping[str, JsonValue], tool: Tool) -> Iterator[ValidationError]:
    ports = {port.name for port in tool.inputs}
    given = {name: thaw(value) for name, value in params.items() if name not in ports}
    schema = cast(dict[str, object], thaw(tool.params))
    yield from Draft202012Validator(schema, format_checker=FormatChecker()).iter_errors(given)


def _fill(found: Taken, outcomes: Mapping[str, StepOutcome]) -> object:
    if isinstance(found, Join):
        return "".join(part if isinstance(part, str) else _written(part, _fill(part, outcomes)) for part in found.parts)
    outcome = outcomes.get(found.step)
    return _at(found, outcome.facts if outcome else None)


def _written(reference: Reference, value: object) -> str:
    """As a person writes it: no exponents, truth as JSON has it, and a list with a line for each."""
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case int() | float():
            return format(Decimal(repr(value)), "f")
        case list() if not any(isinstance(one, list | dict) for one in value):
            return "\n".join(_written(reference, one) for one in value)
        case _:
            raise _Unusable(
                f"{str(reference)!r} into a text, and it is neither a text, nor a number, nor a list of them"
            )


def _at(reference: Reference, facts: StepFacts | None) -> object:
    found = thaw(facts.first) if facts else None
    for part in reference.field.split("."):
        if not isinstance(found, Mapping) or found.get(part) is None:
            texts = [item.text for item in facts.items if item.text] if facts else []
            if reference.field == "text" and texts:
                return "\n".join(texts)
            raise _Unusable(f"{str(reference)!r}, which was not given")
        found = found[part]
    return found
