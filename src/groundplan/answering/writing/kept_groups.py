"""Says which groups are shown: `clinics with more than 5 visits`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundplan.answering.writing.display import condition_of, exact, where
from groundplan.answering.writing.subjects import ShownMeasure, groups_at
from groundplan.contracts.contract import Language
from groundplan.contracts.expression import All, Column, Compare, Condition, Constant
from groundplan.contracts.plan import CheckedPlan
from groundplan.text.names import is_id, is_plural, plural, singular, worded

GROUPS: Mapping[Language, str] = {"en": "groups where {}", "ru": "группы, где {}"}
COUNTED = {">": "more than", ">=": "at least", "<": "fewer than", "<=": "at most", "=": "exactly"}
MEASURED = {">": "above", ">=": "of at least", "<": "below", "<=": "of at most", "=": "of exactly"}


def kept_groups(plan: CheckedPlan, path: str, told: Mapping[str, Any], language: Language) -> str:
    """The groups that the filter at a path of the plan keeps."""
    keys, measures = groups_at(plan, path)
    kept = condition_of(path, told)
    parts = kept.parts if isinstance(kept, All) else (kept,)
    if language == "en":
        bounds = [*_bounds(parts, measures)]
        if len(bounds) == len(parts):
            return f"{_called(keys)} with {' and '.join(bounds)}"
    labels = {name: one.label(language) for name, one in measures.items()}
    return GROUPS[language].format(where(kept, language, labels))


def _called(keys: tuple[str, ...]) -> str:
    """`clinics`; several columns, an id or a measured number have no such word."""
    name = worded(keys[0]) if len(keys) == 1 and not is_id(keys[0]) else ""
    return plural(name) if name.replace(" ", "").isalpha() and name.isascii() else "groups"


def _bounds(parts: tuple[Condition, ...], measures: Mapping[str, ShownMeasure]) -> Iterator[str]:
    for part in parts:
        match part:
            case Compare(left=Column(name=name), operator=operator, right=Constant(value=int() | float() as bound)) if (
                name in measures and operator in COUNTED and not isinstance(bound, bool)
            ):
                measure, number = measures[name], exact(bound, "en")
                if (things := _counted(measure)) is not None:
                    yield f"{COUNTED[operator]} {number} {singular(things) if bound == 1 else things}"
                else:
                    yield f"{measure.label('en')} {MEASURED[operator]} {number}"


def _counted(measure: ShownMeasure) -> str | None:
    """In the plural, what the measure counts."""
    counts = measure.function in ("count", "count_distinct") and is_plural(measure.label("en"))
    named = measure.label("en") if measure.name and counts else None
    things = (measure.counted("en") or "").removeprefix("different ")
    return things or ("rows" if measure.counts_rows else named)
