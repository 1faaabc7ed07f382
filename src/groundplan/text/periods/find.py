"""Period phrases, English and Russian, as exact half-open intervals.

Ambiguous words are always read the same way:

- a unit without a year is the latest that has begun: in July, "in March" is this year's and "in October" last year's;
- "last week", "last month", "last year" are the calendar units before the current ones; a week starts on Monday;
- "last 30 days", "past 3 months", "за последний месяц" roll: they end with today, and today is in;
- "next 7 days" begin tomorrow; "two weeks ago" is that calendar week;
- the end of a range is in: "between Jan 2016 and Dec 2017" ends where 2018 starts;
- "before", "until", "до" exclude the unit; "through", "по", "включительно" include it; "after", "после" start after it;
- digits with two readings (03/04/2025) stay ambiguous unless another date in the question decides between them;
- English "from March 2024" with no end is either that month or everything since: both are candidates;
- a fiscal year, "early 2024" or a reversed range gives only a candidate; 30 February gives none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from groundplan.contracts.reading import Period
from groundplan.text.periods.calendar import Span
from groundplan.text.periods.doubtful import find_doubtful
from groundplan.text.periods.lists import Phrase, listed
from groundplan.text.periods.period_words import AND, FISCAL, STARTERS
from groundplan.text.periods.ranges import opened, ranged
from groundplan.text.periods.surroundings import find_blur, is_in_a_name
from groundplan.text.periods.tokens import Sentence, dialects, tokenize

NEAR = 1  # the most letters between a doubtful phrase and a period that belongs to it
BUT = AND | {"but", "но"}


@dataclass(frozen=True)
class Found:
    """A phrase and the period it means; None if the user must be asked, with the candidates or without any."""

    start: int
    end: int
    period: Period | None
    candidates: tuple[Period, ...] = ()


def find_periods(text: str, today: date, timezone: str = "UTC", week_start: int = 0) -> tuple[Found, ...]:
    """Every period the text names, in order. `today` is the local date; `week_start` is 0 for Monday."""
    tokens = tuple(tokenize(text))
    readings = [
        _phrases(Sentence(tokens, today, week_start, dialect)) for dialect in dialects(tokens, _is_russian(text))
    ]
    found = []
    for phrase in readings[0]:
        start, end = tokens[phrase.at].start, tokens[phrase.after - 1].end
        periods = tuple(
            Period(start=span.start, end=span.end, timezone=timezone, phrase=text[start:end])
            for span in _meanings(phrase, readings)
        )
        sure = phrase.sure and len(periods) == 1
        found.append(Found(start, end, periods[0]) if sure else Found(start, end, None, periods))
    for start, end in find_doubtful(text):
        found = _mark_doubtful(found, start, end, text)
    return tuple(found)


def _mark_doubtful(found: list[Found], start: int, end: int, text: str) -> list[Found]:
    """Turn the periods found in the doubtful phrase, or right next to it, into candidates."""
    near = [one for one in found if one.start <= end + NEAR and start - NEAR <= one.end]
    spans = [one.period for one in near if one.period] + [period for one in near for period in one.candidates]
    first, last = min([start, *(one.start for one in near)]), max([end, *(one.end for one in near)])
    spans = [period.model_copy(update={"phrase": text[first:last]}) for period in spans]
    doubtful = Found(first, last, None, tuple(dict.fromkeys(spans)))
    return sorted([*(one for one in found if one not in near), doubtful], key=lambda one: one.start)


def _meanings(phrase: Phrase, readings: list[list[Phrase]]) -> tuple[Span, ...]:
    """The distinct meanings of the phrase over all readings of the digits."""
    spans = [
        span
        for reading in readings
        for other in reading
        if other.at < phrase.after and phrase.at < other.after
        for span in other.spans
        if span.start < span.end
    ]
    return tuple(dict.fromkeys(spans))


def _phrases(sentence: Sentence) -> list[Phrase]:
    found: list[Phrase] = []
    at = 0
    while at < len(sentence.tokens):
        phrases = _phrases_at(sentence, at)
        if phrases and not is_in_a_name(sentence, at, phrases[-1].after):
            for phrase in phrases:
                found.append(_with_certainty(sentence, phrase, found[-1].after if found else 0))
        at = phrases[-1].after if phrases else at + 1
    return list(_bounded(sentence, found))


def _phrases_at(sentence: Sentence, at: int) -> tuple[Phrase, ...]:
    """The phrases that start here: several only for a list of periods that are not adjacent."""
    token = sentence.tokens[at]
    if token.kind == "symbol" or (token.kind == "word" and token.text not in STARTERS):
        return ()
    single = ranged(sentence, at) or opened(sentence, at)
    return (single,) if single else listed(sentence, at)


def _with_certainty(sentence: Sentence, phrase: Phrase, free_from: int) -> Phrase:
    """A phrase with unknown bounds, such as a fiscal year or early 2024, is not sure."""
    blur = find_blur(sentence, phrase.at, free_from)
    fiscal = any(token.text in FISCAL for token in sentence.tokens[phrase.at : phrase.after])
    return replace(phrase, at=phrase.at if blur is None else blur, sure=phrase.sure and blur is None and not fiscal)


def _bounded(sentence: Sentence, phrases: list[Phrase]) -> Iterator[Phrase]:
    """Join two open-ended phrases to one period: after 2019 and before 2022."""
    last: Phrase | None = None
    for phrase in phrases:
        both = _closed(sentence, last, phrase) if last else None
        if last and not both:
            yield last
        last = both or phrase
    if last:
        yield last


def _closed(sentence: Sentence, left: Phrase, right: Phrase) -> Phrase | None:
    if (
        len(left.spans) != 1
        or len(right.spans) != 1
        or not (left.sure and right.sure)
        or sentence.skip(left.after, BUT) != right.at
    ):
        return None
    start, end = left.spans[0].start, right.spans[0].end
    opposite = left.spans[0].end == date.max and right.spans[0].start == date.min
    return replace(left, after=right.after, spans=(Span(start, end),)) if opposite and start < end else None


def _is_russian(text: str) -> bool:
    """Compares letter counts by script; decides whether 03.04 is 3 April or March 4."""
    cyrillic = sum("а" <= letter <= "я" or letter == "ё" for letter in text.lower())
    latin = sum("a" <= letter <= "z" for letter in text.lower())
    return cyrillic > latin
