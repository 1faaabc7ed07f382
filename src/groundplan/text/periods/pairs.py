"""Two periods in one phrase: `2024 and 2025` is one span to a filter, and two sides to a comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from groundplan.text.lexicon import load_lexicon
from groundplan.text.periods.find import Found, find_periods
from groundplan.text.words import Word

JOINERS = re.compile(r"\s(?:and|with|to|и|с|по|до)\s", re.IGNORECASE)
TWICE = re.compile(r"\s(?:and|и)\s+(?:in|for|during|в|за)\s", re.IGNORECASE)  # in 2024 and in 2025


def set_apart(
    text: str, words: Sequence[Word], periods: tuple[Found, ...], today: date, timezone: str
) -> tuple[Found, ...]:
    """The two sides if the question compares them or says `in` of each, and names no grain; otherwise the periods."""
    if len(periods) != 1 or not _compares(text, words, periods[0]):
        return periods
    whole = periods[0]
    for joiner in JOINERS.finditer(text, whole.start, whole.end):
        left = _side(text, whole.start, joiner.start(), whole, today, timezone)
        right = _side(text, joiner.end(), whole.end, whole, today, timezone)
        if left and right and _is_split(left, right, whole):
            return left, right
    return periods


def says_twice(text: str, start: int, end: int) -> bool:
    """True if both periods have a preposition of their own: `in 2024 and in 2025`."""
    return TWICE.search(text, start, end) is not None


def _compares(text: str, words: Sequence[Word], whole: Found) -> bool:
    lexicon = load_lexicon()
    compared = any(cue.label == "compare" for cue in lexicon.analyses.find(words))
    compared = compared or says_twice(text, whole.start, whole.end)
    grains = [c for c in lexicon.grains.find(words) if not whole.start <= words[c.first].start < whole.end]
    return compared and not grains and whole.period is not None


def _side(text: str, start: int, end: int, whole: Found, today: date, timezone: str) -> Found | None:
    """The period of these words alone; a missing year is taken from the whole."""
    assert whole.period is not None
    for place in (start, *_later_words(text, start, end)):
        for year in ("", f" {whole.period.start.year}", f" {whole.period.end.year}"):
            found = find_periods(text[place:end] + year, today, timezone)
            period = found[0].period if len(found) == 1 else None
            if period and whole.period.start <= period.start and period.end <= whole.period.end:
                return Found(start, end, period)
    return None


def _later_words(text: str, start: int, end: int) -> Iterator[int]:
    """The start of the second word, to skip a leading `between` or `from`."""
    space = text.find(" ", start, end)
    if space >= 0:
        yield space + 1


def _is_split(left: Found, right: Found, whole: Found) -> bool:
    if left.period is None or right.period is None or whole.period is None:
        return False
    ends = left.period.start == whole.period.start and right.period.end == whole.period.end
    return ends and left.period.end <= right.period.start
