"""Tools that compute measures: totals, segments, ranks, shares, period comparisons, pivot tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import ibis
import ibis.expr.types as ir

from groundplan.contracts.columns import Function, Grain, fits
from groundplan.contracts.expression import Aggregate, Column, Rounded, Ties, adds_up, is_count, is_ratio
from groundplan.contracts.facts import Item, TableColumn
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import (
    Ask,
    Handle,
    Params,
    ToolOutput,
    ascending,
    handle_on,
    sort_key,
    steady,
    widened,
)
from groundplan.sources.tables.engine.values import bound, cell
from groundplan.sources.tables.tools.expressions import Compiler, applied, expression_in, ratio
from groundplan.sources.tables.tools.grain import choose, cut, partial_periods

MOST_PIVOTED = 50


def aggregate(handle: Handle, params: Params, ask: Ask) -> ToolOutput:
    """Rows with a null key form their own group."""
    names: Sequence[str] = params["group_by"]
    _refuse_same_names([*names, *(metric["as"] for metric in params["metrics"])])
    times = [name for name in names if handle.kind(name) == "time"]
    grains, items = _grains(handle, times, params["grain"], ask)
    keys = {name: cut(handle, name, grains[name]) if name in grains else handle.column(name) for name in names}
    measures = {metric["as"]: measured(handle, metric) for metric in params["metrics"]}
    known = [_cut_column(handle, name, grain, ask) for name, grain in grains.items()]
    grouped = _grouped(handle.table, keys, measures)
    return handle_on(grouped, [*handle.columns, *known, *_units(handle, params["metrics"])], ascending(names)), items


def segment_metric(handle: Handle, params: Params) -> Handle:
    """The overall value is computed from all rows; it is not the sum of the segments."""
    metric, names = params["metric"], params["by"]
    overall = handle.table.aggregate(overall=_number(handle, metric))
    keys = {name: handle.column(name) for name in names}
    _refuse_same_names([*names, metric["as"], "overall", "difference", "difference_ratio"])
    table = _grouped(handle.table, keys, {metric["as"]: _number(handle, metric)}).cross_join(overall)
    difference = table[metric["as"]] - table["overall"]
    table = table.mutate(difference=difference, difference_ratio=ratio(difference, table["overall"]))
    told = [*_units(handle, [metric]), _ratio("difference_ratio")]
    return handle_on(table, [*handle.columns, *told], ascending(names))


def rank_rows(handle: Handle, params: Params) -> Handle:
    """The first of all is everything that shares its place; longer rankings have as many rows as were asked for,
    unless those that share the last place are kept."""
    within = list(params["within"])
    asked = {params["by"]: params["direction"] == "top"}
    for one in params["then"]:
        asked.setdefault(one["by"], one["direction"] == "top")
    names = [*asked, *(name for name in steady(handle, params["by"], within) if name not in asked)]
    keys = [sort_key(handle.column(name), asked.get(name, False)) for name in names]
    groups = [handle.column(name) for name in within]
    ties: Ties = "kept" if params["limit"] == 1 else params["ties"]
    place = _numbered(groups, keys) if ties == "cut" else _placed(groups, keys[: len(asked)], ties)
    ranked = widened(handle, {"rank": place + 1})
    kept = ranked.table.filter(ranked.table["rank"] <= params["limit"])
    return Handle(kept, ranked.columns, ascending([*within, "rank", *(names[len(asked) :] if ties != "cut" else ())]))


def _numbered(groups: Sequence[ir.Column], keys: Sequence[ir.Value]) -> ir.IntegerColumn:
    return ibis.row_number().over(group_by=groups, order_by=keys)


def _placed(groups: Sequence[ir.Column], keys: Sequence[ir.Value], ties: Ties) -> ir.IntegerColumn:
    """Those that tie share a place."""
    place = ibis.dense_rank() if ties == "as_one" else ibis.rank()
    return place.over(group_by=groups, order_by=keys)


def share_of_total(handle: Handle, params: Params) -> Handle:
    groups = [handle.column(name) for name in params["within"]]
    column = _numeric(handle, params["column"]).cast("float64")
    shared = widened(handle, {params["as"]: ratio(column, column.sum().over(group_by=groups))})
    share = TableColumn(name=params["as"], kind="number", ratio=True)
    return handle_on(shared.table, [*shared.columns, share], handle.order)


def compare_periods(handle: Handle, params: Params) -> Handle:
    """A group that is in only one period is null in the other, not zero."""
    names: Sequence[str] = params["by"]
    _refuse_same_names([*names, "current", "previous", "change", "change_ratio"])
    either = [_within(handle, params["time"], params[period]) for period in ("current", "previous")]
    both = Handle(handle.table.filter(either[0] | either[1]), handle.columns)
    values = {
        period: _number(both, params["metric"], _within(both, params["time"], params[period]))
        for period in ("current", "previous")
    }
    table = _grouped(both.table, {name: both.column(name) for name in names}, values)
    change = table["current"] - table["previous"]
    table = table.mutate(change=change, change_ratio=ratio(change, table["previous"]))
    sides = [{**params["metric"], "as": period} for period in ("current", "previous")]
    return handle_on(table, [*handle.columns, *_units(handle, sides), _ratio("change_ratio")], ascending(names))


def pivot(handle: Handle, params: Params, ask: Ask) -> ToolOutput:
    across = handle.column(params["columns"])
    _numeric(handle, params["values"])
    found = ask(handle.table.select(value=across).distinct().limit(MOST_PIVOTED + 1))
    if len(found) > MOST_PIVOTED:
        raise ToolError(
            f"column {params['columns']!r} has more than {MOST_PIVOTED} different values; "
            "filter or rank the rows before pivoting"
        )
    metric = {"column": params["values"], "function": params["function"]}
    values = sorted((row["value"] for row in found), key=lambda value: (value is None, value))
    measures: dict[str, ir.Value] = {}
    for value in values:
        condition = across.isnull() if value is None else across == ibis.literal(value, type=across.type())
        name = _label(value, {*params["rows"], *measures})
        measures[name] = measured(handle, metric, condition)
    keys = {name: handle.column(name) for name in params["rows"]}
    table = _grouped(handle.table, keys, measures)
    return handle_on(table, handle.columns, ascending(params["rows"])), ()


def measured(handle: Handle, metric: Mapping[str, Any], where: ir.BooleanValue | None = None) -> ir.NumericScalar:
    if "expression" in metric:
        return Compiler(handle).value(expression_in(metric["expression"]))
    if "function" not in metric:
        raise ToolError("a metric has a function of a column, or an expression")
    function: Function = metric["function"]
    name = metric.get("column")
    if name is None:
        if function != "count":
            raise ToolError(f"{function!r} needs a column; only 'count' counts rows without one")
        return handle.table.count(where=where)
    if not fits(function, handle.kind(name)):
        raise ToolError(f"{function!r} cannot be computed on column {name!r}, which is of kind {handle.kind(name)}")
    return applied(function, handle.column(name), where)


def _grains(handle: Handle, times: Sequence[str], asked: str, ask: Ask) -> tuple[dict[str, Grain], tuple[Item, ...]]:
    if asked == "none":
        return {}, ()
    if asked != "auto":
        return dict.fromkeys(times, cast("Grain", asked)), ()
    chosen = {name: choose(handle, name, ask) for name in times}
    return {name: grain for name, (grain, _) in chosen.items()}, tuple(item for _, item in chosen.values())


def _grouped(table: ir.Table, keys: Mapping[str, ir.Column], measures: Mapping[str, ir.Value]) -> ir.Table:
    if not keys:
        return table.aggregate(**measures)
    return table.group_by(**keys).aggregate(**measures)


def _number(handle: Handle, metric: Mapping[str, Any], where: ir.BooleanValue | None = None) -> ir.NumericScalar:
    value = measured(handle, metric, where)
    if not value.type().is_numeric():
        raise ToolError(f"{metric['function']!r} of {metric['column']!r} is not a number, so it has no difference")
    return value


def _numeric(handle: Handle, name: str) -> Any:
    if handle.kind(name) != "number":
        raise ToolError(f"column {name!r} is of kind {handle.kind(name)}; this needs a number")
    return handle.column(name)


def _within(handle: Handle, name: str, period: Sequence[str]) -> ir.BooleanValue:
    column = handle.column(name)
    start, end = (bound(handle, name, day) for day in period)
    return (column >= start) & (column < end)


def _units(handle: Handle, metrics: Sequence[Mapping[str, Any]]) -> list[TableColumn]:
    """A total or an average keeps the unit of its column; a count has none; a rate is a ratio."""
    return [_described(handle, metric) for metric in metrics]


def _described(handle: Handle, metric: Mapping[str, Any]) -> TableColumn:
    name = metric["as"]
    if "expression" in metric:
        measure = expression_in(metric["expression"])
        told = TableColumn(name=name, kind="number", ratio=is_ratio(measure), adds_up=adds_up(measure))
        match measure:
            case Rounded(of=Aggregate(of=Column(name=of, table=None)) as inner) if not is_count(inner):
                column = handle.find(of)
                return told.model_copy(update={"unit": column.unit, "ratio": column.ratio})
        return told
    function = metric["function"]
    told = TableColumn(name=name, kind="number", adds_up=function in ("sum", "count"))
    if function.startswith("count") or "column" not in metric:
        return told
    column = handle.find(metric["column"])
    return told.model_copy(update={"kind": column.kind, "unit": column.unit, "ratio": column.ratio})


def _ratio(name: str) -> TableColumn:
    return TableColumn(name=name, kind="number", ratio=True, adds_up=False)


def _cut_column(handle: Handle, name: str, grain: Grain, ask: Ask) -> TableColumn:
    partial = partial_periods(handle.table, handle.column(name), grain, ask)
    return handle.find(name).model_copy(update={"grain": grain, "partial": partial})


def _label(value: Any, taken: set[str]) -> str:
    text = {None: "(none)", "": "(empty)"}.get(value, str(cell(value)))
    while text in taken:
        text += "_"
    return text


def _refuse_same_names(names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ToolError(f"two columns of the result are named {twice[0]!r}; name one of them differently")
