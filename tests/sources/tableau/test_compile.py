"""A step becomes the one query that means the same, or is refused by what a query cannot say."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.sources.tableau.double.querying import answer
from tests.sources.tableau.parity import Params, by_steps, copied, same, steps  # noqa: F401

from groundplan.contracts.schema import Column, Table
from groundplan.errors import ToolError
from groundplan.sources.tableau.compile import Asked, Inexpressible, compiled
from groundplan.sources.tableau.meaning import refuse_other
from groundplan.sources.tableau.vizql import Query
from groundplan.sources.tables.source import Tables

KINDS: dict[str, tuple[str, str]] = {
    "Order Date": ("DATE", "time"),
    "Ship Date": ("DATE", "time"),
    "Region": ("STRING", "text"),
    "State": ("STRING", "text"),
    "City": ("STRING", "text"),
    "Category": ("STRING", "text"),
    "Segment": ("STRING", "text"),
    "Customer Name": ("STRING", "text"),
    "Returned": ("BOOLEAN", "boolean"),
    "Sales": ("REAL", "number"),
    "Profit": ("REAL", "number"),
    "Discount": ("REAL", "number"),
    "Quantity": ("INTEGER", "number"),
}
TABLE = Table(
    name="Superstore",
    columns=tuple(
        Column.model_validate({"name": name, "type": type_, "kind": kind, "role": "dimension"})
        for name, (type_, kind) in KINDS.items()
    ),
)
SALES = {"column": "Sales", "function": "sum", "as": "Sales"}


def kept(*conditions: tuple[Any, ...]) -> Params:
    told = [{"column": column, "operator": operator, "values": [*values]} for column, operator, *values in conditions]
    return {"metrics": [SALES], "conditions": told}


def filters(params: Params) -> list[dict[str, Any]]:
    return compiled(params, TABLE).query.wire().get("filters", [])  # type: ignore[return-value]


@pytest.mark.requirement("R46")
@pytest.mark.requirement("R45", part="tools")
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(params=steps())
def test_a_query_gives_what_the_steps_give(params: Params, copied: tuple[Tables, duckdb.DuckDBPyConnection]) -> None:  # noqa: F811
    tables, double = copied
    try:
        sent = compiled(params, TABLE)
    except Inexpressible:
        assume(False)
    told = answer(double, sent.query.wire(), {})
    found = [same([*row]) for row in told.rows][: sent.row_limit]
    expected = by_steps(tables, params)
    assert told.names == [*params["group_by"], *(metric["as"] for metric in params["metrics"])]
    if "top" not in params:
        assert sorted(found, key=str) == sorted(expected, key=str)
        return
    first = len(params["group_by"])
    cut = expected[: params["top"]["limit"]]
    assert len(found) == len(cut)
    assert set(found) <= set(expected)
    assert sorted(str(row[first]) for row in found) == sorted(str(row[first]) for row in cut), (
        "ties may be cut elsewhere"
    )


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (("Region", "=", "West"), {"filterType": "SET", "values": ["West"]}),
        (("Region", "in", "West", None), {"filterType": "SET", "values": ["West", None]}),
        (("Region", "!=", "West"), {"filterType": "SET", "values": ["West", None], "exclude": True}),
        (("Region", "is null"), {"filterType": "SET", "values": [None]}),
        (("Region", "not null"), {"filterType": "SET", "values": [None], "exclude": True}),
        (("City", "contains", "San"), {"filterType": "MATCH", "contains": "San"}),
        (
            ("Quantity", ">=", 5),
            {"filterType": "QUANTITATIVE_NUMERICAL", "quantitativeFilterType": "MIN", "min": 5},
        ),
        (
            ("Order Date", "between", "2024-01-01", "2024-02-01"),
            {
                "filterType": "QUANTITATIVE_DATE",
                "quantitativeFilterType": "RANGE",
                "minDate": "2024-01-01",
                "maxDate": "2024-01-31",
            },
        ),
        (
            ("Order Date", ">", "2024-01-31"),
            {"filterType": "QUANTITATIVE_DATE", "quantitativeFilterType": "MIN", "minDate": "2024-02-01"},
        ),
    ],
)
def test_a_condition_becomes_its_filter(condition: tuple[Any, ...], expected: dict[str, Any]) -> None:
    assert filters(kept(condition)) == [{"field": {"fieldCaption": condition[0]}, **expected}]


@pytest.mark.requirement("R46")
def test_all_that_is_said_of_a_column_is_one_filter() -> None:
    (between,) = filters(kept(("Quantity", ">=", 3), ("Quantity", "<=", 6)))
    assert (between["quantitativeFilterType"], between["min"], between["max"]) == ("RANGE", 3, 6)
    (excluded,) = filters(kept(("Region", "!=", "East"), ("Region", "!=", "South")))
    assert (sorted(excluded["values"][:-1]), excluded["values"][-1]) == (["East", "South"], None)


COLUMN = {"kind": "column", "name": "City"}
UNSAID: dict[str, tuple[Params, str]] = {
    "more than": (kept(("Quantity", ">", 5)), "Quantity is above 5"),
    "two sets": (kept(("Region", "=", "West"), ("Region", "!=", "East")), "several conditions on 'Region'"),
    "an empty range": (kept(("Quantity", ">=", 6), ("Quantity", "<=", 3)), "a range from 6 to 3 is empty"),
    "a moment": (kept(("Order Date", ">=", "2024-01-01T10:00")), "the condition"),
    "text in order": (kept(("Region", ">=", "M")), "the condition"),
    "one or the other": (
        {
            "metrics": [SALES],
            "where": {
                "kind": "any",
                "parts": [
                    {"kind": "contains", "of": COLUMN, "text": "San"},
                    {"kind": "missing", "of": {"kind": "column", "name": "State"}},
                ],
            },
        },
        "the condition",
    ),
    "not a pattern": (
        {"metrics": [SALES], "where": {"kind": "not", "part": {"kind": "contains", "of": COLUMN, "text": "San"}}},
        "the condition",
    ),
    "upper case only": (
        {"metrics": [SALES], "where": {"kind": "contains", "of": COLUMN, "text": "SAN", "cased": True}},
        "the condition",
    ),
    "an hour": ({"metrics": [SALES], "group_by": ["Order Date"], "grain": "hour"}, r"groups by hour \(Order Date\)"),
    "a sum of text": ({"metrics": [{**SALES, "column": "City"}]}, "sum of 'City'"),
}


@pytest.mark.requirement("R24", "R46")
@pytest.mark.parametrize("case", UNSAID)
def test_what_a_query_cannot_say_is_refused_by_name(case: str) -> None:
    params, said = UNSAID[case]
    with pytest.raises(Inexpressible, match=said):
        compiled(params, TABLE)


@pytest.mark.requirement("R46")
def test_a_cut_of_members_comes_after_all_filters() -> None:
    """Tableau chooses the members of a TOP filter before ordinary filters apply, and after context filters."""
    top = {"limit": 3, "direction": "bottom"}
    sent = compiled({**kept(("Region", "=", "West")), "group_by": ["State"], "top": top}, TABLE)
    west, first = sent.query.wire()["filters"]  # type: ignore[misc]
    assert west["context"] is True  # type: ignore[index,call-overload]
    assert (first["filterType"], first["howMany"], first["direction"]) == ("TOP", 3, "BOTTOM")  # type: ignore[index,call-overload]
    assert sent.row_limit is None


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    "params",
    [
        {**kept(("State", "!=", "Texas")), "group_by": ["State"]},
        {"metrics": [SALES], "group_by": ["State", "Segment"]},
        {"metrics": [SALES], "group_by": ["Order Date"], "grain": "month"},
    ],
    ids=["a field that is filtered", "two groups", "a time axis"],
)
def test_a_cut_that_is_no_filter_is_one_of_sorted_rows(params: Params) -> None:
    sent = compiled({**params, "top": {"limit": 3}}, TABLE)
    assert sent.row_limit == 3
    sorted_by = [field for field in sent.query.fields if field.sort_priority == 1]
    assert [(field.name, field.sort_direction) for field in sorted_by] == [("Sales", "DESC")]
    assert all(one.filter_type != "TOP" for one in sent.query.filters)


TOTALS = {"group_by": ["State"], **kept(("Region", "=", "West")), "top": {"limit": 3}}
RATIO = {
    "kind": "arithmetic",
    "operator": "/",
    "left": {"kind": "aggregate", "function": "sum", "of": {"kind": "column", "name": "Profit"}},
    "right": {"kind": "aggregate", "function": "sum", "of": {"kind": "column", "name": "Sales"}},
}
MARGINS: Params = {"group_by": ["Region"], "metrics": [{"expression": RATIO, "as": "margin"}, SALES]}
WITH_RATIO = TABLE.model_copy(
    update={
        "columns": (
            *TABLE.columns,
            Column(name="Profit Ratio", type="REAL", kind="number", role="measure", aggregated=True),
        )
    }
)
DEFINED = {"column": "Profit Ratio", "function": "defined", "as": "Profit Ratio"}


@pytest.mark.requirement("R46")
def test_arithmetic_over_measures_is_a_formula_of_the_query(copied: tuple[Tables, duckdb.DuckDBPyConnection]) -> None:  # noqa: F811
    _, double = copied
    sent = compiled(MARGINS, TABLE)
    field: Any = sent.query.wire()["fields"][1]  # type: ignore[index,call-overload]
    assert field["calculation"] == "SUM([Profit])/SUM([Sales])"
    truth = double.execute(
        'SELECT "Region", sum("Profit") / sum("Sales"), sum("Sales") FROM superstore GROUP BY 1'
    ).fetchall()
    assert sorted(same([*row]) for row in answer(double, sent.query.wire(), {}).rows) == sorted(
        same([*row]) for row in truth
    )


@pytest.mark.requirement("R46")
def test_an_aggregated_field_is_asked_for_without_a_function() -> None:
    sent = compiled({"group_by": ["Region"], "metrics": [DEFINED], "top": {"limit": 2}}, WITH_RATIO)
    assert [*sent.query.wire()["fields"]][1] == {  # type: ignore[misc]
        "fieldCaption": "Profit Ratio",
        "sortDirection": "DESC",
        "sortPriority": 1,
    }
    assert sent.row_limit == 2


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    "params",
    [
        {"metrics": [{**DEFINED, "function": "mean"}]},
        {"metrics": [{**DEFINED, "function": "sum"}]},
        {"metrics": [{**SALES, "function": "defined"}]},
        {"metrics": [SALES], "group_by": ["Profit Ratio"]},
        kept(("Profit Ratio", ">=", 0.1)),
    ],
    ids=["averaged", "added up", "a plain field as defined", "grouped by", "filtered by"],
)
def test_an_aggregated_field_is_never_aggregated_again(params: Params) -> None:
    with pytest.raises(Inexpressible, match=r"Profit Ratio|Sales"):
        compiled(params, WITH_RATIO)


CHANGED: dict[str, Any] = {
    "another function": lambda query: query["fields"][1].update(function="AVG"),
    "another field": lambda query: query["fields"][1].update(fieldCaption="Profit"),
    "another group": lambda query: query["fields"][0].update(fieldCaption="City"),
    "a group cut": lambda query: query["fields"][0].update(function="TRUNC_DAY", fieldAlias="State"),
    "another name": lambda query: query["fields"][1].update(fieldAlias="sales"),
    "one field more": lambda query: query["fields"].append({"fieldCaption": "Segment"}),
    "one field less": lambda query: query["fields"].pop(),
    "another value": lambda query: query["filters"][0].update(values=["East"]),
    "the rest": lambda query: query["filters"][0].update(exclude=True),
    "no filter": lambda query: query["filters"].pop(0),
    "no context": lambda query: query["filters"][0].pop("context"),
    "more of them": lambda query: query["filters"][1].update(howMany=4),
    "the other end": lambda query: query["filters"][1].update(direction="BOTTOM"),
    "by another measure": lambda query: query["filters"][1]["fieldToMeasure"].update(function="MAX"),
    "of another field": lambda query: query["filters"][1].update(field={"fieldCaption": "City"}),
    "no cut": lambda query: query["filters"].pop(),
}


FORMULAS = ("SUM([Sales])/SUM([Profit])", "AVG([Profit])/SUM([Sales])", "SUM([Profit]/[Sales])", "SUM([Profit])", "[a]")


@pytest.mark.requirement("R32", "R46")
@pytest.mark.parametrize("formula", FORMULAS)
def test_another_formula_is_never_sent(formula: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.sources.tableau.compile.write", lambda expression: formula)
    with pytest.raises(ToolError):
        compiled(MARGINS, TABLE)


@pytest.mark.requirement("R32", "R46")
@pytest.mark.parametrize("case", CHANGED)
def test_a_query_of_another_meaning_is_never_sent(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler is not trusted: what it wrote is read back and compared with the step."""
    seen: list[Asked] = []
    monkeypatch.setattr(
        "groundplan.sources.tableau.compile.refuse_other", lambda query, limit, asked: seen.append(asked)
    )
    honest = compiled(TOTALS, TABLE)
    refuse_other(honest.query, honest.row_limit, seen[0])
    written: Any = honest.query.wire()
    CHANGED[case](written)
    with pytest.raises(ToolError):
        refuse_other(Query.model_validate(written), honest.row_limit, seen[0])
