"""A chart under construction: its columns, transforms, and the caveats that the subtitle must state."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from pydantic import JsonValue

from groundplan.charts.text import MISSING, RESERVED, WORDS, datum, drawn_value, human, quoted
from groundplan.charts.time import Timeline, labelled, milliseconds, moment, timeline, written
from groundplan.contracts.contract import Language, Scalar
from groundplan.contracts.facts import TableColumn

Spec = dict[str, Any]
Key = Callable[[Mapping[str, Any]], Scalar]
COARSE = ("week", "month", "quarter", "year")
LONG_WEEKEND = 3  # days without rows that are no hole
MOST_HOLES_NAMED = 3
MOST_ORDERED = 120  # numbers on a discrete axis; more are treated as labels without order
PLAIN = re.compile(r"[^\W\d][\w ]*")  # a name that Vega-Lite accepts as a field without escaping
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)


@dataclass(frozen=True)
class Category:
    """A column used for its distinct values: its field in the spec, and the values shown, in order."""

    column: TableColumn
    field: str
    values: tuple[Scalar, ...]
    ordered: bool  # naturally (time, numbers, weekdays), not by size
    key: Callable[[object], Scalar]
    timeline: Timeline | None = None
    folded: bool = False  # the last value is the sum of all small ones

    def of(self, row: Mapping[str, Any]) -> Scalar:
        return self.key(row[self.column.name])


@dataclass(frozen=True)
class Partial:
    """Periods that the data covers only in part, as tests of a row."""

    label: str  # the expression for a row's period
    periods: tuple[str, ...]
    beside: tuple[str, ...]  # of each, the whole period next to it
    first: str | None  # the one that the data starts in

    @property
    def test(self) -> str:
        return f"indexof({quoted(list(self.periods))}, {self.label}) >= 0"

    @property
    def segments(self) -> tuple[str, ...]:
        """Each period with the one next to it, between which a line is drawn."""
        pairs = zip(self.periods, self.beside, strict=True)
        return tuple(f"indexof({quoted(list(pair))}, {self.label}) >= 0" for pair in pairs)


@dataclass
class Sketch:
    tool: str
    params: Mapping[str, JsonValue]
    rows: list[dict[str, Any]]
    columns: dict[str, TableColumn]
    language: Language = "en"
    transforms: list[Spec] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # for the subtitle
    cuts: list[str] = field(default_factory=list)  # what the chart leaves out

    def said(self, key: str, *parts: object) -> str:
        return WORDS[self.language][key].format(*parts)

    def name(self, role: str) -> str | None:
        value = self.params.get(role)
        return value if isinstance(value, str) else None

    def field_of(self, name: str) -> str:
        """The field of a column in the spec: its name, or an alias if Vega-Lite would misread the name."""
        if PLAIN.fullmatch(name) and name not in RESERVED:
            return name
        alias = self.new_field(f"column {list(self.columns).index(name)}")
        self.calculate(datum(name), alias)
        return alias

    def new_field(self, name: str) -> str:
        """A new field with a name that no column has."""
        plain = re.sub(r"\W+", "_", name).strip("_")
        while plain in self.columns:
            plain += "_"
        return plain

    def calculate(self, expression: str, name: str) -> None:
        step = {"calculate": expression, "as": name}
        if step not in self.transforms:
            self.transforms.append(step)

    def timeline(self, name: str) -> Timeline | None:
        column = self.columns.get(name)
        if column is None or column.kind != "time":
            return None
        return timeline((row[name] for row in self.rows), column.grain, self.language)

    def numbers(self, name: str) -> list[float]:
        return [float(row[name]) for row in self.rows if row[name] is not None]

    def category(self, name: str) -> Category:
        times = self.timeline(name)
        return self._time_category(name, times) if times else self._value_category(name)

    def maybe_category(self, role: str) -> Category | None:
        name = self.name(role)
        return self.category(name) if name else None

    def _time_category(self, name: str, times: Timeline) -> Category:
        label = self.new_field(f"{name}_label")
        missing = any(row[name] is None for row in self.rows)
        expression = labelled(name, times.grain)
        self.calculate(f"isValid({datum(name)}) ? {expression} : {quoted(MISSING)}" if missing else expression, label)

        def key(value: object) -> Scalar:
            when = moment(value) if value is not None else None
            return written(when, times.grain, self.language) if when else MISSING

        values = tuple(dict.fromkeys(written(step, times.grain, self.language) for step in times.steps()))
        shown = (*values, MISSING) if missing else values
        return Category(self.columns[name], label, shown, True, key, times)

    def _value_category(self, name: str) -> Category:
        source = self.field_of(name)
        found = {row[name] for row in self.rows}
        known = [value for value in found if value is not None]
        if None in found:
            self.calculate(f"isValid({datum(name)}) ? {datum(name)} : {quoted(MISSING)}", source)
        if known and self.columns[name].grain == "hour":
            known = [*range(int(min(known)), int(max(known)) + 1)]
        order = self._natural_order(name, known)
        values = [drawn_value(value) for value in sorted(known, key=order or _as_read)]
        shown = (*values, MISSING) if None in found else tuple(values)
        return Category(self.columns[name], source, shown, order is not None, _or_missing)

    def _natural_order(self, name: str, values: list[Any]) -> Callable[[Any], Any] | None:
        if name == self.params.get("ordered"):
            return str
        if name == "bin" and "bin_start" in self.columns:
            starts = {row["bin"]: row["bin_start"] for row in self.rows}
            return (lambda value: starts[value]) if None not in starts.values() else None
        if values and self.columns[name].kind == "number":
            return (lambda value: value) if len(values) <= MOST_ORDERED else None
        for cycle in (WEEKDAYS, MONTHS):
            places = {word[:size]: place for place, word in enumerate(cycle) for size in (3, len(word))}
            if values and all(str(value).lower() in places for value in values):
                return lambda value, places=places: places[str(value).lower()]  # type: ignore[misc]
        return None

    def measured(self, y: str, *keys: Key | None) -> dict[tuple[Scalar, ...], float]:
        """The measure by these row keys; the mean if several rows have the same keys."""
        cells: defaultdict[tuple[Scalar, ...], list[float]] = defaultdict(list)
        for row in self.rows:
            if row[y] is not None:
                cells[tuple(key(row) if key else None for key in keys)].append(float(row[y]))
        return {key: sum(values) / len(values) for key, values in cells.items()}

    def mean_of_repeats(self, y: str, fields: list[str], roles: tuple[str, ...]) -> None:
        """Average rows that the chart cannot distinguish; a mean stays in range for any measure."""
        names = [name for name in dict.fromkeys(map(self.name, roles)) if name]
        counts = Counter(tuple(row[name] for name in names) for row in self.rows)
        most = max(counts.values(), default=0)
        if most > 1:
            self.aggregate("mean", self.field_of(y), fields)
            self.notes.append(self.said("mean", most))

    def partial(self, name: str) -> Partial | None:
        """The periods of a time axis that the data covers only in part, if any; the subtitle names them."""
        times, drawn = self.timeline(name), {str(row[name])[:10] for row in self.rows}
        labels, beside = list[str](), list[str]()
        first: str | None = None
        for one in self.columns[name].partial:
            at, period = moment(one.at), moment(one.period)
            if times and at and period and one.period in drawn:
                labels.append(written(period, times.grain, self.language))
                first = labels[-1] if one.edge == "starts" else first
                neighbour = times.step_beside(period, -1 if one.edge == "ends" else 1)
                beside.append(written(neighbour, times.grain, self.language))
                self.notes.append(self.said(one.edge, labels[-1], written(at, "day", self.language)))
        label = datum(self.new_field(f"{name}_label"))
        return Partial(label, tuple(labels), tuple(beside), first) if labels else None

    def fill_holes(self, name: str, measure: str, groups: list[str], value: float | None) -> None:
        """Give periods without rows this value, so that no line runs through them; the subtitle names them.

        A day without rows is no hole where there are several series, nor is a weekend.
        """
        times = self.timeline(name)
        if times is None or self.columns[name].grain is None:
            return
        coarse = times.grain in COARSE
        holes = [hole for hole in times.holes() if coarse or len(hole) > LONG_WEEKEND]
        if not (holes or groups) or (groups and not coarse):
            return
        missing = [milliseconds(step) for hole in holes for step in hole]
        filled: Spec = {
            "impute": self.field_of(measure),
            "key": self.field_of(name),
            "keyvals": missing,
            "value": value,
        }
        self.transforms.append(filled | ({"groupby": groups} if groups else {}))
        self.notes += self._holes_named(times, holes)

    def _holes_named(self, times: Timeline, holes: list[tuple[datetime, ...]]) -> list[str]:
        if len(holes) > MOST_HOLES_NAMED:
            return [self.said("holes", sum(map(len, holes)))]
        spans = [replace(times, moments=hole).span for hole in holes]
        return [self.said("hole", ", ".join(spans))] if spans else []

    def aggregate(self, operation: str, measure: str, fields: list[str]) -> None:
        step = {"op": operation, "field": measure, "as": measure}
        self.transforms.append({"aggregate": [step], "groupby": list(dict.fromkeys(fields))})

    def keep(self, category: Category, values: tuple[Scalar, ...], what: str) -> None:
        """Draw only rows with these values."""
        self.transforms.append({"filter": f"indexof({quoted(list(values))}, {datum(category.field)}) >= 0"})
        said = self.said("largest", human(category.column.name), len(values), len(category.values)) + what
        self.notes.append(said)
        self.cuts.append(said)


def plain(value: object) -> Scalar:
    """A cell as a JSON value."""
    if isinstance(value, float | Decimal):
        return float(value) if isfinite(value) else None
    if isinstance(value, date):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int) else str(value)


def _as_read(value: Scalar) -> list[Any]:
    """A sort key for natural order: Stage 2 before Stage 10."""
    parts = re.split(r"(\d+)", str(value))
    return [(len(part.lstrip("0")), part) if place % 2 else part for place, part in enumerate(parts)]


def _or_missing(value: object) -> Scalar:
    return MISSING if value is None else drawn_value(plain(value))
