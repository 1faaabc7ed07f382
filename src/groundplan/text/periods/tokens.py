"""Splits a question into words, numbers and written dates, with their positions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import product
from typing import Literal, NamedTuple, cast

from groundplan.text.periods.calendar import Named, Span, year_span
from groundplan.text.periods.period_words import DOTTED

Kind = Literal["year_first", "year_last", "year_month", "month_year", "short", "number", "word", "symbol"]

LEXEMES = re.compile(
    r"""(?P<year_first>[0-9]{4}(?P<a>[-/.])[0-9]{1,2}(?P=a)[0-9]{1,2}(?![0-9]))
    |(?P<year_last>(?:[0-9]{1,2}(?P<b>[-/.])[0-9]{1,2}(?P=b)[0-9]{4}
        |[0-9]{2}(?P<c>[-/.])[0-9]{2}(?P=c)[0-9]{2}|[0-9]{1,2}/[0-9]{1,2}/[0-9]{2})(?![0-9]))
    |(?P<year_month>[0-9]{4}[-/–][0-9]{2}(?![0-9]))
    |(?P<month_year>[0-9]{2}[./][0-9]{4}(?![0-9]))
    |['’](?P<short>[0-9]{2})(?!\w)
    |(?P<number>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+(?:\.[0-9]+)*)
        (?P<suffix>(?:st|nd|rd|th|s|-?(?:й|ый|ой|я|ая|е|ое|го|ого|м|ом|му|ому|ю|ую|х))(?!\w))?
    |(?P<word>[^\W\d_]+)
    |(?P<symbol>\.\.+|\S)""",
    re.VERBOSE | re.IGNORECASE,
)
DASHES = str.maketrans("ё–—−‒‑", "е-----")
SHORT_YEAR_PIVOT = 50  # '49 is 2049, '50 is 1950
LONGEST_SHORT_RANGE = 20  # 2016-17 names two years; 2016-99 does not


class Token(NamedTuple):
    kind: Kind
    text: str
    start: int
    end: int
    suffix: str = ""


class Dialect(NamedTuple):
    """How ambiguous written dates are read."""

    day_first: bool
    year_pairs: bool  # 2011-12 is two years, not December


@dataclass(frozen=True)
class Match:
    """The item that was read, and the position after it."""

    item: Span | Named
    after: int
    weak: bool = False  # a time only after a preposition: may, mar
    relative: bool = False  # relative to today


@dataclass(frozen=True)
class Sentence:
    """The tokens, and the date that relative words refer to."""

    tokens: tuple[Token, ...]
    today: date
    week_start: int
    dialect: Dialect
    read: dict[int, Match | None] = field(default_factory=dict)  # a cache of matches by position

    def word(self, at: int) -> str:
        """The word at this position; empty outside the sentence."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def number(self, at: int) -> int | None:
        """The whole number at this position, if it has no group separator."""
        text = self.word(at)
        return int(text) if text.isdecimal() and len(text) < 6 and self.tokens[at].kind == "number" else None

    def glued(self, at: int) -> bool:
        """Whether no space separates this token from the one before it."""
        return 0 < at < len(self.tokens) and self.tokens[at].start == self.tokens[at - 1].end

    def with_tokens(self, tokens: tuple[Token, ...]) -> Sentence:
        return replace(self, tokens=tokens, read={})

    def says(self, at: int, words: tuple[str, ...]) -> bool:
        return all(self.word(at + place) == word for place, word in enumerate(words))

    def skip(self, at: int, words: Iterable[str]) -> int:
        """The first position whose word is none of these."""
        while self.word(at) in words:
            at += 1
        return at


def tokenize(text: str) -> Iterator[Token]:
    """The tokens of the text; a dot after an abbreviation is part of it: "3 кв. 2025"."""
    end = 0
    for found in LEXEMES.finditer(text):
        if found.start() < end:
            continue
        kind = cast(Kind, "number" if found["number"] else found.lastgroup)
        word = found[kind].lower().translate(DASHES)
        end = found.end() + (word in DOTTED and text.startswith(".", found.end()))
        yield Token(kind, word, found.start(), end, (found["suffix"] or "").lower().lstrip("-"))


def dialects(tokens: tuple[Token, ...], russian: bool) -> list[Dialect]:
    """Every way to read the written dates, likeliest first; a date that fits only one way decides for all."""
    days = [_pair(token) for token in tokens if token.kind == "year_last"]
    firsts = [True] if all(month == day for day, month in days) else [True, False]
    firsts = [first for first in firsts if all((month if first else day) <= 12 for day, month in days)] or [True]
    both = [token for token in tokens if token.kind == "year_month" and _month(token) and _years(token)]
    return [Dialect(*ways) for ways in product(firsts[:1] if russian else firsts, [False, True] if both else [False])]


def written_date(token: Token, dialect: Dialect) -> Span | Named | None:
    """The day, month or pair of years written in digits; None for other digits."""
    match token.kind:
        case "year_first":
            year, month, day = (int(part) for part in re.split(r"[-/.]", token.text))
            return _day(day, month, year)
        case "year_last":
            day, month = _pair(token)
            swap = month > 12 or (day <= 12 and not dialect.day_first)
            return _day(month, day, _full_year(token.text)) if swap else _day(day, month, _full_year(token.text))
        case "year_month":
            month_first, years = _month(token), _years(token)
            return (years if dialect.year_pairs else month_first) or month_first or years
        case "month_year":
            month, year = int(token.text[:2]), int(token.text[3:])
            return Named("month", month, year=year) if 1 <= month <= 12 and year else None
        case _:
            return None


def full_year(digits: str) -> int:
    """The year that two digits after an apostrophe or in a date mean."""
    short = int(digits)
    return short + (1900 if short >= SHORT_YEAR_PIVOT else 2000)


def _full_year(text: str) -> int:
    digits = re.split(r"[-/.]", text)[-1]
    return int(digits) if len(digits) == 4 else full_year(digits)


def _day(day: int, month: int, year: int) -> Named | None:
    return Named("day", day, month, year) if 1 <= day <= 31 and 1 <= month <= 12 and year else None


def _pair(token: Token) -> tuple[int, int]:
    first, second, _ = re.split(r"[-/.]", token.text)
    return int(first), int(second)


def _month(token: Token) -> Named | None:
    year, month = int(token.text[:4]), int(token.text[5:])
    return Named("month", month, year=year) if 1 <= month <= 12 and year else None


def _years(token: Token) -> Span | None:
    first, last = int(token.text[:4]), int(token.text[5:])
    follows = 0 < last - first % 100 <= LONGEST_SHORT_RANGE
    return year_span(first, first - first % 100 + last) if follows and first else None
