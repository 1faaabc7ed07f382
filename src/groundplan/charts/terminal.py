"""Draws a chart as text: lines and points with plotext, other kinds as rows of text."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from groundplan.charts.terminal_text import Screen, cells, compact, fitted, plain_text, point, to_ascii
from groundplan.charts.text import MISSING as NONE
from groundplan.contracts.contract import Language, Scalar

Row = dict[str, Any]
Curve = tuple[str, list[float], list[float]]
Written = Callable[[float], str]
MISSING: Mapping[Language, str] = {"en": "(none)", "ru": "(не указано)"}
SPAN: Mapping[Language, str] = {"en": "{} to {}", "ru": "{} – {}"}
ONE_SCALE: Mapping[Language, str] = {"en": "all on one scale", "ru": "все в одном масштабе"}
NO_ROWS: Mapping[Language, str] = {"en": "(no rows)", "ru": "(нет строк)"}
MARKERS = "ABCDEFGHIJ"
COLOURS = ("blue+", "green+", "red+", "cyan+", "magenta+", "yellow+", "gray+")
PARTIAL = "○"
GRAIN_LENGTHS = {"year": 4, "month": 7, "quarter": 7, "week": 10, "day": 10}


@dataclass(frozen=True)
class Meaning:
    """The spec's metadata for drawing it without Vega."""

    kind: str
    columns: dict[str, str]
    orders: dict[str, list[Scalar]]
    grains: dict[str, str]
    hours: tuple[str, ...] = ()  # the roles whose numbers are hours of the day
    partial: tuple[str, ...] = ()  # the periods of a time axis that the data covers only in part
    folded: bool = False
    percent: bool = False
    language: Language = "en"

    def written(self, value: float) -> str:
        return point(f"{100 * value:.3g}%", self.language) if self.percent else self.number(value)

    def number(self, value: float) -> str:
        return compact(value, self.language)

    def span(self, first: str, last: str) -> str:
        return SPAN[self.language].format(first, last)

    @property
    def measure(self) -> str:
        fixed = {"histogram": "count", "box": "median"}
        return fixed.get(self.kind) or self.columns["color" if self.kind == "heatmap" else "y"]

    def label(self, role: str, row: Row) -> str:
        """The row's label in a role: a date by its grain, a folded series by the name of the fold."""
        value = row.get(self.columns[role])
        if value is None:
            return MISSING[self.language]
        if role in self.grains:
            return self.period(role, str(value))
        if role == "color" and self.folded and value not in self.orders[role]:
            return _text(self.orders[role][-1])
        return self.text(role, value)

    def period(self, role: str, value: str) -> str:
        return value[: GRAIN_LENGTHS.get(self.grains[role], 16)]

    def text(self, role: str, value: Scalar) -> str:
        is_hour = role in self.hours and isinstance(value, int | float)
        return f"{value:02.0f}:00" if is_hour else _text(value)

    def categories(self, role: str) -> list[str]:
        """The labels of the chart in order, with hours that have no rows."""
        return [
            MISSING[self.language] if value == NONE else self.text(role, value) for value in self.orders.get(role, [])
        ]

    def shown(self, row: Row) -> bool:
        """Whether the row has a value and its categories are shown."""
        kept = (self.label(role, row) in self.categories(role) for role in self.orders)
        return row[self.measure] is not None and all(kept)

    def ordered(self, role: str, labels: set[str]) -> list[str]:
        """The labels in the order of the chart; on a continuous scale, by number or date."""
        places = {label: place for place, label in enumerate(self.categories(role))}
        return sorted(labels, key=lambda label: (places.get(label, len(places)), _number(label), label))


def drawn(spec: dict[str, Any], screen: Screen) -> str:
    """Title, subtitle, then the marks."""
    described = spec.get("usermeta", {}).get("groundplan")
    body = ["(a terminal cannot show this chart: save it as a picture)"]
    if described:
        meaning = Meaning(**described)
        rows = [row for row in spec["data"]["values"] if meaning.shown(row)]
        with suppress(ArithmeticError, ValueError):  # numbers near the largest have no difference
            body = DRAWINGS[meaning.kind](meaning, rows, screen) if rows else [NO_ROWS[meaning.language]]
    lines = [*_heading(spec.get("title", {}), screen.width), "", *body]
    return "\n".join(to_ascii(line) if screen.ascii_only else line for line in lines)


def _heading(title: dict[str, list[str]], width: int) -> list[str]:
    texts = [" ".join(title.get(part, [])) for part in ("text", "subtitle")]
    return [fitted(line, width).rstrip() for text in texts for line in textwrap.wrap(plain_text(text), width)]


def _line(meaning: Meaning, rows: list[Row], screen: Screen) -> list[str]:
    """Lines on one plot; each panel as a sparkline."""
    series: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (*names, x), value in _measured(meaning, rows, "facet", "color", "x"):
        series[" / ".join(names)][x] = value
    order = meaning.ordered("x", {x for points in series.values() for x in points})
    if "facet" in meaning.columns:
        return _sparklines(series, order, screen, meaning)
    places = {x: float(place) for place, x in enumerate(order)}
    curves: list[Curve] = []
    for name, points in series.items():
        placed = sorted((places[x], value) for x, value in points.items())
        curves.append((name, [place for place, _ in placed], [value for _, value in placed]))
    apart = {places[label] for one in meaning.partial if (label := meaning.period("x", one)) in places}
    return _plotted(curves, screen, order, meaning, apart)


def _scatter(meaning: Meaning, rows: list[Row], screen: Screen) -> list[str]:
    x, y = meaning.columns["x"], meaning.columns["y"]
    kept = [row for row in rows if row[x] is not None]
    numbers = all(isinstance(row[name], int | float) for row in kept for name in (x, y))
    if "facet" in meaning.columns or not numbers or not kept:
        return textwrap.wrap("(points in panels or over time: save the chart as a picture)", screen.width)
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in kept:
        groups[meaning.label("color", row) if "color" in meaning.orders else ""].append(row)
    names = meaning.ordered("color", set(groups))
    curves = [(name, [row[x] for row in groups[name]], [row[y] for row in groups[name]]) for name in names]
    return _plotted(curves, screen, None, meaning)


def _bar(meaning: Meaning, rows: list[Row], screen: Screen) -> list[str]:
    """One row for each bar; one row for each part of a stack. An hour without rows has an empty one."""
    named = [(" / ".join(names), value) for names, value in _measured(meaning, rows, "facet", "x", "color")]
    if "x" in meaning.hours and not {"facet", "color"} & {*meaning.columns}:
        known = dict(named)
        return _bars([(hour, known.get(hour)) for hour in meaning.categories("x")], screen, meaning.written)
    return _bars(named, screen, meaning.written)


def _histogram(meaning: Meaning, rows: list[Row], screen: Screen) -> list[str]:
    counts: defaultdict[tuple[float, float], float] = defaultdict(float)
    for row in rows:
        counts[row["bin_start"], row["bin_end"]] += row["count"]
    named = [(meaning.span(*map(meaning.number, edges)), count) for edges, count in sorted(counts.items())]
    return _bars(named, screen, meaning.number)


def _box(meaning: Meaning, rows: list[Row], screen: Screen) -> list[str]:
    """Whiskers as dashes, the box as equals signs, the median as a bar."""
    names = {meaning.label("x", row) if "x" in meaning.columns else "": row for row in rows}
    least, greatest = min(row["low"] for row in rows), max(row["high"] for row in rows)
    wide = _label_width(list(names), screen)
    scale = (screen.width - wide - 3) / ((greatest - least) or 1)
    lines = []
    for name in meaning.ordered("x", set(names)):
        parts = (names[name][part] for part in ("low", "q1", "median", "q3", "high"))
        low, q1, median, q3, high = (round((part - least) * scale) for part in parts)
        marks = [" "] * low + ["-"] * (q1 - low) + ["="] * (q3 - q1) + ["-"] * (high - q3 + 1)
        marks[median] = "|"
        lines.append(f"{fitted(name, wide)}  {''.join(marks)}")
    span = meaning.span(meaning.number(least), meaning.number(greatest))
    return [*_cut(lines, screen), fitted(span, screen.width).rstrip()]


def _heatmap(meaning: Meaning, rows: list[Row], screen: Screen) -> list[str]:
    """A shade character for each cell, one line for each row."""
    values = {(meaning.label("y", row), meaning.label("x", row)): float(row[meaning.measure]) for row in rows}
    down, across = ({key[place] for key in values} for place in (0, 1))
    wide = _label_width(list(down), screen)
    if "x" in meaning.hours:
        across |= {*meaning.categories("x")} - {MISSING[meaning.language]}
    shown = meaning.ordered("x", across)[: screen.width - wide - 2]
    shade = _shades(list(values.values()), screen)
    lines = [
        f"{fitted(y, wide)}  {''.join(shade(values.get((y, x))) for x in shown)}" for y in meaning.ordered("y", down)
    ]
    least, greatest = meaning.written(min(values.values())), meaning.written(max(values.values()))
    note = f"{meaning.span(shown[0], shown[-1])}; {screen.shades[0]} {least} … {screen.shades[-1]} {greatest}"
    return [*_cut(lines, screen), fitted(note, screen.width).rstrip()]


DRAWINGS: dict[str, Callable[[Meaning, list[Row], Screen], list[str]]] = {
    "line": _line,
    "area": _line,
    "bar": _bar,
    "scatter": _scatter,
    "histogram": _histogram,
    "box": _box,
    "heatmap": _heatmap,
}


def _measured(meaning: Meaning, rows: list[Row], *roles: str) -> list[tuple[tuple[str, ...], float]]:
    """The measure by its labels, in order. Rows with the same labels are averaged; folded series are summed."""
    used = [role for role in roles if role in meaning.columns]
    repeats: defaultdict[tuple[tuple[str, ...], Scalar], list[float]] = defaultdict(list)
    for row in rows:
        labels = tuple(meaning.label(role, row) for role in used)
        repeats[labels, row.get(meaning.columns.get("color", ""))].append(float(row[meaning.measure]))
    sums: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for (labels, _), values in repeats.items():
        sums[labels] += sum(values) / len(values)
    orders = [meaning.ordered(role, {labels[place] for labels in sums}) for place, role in enumerate(used)]
    places = [{label: place for place, label in enumerate(order)} for order in orders]
    return sorted(sums.items(), key=lambda item: [at[label] for at, label in zip(places, item[0], strict=True)])


def _plotted(
    curves: list[Curve],
    screen: Screen,
    labels: list[str] | None,
    meaning: Meaning,
    apart: Collection[float] = (),
) -> list[str]:
    """A plotext plot: lines if the positions have labels, else points. No line leads to the positions `apart`."""
    import plotext

    plotext.clear_figure()
    plotext.limit_size(False, False)
    plotext.plotsize(screen.width, max(screen.height, 8))
    if not screen.colour:
        plotext.theme("clear")
    letters = screen.ascii_only or (not screen.colour and len(curves) > 1)
    for place, (name, x, y) in enumerate(curves):
        draw = plotext.plot if labels is not None else plotext.scatter
        marker, colour = MARKERS[place % len(MARKERS)], COLOURS[place % len(COLOURS)]
        pairs = [*zip(x, y, strict=True)]
        if whole := [pair for pair in pairs if pair[0] not in apart]:
            label = fitted(name, 18).rstrip() or None
            draw(*_columns(whole), marker=marker if letters else "braille", color=colour, label=label)
        if alone := [pair for pair in pairs if pair[0] in apart]:
            plotext.scatter(*_columns(alone), marker=marker if letters else PARTIAL, color=colour)
    _ticks([value for _, _, values in curves for value in values], plotext.yticks, 5, meaning.written)
    if labels is None:
        along = [value for _, values, _ in curves for value in values]
        _ticks(along, plotext.xticks, max(screen.width // 14, 2), meaning.number)
    else:
        step = max(1, -(-len(labels) * 12 // screen.width))
        plotext.xticks(range(0, len(labels), step), [fitted(label, 10).rstrip() for label in labels[::step]])
    text = str(plotext.build())
    plotext.clear_figure()
    return (text if screen.colour else str(plotext.uncolorize(text))).splitlines()


def _columns(pairs: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in pairs], [y for _, y in pairs]


def _ticks(
    values: list[float], set_ticks: Callable[[list[float], list[str]], None], count: int, written: Written
) -> None:
    least, greatest = min(values), max(values)
    ticks = [least + (greatest - least) * place / (count - 1) for place in range(count)]
    set_ticks(ticks, [written(tick) for tick in ticks])


def _sparklines(series: dict[str, dict[str, float]], order: list[str], screen: Screen, meaning: Meaning) -> list[str]:
    """One line per series, all on the same scale; adjacent values share a character if there are too many."""
    wide = _label_width(list(series), screen)
    room = max(screen.width - wide - 16, 4)
    step = -(-len(order) // room)
    shade = _shades([value for points in series.values() for value in points.values()], screen)
    lines = []
    for name, points in series.items():
        marks = "".join(shade(points.get(x)) for x in order[::step])
        known = [points[x] for x in order if x in points]
        ends = meaning.span(meaning.written(known[0]), meaning.written(known[-1]))
        lines.append(fitted(f"{fitted(name, wide)}  {marks}  {ends}", screen.width).rstrip())
    span = fitted(f"{meaning.span(order[0], order[-1])}, {ONE_SCALE[meaning.language]}", screen.width).rstrip()
    return [*_cut(lines, screen), span]


def _bars(named: Sequence[tuple[str, float | None]], screen: Screen, written: Written) -> list[str]:
    wide = _label_width([name for name, _ in named], screen)
    room = max(screen.width - wide - 11, 1)
    longest = max((abs(value or 0) for _, value in named), default=0) or 1
    lines = []
    for name, value in named:
        length = round(abs(value or 0) / longest * room)
        number = "" if value is None else written(value)
        lines.append(f"{fitted(name, wide)} {screen.block * length} {number}".rstrip())
    return _cut(lines, screen)


def _shades(values: list[float], screen: Screen) -> Callable[[float | None], str]:
    least, greatest = min(values), max(values)
    top = len(screen.shades) - 1

    def shade(value: float | None) -> str:
        return " " if value is None else screen.shades[round((value - least) / ((greatest - least) or 1) * top)]

    return shade


def _label_width(names: list[str], screen: Screen) -> int:
    return min(max(cells(plain_text(name)) for name in names), screen.width // 3)


def _cut(lines: list[str], screen: Screen) -> list[str]:
    """What is left out is said."""
    if len(lines) <= screen.height:
        return lines
    return [*lines[: screen.height - 1], f"… {len(lines) - screen.height + 1} more"]


def _text(value: Scalar) -> str:
    """Numbers that are equal read the same, whichever way JSON wrote them."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return float("inf")
