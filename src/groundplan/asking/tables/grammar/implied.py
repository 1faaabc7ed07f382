"""What follows from what was asked for: the kind of answer, the analyses that go with it, and its form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from groundplan.contracts.meaning import says_more
from groundplan.contracts.reading import (
    Analysis,
    AnalysisAsked,
    ColumnsAsked,
    Filter,
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
    """The template that answers it: an analysis by its name, otherwise what the groups and the order make of it."""
    values = [requirement.value for requirement in asked]
    labels = {value.label for value in values if isinstance(value, AnalysisAsked)}
    named = next((label for label in LASTING if label in labels), None)
    if named:
        return named
    if any(isinstance(value, Rank) and value.limit for value in values) or "ranking" in labels:
        return "ranking"
    if any(isinstance(value, Time) for value in values):
        return "time_series"
    if len(_sides(asked)) == 2:
        return "periods"
    if {"distribution", "summary"} & labels:
        return "distribution" if "distribution" in labels else "summary"
    if "detail" in labels or any(isinstance(value, ColumnsAsked) for value in values):
        return "detail"
    return "comparison" if any(isinstance(value, GroupBy) for value in values) else "total"


def is_period(requirement: Requirement) -> bool:
    """Whether it keeps a span of time with two ends."""
    value = requirement.value
    return isinstance(value, Filter) and value.operator == "between" and isinstance(value.values[0], str)


def _sides(asked: Iterable[Requirement]) -> list[Requirement]:
    """Two periods of one column: they are compared, for no row is in both."""
    periods = [requirement for requirement in asked if is_period(requirement)]
    return periods if len({r.value.column for r in periods if isinstance(r.value, Filter)}) == 1 else []


def with_implied(asked: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """And what they imply."""
    intent = intent_of(asked)
    found = list(asked)
    for requirement in (*_outputs(asked, intent), *_analyses(asked, intent)):
        if requirement.id not in {r.id for r in found}:
            found.append(requirement)
    return tuple(found)


def _outputs(asked: Sequence[Requirement], intent: str) -> Iterator[Requirement]:
    first = next(iter(asked), None)
    if first is None:
        return
    if _draws(asked, intent):
        yield _follows(first, "output:chart", OutputAsked(label="chart"))
    yield _follows(first, "output:table", OutputAsked(label="table"))


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


def _analyses(asked: Sequence[Requirement], intent: str) -> Iterator[Requirement]:
    sums = [r for r in asked if isinstance(r.value, Metric) and r.value.function == "sum"]
    if sums:
        yield _analysis(sums[0], "total")
    groups = [r for r in asked if isinstance(r.value, GroupBy)]
    if groups and intent in ("comparison", "time_series", "share", "ranking"):
        yield _analysis(groups[0], "compare")
    drawn = [r.value.chart for r in asked if isinstance(r.value, OutputAsked) and r.value.label == "chart"]
    shown = drawn or ([None] if _draws(asked, intent) else [])
    times = [r for r in asked if isinstance(r.value, Time)]
    if intent == "time_series" and any(kind in TRENDS for kind in shown):
        yield _analysis(times[0], "trend")
    ranks = [r for r in asked if isinstance(r.value, Rank)]
    if intent == "ranking" and ranks:
        yield _analysis(ranks[0], "ranking")
    if intent == "detail":
        yield _analysis(asked[0], "detail")
    if intent == "periods":
        yield _analysis(_sides(asked)[0], "compare")


def _analysis(because: Requirement, label: Analysis) -> Requirement:
    return _follows(because, f"analysis:{label}", AnalysisAsked(label=label))


def _follows(because: Requirement, id_: str, value: AnalysisAsked | OutputAsked) -> Requirement:
    return Requirement(id=id_, value=value, evidence=because.evidence, implied=True)
