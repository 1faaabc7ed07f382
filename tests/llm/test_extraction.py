"""Over 200 outputs as models write them: read right or refused, none wrongly accepted."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.llm.extraction import MAX_CHARACTERS, Extracted, NoJson, extract

VALUES: list[dict[str, object]] = [
    {"nodes": ["a", "b"], "edges": []},
    {"reasoning": 'uses "quotes", {brackets} and [more]', "ok": True},
    {"text": "a code block: ```json {} ``` inside"},
    {"выручка": -1.5, "note": "строка\nдве", "none": None},
    {"a": {"b": {"c": [1, {"d": []}]}}},
]
AROUND = {
    "clean": "{}",
    "spaces": "\n\n   {}  \n",
    "block": "```json\n{}\n```",
    "block without a language": "```\n{}\n```",
    "block indented": "  ```json\n{}\n  ```",
    "block in prose": "Here's the graph for your task:\n\n```json\n{}\n```\n\nThis graph uses two nodes...",
    "prose before": "The answer is: {}",
    "prose behind": "{}\n\nI hope this helps!",
    "prose both": "Sure! {} Let me know [1] about {{braces}}.",
    "thought": '<think>maybe {{"a": 2}}?</think>\n{}',
    "block never closed": "```json\n{}",
    "said twice": "{}\n\nAgain:\n{}",
    "example, then block": 'Such as {{"example": 1}}.\n```json\n{}\n```',
    "code, then block": "```python\nx = {{1: 2}}\n```\n```json\n{}\n```",
}


@pytest.mark.parametrize(("around", "value"), [*product(AROUND, VALUES)])
@pytest.mark.parametrize("indent", [None, 2])
def test_an_object_is_found_in_what_stands_around_it(around: str, value: dict[str, object], indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    said = AROUND[around].replace("{}", "\0").replace("{{", "{").replace("}}", "}").replace("\0", text)
    assert extract(said) == Extracted(value, repaired=False)  # type: ignore[arg-type]


REPAIRED = {
    "trailing comma": '{"a": 1, "b": [1, 2,],}',
    "single quotes": "{'a': 1, 'b': [1, 2]}",
    "bare keys": "{a: 1, b: [1, 2]}",
    "missing comma": '{"a": 1 "b": [1, 2]}',
    "curly quotes": "{“a”: 1, “b”: [1, 2]}",
    "in a block": "Here:\n```json\n{'a': 1, 'b': [1, 2]}\n```",
}


@pytest.mark.parametrize("said", REPAIRED.values(), ids=REPAIRED)
def test_punctuation_is_mended_and_flagged(said: str) -> None:
    assert extract(said) == Extracted({"a": 1, "b": [1, 2]}, repaired=True)


def test_python_words_are_mended_and_flagged() -> None:
    assert extract("{'a': None, 'b': True}") == Extracted({"a": None, "b": True}, repaired=True)


REFUSED = {
    "nothing": "",
    "prose": "I cannot help with that.",
    "a bare word": "null",
    "a bare number": "42",
    "a list": '[{"a": 1}]',
    "a list in a block": '```json\n[{"a": 1}]\n```',
    "a key twice": '{"a": 1, "a": 2}',
    "a key twice inside": '{"a": {"b": 1, "b": 1}}',
    "a key twice in bad quotes": "{'a': 1, 'a': 2}",
    "a key twice and a trailing comma": '{"a": 1, "a": 2,}',
    "two objects": '{"a": 1} {"a": 2}',
    "two blocks": '```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```',
    "one broken of two": '{"a": 1,,, "b"} {"a": 2}',
    "an end too many": '{"a": 1}}{"b": 2}',
    "crossed brackets": '{"a": [1}]',
    "no end": '{"a": {"b": 1}',
    "no end in a block": '```json\n{"a": [1, 2\n```',
    "no end of a text": '{"a": "b',
    "a draft without an end, then the answer": '{"a": {"b": 1} and so {"a": 1}',
    "a value left out": '{"a": , "b": 1}',
    "a stray value": '{"a": 1, 2}',
    "no colon": '{"a" 1}',
    "an equals sign": '{"a" = 1}',
    "a comment": '{"a": 1 // one\n}',
    "a sum": '{"a": 1 + 1}',
    "dots": '{"a": [1, 2, ...]}',
    "NaN": '{"a": NaN}',
    "infinity": '{"a": -Infinity}',
    "too great": '{"a": 1e999}',
    "too many digits": '{"a": ' + "9" * 5000 + "}",
    "a leading zero": '{"a": 01}',
    "a thought without an end": '<think>perhaps {"a": 1',
    "too deep": '{"a":' * 40 + "1" + "}" * 40,
    "far too deep": "[" * 100_000,
    "too long": '{"a": "' + "x" * MAX_CHARACTERS + '"}',
    "single quotes around an apostrophe": "{'a': 'it's'}",
    "a comma lost behind an empty text": '{"a": ["" null]}',
    "a comma lost between lists": '{"a": [[] [], 1]}',
    "two numbers without a comma as a text": "{'a': 1 2}",
}


@pytest.mark.parametrize("said", REFUSED.values(), ids=REFUSED)
def test_what_has_no_single_reading_is_refused(said: str) -> None:
    found = extract(said)
    assert isinstance(found, NoJson), found
    assert found.problem


SCALARS = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=12)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)
OBJECTS = st.dictionaries(st.text(min_size=1, max_size=6), JSON, min_size=1, max_size=4)


@settings(max_examples=300, deadline=None)
@given(OBJECTS)
def test_any_object_survives_a_block_and_prose(value: dict[str, object]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    for said in (text, f"```json\n{text}\n```", f"So: {text} Done."):
        assert extract(said) == Extracted(value, repaired=False)  # type: ignore[arg-type]


@settings(max_examples=300, deadline=None)
@given(OBJECTS, st.data())
def test_a_cut_object_is_never_accepted(value: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=False)
    cut = data.draw(st.integers(0, len(text) - 1))
    assert isinstance(extract(text[:cut]), NoJson)


@settings(max_examples=300, deadline=None)
@given(OBJECTS, st.data())
def test_lost_punctuation_is_never_read_as_something_else(value: dict[str, object], data: st.DataObject) -> None:
    """One structural character gone: the same object comes out, flagged, or none."""
    text = json.dumps(value, ensure_ascii=False)
    places = [place for place, character in enumerate(text) if character in "{}[],:" and _is_outside(text, place)]
    place = data.draw(st.sampled_from(places))
    found = extract(text[:place] + text[place + 1 :])
    assert isinstance(found, NoJson) or (found.repaired and found.value == value), found


def _is_outside(text: str, place: int) -> bool:
    """Whether this place is not within a string."""
    return text[:place].replace("\\\\", "").replace('\\"', "").count('"') % 2 == 0
