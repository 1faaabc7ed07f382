"""Histograms, box plots and heat maps, whose marks need several columns or layers."""

from __future__ import annotations

from dataclasses import replace

from groundplan.charts.scales import (
    MOST_CATEGORIES,
    PALETTE,
    by_size,
    category_tooltip,
    colour,
    discrete,
    folded,
    largest_only,
    number_tooltip,
    stacking_order,
    too_wide,
    totals,
)
from groundplan.charts.sketch import Category, Sketch, Spec
from groundplan.charts.specs import Drawn, lying
from groundplan.charts.text import datum, labels, number_axis, short_format, titled
from groundplan.contracts.facts import TableColumn

WIDTH, HEIGHT = 640, 360
READABLE_CELLS = 200
WIDEST_CELL, TALLEST_CELL = 90, 36
LEAST_CELL = 12  # below this, cells have no borders and share a fixed width
LABEL_CELL = 40  # the narrowest cell that has room for its number
INK, PAPER = "#333333", "#FFFFFF"


def histogram(sketch: Sketch) -> Drawn:
    """Adjacent bars for the bins that the engine counted."""
    name = str(sketch.params["x"])
    column = sketch.columns.get(name, TableColumn(name=name, kind="number"))
    edges = sketch.numbers("bin_start") + sketch.numbers("bin_end")
    series = sketch.maybe_category("color")
    encoding: Spec = {
        "x": {
            "field": "bin_start",
            "type": "quantitative",
            "bin": {"binned": True},
            "scale": {"zero": False},
            "axis": {**number_axis(column, edges, sketch.language), "grid": False, "tickCount": 8},
        },
        "x2": {"field": "bin_end"},
        "y": _measure(sketch, "count", sketch.said("rows")),
        "tooltip": [number_tooltip(sketch, each) for each in ("bin_start", "bin_end", "count")],
    }
    if series:
        cells = sketch.measured("count", lambda row: float(row["bin_start"]), series.of)
        series = folded(sketch, series, totals(cells, 1), "count", ["bin_start", "bin_end"])
        encoding |= {"color": colour(series), "order": stacking_order(sketch, series)}
        encoding["tooltip"].append(category_tooltip(series))
    mark = {"type": "bar", "binSpacing": 0, "stroke": PAPER, "strokeWidth": 0.75, "color": PALETTE[0]}
    return Drawn({"mark": mark, "encoding": encoding, "width": WIDTH, "height": HEIGHT}, series=series)


def box(sketch: Sketch) -> Drawn:
    """Boxes from quartiles; dots mark the least and the greatest value if they are beyond the whiskers."""
    sketch.notes.append(sketch.said("box"))
    boxes = sketch.maybe_category("x")
    if boxes:
        counts, medians = (totals(sketch.measured(name, boxes.of), 0) for name in ("count", "median"))
        boxes = largest_only(sketch, boxes, counts, MOST_CATEGORIES)
        boxes = replace(boxes, values=by_size(boxes, medians, len(boxes.values)))
    if boxes and not too_wide(boxes, WIDTH):
        thickness = max(1, min(40, WIDTH // (2 * max(len(boxes.values), 1))))
        layers = _box_layers(sketch, boxes, thickness)
        return Drawn({"layer": layers, "width": WIDTH, "height": HEIGHT}, x=boxes)
    layers = [layer | {"encoding": lying(layer["encoding"])} for layer in _box_layers(sketch, boxes, 14)]
    return Drawn({"layer": layers, "width": WIDTH, "height": {"step": 24} if boxes else 60}, x=boxes)


def heatmap(sketch: Sketch) -> Drawn:
    """A cell for each pair, with its number if it is readable."""
    measure = str(sketch.params["color"])
    across, down = sketch.category(str(sketch.params["x"])), sketch.category(str(sketch.params["y"]))
    sketch.mean_of_repeats(measure, [across.field, down.field], ("x", "y"))
    cells = sketch.measured(measure, across.of, down.of)
    across = largest_only(sketch, across, totals(cells, 0), MOST_CATEGORIES)
    down = largest_only(sketch, down, totals(cells, 1), MOST_CATEGORIES)
    if set(across.values) == set(down.values):
        down = replace(down, values=across.values)
    step = min(WIDEST_CELL, WIDTH // max(len(across.values), 1))
    readable = len(across.values) * len(down.values) <= READABLE_CELLS and step >= LABEL_CELL
    values = list(cells.values())
    named = [category_tooltip(across), category_tooltip(down)]
    length = max(80, min(200, len(down.values) * TALLEST_CELL - 20))
    cell = _cells(sketch, measure, values, named, length)
    if step >= LEAST_CELL:
        cell["mark"]["stroke"] = PAPER
    view = {
        "layer": [cell, _cell_labels(sketch, measure, values)] if readable else [cell],
        "encoding": {"x": discrete(across, width=step * len(across.values)).encoding, "y": discrete(down).encoding},
        "width": {"step": step} if step >= LEAST_CELL else WIDTH,
        "height": _height(len(down.values)),
    }
    return Drawn(view, x=across, y=down)


def _height(rows: int) -> Spec | int:
    if rows <= 20:
        return {"step": TALLEST_CELL}
    return {"step": 18} if rows <= MOST_CATEGORIES else MOST_CATEGORIES * 18


def _measure(sketch: Sketch, name: str, title: str | None = None) -> Spec:
    axis = number_axis(sketch.columns[name], sketch.numbers(name), sketch.language, title)
    return {"field": name, "type": "quantitative", "axis": {**axis, "tickCount": 6}}


def _box_layers(sketch: Sketch, boxes: Category | None, thickness: int) -> list[Spec]:
    """Upright: whiskers, box, median, then the extremes."""
    name = str(sketch.params["y"])
    column = sketch.columns.get(name, TableColumn(name=name, kind="number"))
    axis = number_axis(column, sketch.numbers("greatest") + sketch.numbers("least"), sketch.language)
    place = {"x": discrete(boxes).encoding} if boxes else {}
    shown = ("greatest", "high", "q3", "median", "q1", "low", "least", "count")
    tooltip = [number_tooltip(sketch, each) for each in shown]

    def layer(mark: Spec, start: str, end: str | None = None, only: str | None = None) -> Spec:
        scale = {"zero": False, "nice": True}
        y = {"field": start, "type": "quantitative", "scale": scale, "axis": {**axis, "tickCount": 6}}
        encoding = {**place, "y": y, **({"y2": {"field": end}} if end else {}), "tooltip": tooltip}
        return {**({"transform": [{"filter": only}]} if only else {}), "mark": mark, "encoding": encoding}

    filled = {"type": "bar", "size": thickness, "color": "#9CC4DE", "stroke": INK, "strokeWidth": 1}
    middle = {"type": "tick", "size": thickness, "color": INK, "thickness": 2, "opacity": 1}
    dot = {"type": "point", "filled": True, "size": 18, "color": PALETTE[0], "opacity": 0.8}
    return [
        layer({"type": "rule", "color": INK}, "low", "high"),
        layer(filled, "q1", "q3"),
        layer(middle, "median"),
        layer(dot, "least", only=f"{datum('least')} < {datum('low')}"),
        layer(dot, "greatest", only=f"{datum('greatest')} > {datum('high')}"),
    ]


def _cells(sketch: Sketch, measure: str, values: list[float], named: list[Spec], length: int) -> Spec:
    """Cells from light to dark, or with a diverging scale if values are on both sides of zero."""
    column, far = sketch.columns[measure], _farthest(values)
    scale = {"scheme": "redblue", "domain": [-far, far]} if _both_sides(values) else {"scheme": "blues", "nice": True}
    legend = {
        "title": titled(column),
        "gradientLength": length,
        **labels(short_format(column, values), sketch.language),
    }
    shade = {"field": sketch.field_of(measure), "type": "quantitative", "scale": scale, "legend": legend}
    tooltip = [*named, number_tooltip(sketch, measure)]
    return {"mark": {"type": "rect"}, "encoding": {"color": shade, "tooltip": tooltip}}


def _cell_labels(sketch: Sketch, measure: str, values: list[float]) -> Spec:
    far, near = _farthest(values), min(map(abs, values), default=0.0)
    dark = f"abs({datum(sketch.field_of(measure))}) > {near + 0.6 * (far - near)!r}"
    written = short_format(sketch.columns[measure], values)
    return {
        "mark": {"type": "text", "fontSize": 11},
        "encoding": {
            "text": {"field": sketch.field_of(measure), "type": "quantitative", "format": written},
            "color": {"condition": {"test": dark, "value": PAPER}, "value": INK},
        },
    }


def _farthest(values: list[float]) -> float:
    return max(map(abs, values), default=0.0)


def _both_sides(values: list[float]) -> bool:
    return min(values, default=0.0) < 0 < max(values, default=0.0)
