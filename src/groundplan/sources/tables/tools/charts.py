"""Charts in Vega-Lite: the query for the data, and the spec. The spec contains no data."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from typing import Any

import ibis
from pydantic import JsonValue

from groundplan.charts.scales import panels
from groundplan.charts.sketch import Sketch, Spec, plain
from groundplan.charts.specs import Drawn, area, bar, line, scatter
from groundplan.charts.spreads import box, heatmap, histogram
from groundplan.charts.text import human, inner
from groundplan.charts.time import EVERY, MONTHS
from groundplan.contracts.contract import Language
from groundplan.contracts.facts import TableColumn
from groundplan.errors import ToolError
from groundplan.sources.tables.tools.chart_queries import (
    binned,
    boxed,
    narrowed,
    needed,
    side_by_side,
    side_by_side_axes,
)
from groundplan.text.names import stands_for

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
QUERIES: dict[str, Callable[[ibis.Table, Mapping[str, JsonValue]], ibis.Table]] = {
    "plot_line": narrowed,
    "plot_band": narrowed,
    "plot_bar": narrowed,
    "plot_area": narrowed,
    "plot_heatmap": narrowed,
    "plot_scatter": needed,
    "plot_histogram": binned,
    "plot_box": boxed,
}
DRAWINGS: dict[str, Callable[[Sketch], Drawn]] = {
    "plot_line": line,
    "plot_band": line,
    "plot_bar": bar,
    "plot_area": area,
    "plot_heatmap": heatmap,
    "plot_scatter": scatter,
    "plot_histogram": histogram,
    "plot_box": box,
}
RUSSIAN: Spec = {
    "number": {"decimal": ",", "thousands": "\u00a0", "grouping": [3], "currency": ["", "\u00a0₽"]},
    "time": {
        "dateTime": "%-d %b %Y %H:%M:%S",
        "date": "%d.%m.%Y",
        "time": "%H:%M:%S",
        "periods": ["", ""],
        "days": ["воскресенье", "понедельник", "вторник", "среда", "четверг", "пятница", "суббота"],
        "shortDays": ["вс", "пн", "вт", "ср", "чт", "пт", "сб"],
        "months": list(MONTHS["ru"]),
        "shortMonths": list(MONTHS["ru"]),
    },
}
CONFIG: Spec = {
    "background": "#FFFFFF",
    "padding": 16,
    "font": "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif",
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "fontSize": 17,
        "color": "#1A1A1A",
        "subtitleColor": "#5F5F5F",
        "subtitleFontSize": 12,
        "subtitlePadding": 5,
        "offset": 14,
    },
    "axis": {
        "labelColor": "#444444",
        "labelFontSize": 11,
        "titleColor": "#333333",
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "domainColor": "#B5B5B5",
        "tickColor": "#B5B5B5",
        "gridColor": "#E6E6E6",
        "labelFlush": False,
    },
    "legend": {
        "orient": "right",
        "labelFontSize": 11,
        "labelColor": "#444444",
        "labelLimit": 200,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titleColor": "#333333",
        "titleLimit": 220,
        "offset": 18,
    },
    "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelColor": "#333333", "labelLimit": 220},
    "text": {"color": "#444444"},
    "facet": {"spacing": 24},
}


def prepare(tool: str, table: ibis.Table, params: Mapping[str, JsonValue]) -> ibis.Table:
    """The table with the rows of the chart."""
    return side_by_side(table, params) if "beside" in params else QUERIES[tool](table, params)


def chart(
    tool: str,
    params: Mapping[str, JsonValue],
    rows: list[dict[str, Any]],
    columns: tuple[TableColumn, ...],
    total: int,
    language: Language = "en",
) -> tuple[str, dict[str, Any], str | None]:
    """The title, the spec for a dataset named `table`, and what the chart leaves out, if anything."""
    if "beside" in params:
        params = side_by_side_axes(params)
    if tool == "plot_bar" and "x" not in params:
        raise ToolError("bars need an `x`, or a second measure `beside` the first")
    cells = [{name: plain(value) for name, value in row.items()} for row in rows]
    known = {column.name: column for column in columns}
    sketch = Sketch(tool, _by_name(params, cells, known) if tool == "plot_bar" else params, cells, known, language)
    if total > len(rows):
        sketch.cuts.append(sketch.said("cut", len(rows), total))
        sketch.notes.append(sketch.said("drawn_from", len(rows), total))
    drawn = DRAWINGS[tool](sketch)
    title = str(params.get("title") or "") or _title(sketch)
    return title, _spec(sketch, drawn, title), "; ".join(sketch.cuts) or None


def _by_name(
    params: Mapping[str, JsonValue], rows: list[dict[str, Any]], columns: Mapping[str, TableColumn]
) -> Mapping[str, JsonValue]:
    """Bars of things with an id and a name are labelled by the name, where no two things have the same."""
    id_, name = (str(params.get(role)) for role in ("x", "color"))
    if not {id_, name} <= columns.keys() or "facet" in params or not stands_for(name, id_, rows):
        return params
    return {role: name if role == "x" else value for role, value in params.items() if role != "color"}


def _spec(sketch: Sketch, drawn: Drawn, title: str) -> Spec:
    body = {**panels(sketch, drawn.facet), "spec": drawn.view} if drawn.facet else drawn.view
    return {
        "$schema": SCHEMA,
        "title": _heading(sketch, title),
        "data": {"name": "table"},
        "transform": sketch.transforms,
        **body,
        "config": CONFIG | ({"locale": RUSSIAN} if sketch.language == "ru" else {}),
        "usermeta": {"groundplan": _meaning(sketch, drawn)},
    }


def _heading(sketch: Sketch, title: str) -> Spec:
    """Wrapped here, because Vega truncates long titles."""
    notes = sketch.notes if sketch.rows else [sketch.said("no_rows")]
    subtitle = " · ".join(_sentence(note) for note in [*_span(sketch), *notes])
    heading: Spec = {"text": textwrap.wrap(title, 72) or [title]}
    return heading | ({"subtitle": textwrap.wrap(subtitle, 105)} if subtitle else {})


def _span(sketch: Sketch) -> list[str]:
    names = [name for name in (sketch.name("x"), sketch.name("y")) if name in sketch.columns]
    times = [sketch.timeline(name) for name in names if name]
    return [item.span for item in times if item]


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:]


def _title(sketch: Sketch) -> str:
    """A title made from the axes: Monthly revenue by region and product category."""
    x, y, color = (sketch.name(role) or "" for role in ("x", "y", "color"))
    match sketch.tool:
        case "plot_scatter":
            return sketch.said("against", human(y), inner(x)) + _by(sketch, "color", "facet")
        case "plot_histogram":
            return sketch.said("distribution", inner(x)) + _by(sketch, "color")
        case "plot_box":
            return sketch.said("distribution", inner(y)) + _by(sketch, "x")
        case "plot_heatmap":
            pairs = {x, y} == {"left", "right"}  # the columns of the correlate tool
            return sketch.said("between", human(color)) if pairs else _measure_title(sketch, color, "y", "x")
        case _:
            title = _measure_title(sketch, y, "x", "facet", "color")
            whole = sketch.params.get("stack") == "normalized" and sketch.columns[y].adds_up
            return sketch.said("share_of", title[:1].lower() + title[1:]) if whole else title


def _measure_title(sketch: Sketch, measure: str, *roles: str) -> str:
    """A time axis becomes the frequency ("Monthly"), the other roles become "by ..."."""
    for role in roles:
        if times := sketch.timeline(sketch.name(role) or measure):
            others = [other for other in roles if other != role]
            every = sketch.said("every", EVERY[sketch.language][times.grain], inner(measure))
            return every[:1].upper() + every[1:] + _by(sketch, *others)
    return human(measure) + _by(sketch, *roles)


def _by(sketch: Sketch, *roles: str) -> str:
    names = list(dict.fromkeys(name for role in roles if (name := sketch.name(role))))
    return sketch.said("by", sketch.said("and").join(map(inner, names))) if names else ""


def _meaning(sketch: Sketch, drawn: Drawn) -> Spec:
    """A summary of the chart for renderers other than Vega."""
    roles = {role: name for role in ("x", "y", "color", "facet") if (name := sketch.name(role))}
    shown = {"x": drawn.x, "y": drawn.y, "color": drawn.series, "facet": drawn.facet}
    kept = {role: category for role, category in shown.items() if category}
    orders = {role: list(category.values) for role, category in kept.items() if not category.timeline}
    grains = {role: times.grain for role, name in roles.items() if (times := sketch.timeline(name))}
    found = {role: sketch.columns[name] for role, name in roles.items() if name in sketch.columns}
    hours = [role for role, column in found.items() if column.kind == "number" and column.grain == "hour"]
    partial = [one.period for one in found["x"].partial] if "x" in grains else []
    axes = {name: held for name, held in {"hours": hours, "partial": partial}.items() if held}
    folded = {"folded": True} if drawn.series and drawn.series.folded else {}
    kind = "line" if sketch.tool == "plot_band" else sketch.tool.removeprefix("plot_")
    measure = sketch.columns.get(sketch.name("color" if kind == "heatmap" else "y") or "")
    percent = {"percent": True} if measure and measure.ratio else {}
    language = {"language": "ru"} if sketch.language == "ru" else {}
    return {"kind": kind, "columns": roles, "orders": orders, "grains": grains} | axes | folded | percent | language
