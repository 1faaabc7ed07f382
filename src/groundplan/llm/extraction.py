"""A model's text to the one JSON object in it, for servers that do not enforce a schema.

Strict first. What has more than one reading is refused: two objects, a key twice, an end that never came. A repair
may change punctuation and nothing else, and says that it did.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import json_repair
from pydantic import JsonValue

MAX_CHARACTERS = 256 * 1024
MAX_DEPTH = 32
MOST_DIGITS = 30

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_BLOCK = re.compile(r"^[ \t]*```[ \t]*(\w*)[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
_BARE = re.compile(r"[^\W\d]\w*")
_OPENING = re.compile(r"[{\[]")
_STRUCTURE = re.compile(r"[\"'“”`,:{}\[\]]")
_WORD = re.compile(r"[{}\[\]]|[^\s\"'“”`,:{}\[\]]+")  # brackets count as words: a repair moves none
_SPELLINGS = {"None": "null", "True": "true", "False": "false"}
_CLOSES = {"{": "}", "[": "]"}


@dataclass(frozen=True)
class Extracted:
    value: dict[str, JsonValue]
    repaired: bool


@dataclass(frozen=True)
class NoJson:
    problem: str


class _Unusable(ValueError):
    """Read, but not to be trusted: no repair is tried."""


def extract(text: str) -> Extracted | NoJson:
    """The object in this text, where there is exactly one."""
    if len(text) > MAX_CHARACTERS:
        return NoJson(f"the answer has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read")
    said = _THOUGHT.sub("", text, count=1).strip()
    try:
        found = [_read(region) for region in _regions(said)]
    except (ValueError, RecursionError) as error:
        return NoJson(str(error))
    if not found:
        return NoJson("the answer holds no JSON object")
    if any(other.value != found[0].value for other in found):
        return NoJson(f"the answer holds {len(found)} different JSON objects; one was asked for")
    return Extracted(found[0].value, repaired=any(item.repaired for item in found))


def parse_strictly(text: str) -> JsonValue:
    """JSON as the standard has it, each key once, numbers finite. Raises ValueError."""
    value: JsonValue = json.loads(
        text, object_pairs_hook=_unique, parse_constant=_no_number, parse_float=_finite, parse_int=_modest
    )
    return value


def _regions(text: str) -> Iterator[str]:
    """The outermost objects: of the whole text, else of its code blocks, else of the text around."""
    if text.startswith("{") and _end(text, 0) == len(text):
        yield text
        return
    blocks = [block for language, block in _BLOCK.findall(text) if language.lower() in ("", "json") and "{" in block]
    for part in blocks or [text]:
        yield from _bracketed(part)


def _bracketed(text: str) -> Iterator[str]:
    start = 0
    while opening := _OPENING.search(text, start):
        begin = opening.start()
        _refuse_closing(text[start:begin])
        end = _end(text, begin)
        region = text[begin : end or len(text)]
        looks_like_json = "{" in region and ('"' in region or ":" in region)
        if end is None and looks_like_json:
            raise _Unusable("the JSON in the answer does not end")
        if looks_like_json:
            yield region
        start = end or begin + 1
    _refuse_closing(text[start:])


def _refuse_closing(between: str) -> None:
    if "}" in between or "]" in between:
        raise _Unusable("the JSON in the answer has no beginning")


def _end(text: str, begin: int) -> int | None:
    """Just behind the bracket that closes the one at `begin`."""
    expected: list[str] = []
    position = begin
    while position < len(text):
        character = text[position]
        if character == '"':
            position = _end_of_string(text, position)
            continue
        if character in _CLOSES:
            expected.append(_CLOSES[character])
        elif character in "}]" and expected.pop() != character:
            return None
        if len(expected) > MAX_DEPTH:
            raise _Unusable(f"the JSON in the answer nests more than {MAX_DEPTH} levels")
        position += 1
        if not expected:
            return position
    return None


def _end_of_string(text: str, begin: int) -> int:
    position = begin + 1
    while position < len(text) and text[position] != '"':
        position += 2 if text[position] == "\\" else 1
    return position + 1


def _read(region: str) -> Extracted:
    try:
        value, repaired = parse_strictly(region), False
    except json.JSONDecodeError as error:
        value, repaired = _repair(region, str(error)), True
    if not isinstance(value, dict):
        raise _Unusable("the JSON in the answer is a list; one object was asked for")
    return Extracted(value, repaired)


def _repair(region: str, fault: str) -> JsonValue:
    """With the same words in the same order, or not at all: json-repair drops, closes and quotes freely."""
    value = json_repair.loads(region, strict=True)
    mended = json.dumps(value, ensure_ascii=False)
    guessed = any(_is_guessed(text, region) for text in _strings(value))
    if guessed or _loses_strings(region, mended) or _words(mended) != _words(region):
        raise _Unusable(f"the answer is not JSON: {fault}")
    return parse_strictly(mended)


def _is_guessed(text: str, region: str) -> bool:
    """Whether where this string begins and ends was not written: in any quotes, or as one bare word."""
    if json.dumps(text, ensure_ascii=False) in region or _BARE.fullmatch(text):
        return False
    return bool(_STRUCTURE.search(text)) or not (f"'{text}'" in region or f"“{text}”" in region)


def _loses_strings(region: str, mended: str) -> bool:
    """Whether a string that was written as JSON is not there in its turn."""
    left = iter(_LITERAL.findall(mended))
    return not all(literal in left for literal in _LITERAL.findall(region))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in (*value.keys(), *value.values()):
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def _words(text: str) -> list[str]:
    return [_SPELLINGS.get(word, word) for word in _WORD.findall(text)]


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Unusable("a key appears twice in one object of the answer")
    return found


def _no_number(word: str) -> NoReturn:
    raise _Unusable(f"{word[:40]} is not a number that JSON knows")


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _no_number(digits)


def _modest(digits: str) -> int:
    return int(digits) if len(digits) <= MOST_DIGITS else _no_number(digits)
