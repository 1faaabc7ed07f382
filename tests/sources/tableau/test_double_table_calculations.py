"""Table calculations of the double of Tableau, held against plain Python over the grouped rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import pytest
from tests.sources.tableau.double.asking import ask, field, post
from tests.sources.tableau.double.tableau import Tableau

REGION, YEAR, QUARTER = field("Region"), field("Order Date", "YEAR"), field("Order Date", "TRUNC_QUARTER")
Totals = dict[str, list[float]]
COMPARED: dict[str, Callable[[float, float], float]] = {
    "DIFFERENCE_FROM": lambda here, there: here - there,
    "PERCENT_DIFFERENCE_FROM": lambda here, there: (here - there) / there,
    "PERCENT_FROM": lambda here, there: here / there,
}


def calculated(tableau: Tableau, kind: str, over: list[dict[str, Any]], **told: Any) -> Totals:
    """The calculation over the sums of sales by region and quarter, quarters in order."""
    wanted = field("Sales", "SUM", tableCalculation={"tableCalcType": kind, "dimensions": over, **told})
    return by_region(ask(tableau, [REGION, {**QUARTER, "sortPriority": 1}, wanted]))


def by_region(rows: list[tuple[Any, ...]]) -> Totals:
    regions = sorted({row[0] for row in rows})
    return {region: [row[2] for row in rows if row[0] == region] for region in regions}


@pytest.fixture
def totals(tableau: Tableau) -> Totals:
    sql = 'SELECT "Region", date_trunc(\'quarter\', "Order Date") AS quarter, sum("Sales") FROM superstore'
    return by_region(tableau.sql(f"{sql} GROUP BY 1, 2 ORDER BY 2"))


def near(values: Sequence[float | None]) -> Any:
    return [None if value is None else pytest.approx(value) for value in values]


def test_a_running_total_goes_along_what_it_addresses(tableau: Tableau, totals: Totals) -> None:
    found = calculated(tableau, "RUNNING_TOTAL", [QUARTER])
    assert found == {region: near(list(accumulate(values))) for region, values in totals.items()}
    found = calculated(tableau, "RUNNING_TOTAL", [QUARTER], aggregation="MAX")
    highest = {region: [max(values[: at + 1]) for at in range(len(values))] for region, values in totals.items()}
    assert found == {region: near(values) for region, values in highest.items()}


def test_a_running_total_over_both_goes_on_from_region_to_region(tableau: Tableau, totals: Totals) -> None:
    found = calculated(tableau, "RUNNING_TOTAL", [REGION, QUARTER])
    assert found["West"][-1] == pytest.approx(sum(sum(values) for values in totals.values()))
    again = calculated(tableau, "RUNNING_TOTAL", [REGION, QUARTER], restartEvery=REGION)
    assert again == {region: near(list(accumulate(values))) for region, values in totals.items()}


@pytest.mark.parametrize(
    ("relative", "other"),
    [
        ("PREVIOUS", lambda values: [None, *values[:-1]]),
        ("NEXT", lambda values: [*values[1:], None]),
        ("FIRST", lambda values: [values[0]] * len(values)),
        ("LAST", lambda values: [values[-1]] * len(values)),
    ],
)
def test_a_difference_is_taken_from_another_row(tableau: Tableau, totals: Totals, relative: str, other: Any) -> None:
    for kind, compare in COMPARED.items():
        found = calculated(tableau, kind, [QUARTER], relativeTo=relative)
        for region, values in totals.items():
            pairs = zip(values, other(values), strict=True)
            wanted = [None if there is None else compare(here, there) for here, there in pairs]
            assert found[region] == near(wanted)


def test_a_percent_of_total_sums_to_one_in_each_partition(tableau: Tableau, totals: Totals) -> None:
    found = calculated(tableau, "PERCENT_OF_TOTAL", [QUARTER])
    assert found == {region: near([value / sum(values) for value in values]) for region, values in totals.items()}
    whole = calculated(tableau, "PERCENT_OF_TOTAL", [REGION, QUARTER])
    assert sum(sum(values) for values in whole.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({}, [(-2, 0)]),
        ({"previous": -1, "next": 1}, [(-1, 1)]),
        ({"previous": 1, "next": 1, "includeCurrent": False}, [(-1, -1), (1, 1)]),
    ],
    ids=["two before", "one on each side", "without the middle"],
)
def test_a_moving_sum_takes_its_window(
    tableau: Tableau, totals: Totals, told: dict[str, Any], wanted: list[tuple[int, int]]
) -> None:
    def moved(values: list[float], at: int) -> float:
        return sum(sum(values[max(at + first, 0) : at + last + 1]) for first, last in wanted)

    found = calculated(tableau, "MOVING_CALCULATION", [QUARTER], **told)
    for region, values in totals.items():
        assert found[region] == near([moved(values, at) for at in range(len(values))])


def test_a_window_that_is_not_full_may_be_left_empty(tableau: Tableau, totals: Totals) -> None:
    found = calculated(tableau, "MOVING_CALCULATION", [QUARTER], aggregation="AVG", fillInNull=True)
    for region, values in totals.items():
        wanted = [None, None, *(sum(values[at - 2 : at + 1]) / 3 for at in range(2, len(values)))]
        assert found[region] == near(wanted)


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("COMPETITION", [1, 2, 2, 4, 5]),
        ("MODIFIED COMPETITION", [1, 3, 3, 4, 5]),
        ("DENSE", [1, 2, 2, 3, 4]),
        ("UNIQUE", [1, 2, 3, 4, 5]),
    ],
)
def test_ties_are_ranked_as_the_rank_type_says(tableau: Tableau, kind: str, wanted: list[int]) -> None:
    """A hundred customers share few counts of orders, so that many tie."""
    rank = {"tableCalcType": "RANK", "dimensions": [field("Customer Name")], "rankType": kind}
    fields = [field("Customer Name"), field("Order ID", "COUNTD", sortPriority=1, sortDirection="DESC")]
    rows = ask(tableau, [*fields, field("Order ID", "COUNTD", fieldAlias="rank", tableCalculation=rank)])
    counts = [row[1] for row in rows]
    assert sorted(row[2] for row in rows) == ranks(counts, kind)
    assert ranks([9, 7, 7, 5, 3], kind) == wanted


def ranks(falling: list[int], kind: str) -> list[int]:
    match kind:
        case "COMPETITION":
            return [1 + sum(other > value for other in falling) for value in falling]
        case "MODIFIED COMPETITION":
            return [sum(other >= value for other in falling) for value in falling]
        case "DENSE":
            return [1 + len({other for other in falling if other > value}) for value in falling]
        case _:
            return list(range(1, len(falling) + 1))


def test_a_rank_may_rise_instead(tableau: Tableau, totals: Totals) -> None:
    found = calculated(tableau, "RANK", [QUARTER], direction="ASC")
    assert found == {region: [sorted(values).index(value) + 1 for value in values] for region, values in totals.items()}


def test_a_second_calculation_goes_over_the_first(tableau: Tableau, totals: Totals) -> None:
    second = {"tableCalcType": "DIFFERENCE_FROM", "dimensions": [QUARTER]}
    found = calculated(tableau, "RUNNING_TOTAL", [QUARTER], secondaryTableCalculation=second)
    assert found == {region: near([None, *values[1:]]) for region, values in totals.items()}


def test_a_custom_sort_says_along_what(tableau: Tableau, totals: Totals) -> None:
    by_sales = {"fieldCaption": "Sales", "function": "SUM", "direction": "DESC"}
    found = calculated(tableau, "RUNNING_TOTAL", [QUARTER], customSort=by_sales)
    for region, values in totals.items():
        falling = sorted(values, reverse=True)
        assert found[region] == near([sum(falling[: falling.index(value) + 1]) for value in values])


@pytest.mark.parametrize(
    "told",
    [
        {"tableCalcType": "CUSTOM", "dimensions": []},
        {"tableCalcType": "RANK", "dimensions": [field("Segment")]},
        {"tableCalcType": "PERCENT_OF_TOTAL", "dimensions": [REGION], "levelAddress": REGION},
        {"tableCalcType": "RUNNING_TOTAL", "dimensions": [REGION], "restartEvery": field("Segment")},
    ],
    ids=["custom", "no dimension of the query", "at a level", "restart outside"],
)
def test_what_is_not_calculated_is_refused(tableau: Tableau, told: dict[str, Any]) -> None:
    answered = post(tableau, [REGION, field("Sales", "SUM", tableCalculation=told)])
    assert answered.json()["errorCode"] == "400803"


def test_a_calculation_beside_its_own_measure_needs_an_alias(tableau: Tableau) -> None:
    rank = {"tableCalcType": "RANK", "dimensions": [REGION]}
    fields = [REGION, field("Sales", "SUM"), field("Sales", "SUM", tableCalculation=rank)]
    assert "fieldAlias" in post(tableau, fields).json()["message"]
    assert len(post(tableau, [*fields[:2], {**fields[2], "fieldAlias": "place"}]).json()["data"][0]) == 3
