"""Safe repairs, made and logged before the rules run. Nothing that would change the meaning of a plan is repaired."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groundplan.catalog.catalog import Catalog
from groundplan.checking.lineage import Shape, follow_step
from groundplan.checking.params import column_uses
from groundplan.checking.wiring import Wiring
from groundplan.contracts.contract import thaw
from groundplan.contracts.issue import Repair
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.references import is_join, read_reference
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool


def repair(plan: Plan, catalog: Catalog, schemas: Mapping[str, SourceSchema]) -> tuple[Plan, tuple[Repair, ...]]:
    """Fill in a source's only table, column casing and defaults.

    Columns with a similar name, metrics, groupings and grains are never changed: that would answer a different
    question.
    """
    wiring = Wiring(plan)
    shapes: dict[str, dict[str, Shape]] = {}
    steps: list[Step] = []
    repairs: list[Repair] = []
    for step in plan.steps:
        tool = catalog.tools[step.tool] if step.tool and step.tool in catalog.tools else None
        if tool is None or wiring.by_id[step.id] is not step:
            steps.append(step)
            continue
        step = _with(step, _only_table(step, tool, wiring, schemas), repairs)
        step = _with(step, _defaults(step, tool), repairs)
        inputs = follow_step(step, tool, wiring, shapes, schemas)
        step = _with(step, _casing(step, tool, inputs), repairs)
        shapes[step.id] = follow_step(step, tool, wiring, shapes, schemas)
        steps.append(step)
    return (plan.model_copy(update={"steps": tuple(steps)}), tuple(repairs)) if repairs else (plan, ())


Change = tuple[Repair, object]
"""A repair and the value it puts at its path."""


def _only_table(step: Step, tool: Tool, wiring: Wiring, schemas: Mapping[str, SourceSchema]) -> Iterator[Change]:
    schema = schemas.get(tool.source)
    if step.needs or not schema or len(schema.tables) != 1 or len(tool.inputs) != 1:
        return
    port, table = tool.inputs[0].name, schema.tables[0].name
    if port not in step.params:
        yield (
            Repair(
                step=step.id,
                path=f"params.{port}",
                kind="table",
                before=None,
                after=table,
                reason="the step names no input, and the source has one table",
            ),
            table,
        )


def _defaults(step: Step, tool: Tool) -> Iterator[Change]:
    for path, value in _missing(tool.params, step.params, "params"):
        yield (
            Repair(
                step=step.id,
                path=path,
                kind="default",
                before=None,
                after=str(thaw(value)),
                reason="the tool's own default",
            ),
            value,
        )


def _missing(schema: Mapping[str, object], value: object, path: str) -> Iterator[tuple[str, object]]:
    properties, items = schema.get("properties"), schema.get("items")
    if read_reference(value) or is_join(value):
        return  # adding a default would turn the reference into a plain object
    if isinstance(properties, Mapping) and isinstance(value, Mapping):
        for name, inner in properties.items():
            if name in value:
                yield from _missing(inner, value[name], f"{path}.{name}")
            elif "default" in inner:
                yield f"{path}.{name}", inner["default"]
    elif isinstance(items, Mapping) and isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _missing(items, item, f"{path}.{index}")


def _casing(step: Step, tool: Tool, inputs: Mapping[str, Shape]) -> Iterator[Change]:
    for use in column_uses(step, tool):
        shape = inputs.get(use.port or (tool.inputs[0].name if tool.inputs else ""))
        columns = shape.columns if shape else None
        if not columns or use.name in columns or use.role == "expression":  # its path is of the whole expression
            continue
        same = [name for name in columns if name.casefold() == use.name.casefold()]
        if len(same) == 1:
            yield (
                Repair(
                    step=step.id,
                    path=use.path,
                    kind="casing",
                    before=use.name,
                    after=same[0],
                    reason="the same name in different case, and no other column has it",
                ),
                same[0],
            )


def _with(step: Step, changes: Iterator[Change], repairs: list[Repair]) -> Step:
    made = list(changes)
    if not made:
        return step
    params = thaw(step.params)
    for change, value in made:
        _put(params, change.path.split(".")[1:], thaw(value))
    repairs.extend(change for change, _ in made)
    return Step.model_validate({**step.model_dump(), "params": params})


def _put(target: object, path: list[str], value: object) -> None:
    *outer, last = path
    for key in outer:
        target = target[int(key)] if isinstance(target, list) else target[key]  # type: ignore[index]
    if isinstance(target, list):
        target[int(last)] = value
    elif isinstance(target, dict):
        target[last] = value
