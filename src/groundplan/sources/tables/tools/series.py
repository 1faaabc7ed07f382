"""Tools for time series: anomalies, changes and trends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ibis
import ibis.expr.types as ir

from groundplan.contracts.facts import Item
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import (
    Ask,
    Handle,
    Order,
    Params,
    ToolOutput,
    ascending,
    handle_on,
    sort_key,
    steady,
    widened,
)
from groundplan.sources.tables.engine.values import cell
from groundplan.sources.tables.tools.expressions import ratio

MOST_TRENDS = 12
TO_DEVIATION = 1.4826  # the standard deviation of a normal distribution, in median absolute deviations
MEAN_TO_DEVIATION = 1.2533  # the same in mean absolute deviations


def detect_anomalies(handle: Handle, params: Params, ask: Ask) -> ToolOutput:
    """Uses the median and the median absolute deviation, which anomalies hardly affect."""
    by: list[str] = list(params["by"])
    marked = _marked(handle, _with_deviations(handle, params, by), params["threshold"])
    anomaly, value = marked.table["anomaly"], marked.table[params["column"]]
    facts = ask(marked.table.aggregate(found=anomaly.sum(), values=value.count()))[0]
    found, values = int(facts["found"] or 0), int(facts["values"])
    count = Item(kind="count", title="anomalies found", value=found, text=f"of {values:,} values")
    kept = marked.table.filter(anomaly) if params["only"] else marked.table
    order = _reading_order(handle, by, params.get("time")) or (("score", True),)
    return Handle(kept, marked.columns, order), (count,)


def time_series_features(handle: Handle, params: Params, ask: Ask) -> ToolOutput:
    by: list[str] = list(params["by"])
    value = _number(handle, params["column"])
    groups = [handle.column(name) for name in by]
    clock = [sort_key(handle.column(name)) for name in steady(handle, params["time"], by)]
    previous = value.lag().over(group_by=groups, order_by=clock)
    recent = ibis.window(group_by=groups, order_by=clock, preceding=params["window"] - 1, following=0)
    so_far = ibis.cumulative_window(group_by=groups, order_by=clock)
    described = widened(
        handle,
        {
            "previous": previous,
            "change": value - previous,
            "change_ratio": ratio(value - previous, previous),
            "moving_average": value.cast("float64").mean().over(recent),
            "running_total": value.sum().over(so_far),
        },
    )
    order = _reading_order(handle, by, params["time"])
    return Handle(described.table, described.columns, order), _trends(handle, params, by, ask)


def _with_deviations(handle: Handle, params: Params, by: list[str]) -> ir.Table:
    """Each value with the median of its series (or season), and the typical deviation from it."""
    table = handle.table.mutate(__value=_number(handle, params["column"]).cast("float64"))
    alike = by
    if params["method"] == "seasonal":
        table = table.mutate(__season=_season(handle, params))
        alike = [*by, "__season"]
    table = _median(table, "__value", alike, "__expected")
    table = table.mutate(__off=(table["__value"] - table["__expected"]).abs())
    table = _median(table, "__off", by, "__deviation")
    return table.mutate(__mean=table["__off"].mean().over(group_by=[table[name] for name in by]))


def _season(handle: Handle, params: Params) -> ir.Value:
    if not params.get("time"):
        raise ToolError("the seasonal method needs `time`, a date column")
    moment: Any = handle.column(params["time"])
    match params["season"]:
        case "weekday":
            return moment.day_of_week.index()
        case "month":
            return moment.month()
        case "hour" if moment.type().is_timestamp():
            return moment.hour()
        case _:
            raise ToolError(f"column {params['time']!r} holds days, which have no hours; use weekday or month")


def _median(table: ir.Table, name: str, by: Sequence[str], into: str) -> ir.Table:
    """Adds the group's median to each row, using row numbers: not every engine has a window median."""
    groups = [table[key] for key in by]
    table = table.mutate(
        __place=ibis.row_number().over(group_by=groups, order_by=[sort_key(table[name])]) + 1,
        __count=table[name].count().over(group_by=groups),
    )
    twice = table["__place"] * 2
    middle = ibis.cases(((twice >= table["__count"]) & (twice <= table["__count"] + 2), table[name]))
    return table.mutate(**{into: middle.mean().over(group_by=[table[key] for key in by])}).drop("__place", "__count")


def _marked(handle: Handle, table: ir.Table, threshold: float) -> Handle:
    robust, mean = table["__deviation"] * TO_DEVIATION, table["__mean"] * MEAN_TO_DEVIATION
    scale = ibis.coalesce(robust.nullif(0), mean.nullif(0))
    score = (table["__value"] - table["__expected"]) / scale
    for name in ("expected", "score", "anomaly"):
        if name in handle.table.columns:
            raise ToolError(f"the table already has a column {name!r}; remove it before looking for anomalies")
    marked = table.select(
        *[table[name] for name in handle.table.columns],
        expected=table["__expected"],
        score=score,
        anomaly=ibis.coalesce(score.abs() > threshold, ibis.literal(False)),
    )
    return handle_on(marked, handle.columns, handle.order)


def _trends(handle: Handle, params: Params, by: Sequence[str], ask: Ask) -> tuple[Item, ...]:
    """First, last, change and slope of the largest series."""
    series = _ends(handle, params["column"], params["time"], by)
    order = [sort_key(series["__size"], True), *(sort_key(series[name]) for name in by)]
    unit = handle.find(params["column"]).unit
    rows = ask(series.order_by(order).limit(MOST_TRENDS))
    known = [row for row in rows if row["__first"] is not None]
    return tuple(item for row in known for item in _trend(params["column"], by, row, unit))


def _ends(handle: Handle, column: str, time: str, by: Sequence[str]) -> ir.Table:
    """One row for each series: first and last value, slope and size."""
    table = handle.table.filter(handle.column(column).notnull(), handle.column(time).notnull())
    groups = [table[name] for name in by]
    table = table.select(
        *groups,
        __time=table[time],
        __value=table[column].cast("float64"),
        __place=ibis.row_number().over(group_by=groups, order_by=[sort_key(table[time])]),
        __back=ibis.row_number().over(group_by=groups, order_by=[sort_key(table[time], True)]),
    )
    value, place = table["__value"], table["__place"].cast("float64")
    measures = {
        "__first": value.max(where=table["__place"] == 0),
        "__last": value.max(where=table["__back"] == 0),
        "__from": table["__time"].min(),
        "__to": table["__time"].max(),
        "__slope": value.cov(place, how="pop") / place.var(how="pop").nullif(0),
        "__size": value.abs().sum(),
    }
    return table.group_by(list(by)).aggregate(**measures) if by else table.aggregate(**measures)


def _trend(column: str, by: Sequence[str], row: dict[str, Any], unit: str | None) -> tuple[Item, ...]:
    series = ", ".join(str(cell(row[name])) for name in by)
    of = f"{column} of {series}" if series else column
    first, last = cell(row["__first"]), cell(row["__last"])
    from_, to = cell(row["__from"]), cell(row["__to"])
    measures = (
        ("first", first, f"at {from_}"),
        ("last", last, f"at {to}"),
        ("change", row["__last"] - row["__first"], f"from {from_} to {to}"),
        ("slope", cell(row["__slope"]), "a period, by least squares"),
    )
    return tuple(
        Item(kind="trend", title=f"{of}: {what}", value=value, text=text, unit=unit) for what, value, text in measures
    )


def _number(handle: Handle, name: str) -> Any:
    if handle.kind(name) != "number":
        raise ToolError(f"column {name!r} is of kind {handle.kind(name)}; this needs a number")
    return handle.column(name)


def _reading_order(handle: Handle, by: Sequence[str], time: str | None) -> Order:
    return ascending([*by, time]) if time else handle.order
