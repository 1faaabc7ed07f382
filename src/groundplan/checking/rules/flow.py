"""Numbers stay correct from step to step: no double counting, no averages of averages, no overplotting."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.checking.draft import Draft
from groundplan.checking.params import column_uses, expressions, metric_uses
from groundplan.contracts.columns import DUPLICATE_PROOF
from groundplan.contracts.expression import Aggregate, Column, Node, Related, Running, Share, columns_of, parts, walk
from groundplan.contracts.issue import Issue
from groundplan.contracts.join_paths import NoPath, foreign, is_joined, name_of, rooted
from groundplan.contracts.plan import Step
from groundplan.contracts.reading import Each, Requirement
from groundplan.contracts.tool import Tool

NOT_ADDITIVE = frozenset({"mean", "median", "std", "count_distinct", "defined"})
ONE_VALUE_PER_MARK = frozenset({"line_chart", "bar_chart", "area_chart", "heatmap_chart"})


def double_counting(draft: Draft) -> Iterator[Issue]:
    """A measure is not taken of values that a join has repeated.

    A join repeats the rows of one side if the join columns of the other side are not a key. Minimum, maximum and
    distinct count are not affected, and neither is a product with a value of the rows themselves, such as the quantity
    of an item times the price of its product.

    Fails: orders joined with their items, then the sum of the orders' `freight`.
    """
    for index, step, tool in draft.tool_steps():
        for path, function, columns in _aggregates(step, tool):
            known = [draft.input_column(step, tool, name) for name in columns]
            repeated = known and all(column is not None and column.repeated for column in known)
            if repeated and function not in DUPLICATE_PROOF:
                yield Issue(
                    code="flow/double-counting",
                    step=step.id,
                    path=f"steps.{index}.{path}",
                    problem=f"step {step.id!r} takes the {function} of {' and '.join(map(repr, columns))}, "
                    "whose rows a join has repeated",
                    hint="aggregate before the join, or join on a key of the other table",
                )


def _aggregates(step: Step, tool: Tool) -> Iterator[tuple[str, str | None, list[str]]]:
    """Each aggregate of columns, with its function and the columns."""
    for metric in metric_uses(step, tool):
        if metric.column is not None:
            yield metric.path, metric.function, [metric.column]
    for path, node in expressions(step, tool):
        for part in walk(node) if node is not None else ():
            if isinstance(part, Aggregate):
                yield path, part.function, sorted(columns_of(part.of))


def average_of_averages(draft: Draft) -> Iterator[Issue]:
    """Sums and averages are not taken of averages, medians, deviations or distinct counts, unless that was asked.

    Where the reading asks for measures of things, `meaning/differs` compares what is taken of what.

    Fails: the mean by day, and then the mean of those means by month.
    """
    if any(isinstance(r.value, Each) or _measures_others(r) for r in draft.reading.requirements):
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


def aggregated_again(draft: Draft) -> Iterator[Issue]:
    """A field that its data source aggregates is taken as it is defined: it has no values for rows, and no total.

    Fails: the mean of `Margin`, a calculated field that divides two sums; rows where `Margin` is above 0.1; the
    share of each region in the total of `Margin`; the `defined` value of `Sales`, which is not aggregated.
    """
    for index, step, tool in draft.tool_steps():
        for path, name, as_defined in _field_uses(step, tool):
            column = draft.input_column(step, tool, name)
            totalled = column is not None and column.function == "defined" and name in _totalled(step, tool)
            if column is None or (column.aggregated == as_defined and not totalled):
                continue
            what = "is not aggregated by its data source" if as_defined else "is aggregated by its data source already"
            yield Issue(
                code="flow/aggregated-again",
                step=step.id,
                path=f"steps.{index}.{path}",
                problem=f"step {step.id!r}: {name!r} {what}",
                hint="choose a function" if as_defined else f'take it as it is defined; in SQL: AGG("{name}")',
            )


def _field_uses(step: Step, tool: Tool) -> Iterator[tuple[str, str, bool]]:
    """Each column that a param or an expression names, and whether its defined value is taken."""
    defined = {f"{metric.path}.column" for metric in metric_uses(step, tool) if metric.function == "defined"}
    for use in column_uses(step, tool):
        if use.role != "expression":
            yield use.path, use.name, use.path in defined
    for path, node in expressions(step, tool):
        for name, as_defined in _named_in(node) if node is not None else ():
            yield path, name, as_defined


def _totalled(step: Step, tool: Tool) -> frozenset[str]:
    """The columns whose values the step adds up over groups."""
    shared = {use.name for use in column_uses(step, tool) if "share" in tool.capabilities and use.kind == "number"}
    nodes = [part for _, node in expressions(step, tool) if node is not None for part in walk(node)]
    return frozenset(shared).union(*(columns_of(part) for part in nodes if isinstance(part, Share | Running)))


def _named_in(node: Node) -> Iterator[tuple[str, bool]]:
    match node:
        case Column(name=name):
            yield name, False
        case Aggregate(function="defined", of=Column(name=name)):
            yield name, True
        case _:
            for part in parts(node):
                yield from _named_in(part)


def _measures_others(requirement: Requirement) -> bool:
    """Whether it speaks of measures of the rows that point at a row."""
    return any(isinstance(node, Related) for node in foreign(requirement.value, ""))


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


def ambiguous_path(draft: Draft) -> Iterator[Issue]:
    """What a question says of another table is reached by one path of relationships, from many rows to one.

    A reading that leaves open which of several paths it means is not planned: the question has to say it.

    Fails: stays by country, where a stay points at the city one comes from and at the city one goes to.
    """
    table = draft.reading.tables[0] if draft.reading.tables else ""
    for requirement in draft.reading.requirements:
        try:
            rooted(requirement.value, table, draft.relationships if is_joined(draft.reading) else ())
        except NoPath as lost:
            names = ", ".join(map(name_of, lost.paths))
            yield Issue(
                code="flow/ambiguous-path",
                requirement=requirement.id,
                problem=f"{requirement.id!r} needs {lost.to_table!r} from {lost.table!r}, "
                + (f"and there are several paths: {names}" if names else "and no relationship leads there"),
                hint="say which one is meant" if names else "declare the relationship; see `groundplan catalog tables`",
            )


def join_by_no_key(draft: Draft) -> Iterator[Issue]:
    """A join that only the reading names leads to a table with one row for each value, so that it repeats no row.

    Fails: orders joined with their items by the order's number, which several items have.
    """
    tables = {table.name: table for schema in draft.schemas.values() for table in schema.tables}
    for link in draft.reading.joins:
        table, other = tables.get(link.table), tables.get(link.to_table)
        known = table is not None and all(map(table.find, link.columns)) and len(link.columns) == len(link.to_columns)
        if known and other is not None and any({*key} <= {*link.to_columns} for key in other.keys):
            continue
        yield Issue(
            code="flow/join-by-no-key",
            problem=f"the join {link.text} does not lead to one row of {link.to_table!r}",
            hint=f"join by columns that identify a row of {link.to_table!r}",
        )


def dropped_rows(draft: Draft) -> Iterator[Issue]:
    """A join keeps every row of the table that is measured.

    An inner join drops the rows that find no partner: orders without a customer would be missing from the total. Rows
    are left out by a filter that was asked for, not by a join.

    Fails: items joined with their orders by an inner join.
    """
    for index, step, tool in draft.tool_steps():
        if tool.output.columns == "joined" and step.params.get("how") == "inner":
            yield Issue(
                code="flow/dropped-rows",
                step=step.id,
                path=f"steps.{index}.params.how",
                problem=f"step {step.id!r} drops the rows that the other table has no row for",
                hint="join with `how: left`; leave rows out with filter_rows, where that was asked",
            )


def lost_groups(draft: Draft) -> Iterator[Issue]:
    """Tables that are grouped already are not joined by their groups: a group that only one of them has is lost.

    Fails: the orders of each month joined to the signups of each month; a month without signups is missing.
    """
    for index, step, tool in draft.tool_steps():
        if tool.output.columns != "joined" or "on" not in step.params:
            continue
        origins = [one for one in draft.wiring.inputs(step, tool).values() if not isinstance(one, str)]
        inputs = [draft.relations.get(origin[0]) for origin in origins if len(origin) == 1]
        if len(inputs) == 2 and all(given is not None and given.groups is not None for given in inputs):
            yield Issue(
                code="flow/lost-groups",
                step=step.id,
                path=f"steps.{index}",
                problem=f"step {step.id!r} joins groups, and loses those that only the other table has",
                hint="join single rows first and group them once",
            )


def several_rows(draft: Draft) -> Iterator[Issue]:
    """A table whose values are added to every row of another has one row: it was aggregated without groups.

    Fails: the average price of each category is added to every product.
    """
    for index, step, tool in draft.tool_steps():
        if tool.output.columns != "joined" or "on" in step.params or "among" in step.params:
            continue
        shape = draft.input_shape(step, tool, tool.inputs[1].name)
        if shape is not None and not shape.is_unique_on(frozenset()):
            yield Issue(
                code="flow/several-rows",
                step=step.id,
                path=f"steps.{index}",
                problem=f"step {step.id!r} adds the values of a table that may have several rows",
                hint="aggregate that table without groups, or join it by a key with join_tables",
            )


RULES = (
    double_counting,
    average_of_averages,
    aggregated_again,
    overplotted,
    ambiguous_path,
    join_by_no_key,
    dropped_rows,
    lost_groups,
    several_rows,
)
