"""A rounding that a model adds for display is left out; one that the question asks for, or counts by, is kept."""

from __future__ import annotations

import pytest

from groundplan.asking.tables.model.rounding import unrounded
from groundplan.contracts.expression import Aggregate, Bins, Column, Expression, Rounded
from groundplan.contracts.reading import (
    ColumnsAsked,
    EachMeasure,
    Evidence,
    GroupBy,
    Metric,
    Rank,
    Reading,
    Requirement,
)

MEAN = Aggregate(function="mean", of=Column(name="price"))
ROUNDED = Rounded(of=MEAN, how="nearest", digits=2)


def reading(*values: Metric | Rank | ColumnsAsked | GroupBy) -> Reading:
    said = Evidence(text="price")
    asked = tuple(Requirement(id=f"{one.kind}:{place}", value=one, evidence=said) for place, one in enumerate(values))
    return Reading(question="price", tables=("sales",), requirements=asked)


@pytest.mark.parametrize("question", ["average price", "what is our average price?", "средняя цена"])
def test_a_rounding_for_display_is_left_out(question: str) -> None:
    found = unrounded(reading(Metric(expression=ROUNDED, name="m"), Rank(by=ROUNDED)), question)
    assert found == reading(Metric(expression=MEAN, name="m"), Rank(by=MEAN))


@pytest.mark.parametrize(
    "question",
    [
        "average price, rounded to two decimals",
        "average price to the nearest cent",
        "average price as a whole number",
        "средняя цена, округли до рубля",
        "средняя цена, два знака после запятой",
    ],
)
def test_a_rounding_that_is_asked_for_is_kept(question: str) -> None:
    asked = reading(Metric(expression=ROUNDED, name="m"))
    assert unrounded(asked, question) == asked


@pytest.mark.parametrize("how", ["down", "up", "toward_zero"])
def test_only_what_is_rounded_to_the_nearest_is_changed(how: str) -> None:
    shown: Expression = Rounded(of=MEAN, how=how)  # type: ignore[arg-type]
    assert unrounded(reading(Metric(expression=shown, name="m")), "price") == reading(
        Metric(expression=shown, name="m")
    )


def test_groups_and_different_rows_keep_theirs() -> None:
    price = Rounded(of=Column(name="price"), how="nearest")
    computed = (EachMeasure(name="p", expression=price),)
    kept = reading(
        GroupBy(column="p", expression=price),
        GroupBy(column="b", expression=Bins(of=price, width=5)),
        ColumnsAsked(columns=("p",), distinct=True, computed=computed),
    )
    assert unrounded(kept, "price") == kept
    plain = ColumnsAsked(columns=("p",), computed=(EachMeasure(name="p", expression=Column(name="price")),))
    assert unrounded(reading(ColumnsAsked(columns=("p",), computed=computed)), "price") == reading(plain)
