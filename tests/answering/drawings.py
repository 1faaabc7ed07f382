"""Every kind of chart, drawn from the example data by hand-written SQL, and a way to read what a picture shows."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import ibis

from groundplan.charts import picture_aside
from groundplan.charts.picture import with_data
from groundplan.contracts.contract import thaw
from groundplan.contracts.facts import TableColumn
from groundplan.sources.tables.tools.charts import chart, prepare

SALES = Path(__file__).parents[2] / "examples" / "sales.csv"
STORE = "region || ' ' || product_category || ' ' || channel"
MONTH = "date_trunc('month', date)::date AS date"

KINDS: dict[str, tuple[str, dict[str, Any], str]] = {
    "line": (
        "plot_line",
        {"x": "date", "y": "revenue"},
        f"SELECT {MONTH}, sum(revenue) AS revenue FROM sales GROUP BY ALL",
    ),
    "line in panels": (
        "plot_line",
        {"x": "date", "y": "revenue", "color": "product_category", "facet": "region"},
        f"SELECT {MONTH}, region, product_category, sum(revenue) AS revenue FROM sales GROUP BY ALL",
    ),
    "line of many series": (
        "plot_line",
        {"x": "date", "y": "revenue", "color": "store"},
        f"SELECT {MONTH}, {STORE} AS store, sum(revenue) AS revenue FROM sales GROUP BY ALL",
    ),
    "area of many series": (
        "plot_area",
        {"x": "date", "y": "revenue", "color": "store"},
        f"SELECT {MONTH}, {STORE} AS store, sum(revenue) AS revenue FROM sales GROUP BY ALL",
    ),
    "bar": (
        "plot_bar",
        {"x": "region", "y": "revenue"},
        "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY ALL",
    ),
    "bar over time": (
        "plot_bar",
        {"x": "date", "y": "revenue", "color": "channel"},
        f"SELECT {MONTH}, channel, sum(revenue) AS revenue FROM sales GROUP BY ALL",
    ),
    "bar of many": (
        "plot_bar",
        {"x": "store", "y": "revenue"},
        f"SELECT {STORE} AS store, sum(revenue) AS revenue FROM sales GROUP BY ALL",
    ),
    "bar with many parts": (
        "plot_bar",
        {"x": "region", "y": "revenue", "color": "store"},
        f"SELECT region, {STORE} AS store, sum(revenue) AS revenue FROM sales GROUP BY ALL",
    ),
    "bar grouped": (
        "plot_bar",
        {"x": "region", "y": "revenue", "color": "channel", "stack": "grouped"},
        "SELECT region, channel, sum(revenue) AS revenue FROM sales GROUP BY ALL",
    ),
    "bar normalized": (
        "plot_bar",
        {"x": "region", "y": "revenue", "color": "channel", "stack": "normalized"},
        "SELECT region, channel, sum(revenue) AS revenue FROM sales GROUP BY ALL",
    ),
    "bar in panels": (
        "plot_bar",
        {"x": "channel", "y": "revenue", "facet": "region"},
        "SELECT region, channel, sum(revenue) AS revenue FROM sales GROUP BY ALL",
    ),
    "scatter": (
        "plot_scatter",
        {"x": "units", "y": "revenue", "color": "region", "size": "cost"},
        "SELECT * FROM sales WHERE day(date) = 1",
    ),
    "scatter over time": (
        "plot_scatter",
        {"x": "date", "y": "revenue", "color": "cost", "facet": "region"},
        "SELECT * FROM sales WHERE day(date) = 1",
    ),
    "histogram": ("plot_histogram", {"x": "revenue", "bins": 20, "color": "channel"}, "SELECT * FROM sales"),
    "box": ("plot_box", {"x": "product_category", "y": "revenue"}, "SELECT * FROM sales"),
    "box alone": ("plot_box", {"y": "revenue"}, "SELECT * FROM sales"),
    "heat map": (
        "plot_heatmap",
        {"x": "date", "y": "region", "color": "revenue"},
        f"SELECT {MONTH}, region, sum(revenue) AS revenue FROM sales GROUP BY ALL",
    ),
}


@cache
def sales() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})  # rows come in the same order every time
    connection.execute(f"CREATE TABLE sales AS FROM read_csv('{SALES}')")
    return connection


@cache
def of_kind(name: str) -> dict[str, Any]:
    """The finished spec, rows inside."""
    tool, params, sql = KINDS[name]
    prepared = prepare(tool, ibis.duckdb.from_connection(sales()).sql(sql), params)
    rows = prepared.to_pyarrow().to_pylist()
    kinds = {name: _kind(type_) for name, type_ in prepared.schema().items()}
    grain = "month" if "date_trunc" in sql else None
    return drawn(tool, params, rows, kinds, grain)


def drawn(
    tool: str,
    params: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    kinds: Mapping[str, Any],
    grain: str | None = None,
) -> dict[str, Any]:
    columns = tuple(
        TableColumn(name=name, kind=kind, grain=grain if kind == "time" else None) for name, kind in kinds.items()
    )
    _, spec, _ = chart(tool, params, [dict(row) for row in rows], columns, len(rows))
    return with_data(spec, list(kinds), [[_json(row[name]) for name in kinds] for row in rows])


def svg(spec: Mapping[str, Any]) -> str:
    """As `groundplan.charts.picture` draws it, but in this process: a child starts the library anew each time."""
    return _picture(spec, "svg").decode()


def png(spec: Mapping[str, Any]) -> bytes:
    return _picture(spec, "png")


def _picture(spec: Mapping[str, Any], format_: str) -> bytes:
    plain = thaw(spec)
    assert isinstance(plain, dict)
    return picture_aside.drawn(plain, format_, 2)


def marks(svg: str, mark: str) -> list[dict[str, str]]:
    """What the marks of a picture say to a screen reader: the values that were really drawn."""
    pattern = rf'aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="{mark}"'
    labels = [html.unescape(label) for label in re.findall(pattern, svg)]
    return [dict(part.split(": ", 1) for part in label.split("; ") if ": " in part) for label in labels]


def _kind(type_: Any) -> str:
    if type_.is_numeric():
        return "number"
    return "time" if type_.is_temporal() else "text"


def _json(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
