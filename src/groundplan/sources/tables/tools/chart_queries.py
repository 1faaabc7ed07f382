"""Queries for charts: the engine bins and summarises, so that only the drawn values are fetched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ibis
from ibis import _
from pydantic import JsonValue

from groundplan.errors import ToolError

FEW_COLUMNS = 8
PERIOD = "period"
BIN_COLUMNS = ("bin_start", "bin_end", "count")
BOX_COLUMNS = ("count", "least", "low", "q1", "median", "q3", "high", "greatest")


def narrowed(table: ibis.Table, params: Mapping[str, JsonValue]) -> ibis.Table:
    """The table itself if it has few columns, so that a chart and a table share one query."""
    return table if len(table.columns) <= FEW_COLUMNS else needed(table, params)


def side_by_side(table: ibis.Table, params: Mapping[str, JsonValue]) -> ibis.Table:
    """Two measures as two rows each, told apart by the column `period`."""
    x, (later, earlier, measure) = params.get("x"), _names(params)
    if PERIOD in (x, measure):
        raise ToolError(f"a chart of two measures makes a column {PERIOD!r}; the data has one with that name already")
    kept = {x: table[x]} if isinstance(x, str) else {}
    sides = [
        table.select(**kept, **{PERIOD: ibis.literal(name), measure: table[column].cast("float64")})
        for name, column in ((earlier, str(params["beside"])), (later, str(params["y"])))
    ]
    return sides[0].union(sides[1])


def side_by_side_axes(params: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The axes of the chart on the table that `side_by_side` makes: a group, or the two alone."""
    *_, measure = _names(params)
    drawn: dict[str, JsonValue] = {"y": measure, "ordered": PERIOD, "title": params.get("title")}
    if isinstance(params.get("x"), str):
        return {**drawn, "x": params["x"], "color": PERIOD, "stack": "grouped"}
    return {**drawn, "x": PERIOD}


def _names(params: Mapping[str, JsonValue]) -> tuple[str, str, str]:
    given = params.get("names") or (params["y"], params["beside"], "value")
    assert isinstance(given, list | tuple)
    later, earlier, measure = map(str, given)
    return later, earlier, measure


def needed(table: ibis.Table, params: Mapping[str, JsonValue]) -> ibis.Table:
    """Only the columns that the chart uses."""
    named = {params.get(role) for role in ("x", "y", "color", "size", "facet", "mark", "low", "high")}
    return table.select([column for column in table.columns if column in named])


def binned(table: ibis.Table, params: Mapping[str, JsonValue]) -> ibis.Table:
    """Counts in bins of equal width; the width is 1, 2 or 5 times a power of ten."""
    x, color = str(params["x"]), params.get("color")
    values = _finite(table, x, color, BIN_COLUMNS)
    width = _nice_width(values, int(str(params.get("bins", 20))), whole=table[x].type().is_integer())
    placed = values.cross_join(width).mutate(place=(_.value / _.width).floor().cast("float64"))
    counted = placed.aggregate(by=_groups(color, "place", "width"), size=_.count())
    edges = {"bin_start": _.place * _.width, "bin_end": (_.place + 1) * _.width, "count": _.size}
    return counted.select(**edges, **_named(color))


def boxed(table: ibis.Table, params: Mapping[str, JsonValue]) -> ibis.Table:
    """Quartiles by category; whiskers extend 1.5 times the box's height, but not past the data."""
    x = params.get("x")
    values = _finite(table, str(params["y"]), x, BOX_COLUMNS)
    quartiles = values.aggregate(
        by=_groups(x),
        count=_.count(),
        least=_.value.min(),
        q1=_.value.quantile(0.25),
        median=_.value.quantile(0.5),
        q3=_.value.quantile(0.75),
        greatest=_.value.max(),
    )
    reach = 1.5 * (quartiles.q3 - quartiles.q1)
    fenced = quartiles.mutate(
        low=ibis.greatest(quartiles.least, quartiles.q1 - reach),
        high=ibis.least(quartiles.greatest, quartiles.q3 + reach),
    )
    return fenced.select(**_named(x), **{name: fenced[name] for name in BOX_COLUMNS})


def _finite(table: ibis.Table, column: str, by: JsonValue, made: tuple[str, ...]) -> ibis.Table:
    """The finite values of the column as `value`, with their `group`."""
    if by in made:
        raise ToolError(
            f"a chart cannot be grouped by {by!r}, because the chart creates a column with that name; "
            "choose another column, or rename this one in the source"
        )
    group: dict[str, Any] = {"group": table[by]} if isinstance(by, str) else {}
    values = table.select(value=table[column].cast("float64"), **group)
    kept = values.filter(values.value.notnull())
    if table[column].type().is_floating():
        kept = kept.filter(~kept.value.isnan(), ~kept.value.isinf())
    return kept


def _nice_width(values: ibis.Table, bins: int, whole: bool) -> ibis.Table:
    span = values.aggregate(exact=(values.value.max() - values.value.min()) / bins)
    exact = ibis.ifelse(span.exact > 0, span.exact, 1.0)
    sized = span.select(exact=exact, power=ibis.literal(10.0) ** exact.log10().floor())
    times = ibis.cases(
        (sized.exact <= sized.power, 1.0),
        (sized.exact <= 2 * sized.power, 2.0),
        (sized.exact <= 5 * sized.power, 5.0),
        else_=10.0,
    )
    width = (times * sized.power).cast("float64")
    return sized.select(width=ibis.greatest(width, 1.0) if whole else width)


def _groups(by: JsonValue, *others: str) -> list[str]:
    return [*(["group"] if isinstance(by, str) else []), *others]


def _named(by: JsonValue) -> dict[str, Any]:
    return {by: _.group} if isinstance(by, str) else {}
