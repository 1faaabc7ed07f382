"""Finds the period that starts at a word, in any form; the longest match wins."""

from __future__ import annotations

from collections.abc import Callable

from groundplan.text.periods.calendar import Span, Unit, shift
from groundplan.text.periods.period_words import LAST, ORDINALS, UNITS
from groundplan.text.periods.relative import find_ago, find_count, find_day_word, find_to_date, find_turn
from groundplan.text.periods.tokens import Match, Sentence
from groundplan.text.periods.units import (
    find_day,
    find_decade,
    find_month,
    find_near_month,
    find_written,
    find_year,
    find_year_part,
    resolve,
)

FINDERS: tuple[Callable[[Sentence, int], Match | None], ...] = (
    find_written,
    find_day,
    find_month,
    find_near_month,
    find_year_part,
    find_year,
    find_decade,
    find_day_word,
    find_turn,
    find_ago,
    find_to_date,
)


def find_item(sentence: Sentence, at: int) -> Match | None:
    if at not in sentence.read:
        sentence.read[at] = _longest([_find_whole(sentence, at), find_slice(sentence, at)])
    return sentence.read[at]


def find_slice(sentence: Sentence, at: int) -> Match | None:
    """A part of a whole: the first week of March, the last 3 months of 2024, последний день марта."""
    from_end, ordinal = sentence.word(at) in LAST, ORDINALS.get(sentence.word(at))
    count = find_count(sentence, at + 1)
    unit_at = at + 2 if count else at + 1
    unit = UNITS.get(sentence.word(unit_at))
    whole_at = sentence.skip(unit_at + 1, ("of", "the"))
    if not unit or not (from_end or ordinal) or (sentence.word(unit_at).isascii() and whole_at == unit_at + 1):
        return None
    whole = _find_whole(sentence, whole_at)
    span = resolve(whole.item, sentence.today) if whole else None
    part = _part(span, unit, count or 1, 0 if from_end else ordinal or 0) if span else None
    return Match(part, whole.after) if part and whole else None


def _find_whole(sentence: Sentence, at: int) -> Match | None:
    if at >= len(sentence.tokens):
        return None
    return _longest([find(sentence, at) for find in FINDERS])


def _longest(matches: list[Match | None]) -> Match | None:
    return max((match for match in matches if match), key=lambda match: match.after, default=None)


def _part(whole: Span, unit: Unit, count: int, ordinal: int) -> Span | None:
    """Counted from the start of the whole, or back from its end if the ordinal is 0; None if it does not fit."""
    if ordinal:
        start = shift(whole.start, unit, ordinal - 1)
        part = Span(start, shift(start, unit, count))
    else:
        part = Span(shift(whole.end, unit, -count), whole.end)
    return part if whole.start <= part.start and part.end <= whole.end else None
