"""Two results that tell the same, and two that do not."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.contracts.matching_rows import tell_the_same
from groundplan.contracts.wording import Wording, in_words
from tests.questions.notation import value

ONE = [("West", 0.25, 12), ("East", 0.5, 30)]


@pytest.mark.parametrize(
    "other",
    [
        ONE[::-1],
        [("West", 25.0), ("East", 50.0)],
        [(12, "West", 0.25), (30, "East", 0.5)],
        [("West", 0.25, 12, 1), ("East", 0.5, 30, 2)],
    ],
    ids=["other order", "percent, a column less", "other columns first", "a column more"],
)
def test_results_that_tell_the_same(other: list[Any]) -> None:
    assert tell_the_same(ONE, other)
    assert tell_the_same(other, ONE)


@pytest.mark.parametrize(
    "other",
    [
        [("West", 0.25, 12)],
        [("West", 0.5, 12), ("East", 0.25, 30)],
        [("West", 0.25, 12), ("East", 0.5, 31)],
        [("West", 0.25, 12), ("North", 0.5, 30)],
        [],
    ],
    ids=["a row less", "values of other rows", "another number", "another name", "nothing"],
)
def test_results_that_differ(other: list[Any]) -> None:
    assert not tell_the_same(ONE, other)
    assert not tell_the_same(other, ONE)


@pytest.mark.parametrize(("one", "other", "same"), [(3.1, 3.14, True), (12, 12.3, False), (412, 412.3, True)])
def test_a_rounded_number_tells_the_same_while_it_says_something(one: float, other: float, same: bool) -> None:
    assert tell_the_same([(one,)], [(other,)]) is same


@pytest.mark.parametrize("text", ["100 * rows(region == 'West') / rows()", "rows(region == 'West') / rows() * 100"])
def test_a_ratio_times_a_hundred_is_told_in_percent(text: str) -> None:
    assert in_words(value(text), Wording()).endswith(", in percent")
    assert "100" not in in_words(value(text), Wording())
