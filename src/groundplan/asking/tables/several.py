"""A question that asks for several things by words: each side of `and` is read as a question of its own."""

from __future__ import annotations

import re
from collections.abc import Callable

from groundplan.contracts.reading import (
    AnalysisAsked,
    Evidence,
    Filter,
    GroupBy,
    Metric,
    Rank,
    Reading,
    Requirement,
    Time,
)

BETWEEN = re.compile(
    r"\s*;\s*|,?\s+(?:and also|as well as|and then|а также|и ещё|и еще|and|plus|и)\s+|,\s+", re.IGNORECASE
)
MOST = 3  # things in one question
MOST_PLACES = 6  # where it is tried to be cut


def read_several(text: str, whole: Reading | None, read: Callable[[str], Reading | None]) -> tuple[Reading, ...]:
    """The question as several; two ways if it is open whether a condition of one is meant for all; none if it is one.

    Each must say what is measured and how it is looked at. Measures of the same groups are one table. `whole` is how
    the question reads as one.
    """
    asks = _asks(text, read)
    if not asks or (whole is not None and _only_splits(asks, whole)):
        return ()
    if len({(_looked_at(ask), _kept(ask)) for ask in asks}) == 1 and _measured_apart(asks):
        return (_in_one_table(asks),)
    made = [_one(asks)]
    if len({*map(_kept, asks)}) > 1:
        made.append(_one(tuple(_with_conditions(ask, asks) for ask in asks)))
    return tuple(made)


def _asks(text: str, read: Callable[[str], Reading | None]) -> tuple[Reading, ...]:
    for found in [*BETWEEN.finditer(text)][:MOST_PLACES]:
        first, rest = read(text[: found.start()]), text[found.end() :]
        if first is None or not _is_whole(first):
            continue
        further = _asks(rest, read) or tuple(filter(None, [read(rest)]))
        asks = (first, *(_moved(ask, text, found.end()) for ask in further))
        same = len({ask.tables for ask in asks}) == 1
        if 1 < len(asks) <= MOST and same and all(map(_is_whole, asks)):
            return tuple(ask.model_copy(update={"question": text}) for ask in asks)
    return ()


def _only_splits(asks: tuple[Reading, ...], whole: Reading) -> bool:
    """`Monthly sales, with a line for each category`: the second part counts nothing, it shows the first in parts."""
    further = {metric for ask in asks[1:] for metric in _metrics(ask)}
    return _metrics(whole) <= _metrics(asks[0]) and all(metric.column is None for metric in further)


def _metrics(reading: Reading) -> frozenset[Metric]:
    return frozenset(value for r in reading.requirements if isinstance(value := r.value, Metric))


def _one(asks: tuple[Reading, ...]) -> Reading:
    return asks[0].model_copy(update={"also": asks[1:]})


def _measured_apart(asks: tuple[Reading, ...]) -> bool:
    ids = [r.id for ask in asks for r in ask.requirements if isinstance(r.value, Metric)]
    return len(ids) == len({*ids})


def _in_one_table(asks: tuple[Reading, ...]) -> Reading:
    found = {requirement.id: requirement for ask in asks for requirement in ask.requirements}
    return asks[0].model_copy(update={"requirements": tuple(found.values())})


def _is_whole(reading: Reading) -> bool:
    """Whether its own words say what is measured, and by what or how that is looked at."""
    said = [requirement.value for requirement in reading.requirements if not requirement.implied]
    return any(isinstance(value, Metric) for value in said) and any(
        isinstance(value, GroupBy | Time | Rank | AnalysisAsked) for value in said
    )


def _looked_at(reading: Reading) -> frozenset[object]:
    values = (requirement.value for requirement in reading.requirements)
    return frozenset(value for value in values if isinstance(value, GroupBy | Time | Rank | AnalysisAsked))


def _kept(reading: Reading) -> frozenset[Filter]:
    return frozenset(value for r in reading.requirements if isinstance(value := r.value, Filter))


def _with_conditions(reading: Reading, asks: tuple[Reading, ...]) -> Reading:
    """With those that the others have, too."""
    own = {requirement.id for requirement in reading.requirements}
    more = {r.id: r for ask in asks for r in ask.requirements if isinstance(r.value, Filter) and r.id not in own}
    return reading.model_copy(update={"requirements": (*reading.requirements, *more.values())})


def _moved(reading: Reading, text: str, by: int) -> Reading:
    """The reading of a part, in the places of the whole text."""

    def moved(quote: Evidence) -> Evidence:
        return quote.model_copy(update={"start": quote.start + by}) if quote.start is not None else quote

    def placed(requirement: Requirement) -> Requirement:
        first = moved(requirement.evidence) if requirement.evidence else None
        return requirement.model_copy(update={"evidence": first, "also": tuple(map(moved, requirement.also))})

    return reading.model_copy(update={"question": text, "requirements": tuple(map(placed, reading.requirements))})
