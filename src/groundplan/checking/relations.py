"""What each step's table is, followed through a plan's steps in the language of readings, without running anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from groundplan.checking.join import joined, with_found, with_overall
from groundplan.checking.lineage import Shape
from groundplan.checking.params import FilterUse, fits_schema, kept_by
from groundplan.checking.relation import Relation, Unknown, read_filter, read_param
from groundplan.checking.wiring import Wiring
from groundplan.contracts.columns import Grain
from groundplan.contracts.contract import JsonObject, thaw
from groundplan.contracts.expression import (
    Aggregate,
    Alike,
    Among,
    Condition,
    DateCut,
    Expression,
    Node,
    Rows,
    Share,
    Ties,
    level,
    read_condition,
    read_expression,
    walk,
)
from groundplan.contracts.meaning import Sorting, Things, follows_series, ties_once
from groundplan.contracts.normal_form import both, normal_expression, settled_ties, substituted
from groundplan.contracts.plan import Step
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.tool import Tool


def relations(
    wiring: Wiring,
    tools: Mapping[str, Tool | None],
    shapes: Mapping[str, Mapping[str, Shape]],
    links: Sequence[Relationship],
) -> dict[str, Relation]:
    """For each step that gives or shows a table, what that table is; absent where it cannot be told."""
    found: dict[str, Relation] = {}
    for step in wiring.steps:
        tool = tools[step.id]
        if tool is None or not fits_schema(step, tool):
            continue
        try:
            _refuse_alike(step, tool)
            made = _of_step(step, tool, wiring, found, shapes[step.id], links)
        except Unknown:
            continue
        if made is not None:
            found[step.id] = made
    return found


def _refuse_alike(step: Step, tool: Tool) -> None:
    """Measures of the rows that are alike are columns of their own, derived before any row is left out."""
    waiting: list[object] = [] if tool.name == "derive_column" else [thaw(step.params)]
    while waiting:
        given = waiting.pop()
        if isinstance(given, dict):
            if given.get("kind") == "alike":
                raise Unknown
            waiting.extend(given.values())
        elif isinstance(given, list | tuple):
            waiting.extend(given)


def _of_step(
    step: Step,
    tool: Tool,
    wiring: Wiring,
    found: Mapping[str, Relation],
    shapes: Mapping[str, Shape],
    links: Sequence[Relationship],
) -> Relation | None:
    if tool.output.table:
        return Relation(table=tool.output.table, where=both(*map(_kept, kept_by(step, tool))))
    inputs = wiring.inputs(step, tool)
    if tool.output.columns == "joined" and len(inputs) == 2:
        left, right = (_input(origin, found) for origin in inputs.values())
        if not left or not right:
            return None
        if "among" in step.params:
            return with_found(left, right, step)
        return joined(left, right, step, links) if "on" in step.params else with_overall(left, right, step)
    follow = _query if tool.is_query else FOLLOW.get(tool.name)
    if len(inputs) != 1:
        return None
    ((port, origin),) = inputs.items()
    given = _input(origin, found)
    if given and tool.analysis is not None:  # what it works on is compared; what it makes of that is its own
        return replace(given, order=(), analysed=True)
    if given and given.analysed and tool.output.kind == "chart":
        return given
    if given and given.analysed and tool.name not in ("show_table", "save_table"):
        return None
    return follow(given, step, shapes.get(port)) if given and follow else None


def _kept(use: FilterUse) -> Condition:
    return read_param(read_filter, {"column": use.column, "operator": use.operator, "values": use.values})


def _input(origin: str | Sequence[str], found: Mapping[str, Relation]) -> Relation | None:
    if isinstance(origin, str):
        return Relation(table=origin)
    return found.get(origin[0]) if len(origin) == 1 else None


def _same(relation: Relation, step: Step, shape: Shape | None) -> Relation:
    return relation


def _filter_rows(relation: Relation, step: Step, shape: Shape | None) -> Relation:
    if relation.limit is not None or any(map(_ranks, relation.columns.values())):
        raise Unknown  # it would keep others than the best of what is left
    short = [read_param(read_filter, thaw(one)) for one in cast(Sequence[object], step.params.get("conditions", ()))]
    where = [read_param(read_condition, step.params["where"])] if "where" in step.params else []
    given = [*short, *where]
    if any(map(_ranks, given)):
        raise Unknown
    kept = both(*(substituted(condition, relation.columns) for condition in given))
    if relation.groups is None:
        return replace(relation, where=both(relation.where, kept))
    return replace(relation, having=both(relation.having, kept))


def _derive_column(relation: Relation, step: Step, shape: Shape | None) -> Relation:
    name, params = str(step.params["as"]), step.params
    if "expression" not in params:
        raise Unknown
    made = read_param(read_expression, params["expression"])
    columns = {**relation.columns, name: relation.value(made)}
    if level(made) == "series" or _ranks(made):
        _refuse_dropped(relation)
    if any(isinstance(part, Alike) for part in walk(made)) and relation != Relation(relation.table, relation.columns):
        raise Unknown  # it looks at every row of the table
    if follows_series(made):
        return replace(relation, columns=columns, along=_along(relation, params))
    return replace(relation, columns=columns)


def _along(relation: Relation, params: JsonObject) -> Expression:
    """A series runs along one group, and the others separate it from the next."""
    along = relation.column(str(params.get("along")))
    by = frozenset(relation.column(str(name)) for name in cast(Sequence[object], params.get("by", ())))
    if frozenset({along, *by}) != relation.groups or along in by or relation.along not in (None, along):
        raise Unknown
    return along


def _refuse_dropped(relation: Relation) -> None:
    """What compares a row with the others needs all of them."""
    if relation.limit is not None or relation.having is not None or relation.distinct:
        raise Unknown


def _ranks(node: Node) -> bool:
    return any(isinstance(part, Among) for part in walk(node))


def _aggregate(relation: Relation, step: Step, shape: Shape | None) -> Relation:
    if relation.limit is not None or relation.distinct or (relation.groups is not None and relation.things is not None):
        raise Unknown
    names = [str(name) for name in cast(Sequence[object], step.params.get("group_by", ()))]
    groups = {name: _cut(relation, step, shape, name) for name in names}
    measures = {
        str(metric["as"]): normal_expression(_measure(relation, metric))
        for metric in cast(Sequence[Mapping[str, object]], step.params["metrics"])
    }
    inner = relation.groups is not None
    return Relation(
        table=relation.table,
        columns={**groups, **measures},
        things=Things(relation.groups or frozenset(), relation.where) if inner else None,
        where=relation.having if inner else relation.where,
        groups=frozenset(groups.values()),
    )


def _cut(relation: Relation, step: Step, shape: Shape | None, name: str) -> Expression:
    grain = step.params.get("grain", "none")
    column = (shape.columns or {}).get(name) if shape else None
    if grain == "none" or column is None or column.kind != "time":
        return relation.column(name)
    return DateCut(of=relation.column(name), grain=None if grain == "auto" else cast(Grain, grain))


def _measure(relation: Relation, metric: Mapping[str, object]) -> Expression:
    if "expression" in metric:
        return relation.value(read_param(read_expression, metric["expression"]))
    if "column" not in metric:
        return Rows()
    given = {"function": metric.get("function"), "of": relation.column(str(metric["column"])).model_dump()}
    return read_param(Aggregate.model_validate, given)


def _rank_rows(relation: Relation, step: Step, shape: Shape | None) -> Relation:
    within = cast(Sequence[object], step.params.get("within", ()))
    order = _sorting(relation, [(str(step.params["by"]), str(step.params.get("direction", "top")))], step.params)
    limit, ties = cast(int, step.params["limit"]), cast(Ties, step.params.get("ties", "cut"))
    made = replace(
        relation,
        order=order,
        cut_by=order,
        limit=limit,
        ties=settled_ties(limit, ties),
        within=frozenset(relation.column(str(name)) for name in within),
    )
    if relation.limit is not None and made != relation:  # the same cut again keeps the same rows
        raise Unknown
    return made


def _query(relation: Relation, step: Step, shape: Shape | None) -> Relation:
    """Rows are kept, grouped and measured in one step; `top` keeps the first groups by the first measure."""
    if relation.groups is not None:
        raise Unknown
    made = _aggregate(_filter_rows(relation, step, shape), step, shape)
    top = cast(JsonObject | None, step.params.get("top"))
    if top is None:
        return made
    metrics = cast(Sequence[JsonObject], step.params["metrics"])
    params = {**top, "by": metrics[0]["as"]}
    return _rank_rows(made, Step.model_validate({**step.model_dump(), "params": params}), shape)


def _sorting(relation: Relation, first: Sequence[tuple[str, str]], params: JsonObject) -> tuple[Sorting, ...]:
    then = [(str(one["by"]), str(one["direction"])) for one in cast(Sequence[JsonObject], params.get("then", ()))]
    return ties_once((relation.column(name), direction) for name, direction in (*first, *then))


def _share_of_total(relation: Relation, step: Step, shape: Shape | None) -> Relation:
    if relation.groups is None:
        raise Unknown
    _refuse_dropped(relation)
    within = tuple(relation.column(str(name)) for name in cast(Sequence[object], step.params.get("within", ())))
    share = Share(of=relation.column(str(step.params["column"])), within=within)
    return replace(
        relation, columns={**relation.columns, str(step.params.get("as", "share")): normal_expression(share)}
    )


def _select_columns(relation: Relation, step: Step, shape: Shape | None) -> Relation:
    names = tuple(str(name) for name in cast(Sequence[object], step.params["columns"]))
    distinct = bool(step.params.get("distinct"))
    if distinct and relation.limit is not None:
        raise Unknown  # some of the best rows may be the same
    if relation.cut_by and not relation.within and "rank" not in names:
        relation = replace(relation, order=())  # ranked rows are in the order of their ranks
    return replace(relation, shown=names, distinct=relation.distinct or distinct)


def _show_table(relation: Relation, step: Step, shape: Shape | None) -> Relation:
    direction = "top" if step.params.get("descending") else "bottom"
    first = [(str(name), direction) for name in cast(Sequence[object], step.params.get("order_by", ()))]
    if first:
        relation = replace(relation, order=_sorting(relation, first, step.params))
    hidden = {str(name) for name in cast(Sequence[object], step.params.get("hide", ()))}
    if hidden:
        names = relation.shown if relation.shown is not None else tuple(relation.columns)
        relation = replace(relation, shown=tuple(name for name in names if name not in hidden))
    limit = cast(int, step.params.get("limit", ALL_SHOWN))
    if limit >= ALL_SHOWN:
        return relation
    if relation.limit is not None:
        raise Unknown
    return replace(relation, limit=limit, cut_by=relation.order)


ALL_SHOWN = 1_000  # rows: a table that is cut there says so
FOLLOW: Mapping[str, Callable[[Relation, Step, Shape | None], Relation]] = {
    "parse_datetime": _same,
    "filter_rows": _filter_rows,
    "derive_column": _derive_column,
    "aggregate": _aggregate,
    "rank_rows": _rank_rows,
    "share_of_total": _share_of_total,
    "select_columns": _select_columns,
    "show_table": _show_table,
    "save_table": _same,
    "plot_line": _same,
    "plot_bar": _same,
    "plot_area": _same,
    "plot_heatmap": _same,
}
