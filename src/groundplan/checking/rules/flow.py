"""Numbers stay correct from step to step: no double counting, no averages of averages, no overplotting."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.checking.draft import Draft
from groundplan.checking.params import column_uses, metric_uses
from groundplan.contracts.columns import DUPLICATE_PROOF
from groundplan.contracts.issue import Issue
from groundplan.contracts.reading import Each

NOT_ADDITIVE = frozenset({"mean", "median", "std", "count_distinct"})
ONE_VALUE_PER_MARK = frozenset({"line_chart", "bar_chart", "area_chart", "heatmap_chart"})


def double_counting(draft: Draft) -> Iterator[Issue]:
    """A measure is not summed over rows that a join has repeated.

    A join repeats the rows of one side if the join columns of the other side are not a key. Minimum, maximum and
    distinct count are not affected.

    Fails: orders joined with their items, then the sum of the orders' `freight`.
    """
    for index, step, tool in draft.tool_steps():
        for metric in metric_uses(step, tool):
            column = draft.input_column(step, tool, metric.column)
            if column and column.repeated and metric.function not in DUPLICATE_PROOF:
                yield Issue(
                    code="flow/double-counting",
                    step=step.id,
                    path=f"steps.{index}.{metric.path}",
                    problem=f"step {step.id!r} takes the {metric.function} of {metric.column!r}, "
                    "whose rows a join has repeated",
                    hint="aggregate before the join, or join on a key of the other table",
                )


def average_of_averages(draft: Draft) -> Iterator[Issue]:
    """Sums and averages are not taken of averages, medians, deviations or distinct counts, unless that was asked.

    Where the reading asks for measures of things, `meaning/differs` compares what is taken of what.

    Fails: the mean by day, and then the mean of those means by month.
    """
    if any(isinstance(requirement.value, Each) for requirement in draft.reading.requirements):
        return
    for index, step, tool in draft.tool_steps():
        for metric in metric_uses(step, tool):
            column = draft.input_column(step, tool, metric.column)
            if column and column.function in NOT_ADDITIVE and metric.function in ("sum", "mean"):
                yield Issue(
                    code="flow/average-of-averages",
                    step=step.id,
                    path=f"steps.{index}.{metric.path}",
                    problem=f"step {step.id!r} takes the {metric.function} of {metric.column!r}, "
                    f"which is itself a {column.function}",
                    hint="aggregate once, from the rows",
                )


def overplotted(draft: Draft) -> Iterator[Issue]:
    """Lines, bars, areas and heat maps draw one value per mark, so their axes identify each row.

    Fails: revenue by month and region, drawn with only the month on its axes.
    """
    for index, step, tool in draft.tool_steps():
        if not ONE_VALUE_PER_MARK & set(tool.capabilities):
            continue
        shape = draft.input_shape(step, tool)
        measure = "params.color" if "heatmap_chart" in tool.capabilities else "params.y"
        axes = frozenset(u.name for u in column_uses(step, tool) if u.role == "axis" and u.path != measure)
        if shape is None or shape.columns is None or shape.is_unique_on(axes):
            continue
        key = min(shape.keys, key=lambda k: (len(k - axes), sorted(k)), default=frozenset[str]())
        unseen = ", ".join(sorted(key - axes))
        yield Issue(
            code="flow/overplotted",
            step=step.id,
            path=f"steps.{index}.params",
            problem=f"the chart of step {step.id!r} would draw several rows at one mark",
            hint=f"put {unseen} on color or facet, or aggregate without it"
            if unseen
            else f"aggregate by {', '.join(sorted(axes))} first",
        )


RULES = (double_counting, average_of_averages, overplotted)
