"""A query is proven like any other step: what it computes, filters and ranks is exactly what was asked."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import Plan
from groundplan.contracts.verdict import Passed, Refused, Verdict
from tests.checking.asked import SCHEMA, asked, catalog

REGION = {"fieldCaption": "region"}
REVENUE = {"fieldCaption": "revenue", "function": "SUM"}
MONTH = {"fieldCaption": "date", "function": "TRUNC_MONTH"}
TOP = {"filterType": "TOP", "field": REGION, "howMany": 3, "fieldToMeasure": REVENUE}
SHARE = {
    **REVENUE,
    "fieldAlias": "share",
    "tableCalculation": {"tableCalcType": "PERCENT_OF_TOTAL", "dimensions": [REGION]},
}
TOTALS = ("metric:revenue:sum", "group_by:region")


def kept(type_: str, caption: str, **more: Any) -> dict[str, Any]:
    return {"filterType": type_, "field": {"fieldCaption": caption}, **more}


@pytest.fixture(scope="module")
def tools() -> Catalog:
    return catalog()


def verdict_on(
    asks: tuple[str, ...], fields: list[Any], *filters: Any, tools: Catalog, table: str = "sales", **params: Any
) -> Verdict:
    reading = asked(*asks)
    query = {"fields": fields, **({"filters": list(filters)} if filters else {})}
    step = {
        "id": "query",
        "tool": "query_table",
        "params": {"table": table, "query": query, **params},
        "satisfies": [requirement.id for requirement in reading.requirements],
    }
    plan = Plan.model_validate({"strategy": "hand", "steps": [step]})
    return check(plan, reading, tools, {"tables": SCHEMA})


def codes(verdict: Verdict) -> set[str]:
    return {issue.code for issue in verdict.issues}


FIELDS = [REGION, REVENUE]
COVERED: dict[str, tuple[tuple[str, ...], list[Any], list[Any], dict[str, Any]]] = {
    "a total by group": (TOTALS, FIELDS, [], {}),
    "an average": (("metric:revenue:mean",), [{**REVENUE, "function": "AVG"}], [], {}),
    "distinct values": (("metric:region:count_distinct",), [{**REGION, "function": "COUNTD"}], [], {}),
    "a time axis": (("metric:revenue:sum", "time:date:month"), [MONTH, REVENUE], [], {}),
    "any grain": (("metric:revenue:sum", "time:date"), [MONTH, REVENUE], [], {}),
    "equal": ((*TOTALS, "filter:channel:=:online"), FIELDS, [kept("SET", "channel", values=["online"])], {}),
    "one of": ((*TOTALS, "filter:channel:in:a:b"), FIELDS, [kept("SET", "channel", values=["b", "a"])], {}),
    "unequal": (
        (*TOTALS, "filter:channel:!=:online"),
        FIELDS,
        [kept("SET", "channel", values=["online", None], exclude=True)],
        {},
    ),
    "contains": ((*TOTALS, "filter:channel:contains:on"), FIELDS, [kept("MATCH", "channel", contains="on")], {}),
    "at least": (
        (*TOTALS, "filter:units:>=:5"),
        FIELDS,
        [kept("QUANTITATIVE_NUMERICAL", "units", quantitativeFilterType="MIN", min=5)],
        {},
    ),
    "a period": (
        (*TOTALS, "filter:date:between:2025-01-01:2025-02-01"),
        FIELDS,
        [
            kept(
                "QUANTITATIVE_DATE",
                "date",
                quantitativeFilterType="RANGE",
                minDate="2025-01-01",
                maxDate="2025-01-31",
            )
        ],
        {},
    ),
    "last month": (
        (*TOTALS, "filter:date:between:2025-01-01:2025-02-01"),
        FIELDS,
        [kept("DATE", "date", periodType="MONTHS", dateRangeType="LAST", anchorDate="2025-02-20")],
        {},
    ),
    "missing values": ((*TOTALS, "filter:channel:is null"), FIELDS, [kept("SET", "channel", values=[None])], {}),
    "the top members": ((*TOTALS, "rank:top:3"), FIELDS, [TOP], {}),
    "the bottom rows": (
        (*TOTALS, "rank:bottom:3"),
        [REGION, {**REVENUE, "sortPriority": 1}],
        [],
        {"rowLimit": 3},
    ),
    "a share": ((*TOTALS, "analysis:share"), [*FIELDS, SHARE], [], {}),
    "an order": ((*TOTALS, "analysis:ranking"), [REGION, {**REVENUE, "sortPriority": 1}], [], {}),
}


@pytest.mark.requirement("R24", "R32")
@pytest.mark.parametrize("case", COVERED)
def test_a_query_covers_what_it_does(case: str, tools: Catalog) -> None:
    asks, fields, filters, params = COVERED[case]
    verdict = verdict_on(asks, fields, *filters, tools=tools, **params)
    assert isinstance(verdict, Passed), verdict.issues
    assert verdict.plan.repairs == ()


RANGE = kept("QUANTITATIVE_DATE", "date", quantitativeFilterType="RANGE", minDate="2025-01-01", maxDate="2025-02-01")
UNCOVERED: dict[str, tuple[tuple[str, ...], list[Any], list[Any], dict[str, Any], str]] = {
    "another function": (TOTALS, [REGION, {**REVENUE, "function": "AVG"}], [], {}, "meaning/differs"),
    "another group": (TOTALS, [{"fieldCaption": "channel"}, REVENUE], [], {}, "meaning/differs"),
    "one group more": (TOTALS, [*FIELDS, {"fieldCaption": "channel"}], [], {}, "meaning/differs"),
    "bins are no groups": (
        ("metric:revenue:sum", "group_by:units"),
        [{"fieldCaption": "units", "binSize": 5}, REVENUE],
        [],
        {},
        "coverage/ungrouped",
    ),
    "another grain": (
        ("metric:revenue:sum", "time:date:month"),
        [{**MONTH, "function": "TRUNC_WEEK"}, REVENUE],
        [],
        {},
        "meaning/differs",
    ),
    "a part of a date is no axis": (
        ("metric:revenue:sum", "time:date:month"),
        [{**MONTH, "function": "MONTH"}, REVENUE],
        [],
        {},
        "coverage/untimed",
    ),
    "a filter is no axis": (("metric:revenue:sum", "time:date"), [REVENUE], [RANGE], {}, "meaning/differs"),
    "no filter": ((*TOTALS, "filter:channel:=:online"), FIELDS, [], {}, "coverage/missing"),
    "another value": (
        (*TOTALS, "filter:channel:=:online"),
        FIELDS,
        [kept("SET", "channel", values=["store"])],
        {},
        "meaning/differs",
    ),
    "the day after the last": (
        (*TOTALS, "filter:date:between:2025-01-01:2025-02-01"),
        FIELDS,
        [RANGE],
        {},
        "meaning/differs",
    ),
    "a filter nobody asked for": (
        TOTALS,
        FIELDS,
        [kept("SET", "channel", values=["a"])],
        {},
        "meaning/differs",
    ),
    "a condition on a total": (
        (*TOTALS, "filter:revenue:>=:5"),
        FIELDS,
        [
            {
                "filterType": "QUANTITATIVE_NUMERICAL",
                "field": REVENUE,
                "quantitativeFilterType": "MIN",
                "min": 5,
            }
        ],
        {},
        "coverage/unfiltered",
    ),
    "missing values kept with a range": (
        (*TOTALS, "filter:units:>=:5"),
        FIELDS,
        [kept("QUANTITATIVE_NUMERICAL", "units", quantitativeFilterType="MIN", min=5, includeNulls=True)],
        {},
        "coverage/unfiltered",
    ),
    "no ranking": ((*TOTALS, "rank:top:3"), FIELDS, [], {}, "coverage/missing"),
    "more than asked": ((*TOTALS, "rank:top:3"), FIELDS, [{**TOP, "howMany": 4}], {}, "meaning/differs"),
    "the other end": ((*TOTALS, "rank:top:3"), FIELDS, [{**TOP, "direction": "BOTTOM"}], {}, "meaning/differs"),
    "by what the query does not have": (
        (*TOTALS, "rank:top:3"),
        FIELDS,
        [{**TOP, "fieldToMeasure": {**REVENUE, "function": "AVG"}}],
        {},
        "coverage/unranked",
    ),
    "of one of two groups": (
        (*TOTALS, "group_by:channel", "rank:top:3"),
        [*FIELDS, {"fieldCaption": "channel"}],
        [TOP],
        {},
        "coverage/unranked",
    ),
    "any three rows": ((*TOTALS, "rank:top:3"), FIELDS, [], {"rowLimit": 3}, "coverage/unranked"),
    "a top nobody asked for": (TOTALS, FIELDS, [TOP], {}, "coverage/unasked"),
    "a share nobody asked for": (TOTALS, [*FIELDS, SHARE], [], {}, "coverage/unasked"),
    "no share": ((*TOTALS, "analysis:share"), FIELDS, [], {}, "coverage/missing"),
    "an unknown column": (TOTALS, [*FIELDS, {"fieldCaption": "turnover"}], [], {}, "names/unknown-column"),
    "a sum of text": (("metric:region:sum",), [{**REGION, "function": "SUM"}], [], {}, "types/unfit-function"),
    "a number in a text": (TOTALS, FIELDS, [kept("SET", "channel", values=[5])], {}, "types/unfit-value"),
}


@pytest.mark.requirement("R24", "R32", "R41")
@pytest.mark.parametrize("case", UNCOVERED)
def test_a_query_that_does_something_else_is_refused(case: str, tools: Catalog) -> None:
    asks, fields, filters, params, code = UNCOVERED[case]
    verdict = verdict_on(asks, fields, *filters, tools=tools, **params)
    assert isinstance(verdict, Refused)
    assert code in codes(verdict), verdict.issues


@pytest.mark.requirement("R33")
def test_a_filter_beside_a_top_is_moved_into_its_context(tools: Catalog) -> None:
    asks = (*TOTALS, "rank:top:3", "filter:channel:=:online")
    verdict = verdict_on(asks, FIELDS, TOP, kept("SET", "channel", values=["online"]), tools=tools)
    assert isinstance(verdict, Passed), verdict.issues
    (repair,) = verdict.plan.repairs
    assert (repair.kind, repair.path, repair.before) == ("query", "params.query.filters.1.context", "False")
    filters: Any = thaw(verdict.plan.steps[0].params["query"])["filters"]  # type: ignore[index]
    assert filters[1]["context"] is True


@pytest.mark.requirement("R33")
def test_values_that_are_left_out_take_rows_without_a_value_along(tools: Catalog) -> None:
    asks = (*TOTALS, "filter:channel:!=:online")
    verdict = verdict_on(asks, FIELDS, kept("SET", "channel", values=["online"], exclude=True), tools=tools)
    assert isinstance(verdict, Passed), verdict.issues
    (repair,) = verdict.plan.repairs
    assert (repair.path, repair.after) == ("params.query.filters.0.values", "['online', None]")


@pytest.mark.requirement("R33")
def test_the_case_of_a_caption_is_repaired(tools: Catalog) -> None:
    verdict = verdict_on(TOTALS, [{"fieldCaption": "Region"}, REVENUE], tools=tools)
    assert isinstance(verdict, Passed), verdict.issues
    assert [repair.path for repair in verdict.plan.repairs] == ["params.query.fields.0.fieldCaption"]


@pytest.mark.requirement("R32")
def test_rows_are_counted_by_a_column_that_identifies_them(tools: Catalog) -> None:
    by_key = {"fieldCaption": "order_id", "function": "COUNT"}
    assert isinstance(verdict_on(("metric:rows:count",), [by_key], tools=tools, table="orders"), Passed)
    refused = verdict_on(("metric:rows:count",), [by_key], tools=tools, table="items")
    assert codes(refused) == {"meaning/differs"}
    assert "it does not show number of rows" in str(refused)


@pytest.mark.requirement("R32")
def test_later_steps_see_the_columns_that_the_query_names(tools: Catalog) -> None:
    reading = asked(*TOTALS, "output:chart:bar")
    query = {"fields": [REGION, {**REVENUE, "fieldAlias": "money"}]}
    steps: list[dict[str, Any]] = [
        {
            "id": "query",
            "tool": "query_table",
            "params": {"table": "sales", "query": query},
            "satisfies": ["metric:revenue", "group_by:region"],
        },
        {
            "id": "chart",
            "tool": "plot_bar",
            "needs": ["query"],
            "params": {"x": "region", "y": "money"},
            "satisfies": ["output:chart"],
        },
    ]
    plan = Plan.model_validate({"strategy": "hand", "steps": steps})
    assert isinstance(check(plan, reading, tools, {"tables": SCHEMA}), Passed)
    other = copy.deepcopy(steps)
    other[1]["params"]["y"] = "revenue"
    refused = check(Plan.model_validate({"strategy": "hand", "steps": other}), reading, tools, {"tables": SCHEMA})
    assert codes(refused) == {"names/unknown-column"}


@pytest.mark.requirement("R32")
def test_a_sum_over_rows_that_a_join_repeats_is_refused(tools: Catalog) -> None:
    join = {
        "id": "join",
        "tool": "join_tables",
        "params": {"left": "orders", "right": "items", "on": [{"left": "order_id", "right": "order_id"}]},
        "satisfies": ["metric:freight"],
    }
    query = {"fields": [{"fieldCaption": "freight", "function": "SUM"}]}
    step = {
        "id": "query",
        "tool": "query_table",
        "needs": ["join"],
        "params": {"query": query},
        "satisfies": ["metric:freight"],
    }
    plan = Plan.model_validate({"strategy": "hand", "steps": [join, step]})
    verdict = check(plan, asked("metric:freight:sum"), tools, {"tables": SCHEMA})
    assert "flow/double-counting" in codes(verdict)
