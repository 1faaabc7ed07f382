"""Draws one chart of each kind from examples/sales.csv, and the page that shows them: `python docs/make_charts.py`.

Look at the pictures before you commit them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal

import duckdb
import ibis
from make_pictures import packed

from groundplan.charts.picture import png, with_data
from groundplan.contracts.facts import PartialPeriod, TableColumn
from groundplan.sources.tables.engine.handle import kind_of
from groundplan.sources.tables.tools.charts import chart, prepare

DOCS = Path(__file__).parent
PICTURES = DOCS / "pictures" / "charts"
MONTH = "date_trunc('month', date)::date AS date"
STORE = "region || ' ' || product_category || ' ' || channel"
REVENUE = "sum(revenue) AS revenue"


@dataclass(frozen=True)
class Kind:
    """A chart: what it shows, the tool with its params, and the rows."""

    says: str
    tool: str
    params: Mapping[str, Any]
    sql: str
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # what is known of columns beside their type
    language: Literal["en", "ru"] = "en"


MONTHS = {"date": {"grain": "month"}}
AVERAGE = {"average revenue": {"adds_up": False}}
RATE = {"margin": {"ratio": True, "adds_up": False}}
ENDS_INSIDE = {"grain": "month", "partial": (PartialPeriod(period="2024-06-01", edge="ends", at="2024-06-17"),)}
KINDS = {
    "line": Kind(
        "One measure over time",
        "plot_line",
        {"x": "date", "y": "revenue"},
        f"SELECT {MONTH}, {REVENUE} FROM sales GROUP BY ALL",
        MONTHS,
    ),
    "lines": Kind(
        "Several series over time",
        "plot_line",
        {"x": "date", "y": "revenue", "color": "region"},
        f"SELECT {MONTH}, region, {REVENUE} FROM sales GROUP BY ALL",
        MONTHS,
    ),
    "lines-in-panels": Kind(
        "Series in panels, when two groupings are asked for",
        "plot_line",
        {"x": "date", "y": "revenue", "color": "product_category", "facet": "region"},
        f"SELECT {MONTH}, region, product_category, {REVENUE} FROM sales GROUP BY ALL",
        MONTHS,
    ),
    "partial-period": Kind(
        "A last month that the data covers only in part: dashes lead to a hollow point",
        "plot_line",
        {"x": "date", "y": "revenue"},
        f"SELECT {MONTH}, {REVENUE} FROM sales WHERE date < '2024-06-18' GROUP BY ALL",
        {"date": ENDS_INSIDE},
    ),
    "anomalies": Kind(
        "Values that stand out are circled",
        "plot_line",
        {"x": "date", "y": "revenue", "mark": "anomaly"},
        "SELECT date, sum(revenue) * CASE WHEN date = '2024-03-12' THEN 3 ELSE 1 END AS revenue, "
        "date = '2024-03-12' AS anomaly FROM sales WHERE date < '2024-07-01' GROUP BY date",
        {"date": {"grain": "day"}},
    ),
    "rate-over-time": Kind(
        "A rate over time, in percent",
        "plot_line",
        {"x": "date", "y": "margin"},
        f"SELECT {MONTH}, 1 - sum(cost) / sum(revenue) AS margin FROM sales GROUP BY ALL",
        {**MONTHS, **RATE},
    ),
    "area": Kind(
        "Parts of a total over time",
        "plot_area",
        {"x": "date", "y": "revenue", "color": "product_category"},
        f"SELECT {MONTH}, product_category, {REVENUE} FROM sales GROUP BY ALL",
        MONTHS,
    ),
    "bars": Kind(
        "A measure by group, longest first",
        "plot_bar",
        {"x": "region", "y": "revenue"},
        f"SELECT region, {REVENUE} FROM sales GROUP BY ALL",
    ),
    "bars-over-time": Kind(
        "Parts of a total by month",
        "plot_bar",
        {"x": "date", "y": "revenue", "color": "channel"},
        f"SELECT {MONTH}, channel, {REVENUE} FROM sales GROUP BY ALL",
        MONTHS,
    ),
    "bars-of-many": Kind(
        "Many groups with long names lie on their side",
        "plot_bar",
        {"x": "store", "y": "revenue"},
        f"SELECT {STORE} AS store, {REVENUE} FROM sales GROUP BY ALL",
    ),
    "bars-stacked": Kind(
        "Totals add up, so they are stacked",
        "plot_bar",
        {"x": "region", "y": "revenue", "color": "product_category"},
        f"SELECT region, product_category, {REVENUE} FROM sales GROUP BY ALL",
    ),
    "bars-of-averages": Kind(
        "Averages do not add up, so they stand side by side",
        "plot_bar",
        {"x": "region", "y": "average revenue", "color": "channel"},
        'SELECT region, channel, avg(revenue) AS "average revenue" FROM sales GROUP BY ALL',
        AVERAGE,
    ),
    "bars-of-shares": Kind(
        "Shares within each group",
        "plot_bar",
        {"x": "region", "y": "revenue", "color": "product_category", "stack": "normalized"},
        f"SELECT region, product_category, {REVENUE} FROM sales GROUP BY ALL",
    ),
    "bars-in-panels": Kind(
        "Bars in panels",
        "plot_bar",
        {"x": "channel", "y": "revenue", "facet": "region"},
        f"SELECT region, channel, {REVENUE} FROM sales GROUP BY ALL",
    ),
    "two-periods": Kind(
        "Two periods side by side",
        "plot_bar",
        {"x": "region", "y": "current", "beside": "previous", "names": ["2025", "2024", "revenue"]},
        "SELECT region, sum(revenue) FILTER (year(date) = 2025) AS current, "
        "sum(revenue) FILTER (year(date) = 2024) AS previous FROM sales GROUP BY ALL",
    ),
    "scatter": Kind(
        "Two measures of single rows",
        "plot_scatter",
        {"x": "units", "y": "revenue", "color": "region"},
        "SELECT * FROM sales WHERE day(date) = 1",
    ),
    "histogram": Kind(
        "How the values of a column spread",
        "plot_histogram",
        {"x": "revenue", "bins": 20, "color": "channel"},
        "SELECT * FROM sales",
    ),
    "boxes": Kind(
        "How values spread in each group",
        "plot_box",
        {"x": "product_category", "y": "revenue"},
        "SELECT * FROM sales",
    ),
    "heat-map": Kind(
        "A measure by two groupings",
        "plot_heatmap",
        {"x": "product_category", "y": "region", "color": "revenue"},
        f"SELECT region, product_category, {REVENUE} FROM sales GROUP BY ALL",
    ),
    "in-russian": Kind(
        "The labels of a Russian question",
        "plot_line",
        {"x": "date", "y": "revenue", "color": "channel"},
        f"SELECT {MONTH}, channel, {REVENUE} FROM sales GROUP BY ALL",
        MONTHS,
        "ru",
    ),
}


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f"CREATE TABLE sales AS FROM read_csv('{DOCS.parent / 'examples' / 'sales.csv'}')")
    for name, kind in KINDS.items():
        (PICTURES / f"{name}.png").write_bytes(packed(png(spec(connection, kind), scale=1)))
    (DOCS / "charts.md").write_text(page(), encoding="utf-8")


def page() -> str:
    head = (
        "# Charts\n\nOne chart of each kind, drawn from `examples/sales.csv` by `python docs/make_charts.py`. "
        "The question decides the kind; `as a bar chart` or `as a line chart` asks for one.\n"
    )
    shown = (f"\n## {kind.says}\n\n![{kind.says}](pictures/charts/{name}.png)\n" for name, kind in KINDS.items())
    return head + "".join(shown)


def spec(connection: duckdb.DuckDBPyConnection, kind: Kind) -> dict[str, Any]:
    prepared = prepare(kind.tool, ibis.duckdb.from_connection(connection).sql(kind.sql), kind.params)
    rows = prepared.to_pyarrow().to_pylist()
    columns = tuple(
        TableColumn(name=name, kind=kind_of(type_), **kind.columns.get(name, {}))
        for name, type_ in prepared.schema().items()
    )
    _, drawn, _ = chart(kind.tool, kind.params, rows, columns, len(rows), kind.language)
    return with_data(drawn, prepared.columns, [[_json(value) for value in row.values()] for row in rows])


def _json(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


if __name__ == "__main__":
    main()
