"""Roundings that a model adds for display: an answer keeps the whole number unless the question asks to round it."""

from __future__ import annotations

import re

from groundplan.contracts.expression import Expression, Rounded
from groundplan.contracts.reading import ColumnsAsked, Metric, Rank, Reading, Requirement
from groundplan.text.stems import lower
from groundplan.text.words import normalise

ROUND = re.compile(
    r"\b(round\w*|nearest|whole\s+(number|unit|dollar|euro|percent)\w*|integers?|decimals?|decimal\s+places?|"
    r"округл\w*|цел(ое|ых|ые|ого|ым)|ближайш\w*|знак(а|ов)?\s+после)\b"
)


def unrounded(reading: Reading, question: str) -> Reading:
    """Without the rounding around what is shown."""
    if ROUND.search(lower(normalise(question))):
        return reading
    return reading.model_copy(update={"requirements": tuple(map(_of, reading.requirements))})


def _of(requirement: Requirement) -> Requirement:
    value = requirement.value
    match value:
        case Metric(expression=Rounded() as shown):
            value = value.model_copy(update={"expression": _inner(shown)})
        case ColumnsAsked(distinct=False, computed=computed):
            whole = tuple(one.model_copy(update={"expression": _inner(one.expression)}) for one in computed)
            value = value.model_copy(update={"computed": whole})
        case Rank():
            then = tuple(one.model_copy(update={"by": _inner(one.by)}) for one in value.then)
            value = value.model_copy(update={"by": _inner(value.by) if value.by is not None else None, "then": then})
    return requirement.model_copy(update={"value": value})


def _inner(shown: Expression) -> Expression:
    return shown.of if isinstance(shown, Rounded) and shown.how == "nearest" else shown
