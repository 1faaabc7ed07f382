"""Metrics of the semantic model, written out where a plan or a reading names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from groundplan.contracts.contract import Contract, thaw
from groundplan.contracts.expression import Expression, Named
from groundplan.contracts.normal_form import mapped
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema

C = TypeVar("C", bound=Contract)


def write_out(plan: Plan, reading: Reading, schemas: Mapping[str, SourceSchema]) -> tuple[Plan, Reading]:
    """Both with definitions in place of names. A name that no model defines stays, and the gate refuses it."""
    known = {metric.name: metric.expression for schema in schemas.values() for metric in schema.metrics}
    if not known:
        return plan, reading
    steps = tuple(step.model_copy(update={"params": _in_params(thaw(step.params), known)}) for step in plan.steps)
    requirements = tuple(r.model_copy(update={"value": _in_value(r.value, known)}) for r in reading.requirements)
    return plan.model_copy(update={"steps": steps}), reading.model_copy(update={"requirements": requirements})


def _in_value(node: C, known: Mapping[str, Expression]) -> C:
    if isinstance(node, Named):
        return known.get(node.name, node)  # type: ignore[return-value]
    return mapped(node, lambda part: _in_value(part, known))  # type: ignore[type-var]


def _in_params(value: object, known: Mapping[str, Expression]) -> object:
    if isinstance(value, Mapping):
        if value.get("kind") == "named" and value.get("name") in known:
            return known[str(value["name"])].model_dump(mode="json")
        return {key: _in_params(item, known) for key, item in value.items()}
    return [_in_params(item, known) for item in value] if isinstance(value, list) else value
