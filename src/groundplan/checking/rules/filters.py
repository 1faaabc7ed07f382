"""Rows are left out by the filters that were asked for, all of them, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.checking.draft import Draft
from groundplan.checking.lineage import Condition
from groundplan.checking.params import FilterUse, filter_uses, kept_by
from groundplan.checking.rules.coverage import unmet
from groundplan.contracts.contract import Scalar
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Step
from groundplan.contracts.reading import Filter
from groundplan.contracts.tool import Tool


def unfiltered(draft: Draft) -> Iterator[Issue]:
    """A filter that was asked for is applied, as asked, on the way to every result that a person gets to see.

    One that names a table concerns the results of that table.

    Fails: "only the West" was asked, and the table is filtered but the chart is not.
    """
    if draft.is_compared:
        return  # meaning/differs compares all of it
    for requirement in draft.reading.requirements:
        if not isinstance(requirement.value, Filter):
            continue
        if not any(True for _ in draft.citing(requirement.id)):
            continue  # coverage/missing says so
        for step in _concerned(draft, requirement.value):
            if not _passes(draft, step, requirement.value):
                yield unmet(
                    requirement,
                    "coverage/unfiltered",
                    f"the result of step {step.id!r} has not passed this filter",
                    step=step.id,
                )


def _concerned(draft: Draft, wanted: Filter) -> Iterator[Step]:
    return (step for step in draft.wiring.ends if wanted.table is None or wanted.table in _tables(draft, step))


def _tables(draft: Draft, step: Step) -> frozenset[str]:
    """The tables that a step's data comes from."""
    columns = (column for shape in draft.shapes[step.id].values() for column in (shape.columns or {}).values())
    return frozenset(table for column in columns for table, _ in column.origins)


def _passes(draft: Draft, step: Step, wanted: Filter) -> bool:
    tool = draft.tools[step.id]
    if tool is None:
        return True  # names/unknown-tool says so
    shapes = draft.shapes[step.id].values()
    return any(_matches(condition, wanted) for shape in shapes for condition in shape.passed)


def _matches(condition: Condition, wanted: Filter) -> bool:
    about = {column for table, column in condition.origins if wanted.table in (None, table)}
    return wanted.column in about and _plain(condition.operator, condition.values) == _plain(
        wanted.operator or "", wanted.values
    )


def _plain(operator: str, values: tuple[Scalar, ...]) -> tuple[str, frozenset[Scalar] | tuple[Scalar, ...]]:
    """One of a single value is that value; the order of a list does not matter."""
    if operator in ("in", "=", "not in", "!="):
        return ("in" if operator in ("in", "=") else "not in", frozenset(values))
    return (operator, values)


def unasked_filter(draft: Draft) -> Iterator[Issue]:
    """Rows are left out only by filters that were asked for.

    Fails: nobody spoke of a region, and a step keeps only the West.
    """
    if draft.is_compared:
        return  # meaning/differs compares all of it
    asked = [r.value for r in draft.reading.requirements if isinstance(r.value, Filter)]
    for index, step, tool in draft.tool_steps():
        for use, condition in _applied(draft, step, tool):
            if not any(_matches(condition, wanted) for wanted in asked):
                yield Issue(
                    code="coverage/unasked-filter",
                    step=step.id,
                    path=f"steps.{index}.{use.path}",
                    problem=f"step {step.id!r} filters {use.column!r}, and nobody asked for that filter",
                    hint="remove the condition, or make it exactly the one that was asked for",
                )


def _applied(draft: Draft, step: Step, tool: Tool) -> Iterator[tuple[FilterUse, Condition]]:
    """What a step filters by itself, and what its tool keeps where the rows lie."""
    for use in filter_uses(step, tool):
        column = draft.input_column(step, tool, use.column)
        if column:  # names/unknown-column says so where there is none
            yield use, Condition(column.origins, use.operator or "", use.values)
    for use in kept_by(step, tool):
        origin = (tool.output.table or "", use.column or "")
        yield use, Condition(frozenset({origin}), use.operator or "", use.values)


RULES = (unfiltered, unasked_filter)
