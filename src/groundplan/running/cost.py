"""How many rows a plan would read, by the estimates of the engines that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from groundplan.contracts.plan import CheckedPlan, Step
from groundplan.contracts.references import references
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.contracts.step_outcome import StepOutcome
from groundplan.errors import GroundplanError
from groundplan.running.step import Handles
from groundplan.sources.interface import Call, EstimatingSource, Source

DONE = StepOutcome(status="finished")


def tables_of(plan: CheckedPlan, schemas: Mapping[str, SourceSchema]) -> list[Table]:
    """The tables that its steps read, each as often as one does."""
    inputs = [(step, plan.inputs.get(step.id, {})) for step in plan.steps]
    named = [(step, binding.table) for step, given in inputs for binding in given.values() if binding.table]
    held = ((plan.tools[step.tool or ""].source, name) for step, name in named)
    found = (schemas[source].find(name) for source, name in held if source in schemas)
    return [table for table in found if table is not None]


async def rows_read(plan: CheckedPlan, sources: Mapping[str, Source], run: str) -> int:
    """Of the queries that can be written before any of them ran. Steps with the same query share it."""
    handles, read = Handles(plan, sources, run), dict[str, int]()
    known: dict[str, StepOutcome] = {}
    last = {step.id for step in plan.steps} - {need for step in plan.steps for need in step.needs}
    for step in plan.steps:
        if not _is_estimated(plan, sources, step) or not {*step.needs} <= known.keys():
            continue
        tool = plan.tools[step.tool or ""]
        source = sources[tool.source]
        assert isinstance(source, EstimatingSource)
        call = Call(
            run=run,
            step=step.id,
            tool=tool,
            params={name: one for name, one in step.params.items() if name not in {port.name for port in tool.inputs}},
            inputs=handles.inputs(step, known),
            limits=plan.limits,
            seconds=plan.limits.step_seconds,
        )
        try:
            rows, handle = await source.estimate(call, is_last=step.id in last)
        except GroundplanError:  # the run says what is wrong with it
            continue
        read |= rows
        if handle is not None:
            handles.keep(step.id, handle)
            known[step.id] = DONE
    return sum(read.values())


def cheaper(tables: Sequence[Table]) -> str:
    """The question that reads less: one about a period of the date whose span is known."""
    spans = [
        (f"{column.name} of {table.name}", str(column.least)[:10], str(column.greatest)[:10])
        for table in tables
        for column in table.columns
        if column.role == "temporal" and column.least and column.greatest
    ]
    if not spans:
        return "ask for less, with a condition"
    name, least, greatest = spans[0]
    return f"ask for a period, which may read less ({name} is from {least} to {greatest})"


def _is_estimated(plan: CheckedPlan, sources: Mapping[str, Source], step: Step) -> bool:
    if step.kind != "tool" or step.id not in plan.inputs or step.for_each or any(True for _ in references(step.params)):
        return False
    return isinstance(sources.get(plan.tools[step.tool or ""].source), EstimatingSource)
