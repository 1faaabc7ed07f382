"""The requirement language: levels, what fits into what, and JSON."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from groundplan.contracts.expression import (
    CONDITION,
    EXPRESSION,
    Aggregate,
    Bins,
    Cases,
    Column,
    Condition,
    Missing,
    columns_of,
    kind_of,
    level,
    misplaced,
)
from groundplan.contracts.normal_form import normal_condition, normal_expression
from groundplan.contracts.wording import Wording, in_words
from tests.questions.notation import condition, value

KINDS = {"price": "number", "region": "text", "day": "time", "paid": "boolean"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("price * 2", "row"),
        ("days(day, shipped)", "row"),
        ("cases(price > 5, 'dear', 'cheap')", "row"),
        ("rows()", "group"),
        ("sum(price) / rows(region == 'West')", "group"),
        ("correlation(price, weight)", "group"),
        ("days(min(day), max(day))", "group"),
        ("cases(sum(price) > 5, 'big', 'small')", "group"),
        ("share(sum(price))", "series"),
        ("growth(sum(price)) * 100", "series"),
        ("moving(rows(), 7)", "series"),
        ("overall(mean(price))", "row"),
        ("rows() / orders.overall(rows())", "group"),
    ],
)
def test_an_expression_has_the_level_of_its_highest_part(text: str, wanted: str) -> None:
    assert level(value(text)) == wanted
    assert misplaced(value(text)) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("price > 5", "row"),
        ("missing(region) or price > 5", "row"),
        ("rows() > 5", "group"),
        ("price > 5 and rows() > 5", "group"),
        ("share(rows()) > 0.5", "series"),
    ],
)
def test_a_condition_has_the_level_of_its_highest_part(text: str, wanted: str) -> None:
    assert level(condition(text)) == wanted


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("mean(sum(price))", "'aggregate' takes row values, and 'aggregate' is of a group"),
        ("rows(rows() > 5)", "'rows' takes row values"),
        ("share(price)", "'share' takes group values, and 'column' is of a row"),
        ("running(share(rows()))", "'running' takes group values, and 'share' is of a series"),
        ("cut(max(day), 'month')", "'date_cut' takes row values"),
        ("sum(price, among_top(rows(), 3))", "takes row values"),
    ],
)
def test_what_does_not_fit_is_named(text: str, wrong: str) -> None:
    assert wrong in (misplaced(value(text)) or "")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("price + 1", "number"),
        ("max(day)", "time"),
        ("min(region)", "text"),
        ("distinct(region)", "number"),
        ("cut(day, 'month')", "time"),
        ("part(day, 'month')", "number"),
        ("bins(price, 5, 10)", "text"),
        ("width(price, 10)", "number"),
        ("cases(price > 5, 'dear')", "text"),
        ("cases(price > 5, 1, 2)", "number"),
        ("holds(price > 5)", "boolean"),
        ("unknown", "other"),
    ],
)
def test_an_expression_has_values_of_one_kind(text: str, kind: str) -> None:
    assert kind_of(value(text), KINDS) == kind


@pytest.mark.parametrize(
    "text",
    [
        "percentile(days(day, shipped), 90, region == 'West') / count(c['Unit Price'])",
        "cases(price < 5, 'cheap', one_of(region, 'West', 'East'), 'far', 'other')",
        "sum(price, among_top(price, 10)) / sum(price)",
        "share(sum(price), region)",
        "yearly_growth(correlation(price, weight))",
    ],
)
def test_json_gives_the_same_expression_back(text: str) -> None:
    made = value(text)
    assert EXPRESSION.validate_json(EXPRESSION.dump_json(made)) == made
    assert EXPRESSION.validate_python(made.model_dump(exclude_none=True)) == made


def test_json_gives_the_same_condition_back() -> None:
    made = condition("not (contains(region, 'we') or missing(price)) and width(price, 10) == 20")
    assert CONDITION.validate_json(CONDITION.dump_json(made)) == made


def test_columns_are_found_wherever_they_stand() -> None:
    made = value("sum(price, region == 'West') / share(distinct(customer), city)")
    assert columns_of(made) == {"price", "region", "customer", "city"}


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Bins, {"of": Column(name="a")}),
        (Bins, {"of": Column(name="a"), "edges": (1, 2), "width": 5}),
        (Bins, {"of": Column(name="a"), "edges": (2, 1)}),
        (Cases, {"conditions": (Missing(of=Column(name="a")),), "values": ("x", "y")}),
        (Cases, {"conditions": (Missing(of=Column(name="a")),), "values": ("x",), "otherwise": 1}),
        (Aggregate, {"function": "percentile", "of": Column(name="a")}),
        (Aggregate, {"function": "sum", "of": Column(name="a"), "percent": 50}),
    ],
)
def test_what_has_no_meaning_cannot_be_made(kind: type[Bins | Cases | Aggregate], given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        kind.model_validate(given)


def test_the_condition_of_an_overall_value_is_the_one_of_its_measures() -> None:
    given = value("overall(sum(price, paid == True) / rows(), region == 'West')")
    wanted = value("overall(sum(price, paid == True and region == 'West') / rows(region == 'West'))")
    assert normal_expression(given) == normal_expression(wanted)


@pytest.mark.parametrize("text", ["overall(price)", "overall(rows() / overall(rows()))", "overall(rows(), rows() > 5)"])
def test_an_overall_value_is_of_measures_of_rows(text: str) -> None:
    assert misplaced(value(text)) is not None


@pytest.mark.parametrize(
    ("text", "english", "russian"),
    [
        ("overall(mean(price))", "overall average price", "среднее price по всем строкам"),
        ("orders.overall(rows())", "overall number of orders", "число orders по всем строкам"),
        ("orders.overall(max(price))", "overall highest price of orders", "максимум price (orders) по всем строкам"),
    ],
)
def test_overall_values_in_words(text: str, english: str, russian: str) -> None:
    assert in_words(value(text)) == english
    assert in_words(value(text), Wording("ru")) == russian


def test_what_is_found_in_words() -> None:
    given = condition("not found(customer, orders.buyer, price > 5)")
    assert in_words(given) == "customer is not among buyer of orders (where price is above 5)"
    assert in_words(given, Wording("ru")).startswith("customer нет среди buyer (orders)")


def test_what_is_found_is_never_unknown_and_of_the_rows_alone() -> None:
    given = condition("found(customer, orders.buyer, price > 5)")
    assert columns_of(given) == {"customer"}
    assert normal_condition(condition("holds(found(customer, orders.buyer)) == False")) == normal_condition(
        condition("not found(customer, orders.buyer)")
    )
    assert misplaced(condition("found(sum(price), orders.buyer)")) is not None


@pytest.mark.parametrize(
    ("text", "english", "russian"),
    [
        (
            "found_group(customer, orders.buyer, where=price > 5, having=rows() > 3)",
            "customer is among buyer of orders (where price is above 5) for which number of rows is above 3",
            "customer есть среди buyer (orders) (где price больше 5), для которых число строк больше 3",
        ),
        (
            "not found_group(customer, orders.buyer, top=(sum(price), 5))",
            "customer is not among the first 5 buyer of orders by total price (highest first)",
            "customer нет среди первых 5 из buyer (orders) по сумма price (по убыванию)",
        ),
        (
            "found_group(customer, orders.buyer, city, bottom=(sum(price), 1))",
            "customer is among the first buyer of orders grouped by buyer and city by total price (lowest first)",
            "customer есть среди первых buyer (orders) по группам (buyer и city) по сумма price (по возрастанию)",
        ),
    ],
)
def test_chosen_groups_in_words(text: str, english: str, russian: str) -> None:
    assert in_words(condition(text)) == english
    assert in_words(condition(text), Wording("ru")) == russian


def test_chosen_groups_have_one_way_to_be_written() -> None:
    def normal(text: str) -> Condition:
        return normal_condition(condition(text))

    whole = "found_group(customer, orders.buyer, city, having=rows() > 3)"
    assert normal(f"holds({whole}) == False") == normal(f"not {whole}")
    assert normal("found_group(a, orders.b, d, c, having=rows() > 3)") == normal(
        "found_group(a, orders.b, c, d, having=not rows() <= 3)"
    )
    assert normal("found_group(a, orders.b, c, where=d > 1)") == normal("found(a, orders.b, d > 1)")
    assert columns_of(condition(whole)) == {"customer"}


def test_chosen_groups_are_chosen_by_measures_of_rows() -> None:
    assert misplaced(condition("found_group(sum(a), orders.b, having=rows() > 3)")) is not None
    assert misplaced(condition("found_group(a, orders.b, having=c > 3)")) is not None
    assert misplaced(condition("found_group(a, orders.b, where=rows() > 3)")) is not None
    assert misplaced(condition("found_group(a, orders.b, having=sum(c) > overall(mean(c)))")) is not None
    assert misplaced(condition("found_group(a, orders.b, top=(c, 3))")) is not None
    assert misplaced(condition("found_group(a, orders.b, top=(b, 3))")) is None
