"""Laws that hold for any question: parts make the whole, a filter and its complement make all, engines agree."""

from __future__ import annotations

import json
import math
from datetime import date as day
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

import groundplan
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.sources.tables.engine.handle import Handle
from groundplan.sources.tables.source import Tables
from tests.asking.tables.described import SALES
from tests.reference.comparing import ANY_SPEED, assert_same, engine  # noqa: F401
from tests.reference.executing import COLUMNS as STORED
from tests.reference.executing import Store
from tests.reference.generating import TABLES, readings
from tests.sources.tables.tooling import made, rows

pytestmark = [pytest.mark.requirement("R38"), pytest.mark.requirement("R45", part="tools")]

COLUMNS = some.sampled_from(["region", "product", "paid", "customer_id", "day", "moment"])
GRAINS = some.sampled_from(["none", "day", "week", "month", "quarter", "year"])
MEASURES = some.sampled_from(["units", "revenue", "price"])
CONDITIONS = some.one_of(
    some.tuples(some.just("units"), some.sampled_from(["<", "<=", ">", ">=", "=", "!="]), some.integers(-1, 13)),
    some.tuples(some.just("price"), some.sampled_from(["<", ">="]), some.floats(0, 60).map(lambda x: round(x, 2))),
    some.tuples(some.just("region"), some.sampled_from(["=", "!="]), some.sampled_from(["North", "West", ""])),
    some.tuples(some.just("day"), some.sampled_from(["<", ">=", "="]), some.dates().map(str)),
    some.tuples(some.just("moment"), some.sampled_from(["<=", ">", "="]), some.dates().map(str)),
)
COMPLEMENT = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "=": "!=", "!=": "="}
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def kept(source: Tables, column: str, operator: str, value: object) -> Handle:
    values = [] if operator.endswith("null") else [value]
    condition = {"column": column, "operator": operator, "values": values}
    return made(source, "filter_rows", {"conditions": [condition]})


def whole(
    source: Tables, table: Handle | str, metrics: list[dict[str, Any]], *groups: str, grain: str = "none"
) -> list[dict[str, Any]]:
    return rows(
        source, made(source, "aggregate", {"group_by": list(groups), "grain": grain, "metrics": metrics}, table)
    )


@FEW
@given(groups=some.lists(COLUMNS, unique=True, min_size=1, max_size=3), grain=GRAINS, measure=MEASURES)
def test_parts_make_the_whole(source: Tables, groups: list[str], grain: str, measure: str) -> None:
    metrics = [{"function": "sum", "column": measure, "as": "sum"}, {"function": "count", "as": "n"}]
    parts = whole(source, "sales", metrics, *groups, grain=grain)
    (total,) = whole(source, "sales", metrics)
    assert sum(part["n"] for part in parts) == total["n"] == 600
    assert math.fsum(part["sum"] or 0 for part in parts) == pytest.approx(total["sum"])


@FEW
@given(condition=CONDITIONS)
def test_a_filter_its_complement_and_the_unknown_make_all(source: Tables, condition: tuple[str, str, Any]) -> None:
    column, operator, value = condition
    parts = [
        kept(source, column, operator, value),
        kept(source, column, COMPLEMENT[operator], value),
        kept(source, column, "is null", None),
    ]
    ids = [row["id"] for part in parts for row in rows(source, part)]
    assert sorted(ids) == list(range(600))


@pytest.mark.requirement("R45", part="postgres")
@FEW
@given(
    condition=CONDITIONS,
    groups=some.lists(COLUMNS, unique=True, max_size=2),
    grain=GRAINS,
    measure=MEASURES,
    function=some.sampled_from(["sum", "mean", "median", "min", "max", "count", "count_distinct", "std"]),
)
def test_engines_agree_on_random_plans(
    duckdb_source: Tables,
    postgres_source: Tables,
    condition: tuple[str, str, Any],
    groups: list[str],
    grain: str,
    measure: str,
    function: str,
) -> None:
    metrics = [{"function": function, "column": measure, "as": "value"}, {"function": "count", "as": "n"}]
    found = [
        whole(source, kept(source, *condition), metrics, *groups, grain=grain)
        for source in (duckdb_source, postgres_source)
    ]
    assert len(found[0]) == len(found[1])
    for here, there in zip(*found, strict=True):
        assert [here[name] for name in groups] == [there[name] for name in groups]
        assert here["n"] == there["n"]
        assert (here["value"] is None) == (there["value"] is None)
        assert here["value"] is None or here["value"] == pytest.approx(there["value"], rel=1e-9, abs=1e-9)


@FEW
@given(order=some.permutations(["region", "product", "units"]), limit=some.integers(1, 40))
def test_order_and_limit_choose_rows_and_change_none(source: Tables, order: list[str], limit: int) -> None:
    sales = source.table("sales")
    every = {row["id"]: row for row in rows(source, sales)}
    shown = rows(source, sales, order_by=order, limit=limit)
    assert len(shown) == limit
    assert all(row == every[row["id"]] for row in shown)


@settings(ANY_SPEED, max_examples=100)
@given(reading=readings(), rows=TABLES)
def test_a_plan_gives_what_the_definition_gives(engine: Store, reading: Reading, rows: list[dict[str, Any]]) -> None:
    assert_same(engine, reading, rows)


@pytest.mark.requirement("R69", part="interpreter")
def test_a_percentile_of_a_product_with_a_fraction_keeps_its_places(engine: Store) -> None:
    """DuckDB reads 0.5 as a decimal of one place and rounds to it."""
    of = {"kind": "arithmetic", "operator": "*", "left": {"kind": "column", "name": "n"}}
    half = {**of, "right": {"kind": "constant", "value": 0.5}}
    measure = {"kind": "aggregate", "function": "percentile", "percent": 50, "of": half}
    values = {
        "metric:0": {"kind": "metric", "expression": measure, "name": "m"},
        "output:table": {"kind": "output", "label": "table"},
    }
    asked = [{"id": id_, "value": value, "evidence": {"text": "asked"}} for id_, value in values.items()]
    reading = Reading.model_validate({"question": "asked", "language": "en", "tables": ["data"], "requirements": asked})
    assert_same(engine, reading, [{**dict.fromkeys(STORED), "id": place, "n": n} for place, n in enumerate((0, 1))])


@pytest.mark.requirement("R69", part="interpreter")
def test_an_overall_value_of_rows_and_of_the_condition_of_another_is_one_step(engine: Store) -> None:
    """The rows above the mean, and the lowest of the rows above the mean: the same mean beside the same rows."""
    n = {"kind": "column", "name": "n"}
    mean = {"kind": "overall", "of": {"kind": "aggregate", "function": "mean", "of": n}}
    above = {"kind": "compare", "left": n, "operator": ">", "right": mean}
    least = {"kind": "overall", "of": {"kind": "aggregate", "function": "min", "of": n}, "where": above}
    values = {
        "filter:0": {"kind": "filter", "condition": above},
        "filter:1": {"kind": "filter", "condition": {**above, "operator": "!=", "right": least}},
        "metric:0": {"kind": "metric", "expression": {"kind": "aggregate", "function": "sum", "of": n}, "name": "m"},
        "output:table": {"kind": "output", "label": "table"},
    }
    asked = [{"id": id_, "value": value, "evidence": {"text": "asked"}} for id_, value in values.items()]
    reading = Reading.model_validate({"question": "asked", "language": "en", "tables": ["data"], "requirements": asked})
    assert_same(
        engine, reading, [{**dict.fromkeys(STORED), "id": place, "n": n} for place, n in enumerate((0, 1, 5, 7, 9))]
    )


@pytest.mark.requirement("R69", part="interpreter")
def test_a_measure_that_another_one_is_made_from_keeps_its_own_name(engine: Store) -> None:
    count = {"kind": "rows", "where": {"kind": "missing", "of": {"kind": "column", "name": "g"}}}
    whole = {"kind": "overall", "of": {"kind": "rows"}}
    beside = {"kind": "arithmetic", "operator": "-", "left": count, "right": whole}
    values = {
        "metric:0": {"kind": "metric", "expression": beside, "name": "apart"},
        "metric:1": {"kind": "metric", "expression": count, "name": "without a region"},
        "output:table": {"kind": "output", "label": "table"},
    }
    asked = [{"id": id_, "value": value, "evidence": {"text": "asked"}} for id_, value in values.items()]
    reading = Reading.model_validate({"question": "asked", "language": "en", "tables": ["data"], "requirements": asked})
    assert_same(engine, reading, [{**dict.fromkeys(STORED), "id": place, "g": g} for place, g in enumerate("ab")])


@pytest.mark.slow
@pytest.mark.requirement("R69", part="interpreter")
@settings(ANY_SPEED, max_examples=5_000)
@given(reading=readings(), rows=TABLES)
def test_five_thousand_plans_give_what_the_definition_gives(
    engine: Store, reading: Reading, rows: list[dict[str, Any]]
) -> None:
    assert_same(engine, reading, rows)


@pytest.mark.parametrize(
    ("english", "russian"),
    [
        ("revenue by region", "выручка по регионам"),
        ("average revenue by category", "средняя выручка по категориям"),
        ("monthly revenue in 2025", "выручка по месяцам за 2025 год"),
        ("top 3 regions by revenue", "топ 3 региона по выручке"),
        ("total revenue last week", "выручка на прошлой неделе"),
    ],
)
def test_the_same_question_in_two_languages_has_the_same_plan(english: str, russian: str) -> None:
    with groundplan.open(SALES) as project:
        plans = [project.plan(text, today=day(2025, 7, 20)).plan for text in (english, russian)]
    assert plans[0] is not None
    assert plans[1] is not None
    assert without_labels(plans[0]) == without_labels(plans[1])


def without_labels(plan: Plan) -> list[Any]:
    """Titles and the names of results are in the language of the question."""
    steps = [step["params"] | {"tool": step["tool"]} for step in plan.model_dump(mode="json")["steps"]]
    text = json.dumps([{key: value for key, value in step.items() if key != "title"} for step in steps])
    labels = [metric["as"] for step in steps for metric in step.get("metrics", ()) if "as" in metric]
    for place, label in enumerate(labels):
        text = text.replace(json.dumps(label), json.dumps(f"result {place}"))
    return list(json.loads(text))
