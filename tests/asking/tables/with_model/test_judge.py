"""A reading is compared with the words: what they say and it lacks, what it has and they do not say."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from groundplan.asking.tables.grammar.read import derive_best, senses_of
from groundplan.asking.tables.with_model.judge import Judgement, judged
from groundplan.asking.tables.with_model.proposal import (
    Group,
    Measure,
    Number,
    Order,
    RowTest,
    Value,
    WholeReading,
    reading_of,
)
from groundplan.asking.tables.with_model.read import Asked, _found, _tables, shortlist
from groundplan.asking.tables.with_model.written import written
from groundplan.contracts.meaning import meaning_of
from tests.asking.tables.described import SALES, Known, describe
from tests.questions.notation import reading

TODAY = date(2026, 1, 15)


@pytest.fixture(scope="module")
def sales() -> Known:
    return asyncio.run(describe(SALES))


def judge(question: str, sales: Known, **written_as: Any) -> Judgement:
    """The judgement on a proposal whose parts quote the whole question."""
    schema, values = sales
    proposal = WholeReading(table="sales", **written_as)
    senses, _ = senses_of(question, schema.tables[0], values["sales"], today=TODAY, timezone="UTC")
    return judged(reading_of(proposal, question, schema), [senses])


def measure(words: str, function: str, column: str | None = None) -> tuple[Measure, ...]:
    number = Number.model_validate({"function": function, "of": {"column": column} if column else None})
    return (Measure(words=words, number=number),)


def group(words: str, column: str) -> tuple[Group, ...]:
    return (Group(words=words, of=Value(column=column)),)


def only(words: str, column: str, check: str, *values: object) -> RowTest:
    return RowTest.model_validate({"words": words, "of": {"column": column}, "check": check, "to": values})


QUESTION = "top 3 regions by average revenue online in 2025, without West"


def right() -> dict[str, Any]:
    return {
        "measures": measure(QUESTION, "mean", "revenue"),
        "groups": group(QUESTION, "region"),
        "filters": (
            only(QUESTION, "date", "within", "2025-01-01", "2026-01-01"),
            only(QUESTION, "channel", "=", "online"),
            only(QUESTION, "region", "!=", "West"),
        ),
        "order": Order(words=QUESTION, direction="top", limit=3),
    }


def changed(**parts: Any) -> dict[str, Any]:
    return {**right(), **parts}


FILTERS = right()["filters"]
WRONG: Mapping[str, tuple[dict[str, Any], str]] = {
    "a function": (changed(measures=measure(QUESTION, "median", "revenue")), "'average' is not in the reading"),
    "a column": (changed(measures=measure(QUESTION, "mean", "cost")), "no word of the question says cost"),
    "a group": (
        changed(groups=group(QUESTION, "channel")),
        "channel is named by a value, and no word of the question groups by it",
    ),
    "a group more": (
        changed(groups=(*group(QUESTION, "region"), *group(QUESTION, "product_category"))),
        "no word of the question says product_category",
    ),
    "a period": (changed(filters=FILTERS[1:]), "'2025' is not in the reading"),
    "a value": (changed(filters=(FILTERS[0], FILTERS[2])), "'online' is not in the reading"),
    "a negation": (
        changed(filters=(*FILTERS[:2], only(QUESTION, "region", "=", "West"))),
        "'without' is not in the reading",
    ),
    "an order": (changed(order=Order(words=QUESTION, direction="bottom", limit=3)), "'top' is not in the reading"),
    "a cut": (changed(order=Order(words=QUESTION, direction="top", limit=5)), "no word of the question says 5"),
    "no order": (changed(order=None), "'top' is not in the reading"),
    "a condition more": (
        changed(filters=(*FILTERS, only(QUESTION, "units", ">", 10.0))),
        "no word of the question says 10",
    ),
}


@pytest.mark.requirement("R6")
def test_what_says_all_and_nothing_else_has_no_fault(sales: Known) -> None:
    assert judge(QUESTION, sales, **right()).faults == ()


@pytest.mark.requirement("R6")
@pytest.mark.parametrize("fault", WRONG)
def test_a_fault_is_named(fault: str, sales: Known) -> None:
    parts, problem = WRONG[fault]
    assert problem in judge(QUESTION, sales, **parts).faults


def test_an_identifier_is_not_measured(sales: Known) -> None:
    found = judge("total region", sales, measures=measure("total region", "sum", "region"))
    assert "region holds no amounts" in found.faults


def test_what_rests_on_an_unknown_word_is_told(sales: Known) -> None:
    question = "total lucre by region"
    found = judge(question, sales, measures=measure(question, "sum", "cost"), groups=group(question, "region"))
    assert (found.faults, found.open_words, found.resting) == ((), ("lucre",), ("cost",))


@pytest.mark.parametrize("quote", ["total", "gross revenue"])
def test_an_unknown_word_that_is_not_quoted_is_unread(quote: str, sales: Known) -> None:
    found = judge("total lucre", sales, measures=measure(quote, "sum", "revenue"))
    assert found.faults == ("'lucre' is quoted by no part",)


def test_a_reading_written_as_a_proposal_means_the_same(sales: Known) -> None:
    schema, values = sales
    for question in ("total revenue by region in 2025", "top 3 regions by units", "units per month"):
        derived = derive_best(question, schema, values, today=TODAY).reading
        assert derived is not None
        proposal = written(derived)
        assert proposal is not None
        assert meaning_of(reading_of(proposal, question, schema)) == meaning_of(derived)


def test_what_the_form_has_no_place_for_is_not_written() -> None:
    nested = {"each": {"keys": ["region"], "measures": {"n": "rows()"}}, "metric": {"most": "max(n)"}}
    assert written(reading("q", "sales", nested)) is None


@pytest.mark.requirement("R50")
def test_a_prompt_holds_only_the_values_that_the_question_names(sales: Known) -> None:
    schema, values = sales
    text = "total lucre in the West last month"
    asked = Asked(text, shortlist(schema, text), values, TODAY, "UTC")
    held = f"{_tables(asked)}\n{_found(asked)}"
    named = [v for listed in values["sales"].values() for v in listed if v in held]
    assert named == ["West"]
    assert "'last month' 2025-12-01" in held
