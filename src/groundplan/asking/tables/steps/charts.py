"""The step that draws: which chart, and what runs along it, beside it and in its colours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from groundplan.asking.tables.steps.draft import Draft
from groundplan.contracts.reading import GroupBy, OutputAsked, Rank, Requirement

Axes = dict[str, Any]


def draw(draft: Draft, mark: str | None = None) -> None:
    """The chart that was asked for, or the one that fits, once. What it cannot show is not drawn: the gate tells."""
    requirement = draft.chart
    if requirement is None or any((step.tool or "").startswith("plot_") for step in draft.steps):
        return
    named = requirement.value.chart if isinstance(requirement.value, OutputAsked) else None
    kind = named or _fitting(draft)
    axes = DRAWN[kind](draft)
    if axes:
        marked = {"mark": mark} if mark and kind == "line" else {}
        draft.add("chart", f"plot_{kind}", {**axes, **marked}, [requirement, *_shows(draft, kind)], keep=False)


def _fitting(draft: Draft) -> str:
    """A line along time, bars for the rest and for the best; single values by how they spread or go together."""
    if draft.looks_at_values:
        return "scatter" if len(draft.metrics) > 1 else "histogram"
    ranked = any(rank.limit for _, rank in draft.asked(Rank))
    return "line" if draft.times and not ranked else "bar"


def _shows(draft: Draft, kind: str) -> list[Requirement | str]:
    if kind in ("line", "area"):
        return ["analysis:trend"]
    if kind == "bar":
        return [] if draft.asked(Rank) else ["analysis:ranking"]
    if kind == "heatmap":
        return []
    return ["analysis:correlation" if kind == "scatter" else "analysis:distribution", *draft.measured]


def _xy(draft: Draft) -> Axes:
    """Along time or the first ordered group; of the others, few groups make panels and more make colours."""
    if not draft.metrics or draft.looks_at_values or not draft.groups:
        return {}
    x, others = _along(draft)
    return {"x": x, "y": draft.share or draft.metrics[0], **_series(draft, others)}


def _heatmap(draft: Draft) -> Axes:
    if not draft.metrics or draft.looks_at_values or len(draft.groups) < 2:
        return {}
    x, others = _along(draft)
    return {"x": x, "y": others[0], "color": draft.metrics[0]}


def _scatter(draft: Draft) -> Axes:
    if len(draft.metrics) < 2 or not draft.looks_at_values:
        return {}
    return {"x": draft.metrics[1], "y": draft.metrics[0], **_series(draft, draft.groups)}


def _histogram(draft: Draft) -> Axes:
    if not draft.metrics or not draft.looks_at_values:
        return {}
    return {"x": draft.metrics[0], **({"color": draft.groups[0]} if draft.groups else {})}


def _box(draft: Draft) -> Axes:
    if not draft.metrics or not draft.looks_at_values:
        return {}
    return {"y": draft.metrics[0], **({"x": draft.groups[0]} if draft.groups else {})}


def _along(draft: Draft) -> tuple[str, list[str]]:
    ordered = [value.column for _, value in draft.asked(GroupBy) if value.ordered]
    first = next(iter((*draft.times, *ordered, *draft.groups)))
    return first, [group for group in draft.groups if group != first]


def _series(draft: Draft, groups: list[str]) -> dict[str, str]:
    sizes = {column.name: column.cardinality or 0 for column in draft.table.columns}
    by_size = sorted(groups, key=lambda name: -sizes.get(name, 0))
    return dict(zip(("color", "facet"), by_size, strict=False))


DRAWN: Mapping[str, Callable[[Draft], Axes]] = {
    "line": _xy,
    "bar": _xy,
    "area": _xy,
    "scatter": _scatter,
    "histogram": _histogram,
    "box": _box,
    "heatmap": _heatmap,
}
