"""Questions for an analysis of single values: unusual ones, how they spread, how two go together, an overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from groundplan.asking.tables.grammar.assemble import reading_of, write_parts
from groundplan.asking.tables.grammar.chart import Cover
from groundplan.asking.tables.grammar.dating import read_periods
from groundplan.asking.tables.grammar.gathering import collect
from groundplan.asking.tables.grammar.measuring import read_bare
from groundplan.asking.tables.grammar.phrases import Group, Item, Measure
from groundplan.asking.tables.grammar.series import compared_values
from groundplan.asking.tables.grammar.state import DoesNotCompose, NeedsClarification, Part, State
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


def analyse(state: State) -> Reading:
    """The reading of an analysis: its measures are the values themselves."""
    look: Look = look_of(state.cover) or ("distribution" if _counts_rows(state) else "correlation")
    state.take(*state.all("versus", "compared"))
    rows = [item for item in state.all("field") if state.builders.names_rows(item.value)]  # type: ignore[arg-type]
    state.take(*rows)
    for step in (collect, read_periods, compared_values, read_bare):
        step(state)
    look = _looked(state, look, rows)
    write_parts(state)
    _outputs(state, look)
    return reading_of(state)


def _counts_rows(state: State) -> bool:
    """The number of cars by weight: how the weights spread."""
    return bool(state.all("count")) or any(_is_count(item) for item in state.cover.items)


def _looked(state: State, look: Look, rows: list[Item]) -> Look:
    """What is looked at: `rows` are the words that name rows."""
    state.take(*state.all(*LOOKS), *state.all("thing"))
    if state.all("split") and not state.groups:
        raise DoesNotCompose("a breakdown by nothing")
    if look == "distribution":
        state.take(*state.all("count"))
    if look == "correlation":
        rows += [item for group, items in state.groups if _is_each_row(state, group) for item in items]
        state.groups = [pair for pair in state.groups if not _is_each_row(state, pair[0])]
    for item in state.all("by_measure", "binned"):  # a scatter plot of sales by profit
        if _says_per(state, item):
            raise DoesNotCompose("so much for each of them is a ratio")
        if _is_count(item):
            raise DoesNotCompose("a number by how many there are")
        measure = state.builders.measured(item.value)
        state.measures += [(measure, state.take(item))] if measure else []
    trends = state.all("over_time")
    if trends and not any(group.time for group, _ in state.groups):
        state.groups.insert(0, (state.time_axis(), tuple(trends)))
    left = [item for item in state.cover.items if item not in state.used]
    if left or state.rank or state.ask or state.having or state.sides:
        raise DoesNotCompose("more than an analysis")
    if look == "distribution":
        state.measures = [pair for pair in state.measures if not all(map(_is_count, pair[1]))]
    state.measures = _each_once(state, [(_values(measure), items) for measure, items in state.measures], rows)
    spreads = look == "distribution" and state.all("distribution") and not _counts_rows(state)
    if spreads and is_pair(state.cover) and len(state.measures) == 2:
        look = "correlation"  # the distribution of one number against another
    axes, several = len({group.name for group, _ in state.groups}), len({m.expression for m, _ in state.measures})
    if (axes, several) != (len(state.groups), len(state.measures)):
        raise DoesNotCompose("said twice")
    if look != "summary" and several < (2 if look == "correlation" else 1):
        raise NeedsClarification("of what", state.measure_names(), said=state.said(*_named(state, look)), link="of")
    boxes = any(_kind(item) == "box" for item in state.all("chart")) or _are_averaged(state)
    fits = {
        "anomaly": several == 1,
        "correlation": several == 2 and axes <= 1,
        "distribution": several == 1 and (axes == 0 or (axes == 1 and boxes and not state.groups[0][0].time)),
        "summary": axes == 0,
    }
    if not fits[look]:
        raise DoesNotCompose(f"too much for one {look}")
    return look


def _each_once(
    state: State, said: Sequence[tuple[Measure, tuple[Item, ...]]], rows: Sequence[Item]
) -> list[tuple[Measure, tuple[Item, ...]]]:
    """Sales and profit, with sales on the x axis: named twice, drawn once. The first has the words for the rows."""
    once: dict[object, tuple[Item, ...]] = {}
    for measure, items in said:
        before = once.get(measure.expression, ())
        if before and any(before[-1].last <= chart.first < items[0].first for chart in state.all("chart")):
            raise DoesNotCompose("two charts")
        once[measure.expression] = (*before, *items, *(() if once else rows))
    return [(next(m for m, _ in said if m.expression == made), items) for made, items in once.items()]


def _are_averaged(state: State) -> bool:
    """Scores by class: nothing that adds up is broken down, so that it is how the scores of each spread."""
    return not any(m.base is None or m.base.meaning != "rate" for m, _ in state.measures)


def _says_per(state: State, item: Item) -> bool:
    find, last = state.meanings.lexicon.find, min(item.last, item.first + 2)
    return any(
        kind == "per" for end in range(item.first + 1, last + 1) for kind, _ in find(state.words, item.first, end)
    )


def _is_each_row(state: State, group: Group) -> bool:
    """A point for each model, where nearly every row is one."""
    column = state.meanings.table.find(group.name)
    many = (column.cardinality or 0) if column is not None else 0
    return not group.time and 2 * many > (state.meanings.table.row_count or 0) > 20


def _values(measure: Measure) -> Measure:
    made = measure.expression
    plain = measure.base is not None and measure.base.column is not None and isinstance(made, Aggregate)
    if not plain or made.where or not (measure.usual or made.function == "sum"):  # type: ignore[union-attr]
        raise DoesNotCompose("single values have no averages")
    return replace(measure, usual=True)


def _named(state: State, look: Look) -> tuple[Item, ...]:
    """The words that ask for the analysis."""
    charts = tuple(item for item in state.all("chart") if _kind(item) in OF_CHART)
    pairs = tuple(state.all("versus", "by_measure", "binned"))
    return tuple(state.all(look)) or charts or pairs or tuple(state.all("chart"))


def _outputs(state: State, look: Look) -> None:
    """The analysis, and the chart that was named for it."""
    state.parts.append(Part(f"analysis:{look}", AnalysisAsked(label=look), _named(state, look)))
    charts, tables = state.all("chart"), state.all("table")
    kinds = [_kind(item) for item in charts]
    if any(kind not in DRAWN[look] for kind in kinds):
        raise DoesNotCompose("another chart")
    if charts and not tables:
        named = {kind for one in kinds if (kind := DRAWN[look][one])}
        if len(named) > 1:
            raise DoesNotCompose("two charts")
        kind = named.pop() if named else None
        state.parts.append(Part("output:chart", OutputAsked(label="chart", chart=kind), tuple(charts)))
    if tables:
        state.parts.append(Part("output:table", OutputAsked(label="table"), (*tables, *charts)))
