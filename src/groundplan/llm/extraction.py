"""Extracts the one JSON object from a model's text, for servers that do not enforce a schema.

The text is parsed strictly first. Ambiguous text is refused: two objects, a duplicate key, a missing end. A repair
changes only punctuation, and the result is marked as repaired: other quotes, Python literals, unquoted keys, a
trailing comma, a missing comma before a key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from groundplan.text.strict_json import MAX_DEPTH, JsonRefused, parse_strictly

MAX_CHARACTERS = 256 * 1024

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*+```[ \t]*+(\w*+)[ \t]*+$", re.MULTILINE)  # never tried again: that took minutes
_OPENING = re.compile(r"[{\[]")
_NEXT_KEY = re.compile(r',\s*"[^"\n]*"\s*:')
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_BRACKET = re.compile(rf'{_STRING}|["{{}}\[\]]', re.DOTALL)
_TOKEN = re.compile(rf"(\s*)({_STRING}|'[^'\"\\\n]*'|“[^“”\"\\\n]*”|[{{}}\[\],:]|[^\s\"'“”{{}}\[\],:]+|\S)", re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*")
_SPELLINGS = {"None": "null", "True": "true", "False": "false"}
_WORDS = {*_SPELLINGS, *_SPELLINGS.values()}
_CLOSES = {"{": "}", "[": "]"}


@dataclass(frozen=True)
class Extracted:
    value: dict[str, JsonValue]
    repaired: bool


@dataclass(frozen=True)
class NoJson:
    problem: str


class _Unusable(ValueError):
    """The text parses but is ambiguous: no repair is tried."""


def extract(text: str) -> Extracted | NoJson:
    """The JSON object in this text, if there is exactly one."""
    if len(text) > MAX_CHARACTERS:
        return NoJson(f"the answer has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read")
    answer = _THOUGHT.sub("", text, count=1).strip()
    try:
        found = [_read(region) for region in _regions(answer)]
    except ValueError as error:
        return NoJson(str(error))
    if not found:
        return NoJson("the answer contains no JSON object")
    if len({json.dumps(item.value, sort_keys=True) for item in found}) > 1:  # as text: in Python 1 == True
        return NoJson(f"the answer contains {len(found)} different JSON objects; give one")
    return Extracted(found[0].value, repaired=any(item.repaired for item in found))


def _regions(text: str) -> Iterator[str]:
    """The outermost objects: the whole text, else those in code blocks and after them, else those anywhere.

    Text before a block introduces it. Text after the last block may hold the answer itself, with the block as an
    example, so objects there count too unless they repeat the block.
    """
    if text.startswith("{") and _end(text, 0) == len(text):
        yield text
        return
    blocks = [*_blocks(text)]
    for begin, end in blocks:
        yield from _bracketed(text[begin:end])
    behind = blocks[-1][1] if blocks else 0
    quoted = "".join(text[begin:end] for begin, end in blocks)
    yield from (region for region in _bracketed(text[behind:]) if region not in quoted)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each code block that may hold JSON."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif not fence[1]:
            if opened[1].lower() in ("", "json") and "{" in text[opened.end() : fence.start()]:
                yield opened.end(), fence.start()
            opened = None


def _bracketed(text: str) -> Iterator[str]:
    start = 0
    while opening := _OPENING.search(text, start):
        begin = opening.start()
        _refuse_stray_json(text[start:begin])
        end = _end(text, begin)
        region = text[begin : end or len(text)]
        looks_like_json = "{" in region and ('"' in region or ":" in region)
        if end is None and looks_like_json:
            raise _Unusable("the JSON in the answer is cut off")
        if looks_like_json:
            yield region
        start = end or begin + 1
    _refuse_stray_json(text[start:])


def _refuse_stray_json(between: str) -> None:
    """Refuse text around an object that looks like a piece of JSON: the object's brackets are lost or misplaced."""
    if "}" in between or "]" in between or _NEXT_KEY.search(between):
        raise _Unusable("the JSON in the answer has no opening bracket, or closes too early")


def _end(text: str, begin: int) -> int | None:
    """The position after the bracket that closes the one at `begin`; None if no bracket does."""
    expected: list[str] = []
    for found in _BRACKET.finditer(text, begin):
        bracket = found[0]
        if bracket in _CLOSES:
            expected.append(_CLOSES[bracket])
        elif bracket == '"' or (bracket in "}]" and expected.pop() != bracket):
            return None
        if len(expected) > MAX_DEPTH:
            raise _Unusable(f"the JSON in the answer nests more than {MAX_DEPTH} levels")
        if not expected:
            return found.end()
    return None


def _read(region: str) -> Extracted:
    try:
        value, repaired = parse_strictly(region), False
    except JsonRefused as error:
        if error.fault != "syntax":
            raise
        value, repaired = _repair(region, str(error)), True
    if not isinstance(value, dict):
        raise _Unusable("the JSON in the answer is a list; give one object")
    return Extracted(value, repaired)


def _repair(region: str, fault: str) -> JsonValue:
    try:
        return parse_strictly(" ".join(_repaired_tokens(_TOKEN.findall(region))))
    except JsonRefused as error:
        if error.fault != "syntax":
            raise
        raise _Unusable(f"the answer is not JSON: {fault}") from None


def _repaired_tokens(tokens: list[tuple[str, str]]) -> Iterator[str]:
    """The same tokens in JSON spelling; ambiguous ones stay as they are, so the strict parser refuses them."""
    nothing = [("", "")]
    for (_, before), (space, part), (_, behind) in zip(nothing + tokens, tokens, tokens[1:] + nothing, strict=False):
        begins = before in ("{", ",")
        if part == "," and behind in ("}", "]") and not begins and before not in ("[", ":"):
            continue
        if part.startswith('"') and behind == ":" and not begins and space:
            yield ","
        if part[0] in "'“" and len(part) > 1:
            yield json.dumps(part[1:-1], ensure_ascii=False)
        elif begins and behind == ":" and _NAME.fullmatch(part) and part not in _WORDS:
            yield json.dumps(part, ensure_ascii=False)
        else:
            yield _SPELLINGS.get(part, part)
