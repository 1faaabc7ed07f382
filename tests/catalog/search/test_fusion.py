"""The arithmetic of fusion, done by hand."""

from __future__ import annotations

import numpy as np
import pytest

from groundplan.catalog.search.fusion import combine, fuse, order, relative


def array(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, dtype=np.float32)


def test_relative_scores_are_shares_of_the_best() -> None:
    assert relative(array(2, 8, 0)).tolist() == [0.25, 1, 0]
    assert relative(array(0, 0)).tolist() == [0, 0]


@pytest.mark.requirement("R16")
def test_words_and_vectors_weigh_the_same() -> None:
    fused = fuse(array(10, 5, 0), array(0.4, 0.8, 0.8))
    assert fused.tolist() == pytest.approx([0.5 * 1 + 0.5 * 0.5, 0.5 * 0.5 + 0.5 * 1, 0.5 * 0 + 0.5 * 1])


def test_the_best_part_counts_half_as_much_as_the_whole() -> None:
    combined = combine(array(1, 0.2, 0.4), [array(0, 1, 0.5), array(0.3, 0, 0.5)])
    assert combined.tolist() == pytest.approx([1 + 0.15, 0.2 + 0.5, 0.4 + 0.25])
    assert combine(array(1, 0.5), []).tolist() == [1, 0.5]


def test_a_tool_that_only_one_part_asks_for_passes_one_that_suits_the_whole_a_little() -> None:
    whole, parts = array(1, 0.6, 0.5), [array(1, 0.3, 0), array(0, 0.3, 1)]
    assert order(whole, 3) == [0, 1, 2]
    assert order(combine(whole, parts), 3) == [0, 2, 1]


def test_equal_scores_keep_their_order_and_nothing_is_no_score() -> None:
    scores = array(0.5, 0, 1, 0.5, 0.5)
    assert order(scores, 3) == [2, 0, 3]
    assert order(scores, 10) == [2, 0, 3, 4]
    assert order(array(0, 0), 1) == []
