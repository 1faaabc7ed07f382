"""Checks that a value occurs in a text; a value that does not was invented."""

from __future__ import annotations

import re
from collections.abc import Mapping

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_NAME = re.compile(r"[A-ZА-ЯЁ]\w*(?:\s+[A-ZА-ЯЁ]\w*)*")
_COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ENOUGH = 4  # shared first letters: `apartment` matches `apartments`


def is_said(value: object, text: str) -> bool:
    """Whether the text has at least half of the value's words, its number, or a name that it abbreviates.

    Email addresses and URLs must occur literally. Booleans and references always pass, as texts do not spell them out.
    """
    if value is None or isinstance(value, bool | Mapping):
        return True
    if isinstance(value, list | tuple):
        return all(is_said(one, text) for one in value)
    if isinstance(value, int | float):
        return _is_number(float(value), text)
    written = str(value)
    if written.startswith("$") and not written[1:2].isdigit():
        return False  # a reference written as a plain text
    if "@" in written or "://" in written:
        return written.lower() in text.lower()
    words, said = _WORD.findall(written.lower()), set(_WORD.findall(text.lower()))
    known = [word for word in words if any(_alike(word, other) for other in said) or _is_digits(word, text)]
    return len(known) * 2 >= len(words) > 0 or (len(words) == 1 and written.isupper() and _abbreviates(written, text))


def _is_digits(word: str, text: str) -> bool:
    return word.isdecimal() and word.isascii() and _is_number(float(word), text)


def _alike(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    return word == other or (len(shorter) >= ENOUGH and longer.startswith(shorter[: max(ENOUGH, len(shorter) - 2)]))


def _is_number(number: float, text: str) -> bool:
    """The number itself, or as a percentage."""
    said = {float(found.replace(",", "")) for found in _NUMBER.findall(text)}
    said |= {float(_COUNTS.index(word)) for word in _WORD.findall(text.lower()) if word in _COUNTS}
    return bool({abs(number), round(abs(number) * 100, 6)} & said)


def _abbreviates(letters: str, text: str) -> bool:
    """`NZ` for New Zealand, `BTC` for Bitcoin."""
    pattern = ".*?".join(map(re.escape, letters))
    return any(re.match(pattern, name, re.IGNORECASE) for name in _NAME.findall(text))
