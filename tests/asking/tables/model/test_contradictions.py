"""A reading that cannot be meant is known by what the question says for certain, and by nothing else."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest

from groundplan.asking.tables.model.contradictions import Contradiction, contradictions
from groundplan.contracts.expression import Aggregate, Column, Compare, Constant, Expression, OneOf, Rows
from groundplan.contracts.reading import Evidence, Filter, GroupBy, Metric, Rank, Reading, Requirement, Value
from tests.asking.tables.described import SALES, Known, describe

TODAY = date(2026, 1, 15)
REVENUE = Column(name="revenue")
BY_REGION = GroupBy(column="region")


@pytest.fixture(scope="module")
def sales() -> Known:
    return asyncio.run(describe(SALES))


def measure(function: str) -> Metric:
    expression: Expression = Rows() if function == "rows" else Aggregate(function=function, of=REVENUE)  # type: ignore[arg-type]
    return Metric(expression=expression)


def keep(column: str, sign: str, value: str | float) -> Filter:
    return Filter(condition=Compare(left=Column(name=column), operator=sign, right=Constant(value=value)))  # type: ignore[arg-type]


def reading(question: str, *values: Value) -> Reading:
    said = Evidence(text=question)
    asked = tuple(
        Requirement(id=f"{value.kind}:{place}", value=value, evidence=said) for place, value in enumerate(values)
    )
    return Reading(question=question, tables=("sales",), requirements=asked)


def found(question: str, known: Known, *values: Value) -> tuple[Contradiction, ...]:
    return contradictions(reading(question, *values), question, *known, today=TODAY)


SUM, MEAN, MEDIAN, ROWS = map(measure, ("sum", "mean", "median", "rows"))
TOP, BOTTOM = Rank(direction="top", limit=1), Rank(direction="bottom", limit=1)
FIVE = Rank(direction="top", limit=5)
WRONG = [
    ("top 3 regions by revenue", (SUM, BY_REGION, FIVE), "limit/other"),
    ("топ-3 региона по выручке", (SUM, BY_REGION, FIVE), "limit/other"),
    ("top 3 regions by revenue", (SUM, BY_REGION), "limit/other"),
    ("3 largest regions by revenue", (SUM, BY_REGION, TOP), "limit/other"),
    ("revenue by region", (SUM, BY_REGION, FIVE), "limit/unsaid"),
    ("выручка по регионам", (SUM, BY_REGION, FIVE), "limit/unsaid"),
    ("revenue by region", (SUM, BY_REGION, TOP), "limit/unsaid"),
    ("which region has the highest revenue", (SUM, BY_REGION, BOTTOM), "direction/reversed"),
    ("region with the lowest revenue", (SUM, BY_REGION, TOP), "direction/reversed"),
    ("регион с наименьшей выручкой", (SUM, BY_REGION, TOP), "direction/reversed"),
    ("в каком регионе больше всего продаж", (ROWS, BY_REGION, BOTTOM), "direction/reversed"),
    ("how many sales over 500", (ROWS, keep("revenue", "<", 500)), "comparison/reversed"),
    ("how many sales under 1,500", (ROWS, keep("revenue", ">=", 1500)), "comparison/reversed"),
    ("сколько продаж больше 500", (ROWS, keep("revenue", "<=", 500)), "comparison/reversed"),
    ("total revenue by region", (SUM, BY_REGION, keep("date", ">=", "2025-01-01")), "time/unsaid"),
    ("выручка по регионам", (SUM, BY_REGION, keep("date", "<", "2025-07-01")), "time/unsaid"),
    ("median revenue by region", (MEAN, BY_REGION), "function/median"),
    ("средняя выручка по регионам", (SUM, BY_REGION), "function/mean"),
    ("average revenue by region", (SUM, BY_REGION), "function/mean"),
    ("how many sales in the north", (MEAN,), "function/count"),
    ("total revenue by region", (MEAN, BY_REGION), "function/total"),
    ("revenue in the nroth", (SUM, keep("region", "=", "Nroth")), "value/unknown"),
    (
        "revenue in the nroth",
        (SUM, Filter(condition=OneOf(of=Column(name="region"), values=("Nroth", "Nord")))),
        "value/unknown",
    ),
]


@pytest.mark.parametrize(("question", "values", "code"), WRONG, ids=[f"{code}: {q}" for q, _, code in WRONG])
def test_a_certain_contradiction_is_a_veto(question: str, values: tuple[Value, ...], code: str, sales: Known) -> None:
    certain = [one.code for one in found(question, sales, *values) if one.certain]
    assert certain == [code]


RIGHT: list[tuple[str, tuple[Value, ...]]] = [
    ("top 3 regions by revenue", (SUM, BY_REGION, Rank(direction="top", limit=3))),
    ("best region", (SUM, BY_REGION, TOP)),
    ("region with the biggest drop in revenue", (SUM, BY_REGION, BOTTOM)),
    ("в каком регионе наибольшее падение выручки", (SUM, BY_REGION, BOTTOM)),
    ("which region earned us the money", (SUM, BY_REGION, TOP)),
    ("the most recent sale", (SUM, BY_REGION, BOTTOM)),
    ("regions with at least 10 sales, fewest first", (ROWS, BY_REGION, BOTTOM)),
    ("the three biggest regions", (SUM, BY_REGION, Rank(direction="top", limit=3))),
    ("revenue of sales over 500 and under 900", (SUM, keep("revenue", ">", 500), keep("revenue", "<", 900))),
    ("сколько продаж не больше 500", (ROWS, keep("revenue", "<=", 500))),
    ("revenue last month", (SUM, keep("date", ">=", "2025-12-01"))),
    ("revenue in q3", (SUM, keep("date", ">=", "2025-07-01"))),
    ("regions where we are active", (SUM, BY_REGION, keep("date", "<=", "2026-01-15"))),
    ("headcount of regions", (SUM, BY_REGION, keep("date", "<=", "2026-01-15"))),
    ("how many sales does a region have on average", (MEAN, BY_REGION)),
    ("total revenue", (SUM,)),
    ("total sales", (ROWS,)),
    ("revenue in the north", (SUM, keep("region", "=", "north"))),
    ("new customers love odd words", (SUM, BY_REGION)),
    ("top 10% of sales by revenue", (SUM, BY_REGION, Rank(direction="top", limit=7))),
]


@pytest.mark.parametrize(("question", "values"), RIGHT, ids=[question for question, _ in RIGHT])
def test_ordinary_words_contradict_nothing(question: str, values: tuple[Value, ...], sales: Known) -> None:
    assert [one for one in found(question, sales, *values) if one.certain] == []


def test_a_value_that_is_not_there_goes_back_with_the_nearest(sales: Known) -> None:
    (one,) = found("revenue in the nroth", sales, SUM, keep("region", "=", "Nroth"))
    assert "does not hold 'Nroth'" in one.problem
    assert "'North'" in one.problem


def test_a_number_or_a_quote_that_is_missing_is_no_veto(sales: Known) -> None:
    codes = {one.code: one.certain for one in found('revenue of "Blue 77" above 7', sales, SUM)}
    assert codes == {"number/lost": False, "quote/lost": False}


def test_an_identifier_has_no_average(sales: Known) -> None:
    schema, values = sales
    order = schema.tables[0].columns[4].model_copy(update={"name": "order_id", "meaning": "identifier"})
    table = schema.tables[0].model_copy(update={"columns": (*schema.tables[0].columns, order)})
    known = (schema.model_copy(update={"tables": (table,)}), values)
    mean = Metric(expression=Aggregate(function="mean", of=Column(name="order_id")))
    counted = Metric(expression=Aggregate(function="count_distinct", of=Column(name="order_id")))
    assert [one.code for one in found("average order id", known, mean)] == ["identifier/measured"]
    assert found("orders", known, counted) == ()


def test_the_lowest_for_a_top_is_said_but_no_veto(sales: Known) -> None:
    """The top by a time may be the shortest, so a reading is not refused for it."""
    (one,) = found("top 3 regions by revenue", sales, SUM, BY_REGION, Rank(direction="bottom", limit=3))
    assert (one.code, one.certain) == ("direction/unusual", False)


def test_leaving_out_empty_texts_names_no_value(sales: Known) -> None:
    assert not found("revenue by region", sales, SUM, BY_REGION, keep("region", "!=", ""))
    assert found("revenue by region", sales, SUM, BY_REGION, keep("region", "!=", "Nort"))
