"""Periods relative to today: yesterday, last month, the past 30 days, year to date."""

from __future__ import annotations

from groundplan.text.periods.calendar import Span, Unit, rolling, shift, unit_around
from groundplan.text.periods.period_words import (
    COUNTS,
    DAY_OFFSETS,
    FISCAL,
    LOOSE_HALVES,
    TO_DATE,
    TURN_OFFSETS,
    TURNS,
    UNITS,
    WHOLE,
)
from groundplan.text.periods.tokens import Match, Sentence

QUALIFIERS = WHOLE | FISCAL
EACH = {"each", "every", "the", "a", "any"}
ASKING = {"what", "which", "is", "was"}
PLURAL = ("ие", "ые", "их", "ых")
SINGLE = {"день", "неделю", "месяц", "квартал", "год", "полгода"}


def find_day_word(sentence: Sentence, at: int) -> Match | None:
    """Yesterday, позавчера, the day before yesterday."""
    for words, offset in DAY_OFFSETS.items():
        if sentence.says(at, words):
            day = unit_around(shift(sentence.today, "day", offset), "day")
            return Match(day, at + len(words), relative=True)
    return None


def find_turn(sentence: Sentence, at: int) -> Match | None:
    """This, last and next mean calendar units; with a count, or with past, the period is counted from today."""
    turn = TURNS.get(sentence.word(at))
    place = sentence.skip(at + 1, QUALIFIERS)
    count = find_count(sentence, place)
    place = sentence.skip(place + bool(count), WHOLE)
    unit, after = find_unit(sentence, place) or (None, 0)
    if not turn or not unit or _is_no_period(sentence, at, after, count):
        return None
    whole = sentence.word(place - 1) in WHOLE
    offset = TURN_OFFSETS[turn]
    if count and (offset == 0 or turn == "before last"):
        return None
    rolls = not whole and (count or turn in ("past", "coming"))
    span = rolling(sentence.today, unit, offset * (count or 1)) if rolls else _whole(sentence, unit, offset, count or 1)
    return Match(span, after, relative=True)


def find_ago(sentence: Sentence, at: int) -> Match | None:
    """3 days ago, two weeks ago, месяц назад: the calendar unit that many units back."""
    count = find_count(sentence, at) or (1 if sentence.word(at) in ("a", "an") else None)
    unit_at = at + 1 if count else at
    unit = UNITS.get(sentence.word(unit_at))
    counted = count or sentence.word(unit_at) in SINGLE
    if not unit or not counted or sentence.word(unit_at + 1) not in ("ago", "назад"):
        return None
    day = shift(sentence.today, unit, -(count or 1))
    return Match(unit_around(day, unit, sentence.week_start), unit_at + 2, relative=True)


def find_to_date(sentence: Sentence, at: int) -> Match | None:
    """YTD, month to date: up to and including today."""
    unit, after = TO_DATE.get(sentence.word(at)), at + 1
    if not unit:
        unit, to = UNITS.get(sentence.word(at)), sentence.skip(at + 1, ("-",))
        after = sentence.skip(to + 1, ("-",)) + 1
        if sentence.word(to) != "to" or sentence.word(after - 1) != "date":
            return None
    return Match(span_to_date(sentence, unit), after, relative=True) if unit else None


def span_to_date(sentence: Sentence, unit: Unit) -> Span:
    return Span(unit_around(sentence.today, unit, sentence.week_start).start, shift(sentence.today, "day", 1))


def find_count(sentence: Sentence, at: int) -> int | None:
    return sentence.number(at) or COUNTS.get(sentence.word(at))


def find_unit(sentence: Sentence, at: int) -> tuple[Unit, int] | None:
    """The unit at this word and the position after it; half counts only as half-year."""
    word, after = sentence.word(at), at + 1
    year_at = sentence.skip(after, ("-",))
    if word in LOOSE_HALVES:
        return ("half", year_at + 1) if UNITS.get(sentence.word(year_at)) == "year" else None
    unit = UNITS.get(word)
    return (unit, after) if unit else None


def _whole(sentence: Sentence, unit: Unit, offset: int, count: int) -> Span:
    """`count` whole calendar units before or after the one that contains today."""
    current = unit_around(sentence.today, unit, sentence.week_start)
    if offset < 0:
        return Span(shift(current.start, unit, offset * count), shift(current.end, unit, offset))
    return Span(shift(current.start, unit, offset), shift(current.end, unit, offset * count))


def _is_no_period(sentence: Sentence, at: int, after: int, count: int | None) -> bool:
    """Not a period: the last day of each month; what was the last year it ran; the last years of his life."""
    of = sentence.word(after) == "of"
    follows = sentence.word(after + of)
    recurs = follows in UNITS if of or not follows.isascii() else False
    if recurs or (of and follows in EACH) or (not of and follows.startswith("кажд")):
        return True
    if sentence.word(at - 1) == "the" and sentence.word(at - 2) in ASKING:
        return True
    unit = sentence.word(after - 1)
    return not count and unit != "полгода" and (unit.endswith("s") or sentence.word(at).endswith(PLURAL))
