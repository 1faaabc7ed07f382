"""Whether two readings ask for the same thing, however it is written."""

from __future__ import annotations

from dataclasses import replace

from groundplan.contracts.expression import Share
from groundplan.contracts.meaning import Meaning, has_meaning, meaning_of
from groundplan.contracts.reading import AnalysisAsked, Reading


def alike(one: Reading, other: Reading) -> bool:
    """True if both ask for the same, however it is written."""
    if one.also or other.also:
        pairs = zip(one.asks, other.asks, strict=False)
        return len(one.asks) == len(other.asks) and all(alike(*pair) for pair in pairs)
    if not (_is_comparable(one) and _is_comparable(other)) or {*one.tables} != {*other.tables}:
        return False
    return _meaning(one) == _meaning(other)


def _is_comparable(reading: Reading) -> bool:
    return has_meaning(reading.model_copy(update={"tables": reading.tables[:1]}))


def _meaning(reading: Reading) -> Meaning:
    """With shares as measures, where the reading has them as an analysis."""
    meaning = meaning_of(reading)
    if not any(isinstance(r.value, AnalysisAsked) and r.value.label == "share" for r in reading.requirements):
        return meaning
    return replace(meaning, measures=frozenset(Share(of=measure) for measure in meaning.measures))
