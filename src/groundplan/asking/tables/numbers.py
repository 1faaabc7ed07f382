"""Comparisons with numbers: the column, the sign and the number that the question names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from groundplan.asking.tables.columns import Mention
from groundplan.asking.tables.scan import Scan
from groundplan.contracts.reading import Operator

SIGNS = frozenset({">", "<", ">=", "<=", "="})
BOUNDS = {"between": "and", "from": "to", "между": "и", "от": "до"}
TIMES = {
    "k": 1_000,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
    "тыс": 1_000,
    "тысяч": 1_000,
    "млн": 1_000_000,
    "миллионов": 1_000_000,
    "млрд": 1_000_000_000,
}


@dataclass(frozen=True)
class Comparison:
    """From word `first` up to `last`; without a value its number cannot be read for sure."""

    operator: Operator
    value: int | float | None
    first: int
    last: int
    mention: Mention | None  # the column of numbers nearest to it


def find_comparisons(scan: Scan) -> tuple[Comparison, ...]:
    """`price over 20`, `at least 5 doors`, `weight > 3k`, `between 10 and 20 units`."""
    found = list(_ranges(scan))
    taken = {place for comparison in found for place in range(comparison.first, comparison.last)}
    cues = [(cue.label, cue.first, cue.last) for cue in scan.cues(scan.lexicon.comparisons)]
    cues += [(word.text, i, i + 1) for i, word in enumerate(scan.words) if word.text in SIGNS]
    for operator, first, number in cues:
        if _is_free_number(scan, number) and number not in taken:
            found.append(_comparison(scan, cast(Operator, operator), first, number))
    return _shared(sorted(found, key=lambda comparison: comparison.first))


def _ranges(scan: Scan) -> Iterator[Comparison]:
    """Both ends are in, as people mean them."""
    for place, word in enumerate(scan.words):
        if word.lower not in BOUNDS or not _is_free_number(scan, place + 1):
            continue
        joiner = _after_number(scan, place + 1)
        said = joiner < len(scan.words) and scan.words[joiner].lower == BOUNDS[word.lower]
        if said and _is_free_number(scan, joiner + 1):
            last = _after_number(scan, joiner + 1)
            mention = _nearest(scan, place, last)
            yield Comparison(">=", _number(scan, place + 1), place, last, mention)
            yield Comparison("<=", _number(scan, joiner + 1), place, last, mention)


def _comparison(scan: Scan, operator: Operator, first: int, number: int) -> Comparison:
    last = _after_number(scan, number)
    return Comparison(operator, _number(scan, number), first, last, _nearest(scan, first, last))


def _shared(found: list[Comparison]) -> tuple[Comparison, ...]:
    """`units over 100 and under 200`: the second is about the same column as the first."""
    shared: list[Comparison] = []
    for comparison in found:
        before = shared[-1] if shared else None
        if comparison.mention is None and before and comparison.first - before.last <= 1:
            comparison = Comparison(
                comparison.operator, comparison.value, comparison.first, comparison.last, before.mention
            )
        shared.append(comparison)
    return tuple(shared)


def _is_free_number(scan: Scan, place: int) -> bool:
    return place < len(scan.words) and scan.words[place].is_number and place not in scan.dated


def _after_number(scan: Scan, place: int) -> int:
    return place + 2 if _unit(scan, place) else place + 1


def _unit(scan: Scan, place: int) -> str:
    """The word that belongs to the number: a multiple, or letters that touch it as in `5m`."""
    following = scan.words[place + 1] if place + 1 < len(scan.words) else None
    if following is None or not following.lower[0].isalpha():
        return ""
    touches = following.start == scan.words[place].end
    return following.lower if touches or following.lower in TIMES else ""


def _number(scan: Scan, place: int) -> int | float | None:
    unit = _unit(scan, place)
    value = _plain(scan.words[place].text)
    if value is None or (unit and unit not in TIMES):
        return None
    return value * TIMES[unit] if unit else value


def _plain(text: str) -> int | float | None:
    """20000, 20,000 and 20,5; None for what is no single number, such as 1.2.3."""
    plain = text.replace(",", "") if "," in text and len(text.split(",")[-1]) == 3 else text.replace(",", ".")
    if plain.isdecimal():
        return int(plain) if len(plain) <= 15 else None
    try:
        value = float(plain)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _nearest(scan: Scan, first: int, last: int) -> Mention | None:
    numbers = [m for m in scan.mentions if m.column.kind == "number"]
    before = [m for m in numbers if m.last <= first and first - m.last <= 3]
    after = [m for m in numbers if last <= m.first <= last + 1]
    return next(iter((*before[-1:], *after[:1])), None)
