"""Where a question is cut into several."""

from __future__ import annotations

import pytest

from groundplan.asking.tables.several import MOST_PLACES, read_several
from groundplan.contracts.reading import Reading


@pytest.mark.parametrize("between", [" and ", " и ", ", ", "; "])
def test_a_long_list_is_read_once_and_not_at_each_of_its_places(between: str) -> None:
    """`between 1 and 5`, eighty times: each side of the first six places was read as a question."""
    tried: list[str] = []

    def read(part: str) -> Reading | None:
        tried.append(part)
        return None

    assert read_several(between.join(["depth"] * (MOST_PLACES + 1)), None, read) == ()
    assert len(tried) == 2 * MOST_PLACES
    assert read_several(between.join(["depth"] * 80), None, read) == ()
    assert len(tried) == 2 * MOST_PLACES
