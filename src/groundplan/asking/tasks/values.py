"""Extracts values from a task: quoted texts, addresses, dates, numbers, codes and names, with their positions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from groundplan.contracts.contract import Scalar

Kind = Literal["quoted", "email", "url", "date", "time", "number", "code", "name", "phrase"]

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("quoted", re.compile(r"\"([^\"]*)\"|“([^”]*)”|«([^»]*)»|(?<!\w)'([^']*(?:'(?=\w)[^']*)*)'(?!\w)")),
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("url", re.compile(r"https?://[^\s,;\"']+[^\s,;.\"']|www\.[^\s,;\"']+[^\s,;.\"']")),
    ("date", re.compile(r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[/.]\d{1,2}[/.]\d{4}\b")),
    ("date", re.compile(rf"\b(?:{_MONTH})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?\b", re.IGNORECASE)),
    ("date", re.compile(rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTH})\.?(?:,?\s+\d{{4}})?\b", re.IGNORECASE)),
    ("time", re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]m)?\b|\b\d{1,2}\s*[ap]m\b", re.IGNORECASE)),
    ("code", re.compile(r"\b(?=[\w:./-]*\d)(?=[\w:./-]*[A-Za-z_])[A-Za-z0-9][\w:./-]*[A-Za-z0-9]\b")),
    ("code", re.compile(r"\b\d+(?:[.:/-]\d+){2,}\b|\b\d{3,4}-\d{4}\b")),
    ("number", re.compile(r"[-+]?[$€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-+]?[$€£]?\d+(?:\.\d+)?")),
    ("name", re.compile(r"\b[A-ZА-ЯЁ][\w'’&-]*(?:\s+(?:of|de|the|and|&)?\s*[A-ZА-ЯЁ][\w'’&-]*)*")),
)
_DAY = re.compile(r"\d{1,2}(?!\d)")
_YEAR = re.compile(r"\d{4}")
_LIST = re.compile(r"\s*(?:,|and|or|,\s*and|,\s*or|и|или)\s*", re.IGNORECASE)
_OR = re.compile(
    r"[\"”»']?\s*,?\s*(?:or|или|либо)(?: (?:to|at|on|for|maybe|perhaps|the|на|для|к|в|с))*\s+[\"“«']?", re.IGNORECASE
)
_FULL = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?")
_PHRASE = re.compile(
    r"\b(?:for|of|about|on|in|at|to|from|by|with|using|into|is|are|as|called|named|regarding)\s+"
    r"(?:the\s+|a\s+|an\s+|my\s+|our\s+|any\s+)?([\w%'’-]+(?:\s+[\w%'’-]+){0,4}?)"
    r"(?=\s+(?:for|of|about|on|in|at|to|from|by|with|using|into|and|or|is|are|as|that|which|at)\b|[,.;:!?()\"]|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class TextValue:
    """One value in the text. Values of the same list have the same `group`."""

    kind: Kind
    text: str
    value: Scalar
    start: int
    end: int
    group: int


@lru_cache(maxsize=1_024)  # called for every param of every candidate tool
def values_in(text: str) -> tuple[TextValue, ...]:
    """The values in order, without values inside other values."""
    taken: list[tuple[Kind, str, int, int]] = []
    for kind, pattern in _PATTERNS:
        for found in pattern.finditer(text):
            if all(found.end() <= start or found.start() >= end for _, _, start, end in taken):
                inner = (
                    next((part for part in found.groups() if part is not None), found[0])
                    if kind == "quoted"
                    else found[0]
                )
                taken.append((kind, inner, found.start(), found.end()))
    taken = [one for one in sorted(taken, key=lambda one: one[2]) if one[0] != "name" or _is_name(text, one)]
    return tuple(_grouped(text, taken))


def alternatives_in(text: str) -> tuple[str, ...]:
    """Values of a kind that `or` joins: `ann@lib.org or ben@lib.org`; which one is meant is open."""
    said = values_in(text)
    for one, other in pairwise(said):
        if one.kind == other.kind != "name" and _OR.fullmatch(text, one.end, other.start):
            return one.text, other.text
    return ()


def impossible_in(text: str) -> str:
    """A day or a time that does not exist: 30 February, 25:00."""
    for one in values_in(text):
        if one.kind == "date" and _FULL.fullmatch(one.text) and not _is_day(one.text):
            return one.text
        clock = _CLOCK.fullmatch(one.text) if one.kind == "time" else None
        if clock and (int(clock[1]) > 23 or int(clock[2]) > 59):
            return one.text
    return ""


def _is_day(words: str) -> bool:
    try:
        date.fromisoformat(words)
    except ValueError:
        return False
    return True


def phrases_in(text: str) -> tuple[TextValue, ...]:
    """The phrases after prepositions: the weakest evidence of a value."""
    found = (_PHRASE.search(text, start) for start in _starts(text))
    spans = {(one.start(1), one.end(1)): one[1] for one in found if one}
    return tuple(
        TextValue("phrase", words, words, start, end, 1_000 + place)
        for place, ((start, end), words) in enumerate(sorted(spans.items()))
    )


def _starts(text: str) -> Iterator[int]:
    return (found.start() for found in re.finditer(r"\b\w", text))


def _is_name(text: str, one: tuple[Kind, str, int, int]) -> bool:
    """Whether a capitalised word is a name; the first word of a sentence is not."""
    begins = one[2] == 0 or text[: one[2]].rstrip().endswith((".", "!", "?"))
    return not (begins and " " not in one[1]) and one[1] not in ("I", "I'm", "ID")


def _grouped(text: str, taken: list[tuple[Kind, str, int, int]]) -> Iterator[TextValue]:
    group, before = 0, None
    for kind, words, start, end in taken:
        joined = before and before[0] == kind and _LIST.fullmatch(text, before[3], start)
        group += not joined
        yield TextValue(kind, words, _value(kind, words), start, end, group)
        before = (kind, words, start, end)


def _value(kind: Kind, words: str) -> Scalar:
    match kind:
        case "number":
            plain = re.sub(r"[,$€£+]", "", words)
            return float(plain) if "." in plain else int(plain)
        case "date":
            return _iso(words) or words
        case _:
            return words


def _iso(words: str) -> str | None:
    """A date as 2026-03-02; None without a year, because the day is ambiguous."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", words):
        return words
    lower = words.lower()
    month = next((place for place, name in enumerate(_MONTHS, 1) if name[:3] in lower), None)
    year, day = _YEAR.search(words), _DAY.search(words)
    if month is None or year is None or day is None:
        return None
    try:
        return date(int(year[0]), month, int(day[0])).isoformat()
    except ValueError:
        return None
