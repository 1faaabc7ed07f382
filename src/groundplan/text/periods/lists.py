"""Single periods, and periods joined by "and": adjacent ones are merged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from groundplan.text.periods.calendar import Named, Span, latest, touching
from groundplan.text.periods.items import find_item
from groundplan.text.periods.period_words import AGAIN, AND, MAGNITUDES, PREPOSITIONS
from groundplan.text.periods.tokens import Match, Sentence
from groundplan.text.periods.units import loose_number

Piece = tuple[int, Match]
LONGEST_LOOSE_RUN = 8


@dataclass(frozen=True)
class Phrase:
    """The tokens from `at` up to `after`. `spans` are its meanings, likeliest first; empty if there is no such day."""

    at: int
    after: int
    spans: tuple[Span, ...]
    sure: bool = True


def listed(sentence: Sentence, at: int) -> tuple[Phrase, ...]:
    """2024; 2016 and 2017; в марте и апреле 2025."""
    pieces = _pieces(sentence, at)
    if not pieces or not _is_time_here(sentence, pieces):
        return ()
    spans = _settled([match.item for _, match in pieces], sentence.today)
    merged: list[Phrase] = []
    for (first, match), span in zip(pieces, spans, strict=True):
        last = merged[-1] if merged else None
        if last and last.spans and span and touching(last.spans[0], span):
            whole = Span(min(last.spans[0].start, span.start), max(last.spans[0].end, span.end))
            merged[-1] = replace(last, after=match.after, spans=(whole,))
        else:
            merged.append(Phrase(first, match.after, (span,) if span else ()))
    return tuple(merged)


def numbered(number: int, item: Span | Named) -> Named | None:
    """The unit of a number from its neighbour: the 3 in "3-5 March" is a day. None if the number is too large."""
    if isinstance(item, Span) or item.unit == "month":
        return None
    limit = {"day": 31, "quarter": 4, "half": 2}[item.unit]
    return item._replace(number=number) if number <= limit else None


def _pieces(sentence: Sentence, at: int) -> list[Piece]:
    """The items of the list; a bare number takes its unit from the next item: 1 и 2 квартал."""
    pieces: list[Piece] = []
    loose: list[int] = []
    while len(loose) <= LONGEST_LOOSE_RUN:
        match = find_item(sentence, at)
        if match:
            taken = [(place, numbered(loose_number(sentence, place) or 0, match.item)) for place in loose]
            if not all(item for _, item in taken):
                break
            pieces += [(place, Match(item, place + 1)) for place, item in taken if item] + [(at, match)]
        elif not loose_number(sentence, at):
            break
        loose = [] if match else [*loose, at]
        after = match.after if match else at + 1
        following = sentence.skip(after, AND)
        if following == after:
            break
        at = following + (sentence.word(following) in AGAIN)
    return pieces


def _is_time_here(sentence: Sentence, pieces: list[Piece]) -> bool:
    """False for numbers as in "more than 2010" or "top 10 March orders", and for the verb may."""
    first, match = pieces[0]
    before = sentence.word(first - 1)
    if sentence.tokens[first].kind == "number" and before in MAGNITUDES:
        return False
    return not match.weak or len(pieces) > 1 or before in PREPOSITIONS


def _settled(items: list[Span | Named], today: date) -> list[Span | None]:
    """A unit without a year takes the year of its right neighbour, else of its left one, else the latest."""
    years = [item.year if isinstance(item, Named) else None for item in items]
    spans: list[Span | None] = []
    for place, item in enumerate(items):
        if isinstance(item, Span):
            spans.append(item)
            continue
        near = next((year for year in (*years[place:], *reversed(years[:place])) if year), None)
        spans.append(item.in_year(near) if near else latest(item, today))
    return spans
