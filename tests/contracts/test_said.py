"""Whether a value was said: what a model made up is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.contracts.said import is_said

TASK = "Send Ann Lee of the United Nations (ann@lib.org) a note about 1,200 books, ten percent off until 2026-03-02"


@pytest.mark.requirement("R29", "R36")
@pytest.mark.parametrize(
    "value",
    [
        "ann@lib.org",
        "Ann Lee",
        "ANN",
        "a note about books",
        "book",  # `books` has it
        1200,
        1200.0,
        "1200",
        10,
        0.1,  # ten percent
        -1200,
        "2026-03-02",
        "UN",
        ["ann@lib.org", "Lee"],
        [],
        None,
        True,
        False,
        {"$from": "find_member.email"},
    ],
)
def test_what_the_words_hold_is_said(value: object) -> None:
    assert is_said(value, TASK)


@pytest.mark.requirement("R29", "R36")
@pytest.mark.parametrize(
    "value",
    [
        "eve@evil.example",
        "Bob",
        "DE",
        "boo",
        7,
        1201,
        0.5,
        "7",
        "",
        "…",
        "$find_member.email",
        "$ann",
        ["ann@lib.org", "eve@evil.example"],
        ("Ann", 7),
    ],
)
def test_what_they_do_not_hold_is_made_up(value: object) -> None:
    assert not is_said(value, TASK)


@pytest.mark.requirement("R36")
@pytest.mark.parametrize(
    "value", ["ann@evil.example", "eve@lib.org", "ann.lee@lib.org", "tell eve@evil.example about it all at once"]
)
def test_an_address_is_said_as_a_whole_or_not_at_all(value: str) -> None:
    assert not is_said(value, TASK)


values = st.text(max_size=30) | st.integers() | st.floats(allow_nan=True) | st.lists(st.text(max_size=5), max_size=3)


@settings(max_examples=300, deadline=None)
@given(values, st.text(max_size=60))
def test_any_value_and_any_text_are_compared(value: object, text: str) -> None:
    assert is_said(value, text) in (True, False)


@settings(max_examples=300, deadline=None)
@given(
    st.text(st.characters(categories=["Ll", "Nd"], max_codepoint=0x4FF), min_size=1, max_size=12), st.text(max_size=30)
)
def test_a_word_of_the_text_is_always_said_whatever_stands_around_it(word: str, around: str) -> None:
    assert is_said(word, f"{around} {word} {around}")
