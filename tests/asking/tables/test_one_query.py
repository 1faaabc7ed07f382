"""The first steps of a plan become one query; what needs the rows themselves is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.asking.tables.one_query import Inexpressible, with_query
from groundplan.asking.tables.plan import propose
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import Step
from groundplan.contracts.reading import Intent, Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verdict import Passed
from groundplan.sources.tableau.source import Tableau
from tests.checking.asked import SCHEMA, asked, catalog

REMOTE = SCHEMA.model_copy(update={"source": "tableau"})
SALES = REMOTE.tables[0]
TOTALS = ("of sales", "metric:revenue:sum", "group_by:region", "output:table")


@pytest.fixture(scope="module")
def tools() -> Catalog:
    return catalog(*Catalog.load([*Tableau.tools()]).tools.values())


def reading_of(intent: str, *asks: str) -> Reading:
    return asked(*asks).model_copy(update={"intents": (Intent(name=intent),)})


def steps_of(reading: Reading, schema: SourceSchema = REMOTE) -> tuple[Step, ...]:
    table = schema.find(reading.tables[0])
    assert table is not None
    return with_query(propose(reading, schema).steps, table, "tableau_query")


def params_of(steps: tuple[Step, ...]) -> Any:
    (query,) = [step for step in steps if step.tool == "tableau_query"]
    return thaw(query.params)


SAID: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "totals": ("comparison", TOTALS, ("tableau_query", "show_table")),
    "rows kept": ("comparison", (*TOTALS, "filter:channel:=:online"), ("tableau_query", "show_table")),
    "a time axis": (
        "time_series",
        ("of sales", "metric:revenue:sum", "time:date:month", "output:chart", "output:table"),
        ("tableau_query", "plot_line", "show_table"),
    ),
    "a share": (
        "share",
        (*TOTALS, "analysis:share"),
        ("tableau_query", "share_of_total", "show_table"),
    ),
    "a ranking": ("ranking", (*TOTALS, "rank:top:3"), ("tableau_query", "rank_rows", "show_table")),
    "groups kept": (
        "comparison",
        (*TOTALS, "filter big = sum(units) > 100"),
        ("tableau_query", "filter_rows", "select_columns", "show_table"),
    ),
    "a running total": (
        "time_series",
        ("of sales", "metric total = running(sum(revenue))", "time:date:month", "output:table"),
        ("tableau_query", "derive_column", "select_columns", "show_table"),
    ),
    "a formula of measures": (
        "comparison",
        ("of sales", "metric price = sum(revenue) / sum(units)", "group_by:region", "output:table"),
        ("tableau_query", "show_table"),
    ),
}


@pytest.mark.requirement("R24", "R46")
@pytest.mark.parametrize("case", SAID)
def test_the_plan_with_a_query_passes_the_gate(case: str, tools: Catalog) -> None:
    intent, asks, expected = SAID[case]
    reading = reading_of(intent, *asks)
    steps = steps_of(reading)
    assert tuple(step.tool for step in steps) == expected
    plan = propose(reading, REMOTE).model_copy(update={"steps": steps})
    empty = SourceSchema(source="tables", engine="duckdb", tables=())
    verdict = check(plan, reading, tools, {"tableau": REMOTE, "tables": empty})
    assert isinstance(verdict, Passed), verdict.issues


@pytest.mark.requirement("R24")
def test_only_what_is_kept_is_sent_where_ties_do_not_count() -> None:
    top = params_of(steps_of(reading_of("ranking", *TOTALS, "rank:bottom:3")))["top"]
    assert top == {"direction": "bottom", "limit": 3}
    price = ("of sales", "metric price = sum(revenue) / sum(units)", "group_by:region", "output:table")
    assert params_of(steps_of(reading_of("ranking", *price, "rank:top:3")))["top"]["limit"] == 3
    missing_first = (*price, "rank:bottom:3"), (*TOTALS, "group_by:channel", "rank:bottom:3")
    for asks in ((*TOTALS, "rank:top:1"), TOTALS, *missing_first):
        assert "top" not in params_of(steps_of(reading_of("ranking", *asks)))


@pytest.mark.requirement("R26")
@pytest.mark.parametrize(
    ("period", "grain"),
    [
        ((), "month"),
        (("2025-01-01", "2025-02-01"), "day"),
        (("2025-01-01", "2025-07-01"), "week"),
        (("2023-01-01", "2025-01-01"), "month"),
        (("2010-01-01", "2025-01-01"), "quarter"),
        (("1970-01-01", "2025-01-01"), "year"),
    ],
)
def test_a_grain_that_nobody_named_follows_from_the_period(period: tuple[str, ...], grain: str) -> None:
    kept = [f"filter:date:between:{':'.join(period)}"] if period else []
    reading = reading_of("time_series", "of sales", "metric:revenue:sum", "time:date", "output:table", *kept)
    assert params_of(steps_of(reading))["grain"] == grain


@pytest.mark.requirement("R24")
def test_rows_are_counted_by_a_column_that_identifies_them() -> None:
    counted = reading_of("total", "of orders", "metric:rows:count", "output:table")
    assert params_of(steps_of(counted))["metrics"] == [{"column": "order_id", "function": "count", "as": "count"}]


UNSAID: dict[str, tuple[str, tuple[str, ...], str]] = {
    "rows": ("detail", ("of sales", "analysis:detail", "output:table"), "rows as they are"),
    "a correlation": (
        "correlation",
        ("of sales", "metric:revenue", "metric:units", "analysis:correlation", "output:table"),
        "a correlation",
    ),
    "a distribution": (
        "distribution",
        ("of sales", "metric:revenue", "analysis:distribution", "output:table"),
        "a distribution",
    ),
    "a summary": ("summary", ("of sales", "metric:revenue", "analysis:summary", "output:table"), "a summary"),
    "computed groups": (
        "comparison",
        ("of sales", "metric:revenue:sum", "group_by month = part(date, 'month')", "output:table"),
        "groups by",
    ),
    "a measure under a condition": (
        "comparison",
        ("of sales", "metric west = sum(revenue, region == 'West')", "output:table"),
        "the formula",
    ),
    "rows without a key": ("total", ("of sales", "metric:rows:count", "output:table"), "no column that identifies"),
    "dates in a text": (
        "time_series",
        ("of orders", "metric:freight:sum", "time:ordered:month", "output:table"),
        "parse datetime",
    ),
}


@pytest.mark.requirement("R24", "R46")
@pytest.mark.parametrize("case", UNSAID)
def test_what_needs_the_rows_themselves_is_refused_by_name(case: str) -> None:
    intent, asks, said = UNSAID[case]
    with pytest.raises(Inexpressible, match=said):
        steps_of(reading_of(intent, *asks))
