"""One rule wherever people read a number: a half goes up, whatever the order in which numbers were added."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.answering.verifying.readback import shows_number
from groundplan.answering.writing.display import brief, decimals, percent
from groundplan.interfaces.table_cells import cells
from groundplan.text.rounding import rounded


@pytest.mark.parametrize(
    ("value", "places", "said"),
    [
        (14069.5, 0, "14,070"),
        (14068.5, 0, "14,069"),
        (14069.499999999998, 0, "14,070"),
        (-14068.5, 0, "-14,069"),
        (0.125, 2, "0.13"),
        (2.5, 0, "3"),
        (10**25, 0, "10,000,000,000,000,000,000,000,000"),
        (1e300, 2, f"{10**300:,}.00"),
        (0, 1, "0.0"),
    ],
)
def test_a_half_goes_up(value: float, places: int, said: str) -> None:
    assert rounded(value, places) == said


def test_all_places_round_alike() -> None:
    assert brief(14068.5, "en") == decimals(14068.5, 0, "en") == "14,069"
    assert decimals(14068.5, 0, "ru") == "14\u00a0069"
    assert cells([2.125], None, "en") == [decimals(2.125, 2, "en")] == ["2.13"]
    assert percent(0.125, "en") == "13%"
    assert percent(0.125, "en", signed=True) == "+13%"


@given(st.floats(-1e12, 1e12), st.integers(0, 4))
def test_it_is_never_further_than_half_of_the_last_digit(value: float, places: int) -> None:
    said = Decimal(rounded(value, places).replace(",", ""))
    assert abs(said - Decimal(value)) <= Decimal("0.5000001").scaleb(-places) + abs(Decimal(value)) * Decimal("1e-14")
    assert shows_number(rounded(value, places), value, None, "en")
