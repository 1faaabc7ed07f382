"""Ranges of periods, and ranges with one open side."""

from __future__ import annotations

from datetime import date

from groundplan.text.periods.calendar import Named, Span, latest, shift, unit_around
from groundplan.text.periods.items import find_item
from groundplan.text.periods.lists import Phrase, numbered
from groundplan.text.periods.period_words import (
    BETWEEN,
    DATIVE,
    EDGES,
    ENDS,
    FROM,
    INCLUSIVE,
    INSTRUMENTAL,
    NOW,
    ONWARD,
    STARTS,
    TO,
    Edge,
)
from groundplan.text.periods.relative import find_unit, span_to_date
from groundplan.text.periods.tokens import Match, Sentence
from groundplan.text.periods.units import find_day, loose_number, resolve

LONGEST_FIRST = sorted(EDGES.items(), key=lambda edge: -len(edge[0]))


def ranged(sentence: Sentence, at: int) -> Phrase | None:
    """From January to March 2025, between 2019 and 2021, Jan-Mar 2025: the last unit is included."""
    opener = sentence.word(at)
    is_open = opener in FROM or opener in BETWEEN
    left_at = _past(sentence, at + 1, STARTS) if is_open else at
    left = find_item(sentence, left_at)
    joiner_at = left.after if left else left_at + 1
    if not _joins(sentence, at, left_at, joiner_at):
        return None
    right_at = _past(sentence, joiner_at + 1, ENDS)
    right = find_item(sentence, right_at) or _now(sentence, right_at) or _same_month(sentence, left_at, right_at, left)
    number = loose_number(sentence, left_at)
    item = left.item if left else numbered(number, right.item) if number and right else None
    if not right or not item:
        return None
    spans, sure = _settled(item, right.item, sentence.today)
    return Phrase(at, sentence.skip(right.after, INCLUSIVE), spans, sure)


def opened(sentence: Sentence, at: int) -> Phrase | None:
    """Since March 2024, before 2019, до 2019 года."""
    words, edge = next(((words, edge) for words, edge in LONGEST_FIRST if sentence.says(at, words)), ((), None))
    if not edge:
        return None
    place = _past(sentence, at + len(words), STARTS | ENDS)
    side = sentence.word(sentence.skip(at + len(words), ("the",)))
    match = find_item(sentence, place)
    if side in STARTS and edge in ("since", "from") and (not match or match.relative):
        return _from_start(sentence, at, place)
    if not match or _is_other_case(sentence, at, place, match):
        return None
    after = sentence.skip(match.after, INCLUSIVE | (ONWARD if edge == "from" else set()))
    edge = _moved(edge, side, sentence.word(after - 1))
    span = resolve(match.item, sentence.today)
    return Phrase(at, after, _meanings(edge, span, match.relative) if span else ())


def _joins(sentence: Sentence, at: int, left_at: int, joiner_at: int) -> bool:
    joiner = sentence.word(joiner_at)
    if joiner == "/":
        return sentence.tokens[left_at].kind == "year_first"
    if joiner == "to" and left_at == at and _is_compared(sentence, at):
        return False
    return joiner in BETWEEN.get(sentence.word(at), TO)


def _moved(edge: Edge, side: str, last: str) -> Edge:
    """Before the end of 2024 means through 2024; since the end of 2024 means after it."""
    match edge:
        case "before" if side in ENDS or last in INCLUSIVE:
            return "through"
        case "since" | "from" if side in ENDS:
            return "after"
        case "from" if side in STARTS or last in ONWARD:
            return "since"
        case "after" if side in STARTS:
            return "since"
        case "through" if side in STARTS:
            return "before"
        case _:
            return edge


def _meanings(edge: Edge, span: Span, relative: bool) -> tuple[Span, ...]:
    match edge:
        case "since":
            return (Span(span.start, date.max),)
        case "after":
            return (Span(span.end, date.max),)
        case "before":
            return (Span(date.min, span.start),)
        case "through":
            return (Span(date.min, span.end),)
        case "from":  # "orders from 2023" means in 2023 or since 2023; "from last week" means last week
            return (span,) if relative else (span, Span(span.start, date.max))


def _from_start(sentence: Sentence, at: int, place: int) -> Phrase | None:
    """С начала года, since the beginning of this month: up to and including today."""
    match, unit = find_item(sentence, place), find_unit(sentence, place)
    if unit:
        return Phrase(at, unit[1], (span_to_date(sentence, unit[0]),))
    span = match.item if match and isinstance(match.item, Span) else None
    if not match or not span:
        return None
    current = span.start <= sentence.today < span.end
    return Phrase(at, match.after, (Span(span.start, shift(sentence.today, "day", 1) if current else date.max),))


def _past(sentence: Sentence, at: int, edges: set[str]) -> int:
    """The position after "the beginning of" or "конца", if one of them is here."""
    place = sentence.skip(at, ("the",))
    return sentence.skip(place + 1, ("of", "the")) if sentence.word(place) in edges else place


def _now(sentence: Sentence, at: int) -> Match | None:
    for words in NOW:
        if sentence.says(at, words):
            return Match(unit_around(sentence.today, "day"), at + len(words), relative=True)
    return None


def _same_month(sentence: Sentence, left_at: int, right_at: int, left: Match | None) -> Match | None:
    """The 5 in "March 3-5, 2025", read as if the month were repeated."""
    if not left or not isinstance(left.item, Named) or left.item.unit != "day" or left.item.year:
        return None
    again = (sentence.tokens[left_at], *sentence.tokens[right_at:])
    match = find_day(sentence.with_tokens(again), 0)
    return Match(match.item, match.after + right_at - 1) if match else None


def _is_compared(sentence: Sentence, at: int) -> bool:
    """Compare March 2024 to March 2025: two periods, not a range."""
    return any(token.text.startswith(("compar", "сравн")) for token in sentence.tokens[:at])


def _is_other_case(sentence: Sentence, at: int, place: int, match: Match) -> bool:
    """The grammatical case excludes a range: "с апрелем" means with, not since; "по 2019 году" means for, not until."""
    words = [token.text for token in sentence.tokens[place : match.after] if token.kind == "word"]
    match sentence.word(at):
        case "с" | "со":
            bare = len(words) == 0 and _is_compared(sentence, at)
            return bare or any(word.endswith(INSTRUMENTAL) for word in words)
        case "по":
            return any(word.endswith(DATIVE) for word in words)
        case _:
            return False


def _settled(left: Span | Named, right: Span | Named, today: date) -> tuple[tuple[Span, ...], bool]:
    """The range and whether it is sure; a range with reversed ends is not."""
    end = resolve(right, today)
    if isinstance(right, Named) and right.year is None and isinstance(left, Named) and left.year:
        end = _following(right, left.in_year(left.year))
    start = latest(left, end.start) if end and isinstance(left, Named) and left.year is None else resolve(left, today)
    if start and end and start.start >= end.end and isinstance(right, Named) and right.year is None:
        end = _following(right, start)  # from today to the end of February: the next one
    if not start or not end:
        return (), True
    if start.start >= end.end:
        return (Span(end.start, start.end),), False
    return (Span(start.start, end.end),), True


def _following(named: Named, start: Span | None) -> Span | None:
    """The first such unit at or after the range's start."""
    if not start:
        return None
    span = named.in_year(start.start.year)
    return span if span and span.start >= start.start else named.in_year(start.start.year + 1)
