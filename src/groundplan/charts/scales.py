"""Axes, series and panels: how many are readable, in which order, and in which colours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from groundplan.charts.sketch import Category, Key, Sketch, Spec
from groundplan.charts.text import datum, human, inner, number_axis, number_format, quoted, titled
from groundplan.charts.time import FORMATS, labelled, milliseconds, parsed
from groundplan.contracts.contract import Scalar

Cells = Mapping[tuple[Scalar, ...], float]
MOST_SERIES = 10
MOST_PANELS = 12
MOST_CATEGORIES = 40
WIDE_TICKS = 9
NARROW_TICKS = 4
LABEL_PIXELS = 180
CHARACTER_PIXELS = 7
# Safe for common colour-vision deficiencies: the Okabe-Ito palette, then darker colours of Tol's muted palette.
PALETTE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#332288",
    "#999933",
    "#882255",
    "#555555",
)
OTHER_COLOUR = "#BBBBBB"


@dataclass(frozen=True)
class Axis:
    """One position channel: its encoding, its tooltip, and the fields it needs."""

    encoding: Spec
    tooltip: Spec
    fields: list[str]
    category: Category | None = None


@dataclass(frozen=True)
class Split:
    """The series and the panels of a chart, limited to a readable number."""

    series: Category | None
    facet: Category | None
    cells: Cells  # the measure by x, series and facet


def split(sketch: Sketch, measure: str, along: Axis, key: Key, fold: bool) -> Split:
    """Choose the largest series and panels. With `fold`, the rest is summed as one; otherwise it is left out."""
    series, facet = sketch.maybe_category("color"), sketch.maybe_category("facet")
    others = [*along.fields, *([facet.field] if facet else [])]
    fields = [*others, *([series.field] if series else [])]
    sketch.mean_of_repeats(measure, fields, ("x", "color", "facet"))
    cells = sketch.measured(measure, key, series.of if series else None, facet.of if facet else None)
    if facet:
        facet = largest_only(sketch, facet, totals(cells, 2), MOST_PANELS)
    if series and fold:
        series = folded(sketch, series, totals(cells, 1), sketch.field_of(measure), others)
    elif series:
        series = largest_only(sketch, series, totals(cells, 1), MOST_SERIES)
    return Split(series, facet, cells)


def quantity(sketch: Sketch, name: str, zero: bool, reach: Iterable[float] = ()) -> Axis:
    """A number on a continuous scale; `reach` extends it for stacked marks."""
    column, values = sketch.columns[name], sketch.numbers(name)
    source = sketch.field_of(name)
    encoding = {
        "field": source,
        "type": "quantitative",
        "scale": {"zero": zero, "nice": True},
        "axis": {
            **number_axis(column, [*values, *reach], sketch.language),
            "tickCount": 4 if sketch.name("facet") else 6,
        },
    }
    return Axis(encoding, number_tooltip(sketch, name), [source])


def continuous_time(sketch: Sketch, name: str, narrow: bool) -> Axis | None:
    """Time on a continuous UTC scale; None if the column does not contain dates."""
    times = sketch.timeline(name)
    if times is None:
        return None
    source, label = sketch.field_of(name), sketch.new_field(f"{name}_label")
    sketch.calculate(labelled(name, times.grain), label)
    sketch.calculate(parsed(name), source)
    missing = sum(row[name] is None for row in sketch.rows)
    if missing:
        sketch.transforms.append({"filter": f"isValid({datum(name)})"})
        sketch.notes.append(sketch.said("not_drawn", missing, inner(name)))
    ticks, unit = times.ticks(NARROW_TICKS if narrow else WIDE_TICKS)
    axis = {
        "title": None if narrow else human(name),
        "values": [milliseconds(tick) for tick in ticks],
        "format": FORMATS[unit],
        **({"labelAlign": "left"} if narrow else {}),  # centred labels would push the panels apart
        "grid": False,
    }
    encoding = {"field": source, "type": "temporal", "scale": {"type": "utc"}, "axis": axis}
    return Axis(encoding, {"field": label, "type": "nominal", "title": human(name)}, [source, label])


def discrete(category: Category, narrow: bool = False, width: int | None = None) -> Axis:
    """The category's values side by side, in order; labels are rotated if they do not fit."""
    title = None if narrow and category.timeline else titled(category.column)
    axis: Spec = {"title": title, "labelLimit": LABEL_PIXELS, "labelAngle": 0, "grid": False}
    if category.timeline:
        ticks, _ = category.timeline.ticks(NARROW_TICKS if narrow else WIDE_TICKS)
        axis["values"] = [category.key(tick) for tick in ticks]
    elif category.column.grain == "hour":
        axis["labelExpr"] = 'format(datum.value, "02d") + ":00"'
    if category.ordered:
        axis["labelOverlap"] = True
    elif width and too_wide(category, width):
        axis["labelAngle"] = -40
    encoding = {
        "field": category.field,
        "type": "ordinal" if category.ordered else "nominal",
        "scale": {"domain": list(category.values)},
        "axis": axis,
    }
    return Axis(encoding, category_tooltip(category), [category.field], category)


def too_wide(category: Category, width: int) -> bool:
    """Whether the labels do not fit side by side; time and number axes can skip labels instead."""
    longest = max((len(str(value)) for value in category.values), default=0)
    return not category.ordered and len(category.values) * longest * CHARACTER_PIXELS > width


def category_tooltip(category: Category) -> Spec:
    return {"field": category.field, "type": "nominal", "title": human(category.column.name)}


def number_tooltip(sketch: Sketch, name: str) -> Spec:
    pattern = number_format(sketch.columns[name], sketch.numbers(name))
    return {
        "field": sketch.field_of(name),
        "type": "quantitative",
        "title": titled(sketch.columns[name]),
        "format": ",.2f" if pattern == "~s" else pattern,
    }


def by_size(category: Category, totals: Mapping[Scalar, float], most: int) -> tuple[Scalar, ...]:
    """The largest values, ordered by total, or in their natural order if they have one."""
    largest = sorted(category.values, key=lambda value: (-abs(totals.get(value, 0.0)), str(value)))[:most]
    if category.ordered:
        return tuple(value for value in category.values if value in largest)
    return tuple(sorted(largest, key=lambda value: (-totals.get(value, 0.0), str(value))))


def totals(cells: Cells, place: int) -> dict[Scalar, float]:
    sums: defaultdict[Scalar, float] = defaultdict(float)
    for key, value in cells.items():
        sums[key[place]] += value
    return dict(sums)


def heights(cells: Cells) -> list[float]:
    """The heights of the stacks: the sum over the series at each position and panel."""
    sums: defaultdict[tuple[Scalar, ...], float] = defaultdict(float)
    for (place, _, panel), value in cells.items():
        sums[place, panel] += value
    return list(sums.values())


def largest_only(sketch: Sketch, category: Category, sums: Mapping[Scalar, float], most: int) -> Category:
    """The category with its values in reading order, limited to the largest if there are too many."""
    shown = by_size(category, sums, most)
    on_axis = most == MOST_CATEGORIES
    if len(category.values) <= most or (on_axis and category.timeline):
        return replace(category, values=category.values if category.ordered else shown)
    more = sketch.said("more", len(category.values) - most) if on_axis else ""
    sketch.keep(category, shown, more)
    return replace(category, values=shown)


def folded(
    sketch: Sketch, category: Category, sums: Mapping[Scalar, float], measure: str, fields: list[str]
) -> Category:
    """Sum all but the largest values as one, so that the total stays correct; `fields` are kept."""
    if len(category.values) <= MOST_SERIES:
        return replace(category, values=by_size(category, sums, MOST_SERIES))
    shown = by_size(category, sums, MOST_SERIES - 1)
    rest = sketch.said("other", len(category.values) - len(shown))
    group = sketch.new_field(f"{category.field}_group")
    source = datum(category.field)
    sketch.calculate(f"indexof({quoted(list(shown))}, {source}) >= 0 ? {source} : {quoted(rest)}", group)
    sketch.aggregate("sum", measure, [*fields, group])
    return replace(category, field=group, values=(*shown, rest), folded=True)


def colour(category: Category) -> Spec:
    """One colour of the palette for each series; folded series are grey."""
    rest = [OTHER_COLOUR] if category.folded else []
    shades = [*PALETTE[: len(category.values) - len(rest)], *rest]
    return {
        "field": category.field,
        "type": "nominal",
        "scale": {"domain": list(category.values), "range": shades},
        "legend": {"title": titled(category.column), "symbolLimit": 0, "symbolOpacity": 1},
    }


def stacking_order(sketch: Sketch, category: Category) -> Spec:
    """Stack the largest series next to the axis."""
    place = sketch.new_field(f"{category.field}_order")
    sketch.calculate(f"indexof({quoted(list(category.values))}, {datum(category.field)})", place)
    return {"field": place, "type": "quantitative"}


def panels(sketch: Sketch, category: Category) -> dict[str, Any]:
    """The facet operator's part of a spec: a wrapped grid, the largest panel first."""
    place = sketch.new_field(f"{category.field}_place")
    sketch.calculate(f"indexof({quoted(list(category.values))}, {datum(category.field)})", place)
    return {
        "facet": {
            "field": category.field,
            "type": "nominal",
            "title": None,
            "sort": {"field": place, "op": "min", "order": "ascending"},
        },
        "columns": panel_columns(len(category.values)),
        "resolve": {"axis": {"x": "independent"}},  # otherwise a short last row leaves axes without a panel
    }


def panel_columns(count: int) -> int:
    return {1: 1, 2: 2, 4: 2}.get(count, 3)


def panel_size(count: int) -> tuple[int, int]:
    """Width and height of one panel; a chart without panels is one large panel."""
    return {0: (640, 360), 1: (640, 320), 2: (330, 230)}.get(panel_columns(count) if count else 0, (225, 160))
