"""A question that asks for several things by words: each side of `and` is read as a question of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

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
ITS = re.compile(r"\b(?:its|their|его|её|ее|их)\b", re.IGNORECASE)
OF = re.compile(r"\s(?=of\b|for\b|по\b)|(?<=\w)\s(?=[а-яё])", re.IGNORECASE)
LOOKS = ("distribution", "summary", "correlation", "anomaly")
MOST = 3  # things in one question
MOST_PLACES = 6  # where a question can be cut: with more it is a list, and each try reads all of it


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


@dataclass(frozen=True)
class Part:
    """Words of a question put together, with the place of each character in it; None where it is not from there."""

    text: str
    places: tuple[int | None, ...]

    @classmethod
    def of(cls, text: str, *pieces: tuple[int, int] | str) -> Part:
        """Of spans of the text, and of words that it does not have."""
        made, places = "", list[int | None]()
        for piece in pieces:
            words = piece if isinstance(piece, str) else text[slice(*piece)].strip()
            if made and words:
                made, places = f"{made} ", [*places, None]
            begin = None if isinstance(piece, str) else text.find(words, piece[0])
            made += words
            places += [None if begin is None else begin + place for place in range(len(words))]
        return cls(made, tuple(places))


def _asks(text: str, read: Callable[[str], Reading | None], begin: int = 0) -> tuple[Reading, ...]:
    """Each thing that the text from `begin` on asks for; none if it is not cut."""

    def reading(*spans: tuple[int, int]) -> Reading | None:
        part = Part.of(text, *spans)
        found = read(part.text)
        return placed(found, text, part) if found else None

    cuts = [*BETWEEN.finditer(text, begin)]
    for found in cuts if len(cuts) <= MOST_PLACES else ():
        first, rest = (begin, found.start()), (found.end(), len(text))
        for asks in _cut(text, first, rest, reading, read):
            same = len({ask.tables for ask in asks}) == 1
            if 1 < len(asks) <= MOST and same:
                return asks
    return ()


def _cut(
    text: str,
    first: tuple[int, int],
    rest: tuple[int, int],
    reading: Callable[..., Reading | None],
    read: Callable[[str], Reading | None],
) -> Iterator[tuple[Reading, ...]]:
    """Both sides as they stand; the second with what `its` means; the first with what only the second names."""
    left = reading(first)
    if left is not None and (its := ITS.search(text, *rest)):
        for named in _measure_words(left, text):
            of_it = reading((rest[0], its.start()), named, (its.end(), rest[1]))
            if of_it is not None and _look(of_it) and _columns(of_it) == _columns(left):
                yield left, _quoting(of_it, its)
    if left is not None and _is_whole(left):
        further = _asks(text, read, rest[0]) or tuple(filter(None, [reading(rest)]))
        if all(map(_is_whole, further)):
            yield left, *further
    right = reading(rest) if left is None or not _is_whole(left) else None
    if right is not None and _look(right):
        for shared in OF.finditer(text, *rest):
            before = reading(first, (shared.end(), rest[1]))
            if before is not None and _look(before) not in (None, _look(right)) and _same_rows(before, right):
                yield before, right


def _look(reading: Reading) -> str | None:
    """The analysis of single values that its own words ask for."""
    said = [r.value.label for r in reading.requirements if isinstance(r.value, AnalysisAsked) and not r.implied]
    return next((label for label in said if label in LOOKS), None)


def _same_rows(one: Reading, other: Reading) -> bool:
    return _metrics(one) == _metrics(other) and _kept(one) == _kept(other)


def _measure_words(reading: Reading, text: str) -> Iterator[tuple[int, int]]:
    """Where its only measure is named: `average price`, and without what is computed, `price`."""
    quotes = [r.evidence for r in reading.requirements if isinstance(r.value, Metric)]
    if len(quotes) == 1 and quotes[0] is not None and quotes[0].start is not None:
        start, end = quotes[0].start, quotes[0].start + len(quotes[0].text)
        yield start, end
        yield text.rfind(" ", start, end) + 1, end


def _columns(reading: Reading) -> frozenset[str | None]:
    return frozenset(metric.column for metric in _metrics(reading))


def _quoting(reading: Reading, its: re.Match[str]) -> Reading:
    """With `its` as a word for the measure."""
    quote = Evidence(text=its[0], start=its.start())

    def quoted(requirement: Requirement) -> Requirement:
        named = isinstance(requirement.value, Metric)
        return requirement.model_copy(update={"also": (*requirement.also, quote)}) if named else requirement

    return reading.model_copy(update={"requirements": tuple(map(quoted, reading.requirements))})


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


def placed(reading: Reading, text: str, part: Part) -> Reading:
    """The reading of a part, quoting the words where they stand in the whole text."""

    def moved(requirement: Requirement) -> Requirement:
        quotes = [piece for quote in requirement.quotes for piece in _pieces(quote, text, part)]
        update = {"evidence": quotes[0] if quotes else None, "also": tuple(quotes[1:]), "implied": not quotes}
        return requirement.model_copy(update=update)

    return reading.model_copy(update={"question": text, "requirements": tuple(map(moved, reading.requirements))})


def _pieces(quote: Evidence, text: str, part: Part) -> Iterator[Evidence]:
    """The quote, or its pieces that stand apart."""
    if quote.start is None:
        yield quote
        return
    places = [*part.places[quote.start : quote.start + len(quote.text)], None]
    begin = None
    for before, place in zip([None, *places], places, strict=False):
        if begin is not None and before is not None and place != before + 1:
            yield quote.model_copy(update={"text": text[begin : before + 1], "start": begin})
            begin = None
        begin = place if begin is None else begin
