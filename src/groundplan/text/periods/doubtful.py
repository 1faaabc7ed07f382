"""Time phrases that the grammar cannot fully read: the user is asked about them, they are never ignored."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SEASONS = "spring|summer|autumn|fall|winter"

DOUBTFUL = re.compile(
    rf"""
    \bq\s?[05-9]\b | \b[05-9]\s*(?:-?\w{{1,2}}\s+)?квартал\w*          # no quarter of a year
    | \bfy\b | \bучебн\w+                                              # years that begin at another time
    | \byear\s+and\s+a\s+half\b | \bполтора\b | \bсутк\w+
    | \b(?:last|this|next|past)\s+(?:{_DAYS}|{_SEASONS})\b
    | \b(?:year|month|quarter|week)\s+before\s+last\b
    | \b(?:every|each)\s+(?:{_MONTHS})\b
    | \b\d{{4}}-(?:1[3-9]|[2-9]\d)-\d\d\b | \b(?:3[2-9]|[4-9]\d)\.\d\d\.\d{{4}}\b  # no month, no day
    """,
    re.IGNORECASE | re.VERBOSE,
)


def find_doubtful(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each such phrase."""
    return ((match.start(), match.end()) for match in DOUBTFUL.finditer(text))
