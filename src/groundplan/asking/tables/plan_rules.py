"""The strategy `rules`: no model; the same reading gives the same plan, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from groundplan.asking.remote_tables import Fetching
from groundplan.asking.tables.join_steps import with_joins
from groundplan.asking.tables.plan_query import QUERY_TOOLS, Joined, period_name, query_steps
from groundplan.asking.tables.step_list import CALLED, JOINING_TOOLS, StepList
from groundplan.asking.tables.template import Template, load_templates
from groundplan.contracts.columns import Function
from groundplan.contracts.join_paths import is_joined
from groundplan.contracts.meaning import is_extended
from groundplan.contracts.plan import Plan, Provenance, Step
from groundplan.contracts.reading import Filter, GroupBy, Metric, OutputAsked, Rank, Reading, Requirement, Time
from groundplan.contracts.schema import Column, SourceSchema, Table

TOOL_OF_CHART = {
    "line": "plot_line",
    "bar": "plot_bar",
    "area": "plot_area",
    "scatter": "plot_scatter",
    "histogram": "plot_histogram",
    "box": "plot_box",
    "heatmap": "plot_heatmap",
}


def propose(reading: Reading, schema: SourceSchema, fetching: Fetching | None = None) -> Plan:
    """The templates of the reading's intents, each step filled from the requirements it serves."""
    name = reading.tables[0] if reading.tables else schema.tables[0].name
    table = next(table for table in schema.tables if table.name == name)
    if is_extended(reading):
        return _queried(with_joins(reading, table, schema), fetching)
    templates = [load_templates()[intent] for intent in _intents(reading)]
    steps: list[Step] = []
    for template in templates:
        steps = _merged(steps, _filled(template, reading, table, fetching), template.intent)
    return Plan(
        strategy="rules",
        steps=tuple(steps),
        render="TABLE",
        confidence=1.0,
        provenance=Provenance(
            template=", ".join(template.intent for template in templates),
            attempts=1,
            reasoning=" ".join(template.description for template in templates),
        ),
    )


def _queried(joined: Joined, fetching: Fetching | None) -> Plan:
    why = "The rows asked for, grouped and measured as the question says."
    return Plan(
        strategy="rules",
        steps=query_steps(joined, fetching),
        render="TABLE",
        confidence=1.0,
        provenance=Provenance(template="query", attempts=1, reasoning=why),
    )


def _intents(reading: Reading) -> list[str]:
    return list(dict.fromkeys(intent.name for intent in reading.intents)) or ["comparison"]


def _filled(template: Template, reading: Reading, table: Table, fetching: Fetching | None) -> list[Step]:
    draft = _Draft(reading, table, intent=template.intent)
    if fetching and table.name in fetching.tools:
        draft.fetch(fetching, [r for r, _ in draft.asked(Filter) if r not in draft.sides])
    for tool in template.steps:
        _FILL[tool](draft, tool)
    return draft.steps


def _merged(steps: list[Step], more: list[Step], intent: str) -> list[Step]:
    """Both; a step that does the same as an earlier one is done once, and an id that is taken gets another."""
    merged, called = list(steps), dict[str, str]()
    for step in more:
        needs = tuple(called.get(need, need) for need in step.needs)
        same = next((s for s in merged if (s.tool, s.params, s.needs) == (step.tool, step.params, needs)), None)
        if same:
            called[step.id] = same.id
            cited = tuple(dict.fromkeys((*same.satisfies, *step.satisfies)))
            merged[merged.index(same)] = same.model_copy(update={"satisfies": cited})
        else:
            called[step.id] = f"{step.id}_{intent}" if any(s.id == step.id for s in merged) else step.id
            merged.append(step.model_copy(update={"id": called[step.id], "needs": needs}))
    return merged


def tools_of(reading: Reading) -> tuple[str, ...]:
    """The tools that the templates need for this reading: always in the shortlist."""
    if is_extended(reading):
        return (*QUERY_TOOLS, *JOINING_TOOLS) if is_joined(reading) else QUERY_TOOLS
    steps = [tool for intent in _intents(reading) for tool in load_templates()[intent].steps]
    charts = [r.value.chart for r in reading.requirements if isinstance(r.value, OutputAsked) and r.value.chart]
    return tuple(dict.fromkeys([*steps, *(TOOL_OF_CHART[chart] for chart in charts)]))


@dataclass
class _Draft(StepList):
    intent: str = ""
    measure: str | None = None  # the column that charts draw and rankings order by
    aggregated: bool = False

    def column(self, name: str) -> Column:
        return next(column for column in self.table.columns if column.name == name)

    @property
    def groups(self) -> list[str]:
        return [value.column for _, value in self.asked(GroupBy)]

    @property
    def time(self) -> Time | None:
        return next((value for _, value in self.asked(Time)), None)

    @property
    def sides(self) -> list[Requirement]:
        """The two periods of a comparison: each is one side of it, and neither filters the other away."""
        if self.intent != "periods":
            return []
        return [r for r, f in self.asked(Filter) if f.operator == "between" and isinstance(f.values[0], str)]

    @property
    def chart(self) -> Requirement | None:
        return next((r for r, value in self.asked(OutputAsked) if value.label == "chart"), None)


def _parse_datetime(draft: _Draft, tool: str) -> None:
    """A time axis is read as dates, whatever the file made of it; a filter only needs it where dates are text."""
    asked: list[tuple[Requirement, Time | Filter]] = [*draft.asked(Time), *draft.asked(Filter)]
    for requirement, value in asked:
        column = draft.column(value.column or "")
        done = any(step.tool == tool and step.params["column"] == column.name for step in draft.steps)
        wanted = isinstance(value, Time) or (column.kind != "time" and column.role == "temporal")
        if wanted and not done:
            same = [r for r in draft.reading.requirements if getattr(r.value, "column", None) == column.name]
            draft.add(f"dates{len(draft.steps) or ''}", tool, {"column": column.name}, [requirement, *same])


def _filter_rows(draft: _Draft, tool: str) -> None:
    asked = [(r, f) for r, f in draft.asked(Filter) if r not in draft.sides and r.id not in draft.applied]
    if asked:
        conditions = [{"column": f.column, "operator": f.operator, "values": list(f.values)} for _, f in asked]
        draft.add("rows", tool, {"conditions": conditions}, [r for r, _ in asked])


def _aggregate(draft: _Draft, tool: str) -> None:
    metrics = draft.asked(Metric)
    if not metrics:
        return
    if draft.intent == "anomaly" and not draft.time:
        draft.measure = next((m.column for _, m in metrics), None)
        return  # single rows are looked at
    time = draft.time
    group_by = [*([time.column] if time else []), *draft.groups]
    params: dict[str, Any] = {"group_by": group_by, "metrics": [_metric(m, draft) for _, m in metrics]}
    if time:
        params["grain"] = time.grain or "auto"
    serves: list[Requirement | str] = [r for r, _ in metrics]
    serves += [r for r, _ in (*draft.asked(GroupBy), *draft.asked(Time))]
    serves += ["analysis:total", "analysis:compare"]
    draft.add("totals", tool, params, serves)
    draft.measure, draft.aggregated = params["metrics"][0]["as"], True


def _metric(metric: Metric, draft: _Draft) -> dict[str, Any]:
    called = CALLED[draft.language]
    if metric.column is None:
        return {"function": "count", "as": metric.name or called["rows"]}
    function: Function = metric.function or metric.usual or "sum"
    name = called[function].format(metric.column) if function != "count" else metric.column
    taken = {*draft.groups, *([draft.time.column] if draft.time else [])}
    return {"column": metric.column, "function": function, "as": name if name not in taken else f"{function} of {name}"}


def _rank_rows(draft: _Draft, tool: str) -> None:
    for requirement, rank in draft.asked(Rank) if draft.measure else ():
        params = {"by": draft.measure, "direction": rank.direction, "limit": rank.limit}
        draft.add("ranked", tool, params, [requirement, "analysis:ranking"])


def _share_of_total(draft: _Draft, tool: str) -> None:
    if draft.measure:
        draft.add("shares", tool, {"column": draft.measure, "as": CALLED[draft.language]["share"]}, ["analysis:share"])


def _plot(draft: _Draft, tool: str) -> None:
    """The chart that was asked for, or the template's own."""
    chart = draft.chart
    if chart is None:
        return
    named = chart.value.chart if isinstance(chart.value, OutputAsked) else None
    shares_over_time = draft.intent == "share" and draft.time is not None
    tool = TOOL_OF_CHART[named] if named else "plot_line" if shares_over_time else tool
    serves = [chart, *_shown_by(draft, tool)]
    params = _PLOTS[tool](draft)
    if tool == "plot_line" and any(step.id == "marked" for step in draft.steps):
        params["mark"] = "anomaly"
    if params:
        draft.add("chart", tool, params, serves, keep=False)


def _shown_by(draft: _Draft, tool: str) -> list[Requirement | str]:
    if tool in ("plot_line", "plot_area"):
        return ["analysis:trend"]
    if tool == "plot_bar":
        return ["analysis:ranking"] if not draft.asked(Rank) else []
    if tool == "plot_histogram":
        return ["analysis:distribution", *_raw(draft)]
    if tool == "plot_scatter":
        return ["analysis:correlation", *_raw(draft)]
    if tool == "plot_box":
        return ["analysis:distribution", *_raw(draft)]
    return []


def _raw(draft: _Draft) -> list[Requirement | str]:
    """A chart of single rows measures and groups by itself."""
    return [r for r, _ in (*draft.asked(Metric), *draft.asked(GroupBy))]


def _axes(draft: _Draft) -> tuple[str, list[str]] | None:
    """What runs along the chart, and the groups that are left for colours and panels."""
    groups = draft.groups
    if draft.time:
        return draft.time.column, groups
    if not groups:
        return None
    ordered = [value.column for _, value in draft.asked(GroupBy) if value.ordered]
    first = ordered[0] if ordered else groups[0]
    return first, [group for group in groups if group != first]


def _series(draft: _Draft, groups: list[str]) -> dict[str, str]:
    """Few groups make panels, more make colours."""
    by_size = sorted(groups, key=lambda name: -(draft.column(name).cardinality or 0))
    return dict(zip(("color", "facet"), by_size, strict=False))


def _xy(draft: _Draft) -> dict[str, Any]:
    axes = _axes(draft)
    if axes is None or draft.measure is None:
        return {}
    shares = [step.params["as"] for step in draft.steps if step.tool == "share_of_total"]
    return {"x": axes[0], "y": shares[0] if shares else draft.measure, **_series(draft, axes[1])}


def _scatter(draft: _Draft) -> dict[str, Any]:
    columns = [m.column for _, m in draft.asked(Metric) if m.column]
    if len(columns) < 2 or draft.aggregated:
        return {}
    return {"x": columns[1], "y": columns[0], **_series(draft, draft.groups)}


def _histogram(draft: _Draft) -> dict[str, Any]:
    column = _single_rows(draft)
    return {"x": column, **({"color": draft.groups[0]} if draft.groups else {})} if column else {}


def _box(draft: _Draft) -> dict[str, Any]:
    column = _single_rows(draft)
    return {"y": column, **({"x": draft.groups[0]} if draft.groups else {})} if column else {}


def _single_rows(draft: _Draft) -> str | None:
    """The column whose values spread; once they are added up there is no spread left to draw."""
    return None if draft.aggregated else next((m.column for _, m in draft.asked(Metric) if m.column), None)


def _heatmap(draft: _Draft) -> dict[str, Any]:
    axes = _axes(draft)
    if axes is None or not axes[1] or draft.measure is None:
        return {}
    return {"x": axes[0], "y": axes[1][0], "color": draft.measure}


def _distribution_stats(draft: _Draft, tool: str) -> None:
    column = _single_rows(draft)
    if column:
        by = {"by": draft.groups[0]} if draft.groups else {}
        draft.add("spread", tool, {"column": column, **by}, ["analysis:distribution", *_raw(draft)])


def _correlate(draft: _Draft, tool: str) -> None:
    metrics = [(r, m) for r, m in draft.asked(Metric) if m.column]
    if len(metrics) > 1:
        serves: list[Requirement | str] = ["analysis:correlation", *(r for r, _ in metrics)]
        draft.add("correlation", tool, {"columns": [m.column for _, m in metrics]}, serves)


def _detect_anomalies(draft: _Draft, tool: str) -> None:
    """The table has the anomalies; the chart all values, the anomalies marked."""
    if not draft.measure:
        return
    params: dict[str, Any] = {"column": draft.measure, "by": draft.groups}
    serves: list[Requirement | str] = ["analysis:anomaly", *_raw(draft)]
    if draft.chart and draft.time:
        before = draft.data
        draft.add("marked", tool, {**params, "only": False}, serves)
        _plot(draft, "plot_line")
        draft.data = before
    draft.add("anomalies", tool, params, serves)


def _compute_summary_stats(draft: _Draft, tool: str) -> None:
    metrics = draft.asked(Metric)
    columns = {"columns": [m.column for _, m in metrics]} if metrics else {}
    draft.add("summary", tool, columns, ["analysis:summary", *(r for r, _ in metrics)])


def _compare_periods(draft: _Draft, tool: str) -> None:
    """The later period beside the earlier one."""
    metrics = draft.asked(Metric)
    periods = sorted((f.values, f.column) for r, f in draft.asked(Filter) if r in draft.sides)
    if len(periods) != 2 or not metrics:
        return
    (previous, column), (current, _) = periods
    asked, metric = metrics[0]
    measured = {"column": metric.column} if metric.column else {}
    params = {
        "time": column,
        "metric": {**measured, "function": metric.function or metric.usual or "count"},
        "by": draft.groups,
        "current": list(current),
        "previous": list(previous),
    }
    serves: list[Requirement | str] = [asked, *draft.sides, *(r for r, _ in draft.asked(GroupBy))]
    draft.add("compared", tool, params, [*serves, "analysis:compare", "analysis:total"])
    if draft.chart:
        later, earlier = (period_name("", *values).strip() for values in (current, previous))
        named = _metric(metric, draft)["as"]
        x = {"x": draft.groups[0]} if len(draft.groups) == 1 else {}
        bars = {**x, "y": "current", "beside": "previous", "names": [later, earlier, named]}
        if len(draft.groups) < 2:
            draft.add("chart", "plot_bar", bars, [draft.chart], keep=False)


def _show_table(draft: _Draft, tool: str) -> None:
    order: dict[str, Any] = {}
    if draft.aggregated and draft.time is None and draft.groups and not draft.asked(Rank):
        ordered = [value.column for _, value in draft.asked(GroupBy) if value.ordered]
        bottom = any(r.words.lower() in ("least", "lowest") for r in draft.reading.requirements)
        order = {"order_by": ordered} if ordered else {"order_by": [draft.measure], "descending": not bottom}
    elif draft.aggregated and draft.time and not draft.asked(Rank):
        order = {"order_by": [draft.time.column, *draft.groups]}
    ranks = ["analysis:ranking"] if order and not draft.asked(Rank) else []
    draft.add("table", tool, order, ["output:table", "analysis:detail", *ranks])


def _save_table(draft: _Draft, tool: str) -> None:
    """Only where a file was asked for."""
    files = [r for r, value in draft.asked(OutputAsked) if value.label == "file"]
    if files:
        draft.add("saved", tool, {"name": "table", "format": "csv"}, files, keep=False)


_PLOTS: dict[str, Callable[[_Draft], dict[str, Any]]] = {
    "plot_line": _xy,
    "plot_bar": _xy,
    "plot_area": _xy,
    "plot_scatter": _scatter,
    "plot_histogram": _histogram,
    "plot_box": _box,
    "plot_heatmap": _heatmap,
}
_FILL: dict[str, Callable[[_Draft, str], None]] = {
    "parse_datetime": _parse_datetime,
    "filter_rows": _filter_rows,
    "aggregate": _aggregate,
    "rank_rows": _rank_rows,
    "share_of_total": _share_of_total,
    "plot_line": _plot,
    "plot_bar": _plot,
    "plot_histogram": _plot,
    "plot_scatter": _plot,
    "distribution_stats": _distribution_stats,
    "correlate": _correlate,
    "detect_anomalies": _detect_anomalies,
    "compute_summary_stats": _compute_summary_stats,
    "compare_periods": _compare_periods,
    "show_table": _show_table,
    "save_table": _save_table,
}
