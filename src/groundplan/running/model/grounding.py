"""Checks that every number a model writes is in its facts: verbatim, rounded, as a percentage, or as a count."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MARKS = r"[ ,.\u00a0\u202f]"  # between thousands, or before decimals
_NUMBER = re.compile(rf"\d{{1,3}}(?:{_MARKS}\d{{3}})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?")
_NUMBERING = re.compile(r"^\s*\d{1,2}[.)]\s", re.MULTILINE)


def ungrounded(text: str, *given: object) -> str:
    """The first number in the text that is not in the given facts; empty if there is none."""
    known = {number for one in given for number in _numbers_in(one)}
    written = _NUMBER.findall(_NUMBERING.sub(" ", text))
    return next((number for number in written if not _is_known(number, known)), "")


def _is_known(written: str, known: set[float]) -> bool:
    """Whether it is known as one number, or as several adjacent numbers: `12 300`, `12.05`."""
    parts = re.split(_MARKS, written)
    return any(_fits(*reading, known) for reading in _readings(written)) or all(
        _fits(float(part), 0, known) for part in parts
    )


def _fits(value: float, decimals: int, known: set[float]) -> bool:
    shares = (100 * number for number in known if 0 < number < 1)
    return any(value in (number, round(number, decimals)) for number in (*known, *shares))


def _readings(written: str) -> Iterator[tuple[float, int]]:
    """Possible values with their number of decimals: `1,234` can be 1234 or 1.234."""
    *whole, rest = re.split(_MARKS, written)
    yield float("".join((*whole, rest))), 0
    if whole:
        yield float(f"{''.join(whole)}.{rest}"), len(rest)


def _numbers_in(given: object) -> Iterator[float]:
    match given:
        case bool() | None:
            return
        case int() | float():
            yield abs(float(str(given)))
        case str():
            for written in _NUMBER.findall(given):
                yield from (value for value, _ in _readings(written))
                yield from map(float, re.split(_MARKS, written))
        case dict():
            yield from _numbers_in([*given, *given.values()])
        case list() | tuple():
            yield float(len(given))
            for inner in given:
                yield from _numbers_in(inner)
