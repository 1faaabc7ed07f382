"""A sample is spread over the whole file, so that it looks like it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from groundplan.evaluation.suites.sampling import spread


@given(st.integers(0, 400), st.integers(1, 500) | st.none())
def test_a_sample_is_of_that_size_in_order_and_even(size: int, sample: int | None) -> None:
    taken = spread(range(size), sample)
    assert len(taken) == min(size, sample or size)
    gaps = {after - before for before, after in pairwise([*taken, size])}
    assert not gaps or (min(gaps) >= 1 and max(gaps) - min(gaps) <= 1)
    assert taken[:1] == list(range(size))[:1]
