"""JSON is read as the standard has it or refused, with the rule that the text breaks."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.text.strict_json import MAX_DEPTH, MOST_DIGITS, JsonRefused, parse_strictly

NUMBERS = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def refused(text: str | bytes, max_bytes: int | None = None) -> JsonRefused:
    with pytest.raises(JsonRefused) as found:
        parse_strictly(text, max_bytes)
    return found.value


@given(VALUES, st.booleans())
def test_any_value_comes_back_as_it_was(value: object, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert parse_strictly(text) == parse_strictly(text.encode()) == value


@pytest.mark.parametrize(
    ("text", "fault", "says"),
    [
        ("", "syntax", "Expecting value: line 1 column 1 (char 0)"),
        ('{"a": 1,}', "syntax", "line 1"),
        ("{} {}", "syntax", "Extra data"),
        (b"\xff\xfe{}", "syntax", "can't decode byte 0xff"),
        ('"\ud800"', "syntax", "can't decode byte 0xed"),
        ('{"a": {"b": 1, "b": 1}}', "duplicate_key", "the key 'b' appears twice in one object"),
        ("[NaN]", "number", "NaN is not a finite number"),
        ("[-Infinity]", "number", "-Infinity is not a finite number"),
        ("[1e999]", "number", "1e999 is not a finite number"),
        ("9" * 5000, "number", "… has 5,000 digits; at most 30 are read"),
        ("[" * 100_000, "depth", "the JSON nests 100,000 levels; at most 32 are read"),
    ],
)
def test_a_refusal_names_the_rule(text: str | bytes, fault: str, says: str) -> None:
    error = refused(text)
    assert error.fault == fault
    assert says in str(error)


def test_a_fault_of_syntax_has_its_line() -> None:
    assert refused('{"a": 1,\n\n "b" 2}').line == 3


def test_the_limits_are_exact() -> None:
    assert parse_strictly("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert refused("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)).fault == "depth"
    assert parse_strictly("9" * MOST_DIGITS) == 10**MOST_DIGITS - 1
    assert refused("9" * (MOST_DIGITS + 1)).fault == "number"
    assert parse_strictly('"щщ"', max_bytes=6) == "щщ"
    assert refused('"щщ"', max_bytes=5).fault == "size"


def test_brackets_inside_strings_are_no_levels() -> None:
    text = json.dumps('[{"' * 1000 + "\\")
    assert parse_strictly(text) == '[{"' * 1000 + "\\"


def test_the_last_of_many_keys_costs_no_more_than_the_others() -> None:
    text = "{" + ",".join(f'"{number}": 0' for number in range(50_000)) + ', "0": 1}'
    began = time.thread_time()
    assert refused(text).fault == "duplicate_key"
    assert time.thread_time() - began < 5  # 0.08 s; comparing each key with each other takes minutes
