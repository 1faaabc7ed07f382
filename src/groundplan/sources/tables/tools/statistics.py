"""Tools for summary statistics, distributions and correlations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import ibis
import ibis.expr.types as ir

from groundplan.contracts.facts import Item, TableColumn
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import Ask, Handle, Params, ToolOutput, ascending, handle_on, sort_key
from groundplan.sources.tables.engine.values import cell
from groundplan.sources.tables.tools.grain import choose, cut

MOST_CORRELATIONS = 12
SUMMARY = ("count", "missing", "distinct", "mean", "std", "min", "q25", "median", "q75", "max")


def compute_summary_stats(handle: Handle, params: Params) -> Handle:
    names = params.get("columns") or [column.name for column in handle.columns if column.kind == "number"]
    if not names:
        raise ToolError("the table has no numeric column; name the columns to summarise")
    measures = {
        f"{what}_{place}": value for place, name in enumerate(names) for what, value in _summary(handle, name).items()
    }
    row = handle.table.aggregate(**measures)  # all columns in one scan, then transposed
    rows = [
        row.select(
            column=ibis.literal(name),
            **{what: row[f"{what}_{place}"] for what in SUMMARY},
            place=ibis.literal(place),
        )
        for place, name in enumerate(names)
    ]
    return handle_on(stacked(rows).order_by("place").drop("place"))


def distribution_stats(handle: Handle, params: Params, ask: Ask) -> ToolOutput:
    """Numbers are counted in bins of equal width, times in periods, anything else by value."""
    name, by = params["column"], params.get("by")
    column = handle.column(name)
    facts = ask(handle.table.aggregate(values=column.count(), rows=handle.table.count()))[0]
    groups = {by: handle.column(by)} if by else {}
    if handle.kind(name) == "number":
        binned = _bins(handle, name, params["bins"], ask)
        table = handle.table.filter(column.notnull())
    else:
        binned = _frequencies(handle, name, ask)
        table = handle.table
    counted = table.group_by(**groups, **binned).aggregate(count=table.count())
    whole = counted["count"].sum().over(group_by=[counted[by]] if by else [])
    counted = counted.mutate(share=counted["count"].cast("float64") / whole.cast("float64"))
    order = (*ascending(groups), ("bin_start", False), ("count", True), ("bin", False))
    items = (
        Item(kind="count", title=f"values of {name}", value=facts["values"]),
        Item(kind="count", title=f"rows without {name}", value=facts["rows"] - facts["values"]),
    )
    share = TableColumn(name="share", kind="number", ratio=True)
    return handle_on(counted, [*handle.columns, share], order), items


def correlate(handle: Handle, params: Params, ask: Ask) -> ToolOutput:
    """Each pair is computed from the rows that have both values."""
    ranked = params["method"] == "spearman"
    for name in params["columns"]:
        if handle.kind(name) != "number":
            raise ToolError(f"column {name!r} is of kind {handle.kind(name)}; correlation needs numbers")
    pairs = list(combinations(params["columns"], 2))
    rows = _by_ranks(handle, pairs) if ranked else _by_values(handle, pairs)
    correlations = handle_on(stacked(rows), order=ascending(["left", "right"]))
    found = [row for row in ask(correlations.table) if cell(row["correlation"]) is not None]
    found.sort(key=lambda row: (-abs(row["correlation"]), row["left"], row["right"]))
    items = tuple(
        Item(
            kind="correlation",
            title=f"{row['left']} and {row['right']}",
            value=cell(row["correlation"]),
            text=f"{params['method']}, {row['rows']:,} rows",
        )
        for row in found[:MOST_CORRELATIONS]
    )
    return correlations, items


def stacked(tables: Sequence[ir.Table]) -> ir.Table:
    """The union of the tables as a balanced tree: a long chain of unions is too deep to compile or check."""
    if len(tables) == 1:
        return tables[0]
    middle = len(tables) // 2
    return stacked(tables[:middle]).union(stacked(tables[middle:]))


def _summary(handle: Handle, name: str) -> dict[str, ir.Value]:
    column = handle.column(name)
    counts = (column.count(), column.isnull().sum(), column.nunique())
    if handle.kind(name) != "number":
        return dict(zip(SUMMARY, (*counts, *[ibis.null().cast("float64")] * 7), strict=True))
    values: Any = column.cast("float64")
    spread = (values.mean(), values.std(how="sample"), values.min())
    quartiles = (values.quantile(0.25), values.median(), values.quantile(0.75))
    return dict(zip(SUMMARY, (*counts, *spread, *quartiles, values.max()), strict=True))


def _bins(handle: Handle, name: str, bins: int, ask: Ask) -> dict[str, ir.Value]:
    column: Any = handle.column(name)
    values = column.cast("float64")
    span = ask(handle.table.aggregate(least=values.min(), greatest=values.max()))[0]
    least, greatest = cell(span["least"]), cell(span["greatest"])
    if not isinstance(least, float) or not isinstance(greatest, float):
        raise ToolError(f"column {name!r} has no finite values to bin")
    whole = column.type().is_integer()
    width = nice_width(least, greatest, bins, whole)
    first, last = math.floor(least / width), math.floor(greatest / width)
    place = (values / width).floor().cast("int64")
    start = place.cast("float64") * width
    labels = [(place == spot, _span(spot * width, width, whole)) for spot in range(first, last + 1)]
    return {"bin": ibis.cases(*labels), "bin_start": start, "bin_end": start + width}


def nice_width(least: float, greatest: float, bins: int, whole: bool) -> float:
    """1, 2 or 5 times a power of ten, for about this many bins; the same edges as a histogram."""
    exact = (greatest - least) / bins if greatest > least else 1.0
    power = 10.0 ** math.floor(math.log10(exact))
    width = next(times * power for times in (1.0, 2.0, 5.0, 10.0) if exact <= times * power)
    return max(width, 1.0) if whole else width


def _span(start: float, width: float, whole: bool) -> str:
    return f"{start:g}" if whole and width == 1 else f"{start:g} to {start + width:g}"


def _frequencies(handle: Handle, name: str, ask: Ask) -> dict[str, ir.Value]:
    column = handle.column(name)
    if handle.kind(name) == "time":
        column = cut(handle, name, choose(handle, name, ask)[0])
    nothing = ibis.null().cast("float64")
    return {"bin": column.cast("string"), "bin_start": nothing, "bin_end": nothing}


def _by_values(handle: Handle, pairs: Sequence[tuple[str, str]]) -> list[ir.Table]:
    measures: dict[str, ir.Value] = {}
    for place, (left, right) in enumerate(pairs):
        first, second = (handle.column(name).cast("float64") for name in (left, right))
        both = first.notnull() & second.notnull()
        measures[f"correlation_{place}"] = first.corr(second, how="pop", where=both)
        measures[f"rows_{place}"] = handle.table.count(where=both)
    row = handle.table.aggregate(**measures)  # all pairs in one scan
    return [_pair(row, pair, f"correlation_{place}", f"rows_{place}") for place, pair in enumerate(pairs)]


def _by_ranks(handle: Handle, pairs: Sequence[tuple[str, str]]) -> list[ir.Table]:
    rows = []
    for left, right in pairs:
        both = handle.table.filter(handle.column(left).notnull(), handle.column(right).notnull())
        ranks = both.select(left=_middle_rank(both[left]), right=_middle_rank(both[right]))
        row = ranks.aggregate(correlation=ranks["left"].corr(ranks["right"], how="pop"), rows=ranks.count())
        rows.append(_pair(row, (left, right), "correlation", "rows"))
    return rows


def _pair(row: ir.Table, names: tuple[str, str], correlation: str, rows: str) -> ir.Table:
    left, right = (ibis.literal(name) for name in names)
    return row.select(left=left, right=right, correlation=row[correlation], rows=row[rows])


def _middle_rank(column: ir.Column) -> ir.Value:
    """Equal values share the mean of their ranks."""
    first = ibis.rank().over(order_by=[sort_key(column)])
    same = column.count().over(group_by=[column])
    return first.cast("float64") + (same.cast("float64") - 1) / 2
