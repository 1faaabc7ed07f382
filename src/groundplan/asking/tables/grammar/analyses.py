"""Questions for an analysis of single values: unusual ones, how they spread, how two go together, an overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from groundplan.asking.tables.grammar.assemble import Assembly, DoesNotCompose, NeedsClarification, Part
from groundplan.asking.tables.grammar.chart import Cover
from groundplan.asking.tables.grammar.phrases import Group, Item, Measure
from groundplan.contracts.expression import Aggregate
from groundplan.contracts.reading import AnalysisAsked, ChartKind, OutputAsked, Reading
from groundplan.text.words import Word

AXES = frozenset({"axis", "axes", "оси", "осям"})
Look = Literal["anomaly", "correlation", "distribution", "summary"]
LOOKS: tuple[Look, ...] = ("anomaly", "correlation", "distribution", "summary")
OF_CHART: dict[str, Look] = {"scatter": "correlation", "histogram": "distribution", "box": "distribution"}
DRAWN: dict[Look, dict[str, ChartKind | None]] = {
    "anomaly": {"any": None, "line": "line"},
    "correlation": {"any": None, "scatter": "scatter"},
    "distribution": {"any": None, "histogram": "histogram", "bar": "histogram", "box": "box"},
    "summary": {},
}


def look_of(cover: Cover) -> Look | None:
    """The analysis that the phrases ask for by name or by a chart."""
    named = {"distribution" if item.category == "binned" else item.category for item in cover.items}
    drawn = [OF_CHART[kind] for item in cover.items if (kind := _kind(item)) in OF_CHART]
    return next((look for look in LOOKS if look in named), drawn[0] if drawn else None)


def is_pair(cover: Cover) -> bool:
    """Price against weight: of two numbers, how they go together."""
    return any(item.category in ("versus", "by_measure") for item in cover.items)


def is_drawn_count(cover: Cover, words: Sequence[Word]) -> bool:
    """A chart with weight on one axis and the number of cars on the other: how the weights spread."""
    counts = any(item.category == "count" or _is_count(item) for item in cover.items)
    return counts and any(word.lower in AXES for word in words)


def _is_count(item: Item) -> bool:
    value = item.value
    return isinstance(value, Measure) and value.counts is not None and value.counts.is_rows


def _kind(item: Item) -> str:
    return str(item.value.value) if item.category == "chart" else ""  # type: ignore[attr-defined]


class Analysis(Assembly):
    """An assembly whose measures are the values themselves."""

    def read(self) -> Reading:
        self.look: Look = look_of(self.cover) or ("distribution" if self._counts_rows() else "correlation")
        self._begin()
        self.take(*self.all("versus", "compared"))
        self.rows_named = [item for item in self.all("field") if self.builders.names_rows(item.value)]  # type: ignore[arg-type]
        self.take(*self.rows_named)
        for step in (self._collect, self._periods, self._compared_values, self._bare, self._looked, self._write):
            step()
        return self._reading()

    def _counts_rows(self) -> bool:
        """The number of cars by weight: how the weights spread."""
        return bool(self.all("count")) or any(_is_count(item) for item in self.cover.items)

    def _looked(self) -> None:
        self.take(*self.all(*LOOKS), *self.all("thing"))
        if self.all("split") and not self.groups:
            raise DoesNotCompose("a breakdown by nothing")
        if self.look == "distribution":
            self.take(*self.all("count"))
        self.rows_named += [item for group, items in self.groups if self._is_each_row(group) for item in items]
        self.groups = [pair for pair in self.groups if not self._is_each_row(pair[0])]
        for item in self.all("by_measure", "binned"):  # a scatter plot of sales by profit
            if self._says_per(item):
                raise DoesNotCompose("so much for each of them is a ratio")
            if _is_count(item):
                raise DoesNotCompose("a number by how many there are")
            measure = self.builders.measured(item.value)
            self.measures += [(measure, self.take(item))] if measure else []
        trends = self.all("over_time")
        if trends and not any(group.time for group, _ in self.groups):
            self.groups.insert(0, (self._time_axis(), tuple(trends)))
        left = [item for item in self.cover.items if item not in self.used]
        if left or self.rank or self.ask or self.having or self.sides:
            raise DoesNotCompose("more than an analysis")
        if self.look == "distribution":
            self.measures = [pair for pair in self.measures if not all(map(_is_count, pair[1]))]
        self.measures = self._each_once([(self._values(measure), items) for measure, items in self.measures])
        spreads = self.look == "distribution" and self.all("distribution") and not self._counts_rows()
        if spreads and is_pair(self.cover) and len(self.measures) == 2:
            self.look = "correlation"  # the distribution of one number against another
        axes, several = len({group.name for group, _ in self.groups}), len({m.expression for m, _ in self.measures})
        if (axes, several) != (len(self.groups), len(self.measures)):
            raise DoesNotCompose("said twice")
        if self.look != "summary" and several < (2 if self.look == "correlation" else 1):
            raise NeedsClarification("of what", self._measure_names(), said=self.said(*self._named()), link="of")
        boxes = any(_kind(item) == "box" for item in self.all("chart")) or self._are_averaged()
        fits = {
            "anomaly": several == 1,
            "correlation": several == 2 and axes <= 1,
            "distribution": several == 1 and (axes == 0 or (axes == 1 and boxes and not self.groups[0][0].time)),
            "summary": axes == 0,
        }
        if not fits[self.look]:
            raise DoesNotCompose(f"too much for one {self.look}")

    def _each_once(self, said: Sequence[tuple[Measure, tuple[Item, ...]]]) -> list[tuple[Measure, tuple[Item, ...]]]:
        """Sales and profit, with sales on the x axis: named twice, drawn once. The first has the words for the rows."""
        once: dict[object, tuple[Item, ...]] = {}
        for measure, items in said:
            before = once.get(measure.expression, ())
            if before and any(before[-1].last <= chart.first < items[0].first for chart in self.all("chart")):
                raise DoesNotCompose("two charts")
            once[measure.expression] = (*before, *items, *(() if once else self.rows_named))
        return [(next(m for m, _ in said if m.expression == made), items) for made, items in once.items()]

    def _are_averaged(self) -> bool:
        """Scores by class: nothing that adds up is broken down, so that it is how the scores of each spread."""
        return not any(m.base is None or m.base.meaning != "rate" for m, _ in self.measures)

    def _says_per(self, item: Item) -> bool:
        find, last = self.meanings.lexicon.find, min(item.last, item.first + 2)
        return any(
            kind == "per" for end in range(item.first + 1, last + 1) for kind, _ in find(self.words, item.first, end)
        )

    def _is_each_row(self, group: Group) -> bool:
        """A point for each model, where nearly every row is one."""
        column = self.meanings.table.find(group.name)
        many = (column.cardinality or 0) if column is not None else 0
        return self.look == "correlation" and not group.time and 2 * many > (self.meanings.table.row_count or 0) > 20

    def _values(self, measure: Measure) -> Measure:
        made = measure.expression
        plain = measure.base is not None and measure.base.column is not None and isinstance(made, Aggregate)
        if not plain or made.where or not (measure.usual or made.function == "sum"):  # type: ignore[union-attr]
            raise DoesNotCompose("single values have no averages")
        return replace(measure, usual=True)

    def _named(self) -> tuple[Item, ...]:
        """The words that ask for the analysis."""
        charts = tuple(item for item in self.all("chart") if _kind(item) in OF_CHART)
        pairs = tuple(self.all("versus", "by_measure", "binned"))
        return tuple(self.all(self.look)) or charts or pairs or tuple(self.all("chart"))

    def _outputs(self) -> None:
        """The analysis, and the chart that was named for it."""
        self.parts.append(Part(f"analysis:{self.look}", AnalysisAsked(label=self.look), self._named()))
        charts, tables = self.all("chart"), self.all("table")
        kinds = [_kind(item) for item in charts]
        if any(kind not in DRAWN[self.look] for kind in kinds):
            raise DoesNotCompose("another chart")
        if charts and not tables:
            named = {kind for one in kinds if (kind := DRAWN[self.look][one])}
            if len(named) > 1:
                raise DoesNotCompose("two charts")
            kind = named.pop() if named else None
            self.parts.append(Part("output:chart", OutputAsked(label="chart", chart=kind), tuple(charts)))
        if tables:
            self.parts.append(Part("output:table", OutputAsked(label="table"), (*tables, *charts)))
