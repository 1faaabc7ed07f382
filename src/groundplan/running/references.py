"""Fills the references in a step's params with values from earlier steps."""

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
    """The referenced value is missing, or cannot be written into a text."""


def referred(step: Step, tool: Tool, outcomes: Mapping[str, StepOutcome]) -> Mapping[str, JsonValue] | StepOutcome:
    """The params with all references filled in. A missing or unfit value fails the step before the tool is called."""
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
    return failed("reference", step.id, f"step {step.id!r}: the value of {place!r} does not fit {tool.name!r}")


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
    """A value as text: numbers without exponents, booleans as in JSON, lists one item per line."""
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
            raise _Unusable(f"{str(reference)!r} into a text, but it is not a text, a number or a list of them")


def _at(reference: Reference, facts: StepFacts | None) -> object:
    found = thaw(facts.first) if facts else None
    for part in reference.field.split("."):
        if not isinstance(found, Mapping) or found.get(part) is None:
            texts = [item.text for item in facts.items if item.text] if facts else []
            if reference.field == "text" and texts:
                return "\n".join(texts)
            raise _Unusable(f"{str(reference)!r}, which is missing")
        found = found[part]
    return found
