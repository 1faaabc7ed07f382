"""Marks and encodings of line, area, bar and scatter charts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from groundplan.charts.scales import (
    MOST_CATEGORIES,
    MOST_PANELS,
    MOST_SERIES,
    PALETTE,
    Axis,
    Split,
    category_tooltip,
    colour,
    continuous_time,
    discrete,
    heights,
    largest_only,
    number_tooltip,
    panel_size,
    quantity,
    split,
    stacking_order,
    too_wide,
    totals,
)
from groundplan.charts.sketch import Category, Key, Partial, Sketch, Spec, plain
from groundplan.charts.text import datum, inner, quoted, short_format, titled, written_number

FEW_POINTS = 60
FEW_BARS = 12  # have room for their numbers
MARKED = "#D62728"
MANY_BARS = 150
DENSITIES = ((200, 0.85, 50), (2_000, 0.5, 30), (10_000_000, 0.25, 18))  # points up to, opacity, area
SWAPPED = {"x": "y", "y": "x", "x2": "y2", "y2": "x2", "xOffset": "yOffset"}


@dataclass(frozen=True)
class Drawn:
    """A view, and its categories in order."""

    view: Spec
    x: Category | None = None
    y: Category | None = None
    series: Category | None = None
    facet: Category | None = None


def line(sketch: Sketch) -> Drawn:
    """A line for each of the largest series; the rest is left out, because lines do not add up."""
    x, y = str(sketch.params["x"]), str(sketch.params["y"])
    along = ordered_axis(sketch, "x", narrow=bool(sketch.name("facet")))
    parts = split(sketch, y, along, _key(sketch, along), fold=False)
    limits = [value for role in ("low", "high") if (name := sketch.name(role)) for value in sketch.numbers(name)]
    encoding = _encoding(along, quantity(sketch, y, _near_zero([*sketch.numbers(y), *limits]), limits), parts)
    mark: Spec = {"type": "line", "strokeWidth": 2, "strokeJoin": "round", "color": PALETTE[0]}
    if not limits:
        sketch.fill_holes(x, y, _groups(parts), None)
    if len(sketch.rows) <= FEW_POINTS or len({row[x] for row in sketch.rows}) == 1:
        mark["point"] = {"size": 30, "filled": True, "color": PALETTE[0]} if not parts.series else {"size": 30}
    return _drawn(_with_points({"mark": mark, "encoding": encoding}, sketch, x), along, parts)


def _groups(parts: Split) -> list[str]:
    return [item.field for item in (parts.series, parts.facet) if item]


def _with_points(view: Spec, sketch: Sketch, x: str) -> Spec:
    """Dashes to hollow points for periods that the data covers in part, and circles around values that stand out."""
    partial, marked = sketch.partial(x), sketch.name("mark")
    lines: list[Spec] = [view]
    layers: list[Spec] = []
    if partial:
        lines, layers = _dashed(view, sketch, partial), [_hollow(view, partial)]
    if marked:
        sketch.notes.append(sketch.said("marked"))
        ring = {"type": "point", "filled": False, "size": 160, "strokeWidth": 2, "stroke": MARKED, "opacity": 1}
        plain_channels = {name: view["encoding"][name] for name in ("x", "y", "tooltip")}
        layers.append({"transform": [{"filter": datum(marked)}], "mark": ring, "encoding": plain_channels})
    low, high = sketch.name("low"), sketch.name("high")
    if low and high:
        limits = {"y": {**view["encoding"]["y"], "field": sketch.field_of(low)}, "y2": {"field": sketch.field_of(high)}}
        channels = {name: view["encoding"][name] for name in ("x", "color") if name in view["encoding"]}
        band: Spec = {"mark": {"type": "area", "opacity": 0.18}, "encoding": {**channels, **limits}}
        return {"layer": [{"transform": [{"filter": f"isValid({datum(low)})"}], **band}, *lines, *layers]}
    return {"layer": [*lines, *layers]} if layers else view


def _dashed(view: Spec, sketch: Sketch, partial: Partial) -> list[Spec]:
    """Solid up to the last whole period, dashed to the partial one; a single line says the word."""
    dashes: Spec = {name: value for name, value in view["mark"].items() if name != "point"} | {"strokeDash": [4, 4]}
    lines: list[Spec] = [{"transform": [{"filter": f"!({partial.test})"}], **view}]
    dashed = {"mark": dashes, "encoding": view["encoding"]}
    lines += [{"transform": [{"filter": segment}], **dashed} for segment in partial.segments]
    if "color" not in view["encoding"] and not sketch.name("facet"):
        starts = f"{partial.label} === {quoted(partial.first)}"
        inside = {"dx": {"expr": f"{starts} ? 9 : -9"}, "align": {"expr": f"{starts} ? 'left' : 'right'"}}
        mark = {"type": "text", "text": sketch.said("partial"), "fontStyle": "italic", "baseline": "middle", **inside}
        place = {name: view["encoding"][name] for name in ("x", "y")}
        lines.append({"transform": [{"filter": partial.test}], "mark": mark, "encoding": place})
    return lines


def _hollow(view: Spec, partial: Partial) -> Spec:
    hollow: Spec = {"type": "point", "filled": True, "fill": "#FFFFFF", "size": 45, "strokeWidth": 1.5, "opacity": 1}
    if "color" not in view["encoding"]:
        hollow["stroke"] = PALETTE[0]
    return {"transform": [{"filter": partial.test}], "mark": hollow, "encoding": _outlined(view["encoding"])}


def _outlined(encoding: Spec) -> Spec:
    """Series by the colour of the outline."""
    return {{"color": "stroke"}.get(channel, channel): definition for channel, definition in encoding.items()}


def area(sketch: Sketch) -> Drawn:
    """Stacked areas. The series add up to a total, so small series are folded into one."""
    x, y = str(sketch.params["x"]), str(sketch.params["y"])
    if sketch.name("color") and not sketch.columns[y].adds_up:
        return line(sketch)  # averages do not add up to anything
    along = ordered_axis(sketch, "x", narrow=bool(sketch.name("facet")))
    parts = split(sketch, y, along, _key(sketch, along), fold=True)
    encoding = _encoding(along, quantity(sketch, y, True, heights(parts.cells)), parts)
    whole = sketch.columns[y].adds_up
    encoding["y"]["stack"] = "zero" if whole else None
    sketch.fill_holes(x, y, _groups(parts), 0 if whole else None)  # before the order, which the filled rows need too
    if parts.series:
        encoding["order"] = stacking_order(sketch, parts.series)
    partial = sketch.partial(x)
    mark = {"type": "area", "opacity": 0.9, "color": PALETTE[0]}
    view: Spec = {"mark": mark, "encoding": encoding}
    if partial:
        faint = {"mark": mark | {"opacity": 0.4}, "encoding": encoding}
        ends = [{"transform": [{"filter": segment}], **faint} for segment in partial.segments]
        view = {"layer": [{"transform": [{"filter": f"!({partial.test})"}], **view}, *ends]}
    return _drawn(view, along, parts)


def bar(sketch: Sketch) -> Drawn:
    """Bars from zero, longest first unless they have a natural order."""
    y, stack = str(sketch.params["y"]), str(sketch.params.get("stack", "stacked"))
    if not sketch.columns[y].adds_up:
        stack = "grouped"  # averages do not add up to anything
    bars = sketch.category(str(sketch.params["x"]))
    parts = split(sketch, y, discrete(bars), bars.of, fold=stack != "grouped")
    bars = largest_only(sketch, bars, totals(parts.cells, 0), MOST_CATEGORIES)
    along = discrete(bars, narrow=bool(parts.facet))
    if len(bars.values) > MANY_BARS:
        along.encoding["scale"]["paddingInner"] = 0  # gaps thinner than a pixel would shimmer
    reach = heights(parts.cells) if stack == "stacked" else []
    encoding = _encoding(along, quantity(sketch, y, True, reach), parts)
    if parts.series:
        _share_bars(sketch, encoding, parts.series, stack)
    partial = sketch.partial(bars.column.name)
    if partial:
        encoding["opacity"] = {"condition": {"test": partial.test, "value": 0.45}, "value": 1}
    view: Spec = {"mark": {"type": "bar", "color": PALETTE[0]}, "encoding": encoding}
    lies = too_wide(bars, panel_size(len(parts.facet.values) if parts.facet else 0)[0])
    if len(parts.cells) <= FEW_BARS and not parts.facet and "order" not in encoding:
        view = _with_values(view, sketch, y, lies)
    drawn = _drawn(view, along, parts)
    return _lying(drawn) if lies else drawn


def _with_values(view: Spec, sketch: Sketch, measure: str, lies: bool) -> Spec:
    """Bars with their numbers at the ends. Only the position is shared: a number has no colour and is not faint."""
    place = {name: view["encoding"][name] for name in ("x", "y", "xOffset") if name in view["encoding"]}
    own = {name: channel for name, channel in view["encoding"].items() if name not in place}
    field, written = sketch.field_of(measure), sketch.new_field("bar_value")
    pattern = short_format(sketch.columns[measure], sketch.numbers(measure))
    sketch.calculate(written_number(datum(field), pattern, sketch.language), written)
    below = f"{datum(field)} < 0"
    ends: Spec = {"align": {"expr": f"{below} ? 'right' : 'left'"}, "dx": {"expr": f"{below} ? -5 : 5"}}
    mark: Spec = {"type": "text", "baseline": "middle", "fontSize": 11}
    mark |= ends if lies else {"align": "center", "dy": {"expr": f"{below} ? 9 : -9"}}
    values: Spec = {"transform": [{"filter": f"isValid({datum(field)})"}], "mark": mark}
    values["encoding"] = {"text": {"field": written, "type": "nominal"}}
    return {"layer": [{"mark": view["mark"], "encoding": own}, values], "encoding": place}


def scatter(sketch: Sketch) -> Drawn:
    """Points, more transparent if there are many."""
    narrow = bool(sketch.name("facet"))
    across, up = ordered_axis(sketch, "x", narrow), ordered_axis(sketch, "y", narrow=False)
    facet = _most_frequent(sketch, "facet", MOST_PANELS)
    graded = _graded(sketch)
    parts = Split(None if graded else _most_frequent(sketch, "color", MOST_SERIES), facet, {})
    encoding = _encoding(across, up, parts) | graded | _sized(sketch)
    _, opacity, dot = next(item for item in DENSITIES if len(sketch.rows) <= item[0])
    mark = {"type": "circle", "opacity": opacity, "size": dot, "color": PALETTE[0]}
    return _drawn({"mark": mark, "encoding": encoding}, across, parts)


def ordered_axis(sketch: Sketch, role: str, narrow: bool) -> Axis:
    """A position axis by the column's kind: continuous for time and numbers, else discrete."""
    name = str(sketch.params[role])
    if along := continuous_time(sketch, name, narrow):
        return along
    if sketch.columns[name].kind == "number":
        return quantity(sketch, name, zero=False)
    width, _ = panel_size(3 if narrow else 0)
    return discrete(sketch.category(name), narrow, width if role == "x" else None)


def lying(encoding: Spec) -> Spec:
    """The encoding with x and y swapped."""
    return {SWAPPED.get(channel, channel): definition for channel, definition in encoding.items()}


def _encoding(across: Axis, up: Axis, parts: Split) -> Spec:
    encoding: Spec = {"x": dict(across.encoding), "y": dict(up.encoding)}
    if parts.series:
        encoding["color"] = colour(parts.series)
    named = [category_tooltip(item) for item in (parts.facet, parts.series) if item]
    encoding["tooltip"] = [across.tooltip, *(item for item in named if item != across.tooltip), up.tooltip]
    return encoding


def _drawn(view: Spec, along: Axis, parts: Split) -> Drawn:
    width, height = panel_size(len(parts.facet.values) if parts.facet else 0)
    return Drawn({**view, "width": width, "height": height}, along.category, None, parts.series, parts.facet)


def _lying(drawn: Drawn) -> Drawn:
    step = {"step": 9, "for": "offset"} if "xOffset" in drawn.view["encoding"] else {"step": 22}
    return replace(drawn, view=drawn.view | {"encoding": lying(drawn.view["encoding"]), "height": step})


def _share_bars(sketch: Sketch, encoding: Spec, series: Category, stack: str) -> None:
    if series.field == encoding["x"]["field"]:
        encoding["color"]["legend"] = None  # the axis has the same labels
    if stack == "grouped":
        domain = list(series.values)
        encoding["xOffset"] = {"field": series.field, "type": "nominal", "scale": {"domain": domain}}
        encoding["y"]["stack"] = None
        return
    encoding["order"] = stacking_order(sketch, series)
    encoding["y"]["stack"] = "zero"
    if stack == "normalized":
        title = sketch.said("share_of", inner(str(sketch.params["y"])))
        encoding["y"] |= {"stack": "normalize", "axis": {"title": title, "format": ".0%", "tickCount": 5}}


def _most_frequent(sketch: Sketch, role: str, most: int) -> Category | None:
    category = sketch.maybe_category(role)
    if category is None:
        return None
    counts = Counter(map(category.of, sketch.rows))
    return largest_only(sketch, category, {value: float(count) for value, count in counts.items()}, most)


def _graded(sketch: Sketch) -> Spec:
    """A continuous colour scale, if colour shows a measure rather than series."""
    name = sketch.name("color")
    if not name or sketch.columns[name].kind != "number" or len(set(sketch.numbers(name))) <= MOST_SERIES:
        return {}
    legend = {
        "title": titled(sketch.columns[name]),
        "format": number_tooltip(sketch, name)["format"],
        "gradientOpacity": 1,
    }
    scale = {"scheme": "viridis", "reverse": True}
    return {"color": {"field": sketch.field_of(name), "type": "quantitative", "scale": scale, "legend": legend}}


def _sized(sketch: Sketch) -> Spec:
    name = sketch.name("size")
    if not name:
        return {}
    legend = {"title": titled(sketch.columns[name])}
    scale = {"range": [10, 400]}
    return {"size": {"field": sketch.field_of(name), "type": "quantitative", "scale": scale, "legend": legend}}


def _key(sketch: Sketch, along: Axis) -> Key:
    name = str(sketch.params["x"])
    return along.category.of if along.category else lambda row: plain(row[name])


def _near_zero(values: list[float]) -> bool:
    """Whether an axis from zero still shows the variation."""
    return bool(values) and min(values) <= 0.5 * max(values)
