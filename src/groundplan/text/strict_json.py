"""Strict parsing of untrusted JSON: unique keys, finite numbers, integers of limited length, limited nesting."""

from __future__ import annotations

import json
import math
import re
from typing import Literal, NoReturn

from pydantic import JsonValue

MAX_DEPTH = 32
MOST_DIGITS = 30  # of an integer, with its sign
SHOWN = 80  # characters of a key or a number in a message

Fault = Literal["size", "depth", "syntax", "duplicate_key", "number"]

_STRINGS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_NOT_BRACKETS = re.compile(rb"[^\[\]{}]+")


class JsonRefused(ValueError):
    """`fault` says which rule the text breaks; `line` is known for faults of syntax."""

    def __init__(self, fault: Fault, problem: str, line: int = 1) -> None:
        super().__init__(problem)
        self.fault: Fault = fault
        self.line = line


def parse_strictly(text: str | bytes, max_bytes: int | None = None) -> JsonValue:
    """Parse the text or raise JsonRefused. Size and depth are checked before parsing."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if max_bytes is not None and len(raw) > max_bytes:
        raise JsonRefused("size", f"the text has {len(raw):,} bytes; at most {max_bytes:,} are read")
    depth = _depth(raw)
    if depth > MAX_DEPTH:
        raise JsonRefused("depth", f"the JSON nests {depth:,} levels; at most {MAX_DEPTH} are read")
    try:
        value: JsonValue = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_not_finite,
            parse_float=_finite,
            parse_int=_limited_int,
        )
    except json.JSONDecodeError as error:
        raise JsonRefused("syntax", str(error), error.lineno) from error
    except UnicodeDecodeError as error:
        raise JsonRefused("syntax", str(error)) from error
    return value


def _depth(raw: bytes) -> int:
    depth = deepest = 0
    for bracket in _NOT_BRACKETS.sub(b"", _STRINGS.sub(b"", raw)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for key, value in pairs:
        if key in found:
            raise JsonRefused("duplicate_key", f"the key {key[:SHOWN]!r} appears twice in one object")
        found[key] = value
    return found


def _not_finite(number: str) -> NoReturn:
    raise JsonRefused("number", f"{number[:SHOWN]} is not a finite number")


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _not_finite(digits)


def _limited_int(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise JsonRefused(
            "number", f"{digits[:MOST_DIGITS]}… has {len(digits):,} digits; at most {MOST_DIGITS} are read"
        )
    return int(digits)
