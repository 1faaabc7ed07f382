"""Steps that look at single values: unusual ones, how they spread, how two go together, an overview; two periods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from groundplan.asking.tables.steps.charts import draw
from groundplan.asking.tables.steps.draft import Draft
from groundplan.asking.tables.steps.names import NAMES, called, period_name
from groundplan.contracts.expression import Share, walk
from groundplan.contracts.meaning import measure_of
from groundplan.contracts.reading import AnalysisAsked, Filter, GroupBy, Metric, Rank, Requirement, Time
from groundplan.contracts.tool import Tool


def detect_anomalies(draft: Draft) -> None:
    """Along a time axis the measures are looked at, otherwise single values. The chart has all, the table those."""
    if draft.times:
        draft.aggregate()
    else:
        draft.look_at_values()
    if not draft.metrics:
        return
    params: dict[str, Any] = {"column": draft.metrics[0], "by": draft.series}
    serves: list[Requirement | str] = ["analysis:anomaly", *draft.measured]
    if draft.times and draft.chart:
        before = draft.data
        draft.add("marked", "detect_anomalies", {**params, "only": False}, serves)
        draw(draft, mark="anomaly")
        draft.data = before
    draft.add("anomalies", "detect_anomalies", params, serves)


def correlate(draft: Draft) -> None:
    draft.look_at_values()
    draw(draft)
    if len(draft.metrics) > 1:
        serves: list[Requirement | str] = ["analysis:correlation", *(r for r, _ in draft.asked(Metric))]
        draft.add("correlation", "correlate", {"columns": draft.metrics}, serves)


def show_spread(draft: Draft) -> None:
    draft.look_at_values()
    draw(draft)
    if draft.metrics:
        params = {"column": draft.metrics[0], **({"by": draft.groups[0]} if draft.groups else {})}
        draft.add("spread", "distribution_stats", params, ["analysis:distribution", *draft.measured])


def summarize(draft: Draft) -> None:
    draft.look_at_values()
    columns = {"columns": draft.metrics} if draft.metrics else {}
    draft.add("summary", "compute_summary_stats", columns, ["analysis:summary", *(r for r, _ in draft.asked(Metric))])


def add_shares(draft: Draft) -> None:
    """Where shares were asked for, and no measure is one."""
    asked = [r for r, value in draft.asked(AnalysisAsked) if value.label == "share"]
    written = any(isinstance(part, Share) for _, metric in draft.asked(Metric) for part in walk(measure_of(metric)))
    if asked and not written and draft.metrics:
        draft.share = NAMES[draft.language]["share"]
        draft.add("shares", "share_of_total", {"column": draft.metrics[0], "as": draft.share}, asked)


def compare_periods(draft: Draft) -> None:
    """The later period beside the earlier one."""
    metrics = [(r, metric) for r, metric in draft.asked(Metric) if metric.expression is None]
    draft.group_columns()
    if not metrics:
        return
    (previous, column), (current, _) = sorted((f.values, f.column) for r, f in draft.asked(Filter) if r in draft.sides)
    asked, metric = metrics[0]
    measured = {"column": metric.column} if metric.column else {}
    params = {
        "time": column,
        "metric": {**measured, "function": metric.function or metric.usual or "count"},
        **({"called": metric.name} if metric.name else {}),
        "by": draft.groups,
        "current": list(current),
        "previous": list(previous),
    }
    serves: list[Requirement | str] = [asked, *draft.sides, *(r for r, _ in draft.asked(GroupBy))]
    draft.add("compared", "compare_periods", params, [*serves, "analysis:compare", "analysis:total"])
    if draft.chart and len(draft.groups) < 2:
        later, earlier = (period_name("", *values).strip() for values in (current, previous))
        named = metric.name or called(measure_of(metric), draft.language)
        x = {"x": draft.groups[0]} if draft.groups else {}
        bars = {**x, "y": "current", "beside": "previous", "names": [later, earlier, named]}
        draft.add("chart", "plot_bar", bars, [draft.chart], keep=False)


def own_analysis(draft: Draft, requirement: Requirement, tool: Tool) -> None:
    """The tool that brings the analysis with it, over the measured groups; nothing if a param is not settled."""
    assert tool.analysis is not None
    params = _settled(draft, requirement, tool)
    if params is None or draft.asked(Rank):
        return
    if tool.analysis.chart is None:
        draw(draft)
    draft.add(tool.analysis.label, tool.name, params, [requirement])
    draft.looks_at_values = True  # the table has an order of its own
    axes = {role: name for role, drawn in tool.analysis.draws.items() if (name := _column(drawn, params))}
    if draft.chart and tool.analysis.chart:
        draft.add("chart", f"plot_{tool.analysis.chart}", axes, [draft.chart, "analysis:trend"], keep=False)


def _settled(draft: Draft, requirement: Requirement, tool: Tool) -> dict[str, Any] | None:
    """The params by their roles and by what the question says; None if a required one is open."""
    settings = dict(requirement.value.settings if isinstance(requirement.value, AnalysisAsked) else ())
    properties: Any = tool.params.get("properties", {})
    grains = [time.grain for _, time in draft.asked(Time) if time.grain]
    roles: dict[str, list[Any]] = {
        "time": [*draft.times],
        "column": [*draft.metrics],
        "group_by": [*draft.series],
        "grain": [*grains],
    }
    found: dict[str, Any] = {}
    for name, spec in properties.items():
        many = spec.get("type") == "array"
        role = (spec.get("items", {}) if many else spec).get("x-role")
        known = roles.get(role, [])
        given = known if many else settings.get(name, known[0] if known else None)
        if given:
            found[name] = given
    required: Any = tool.params.get("required", ())
    return found if {*required} <= {*found} else None


def _column(drawn: str, params: Mapping[str, Any]) -> str | None:
    """The column that a chart shows: one of the output, or `$param`, of several the one at a place."""
    if not drawn.startswith("$"):
        return drawn
    name, _, place = drawn[1:].partition(".")
    given = params.get(name)
    if isinstance(given, str) or given is None:
        return given
    return str(given[int(place or 0)]) if len(given) > int(place or 0) else None


ANALYSES: Mapping[str, Callable[[Draft], None]] = {
    "anomaly": detect_anomalies,
    "correlation": correlate,
    "distribution": show_spread,
    "summary": summarize,
}
