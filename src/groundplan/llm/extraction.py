"""A model's text to the one JSON object in it, for servers that do not enforce a schema.

Strict first. What has more than one reading is refused: two objects, a key twice, an end that never came. A repair
may change punctuation and nothing else, and says that it did: other quotes, Python's words, keys without quotes, a
comma too many at an end, a comma lost before a key.
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
_FENCE = re.compile(r"^[ \t]*```[ \t]*(\w*)[ \t]*$", re.MULTILINE)
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
    """Read, but not to be trusted: no repair is tried."""


def extract(text: str) -> Extracted | NoJson:
    """The object in this text, where there is exactly one."""
    if len(text) > MAX_CHARACTERS:
        return NoJson(f"the answer has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read")
    said = _THOUGHT.sub("", text, count=1).strip()
    try:
        found = [_read(region) for region in _regions(said)]
    except ValueError as error:
        return NoJson(str(error))
    if not found:
        return NoJson("the answer holds no JSON object")
    if len({json.dumps(item.value, sort_keys=True) for item in found}) > 1:  # Python takes 1 and true for the same
        return NoJson(f"the answer holds {len(found)} different JSON objects; one was asked for")
    return Extracted(found[0].value, repaired=any(item.repaired for item in found))


def _regions(text: str) -> Iterator[str]:
    """The outermost objects: of the whole text, else of its code blocks and what is behind them, else of the text.

    What stands before a block leads to it; what is behind may be the answer to which the block was an example, unless
    it quotes the block.
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
    """Where those that may hold JSON begin and end."""
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
        _refuse_rest(text[start:begin])
        end = _end(text, begin)
        region = text[begin : end or len(text)]
        looks_like_json = "{" in region and ('"' in region or ":" in region)
        if end is None and looks_like_json:
            raise _Unusable("the JSON in the answer does not end")
        if looks_like_json:
            yield region
        start = end or begin + 1
    _refuse_rest(text[start:])


def _refuse_rest(between: str) -> None:
    """What stands around an object is prose, and no part of an object whose brackets are lost or in the wrong place."""
    if "}" in between or "]" in between or _NEXT_KEY.search(between):
        raise _Unusable("the JSON in the answer has no beginning, or ends too early")


def _end(text: str, begin: int) -> int | None:
    """Just behind the bracket that closes the one at `begin`."""
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
        raise _Unusable("the JSON in the answer is a list; one object was asked for")
    return Extracted(value, repaired)


def _repair(region: str, fault: str) -> JsonValue:
    try:
        return parse_strictly(" ".join(_mended(_TOKEN.findall(region))))
    except JsonRefused as error:
        if error.fault != "syntax":
            raise
        raise _Unusable(f"the answer is not JSON: {fault}") from None


def _mended(tokens: list[tuple[str, str]]) -> Iterator[str]:
    """The same tokens as JSON spells them; what has no single reading is left, for the strict parser to refuse."""
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
