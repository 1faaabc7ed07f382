"""What follows from what was asked for: the kind of answer, the analyses that go with it, and its form."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from groundplan.contracts.defaults import DEFAULTS, Default
from groundplan.contracts.meaning import compared_periods, says_more
from groundplan.contracts.reading import (
    Analysis,
    AnalysisAsked,
    ColumnsAsked,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Requirement,
    Time,
)

LASTING: tuple[Analysis, ...] = ("anomaly", "correlation", "share")
PASSING = frozenset({"total", "compare", "trend"})  # they come and go with what they are of
UNDRAWN = frozenset({"total", "summary", "detail", "periods"})
TRENDS = (None, "line", "area")


def intent_of(asked: Sequence[Requirement]) -> str:
    """The kind of question: an analysis by its name, otherwise what the groups and the order make of it."""
    values = [requirement.value for requirement in asked]
    labels = {value.label for value in values if isinstance(value, AnalysisAsked)}
    named = next((label for label in LASTING if label in labels), None)
    if named:
        return named
    if any(isinstance(value, Rank) and value.limit for value in values) or "ranking" in labels:
        return "ranking"
    if any(isinstance(value, Time) for value in values):
        return "time_series"
    if compared_periods(asked):
        return "periods"
    if {"distribution", "summary"} & labels:
        return "distribution" if "distribution" in labels else "summary"
    if "detail" in labels or any(isinstance(value, ColumnsAsked) for value in values):
        return "detail"
    return "comparison" if any(isinstance(value, GroupBy) for value in values) else "total"


def with_implied(asked: Sequence[Requirement], assume: Collection[Default] = DEFAULTS) -> tuple[Requirement, ...]:
    """And what they imply; `assume`: the defaults that are not switched off."""
    intent = intent_of(asked)
    draws = "chart" in assume and _draws(asked, intent)
    chart = [implied(OutputAsked(label="chart"), "chart")] if draws else []
    found = list(asked)
    for requirement in (*chart, implied(OutputAsked(label="table")), *_analyses(asked, intent, draws=draws)):
        if requirement.id not in {r.id for r in found}:
            found.append(requirement)
    return tuple(found)


def _draws(asked: Sequence[Requirement], intent: str) -> bool:
    """Whether a chart says more than the table alone."""
    values = [requirement.value for requirement in asked]
    if any(isinstance(value, OutputAsked) for value in values) or intent in UNDRAWN:
        return False
    if not any(isinstance(value, Metric) for value in values):
        return False
    groups = sum(isinstance(value, GroupBy) for value in values)
    timed = any(isinstance(value, Time) for value in values)
    few = groups + timed <= 2 if any(map(says_more, asked)) else groups <= (2 if timed else 3)
    return few and (intent != "anomaly" or timed)


def _analyses(asked: Sequence[Requirement], intent: str, *, draws: bool) -> Iterator[Requirement]:
    sums = [r for r in asked if isinstance(r.value, Metric) and r.value.function == "sum"]
    if sums:
        yield implied(AnalysisAsked(label="total"))
    groups = [r for r in asked if isinstance(r.value, GroupBy)]
    if groups and intent in ("comparison", "time_series", "share", "ranking"):
        yield implied(AnalysisAsked(label="compare"))
    drawn = [r.value.chart for r in asked if isinstance(r.value, OutputAsked) and r.value.label == "chart"]
    shown = drawn or ([None] if draws else [])
    if intent == "time_series" and any(kind in TRENDS for kind in shown):
        yield implied(AnalysisAsked(label="trend"))
    if intent == "ranking" and any(isinstance(r.value, Rank) for r in asked):
        yield implied(AnalysisAsked(label="ranking"))
    if intent == "detail":
        yield implied(AnalysisAsked(label="detail"))
    if intent == "periods":
        yield implied(AnalysisAsked(label="compare"))


def implied(value: AnalysisAsked | OutputAsked, *assumed: Default) -> Requirement:
    """A requirement that follows from the others."""
    return Requirement(id=f"{value.kind}:{value.label}", value=value, implied=True, assumed=assumed)
