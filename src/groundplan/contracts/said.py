"""Whether a value is said in a text: what is not was made up."""

from __future__ import annotations

import re
from collections.abc import Mapping

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_NAME = re.compile(r"[A-ZА-ЯЁ]\w*(?:\s+[A-ZА-ЯЁ]\w*)*")
_COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ENOUGH = 4  # letters in common: `apartment` has what `apartments` says


def is_said(value: object, text: str) -> bool:
    """At least half of its words, its number, or the letters of a name; an address must stand there as it is.

    Truth values and references are not said in words.
    """
    if value is None or isinstance(value, bool | Mapping):
        return True
    if isinstance(value, list | tuple):
        return all(is_said(one, text) for one in value)
    if isinstance(value, int | float):
        return _is_number(float(value), text)
    written = str(value)
    if written.startswith("$") and not written[1:2].isdigit():
        return False  # a reference written as a text
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
    """As it is, or as a share of a hundred."""
    said = {float(found.replace(",", "")) for found in _NUMBER.findall(text)}
    said |= {float(_COUNTS.index(word)) for word in _WORD.findall(text.lower()) if word in _COUNTS}
    return bool({abs(number), round(abs(number) * 100, 6)} & said)


def _abbreviates(letters: str, text: str) -> bool:
    """`NZ` of New Zealand, `BTC` of Bitcoin."""
    pattern = ".*?".join(map(re.escape, letters))
    return any(re.match(pattern, name, re.IGNORECASE) for name in _NAME.findall(text))
