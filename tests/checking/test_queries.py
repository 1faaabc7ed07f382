"""A step that keeps, groups and measures rows in one query is proven like the steps that do it one by one."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.plan import Plan
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verdict import Passed, Refused, Verdict
from groundplan.sources.tableau.source import Tableau
from tests.checking.asked import SCHEMA, asked, catalog

EMPTY = SourceSchema(source="tables", engine="duckdb", tables=())
TOTALS = ("metric:revenue:sum", "group_by:region")
REVENUE = {"column": "revenue", "function": "sum", "as": "revenue"}
UNITS = {"column": "units", "function": "sum", "as": "units"}


def kept(column: str, operator: str, *values: Any) -> dict[str, Any]:
    return {"conditions": [{"column": column, "operator": operator, "values": [*values]}]}


@pytest.fixture(scope="module")
def tools() -> Catalog:
    return catalog(*Catalog.load([*Tableau.tools()]).tools.values())


def verdict_on(
    asks: tuple[str, ...], tools: Catalog, *then: dict[str, Any], table: str = "sales", **params: Any
) -> Verdict:
    """Of a query for revenue by region, with other params; `then` are steps after it."""
    reading = asked(*asks)
    cited = [requirement.id for requirement in reading.requirements]
    given = {"table": table, "group_by": ["region"], "metrics": [REVENUE], **params}
    steps = [{"id": "query", "tool": "tableau_query", "params": given, "satisfies": cited}]
    steps += [{"id": f"then{place}", "satisfies": cited, **step} for place, step in enumerate(then)]
    plan = Plan.model_validate({"strategy": "hand", "steps": steps})
    schemas = {"tableau": SCHEMA.model_copy(update={"source": "tableau"}), "tables": EMPTY}
    return check(plan, reading, tools, schemas)


def codes(verdict: Verdict) -> set[str]:
    return {issue.code for issue in verdict.issues}


def total(column: str) -> dict[str, Any]:
    return {"kind": "aggregate", "function": "sum", "of": {"kind": "column", "name": column}}


def ratio(above: str, below: str) -> dict[str, Any]:
    return {"kind": "arithmetic", "operator": "/", "left": total(above), "right": total(below)}


PRICE = ("metric price = sum(revenue) / sum(units)", "group_by:region")
MEAN_PRICE = {
    "kind": "aggregate",
    "function": "mean",
    "of": {
        "kind": "arithmetic",
        "operator": "/",
        "left": {"kind": "column", "name": "revenue"},
        "right": {"kind": "column", "name": "units"},
    },
}
MARGIN = ("of published", "metric:margin:defined", "group_by:area")
PUBLISHED: dict[str, Any] = {"table": "published", "group_by": ["area"]}
COVERED: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "a total by group": (TOTALS, {}),
    "a quotient": (PRICE, {"metrics": [{"expression": ratio("revenue", "units"), "as": "price"}]}),
    "an aggregated field": (
        MARGIN,
        {**PUBLISHED, "metrics": [{"column": "margin", "function": "defined", "as": "margin"}]},
    ),
    "an average": (("metric:revenue:mean",), {"group_by": [], "metrics": [{**REVENUE, "function": "mean"}]}),
    "a time axis": (("metric:revenue:sum", "time:date:month"), {"group_by": ["date"], "grain": "month"}),
    "any grain": (("metric:revenue:sum", "time:date"), {"group_by": ["date"], "grain": "week"}),
    "equal": ((*TOTALS, "filter:channel:=:online"), kept("channel", "=", "online")),
    "one of": ((*TOTALS, "filter:channel:in:a:b"), kept("channel", "in", "b", "a")),
    "a period": (
        (*TOTALS, "filter:date:between:2025-01-01:2025-02-01"),
        kept("date", "between", "2025-01-01", "2025-02-01"),
    ),
    "a condition": (
        (*TOTALS, "filter:channel:=:online"),
        {
            "where": {
                "kind": "compare",
                "left": {"kind": "column", "name": "channel"},
                "operator": "=",
                "right": {"kind": "constant", "value": "online"},
            }
        },
    ),
    "the first groups": ((*TOTALS, "rank:top:3"), {"top": {"limit": 3}}),
    "the last groups": ((*TOTALS, "rank:bottom:3"), {"top": {"limit": 3, "direction": "bottom"}}),
}


@pytest.mark.requirement("R24", "R32")
@pytest.mark.parametrize("case", COVERED)
def test_a_query_covers_what_it_does(case: str, tools: Catalog) -> None:
    asks, params = COVERED[case]
    verdict = verdict_on(asks, tools, **params)
    assert isinstance(verdict, Passed), verdict.issues


UNCOVERED: dict[str, tuple[tuple[str, ...], dict[str, Any], str]] = {
    "another function": (TOTALS, {"metrics": [{**REVENUE, "function": "mean"}]}, "meaning/differs"),
    "another group": (TOTALS, {"group_by": ["channel"]}, "meaning/differs"),
    "one group more": (TOTALS, {"group_by": ["region", "channel"]}, "meaning/differs"),
    "one measure more": (TOTALS, {"metrics": [REVENUE, UNITS]}, "meaning/differs"),
    "another grain": (
        ("metric:revenue:sum", "time:date:month"),
        {"group_by": ["date"], "grain": "week"},
        "meaning/differs",
    ),
    "a filter is no axis": (
        ("metric:revenue:sum", "time:date"),
        {"group_by": [], **kept("date", ">=", "2025-01-01")},
        "meaning/differs",
    ),
    "no filter": ((*TOTALS, "filter:channel:=:online"), {}, "meaning/differs"),
    "another value": ((*TOTALS, "filter:channel:=:online"), kept("channel", "=", "store"), "meaning/differs"),
    "the day after the last": (
        (*TOTALS, "filter:date:between:2025-01-01:2025-02-01"),
        kept("date", "between", "2025-01-01", "2025-02-02"),
        "meaning/differs",
    ),
    "a filter nobody asked for": (TOTALS, kept("channel", "=", "a"), "meaning/differs"),
    "no ranking": ((*TOTALS, "rank:top:3"), {}, "coverage/missing"),
    "more than asked": ((*TOTALS, "rank:top:3"), {"top": {"limit": 4}}, "meaning/differs"),
    "the other end": ((*TOTALS, "rank:top:3"), {"top": {"limit": 3, "direction": "bottom"}}, "meaning/differs"),
    "by another measure": (
        ("metric:units:sum", "metric:revenue:sum", "group_by:region", "rank:top:3"),
        {"metrics": [REVENUE, UNITS], "top": {"limit": 3}},
        "meaning/differs",
    ),
    "a cut nobody asked for": (TOTALS, {"top": {"limit": 3}}, "coverage/unasked"),
    "an unknown column": (TOTALS, {"group_by": ["region", "turnover"]}, "names/unknown-column"),
    "a sum of text": (
        ("metric:channel:sum", "group_by:region"),
        {"metrics": [{"column": "channel", "function": "sum", "as": "channel"}]},
        "types/unfit-function",
    ),
    "a number in a text": (TOTALS, kept("channel", "=", 5), "types/unfit-value"),
    "a formula": (TOTALS, {"metrics": [{"expression": {"kind": "rows"}, "as": "revenue"}]}, "meaning/differs"),
    "a mean of quotients": (PRICE, {"metrics": [{"expression": MEAN_PRICE, "as": "price"}]}, "meaning/differs"),
    "a quotient turned": (
        PRICE,
        {"metrics": [{"expression": ratio("units", "revenue"), "as": "price"}]},
        "meaning/differs",
    ),
    "a function of an aggregated field": (
        MARGIN,
        {**PUBLISHED, "metrics": [{"column": "margin", "function": "mean", "as": "margin"}]},
        "flow/aggregated-again",
    ),
    "a calculation": (TOTALS, {"metrics": [{**REVENUE, "calculation": "SUM([revenue])"}]}, "types/unfit-param"),
    "a query of its own": (TOTALS, {"query": {"fields": []}}, "types/unfit-param"),
}


@pytest.mark.requirement("R24", "R32", "R41")
@pytest.mark.parametrize("case", UNCOVERED)
def test_a_query_that_does_something_else_is_refused(case: str, tools: Catalog) -> None:
    asks, params, code = UNCOVERED[case]
    verdict = verdict_on(asks, tools, **params)
    assert isinstance(verdict, Refused)
    assert code in codes(verdict), verdict.issues


RANK = {"tool": "rank_rows", "needs": ["query"], "params": {"by": "revenue", "limit": 3}}


@pytest.mark.requirement("R32")
def test_the_same_cut_again_is_the_same(tools: Catalog) -> None:
    asks = (*TOTALS, "rank:top:3")
    assert isinstance(verdict_on(asks, tools, RANK, top={"limit": 3}), Passed)
    assert isinstance(verdict_on(asks, tools, RANK), Passed)
    for top in ({"limit": 4}, {"limit": 3, "direction": "bottom"}):
        assert isinstance(verdict_on(asks, tools, RANK, top=top), Refused)


@pytest.mark.requirement("R32")
def test_what_looks_at_all_groups_does_not_follow_a_cut(tools: Catalog) -> None:
    share = {"tool": "share_of_total", "needs": ["query"], "params": {"column": "revenue", "as": "part"}}
    asks = ("metric part = share(sum(revenue))", "group_by:region", "analysis:share")
    assert isinstance(verdict_on(asks, tools, share), Passed)
    assert "meaning/differs" in codes(verdict_on((*asks, "rank:top:3"), tools, share, top={"limit": 3}))


@pytest.mark.requirement("R32")
def test_rows_are_counted_by_a_column_that_identifies_them(tools: Catalog) -> None:
    by_key = {"group_by": [], "metrics": [{"column": "order_id", "function": "count", "as": "count"}]}
    assert isinstance(verdict_on(("metric:rows:count",), tools, table="orders", **by_key), Passed)
    refused = verdict_on(("metric:rows:count",), tools, table="items", **by_key)
    assert codes(refused) == {"meaning/differs"}
    assert "it does not show number of rows" in str(refused)


@pytest.mark.requirement("R32")
def test_later_steps_see_the_columns_that_the_query_names(tools: Catalog) -> None:
    asks = (*TOTALS, "output:chart:bar")
    chart = {"tool": "plot_bar", "needs": ["query"], "params": {"x": "region", "y": "money"}}
    money = [{**REVENUE, "as": "money"}]
    assert isinstance(verdict_on(asks, tools, chart, metrics=money), Passed)
    assert "names/unknown-column" in codes(verdict_on(asks, tools, chart))


@pytest.mark.requirement("R33")
def test_the_case_of_a_column_is_repaired(tools: Catalog) -> None:
    verdict = verdict_on(TOTALS, tools, group_by=["Region"])
    assert isinstance(verdict, Passed), verdict.issues
    assert "params.group_by.0" in [repair.path for repair in verdict.plan.repairs]
