"""The typed query on tables: every kind of field, filter and table calculation, against SQL of another hand."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from tests.sources.tables.tooling import made, rows

from groundplan.errors import ToolError
from groundplan.sources.tables.source import Tables

REVENUE = {"fieldCaption": "revenue", "function": "SUM"}
REGION = {"fieldCaption": "region"}
MONTH = {"fieldCaption": "day", "function": "TRUNC_MONTH"}


def asked(source: Tables, fields: list[Any], *filters: Any, **more: Any) -> list[tuple[Any, ...]]:
    """The rows of a query, in its own order."""
    params = {"query": {"fields": fields, **({"filters": list(filters)} if filters else {})}, **more}
    return [tuple(row.values()) for row in rows(source, made(source, "query_table", params))]


def expected(plain: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    def told(value: Any) -> Any:
        return value.isoformat() if hasattr(value, "isoformat") else value

    return [tuple(told(value) for value in row) for row in plain.execute(sql).fetchall()]


def same(found: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]]) -> None:
    assert wanted, "a case that compares nothing proves nothing"
    assert len(found) == len(wanted)
    for row, other in zip(found, wanted, strict=True):
        assert len(row) == len(other)
        for value, known in zip(row, other, strict=True):
            assert value == (pytest.approx(known) if isinstance(known, float) else known), (row, other)


FIELDS: dict[str, tuple[list[Any], str]] = {
    "dimensions alone are distinct": ([REGION], "SELECT DISTINCT region FROM sales ORDER BY 1"),
    "a measure alone is one row": ([REVENUE], "SELECT sum(revenue) FROM sales"),
    "every aggregate": (
        [
            REGION,
            *(
                {"fieldCaption": "revenue", "function": function}
                for function in ("SUM", "AVG", "MEDIAN", "COUNT", "COUNTD", "MIN", "MAX", "STDEV", "VAR")
            ),
        ],
        """SELECT region, sum(revenue), avg(revenue), median(revenue), count(revenue), count(DISTINCT revenue),
        min(revenue), max(revenue), stddev_samp(revenue), var_samp(revenue) FROM sales GROUP BY 1 ORDER BY 1""",
    ),
    "parts of dates are numbers": (
        [
            *({"fieldCaption": "day", "function": part} for part in ("YEAR", "QUARTER", "MONTH", "WEEK")),
            {"fieldCaption": "id", "function": "COUNT"},
        ],
        "SELECT year(day), quarter(day), month(day), week(day), count(id) FROM sales GROUP BY ALL ORDER BY ALL",
    ),
    "periods are dates, weeks begin on Monday": (
        [{"fieldCaption": "moment", "function": "TRUNC_WEEK"}, REVENUE],
        "SELECT date_trunc('week', moment)::date, sum(revenue) FROM sales GROUP BY 1 ORDER BY 1",
    ),
    "bins begin at multiples of their size": (
        [{"fieldCaption": "revenue", "binSize": 25}, {"fieldCaption": "id", "function": "COUNT"}],
        "SELECT floor(revenue / 25) * 25, count(id) FROM sales GROUP BY 1 ORDER BY 1 NULLS LAST",
    ),
    "sorts by priority, then by the groups": (
        [
            {**REGION, "sortPriority": 2},
            {"fieldCaption": "product", "sortPriority": 1, "sortDirection": "DESC"},
            REVENUE,
        ],
        "SELECT region, product, sum(revenue) FROM sales GROUP BY ALL ORDER BY product DESC, region NULLS LAST",
    ),
    "rounds to decimal places": (
        [REGION, {**REVENUE, "function": "AVG", "maxDecimalPlaces": 1}],
        "SELECT region, round(avg(revenue), 1) FROM sales GROUP BY 1 ORDER BY 1",
    ),
}


@pytest.mark.requirement("R45", part="tools")
@pytest.mark.parametrize("case", FIELDS)
def test_fields_group_and_measure(case: str, source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    fields, sql = FIELDS[case]
    same(asked(source, fields), expected(plain, sql))


def _filter(type_: str, caption: str, **more: Any) -> dict[str, Any]:
    field = {"fieldCaption": caption, **({"function": more.pop("function")} if "function" in more else {})}
    return {"filterType": type_, "field": field, **more}


ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "set": (_filter("SET", "region", values=["North", "East"]), "region IN ('North', 'East')"),
    "set with rows without a value": (
        _filter("SET", "region", values=["North", None]),
        "region = 'North' OR region IS NULL",
    ),
    "set of no value": (_filter("SET", "region", values=[None]), "region IS NULL"),
    "left out": (_filter("SET", "region", values=["North"], exclude=True), "region <> 'North' OR region IS NULL"),
    "left out with rows without a value": (
        _filter("SET", "region", values=["North", None], exclude=True),
        "region <> 'North'",
    ),
    "match": (_filter("MATCH", "product", contains="OFF"), "product ILIKE '%off%'"),
    "match at the start and at the end": (
        _filter("MATCH", "product", startsWith="c", endsWith="E"),
        "product ILIKE 'c%' AND product ILIKE '%e'",
    ),
    "match letters of other alphabets": (_filter("MATCH", "product", startsWith="КО"), "product = 'Кофе'"),
    "match left out": (_filter("MATCH", "product", startsWith="te", exclude=True), "NOT product LIKE 'te%'"),
    "a mark of patterns is a letter": (_filter("MATCH", "product", contains="0%"), "product = '50% off_mug'"),
    "range": (
        _filter("QUANTITATIVE_NUMERICAL", "units", quantitativeFilterType="RANGE", min=3, max=5),
        "units BETWEEN 3 AND 5",
    ),
    "least": (_filter("QUANTITATIVE_NUMERICAL", "revenue", quantitativeFilterType="MIN", min=40.5), "revenue >= 40.5"),
    "greatest": (_filter("QUANTITATIVE_NUMERICAL", "revenue", quantitativeFilterType="MAX", max=40), "revenue <= 40"),
    "no number": (_filter("QUANTITATIVE_NUMERICAL", "revenue", quantitativeFilterType="ONLY_NULL"), "revenue IS NULL"),
    "any number": (
        _filter("QUANTITATIVE_NUMERICAL", "revenue", quantitativeFilterType="ONLY_NON_NULL"),
        "revenue IS NOT NULL",
    ),
    "days": (
        _filter("QUANTITATIVE_DATE", "day", quantitativeFilterType="RANGE", minDate="2024-02-01", maxDate="2024-02-29"),
        "day BETWEEN '2024-02-01' AND '2024-02-29'",
    ),
    "the last day counts to its end": (
        _filter(
            "QUANTITATIVE_DATE", "moment", quantitativeFilterType="RANGE", minDate="2024-02-01", maxDate="2024-02-29"
        ),
        "moment >= '2024-02-01' AND moment < '2024-03-01'",
    ),
    "a part of a date": (
        _filter("QUANTITATIVE_NUMERICAL", "day", function="MONTH", quantitativeFilterType="RANGE", min=2, max=3),
        "month(day) IN (2, 3)",
    ),
    "this quarter": (
        _filter("DATE", "day", periodType="QUARTERS", dateRangeType="CURRENT", anchorDate="2024-05-15"),
        "day >= '2024-04-01' AND day < '2024-07-01'",
    ),
    "last week": (
        _filter("DATE", "day", periodType="WEEKS", dateRangeType="LAST", anchorDate="2024-05-15"),
        "day >= '2024-05-06' AND day < '2024-05-13'",
    ),
    "the last three months with this one": (
        _filter("DATE", "day", periodType="MONTHS", dateRangeType="LASTN", rangeN=3, anchorDate="2024-05-15"),
        "day >= '2024-03-01' AND day < '2024-06-01'",
    ),
    "next year": (
        _filter("DATE", "day", periodType="YEARS", dateRangeType="NEXT", anchorDate="2023-05-15"),
        "year(day) = 2024",
    ),
    "two days from here": (
        _filter("DATE", "day", periodType="DAYS", dateRangeType="NEXTN", rangeN=2, anchorDate="2024-05-15"),
        "day IN ('2024-05-15', '2024-05-16')",
    ),
    "the month so far": (
        _filter("DATE", "day", periodType="MONTHS", dateRangeType="TODATE", anchorDate="2024-05-15"),
        "day BETWEEN '2024-05-01' AND '2024-05-15'",
    ),
    "members by a condition": (
        _filter(
            "CONDITION",
            "product",
            condition={"fieldCaption": "units", "function": "SUM", "comparison": ">", "value": 800},
        ),
        "product IN (SELECT product FROM sales GROUP BY 1 HAVING sum(units) > 800)",
    ),
}


@pytest.mark.requirement("R45", part="tools")
@pytest.mark.parametrize("case", ROWS)
def test_filters_keep_the_rows_that_sql_keeps(case: str, source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    one, where = ROWS[case]
    kept = expected(plain, f"SELECT id FROM sales WHERE {where} ORDER BY 1")
    assert 0 < len(kept) < 600
    assert asked(source, [{"fieldCaption": "id"}], one) == kept


@pytest.mark.requirement("R45", part="tools")
def test_a_filter_on_an_aggregate_leaves_groups_out(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    one = _filter("QUANTITATIVE_NUMERICAL", "units", function="SUM", quantitativeFilterType="MIN", min=820)
    found = asked(source, [{"fieldCaption": "product"}, REVENUE], one)
    wanted = "SELECT product, sum(revenue) FROM sales GROUP BY 1 HAVING sum(units) >= 820 ORDER BY 1"
    assert 0 < len(found) < 4
    same(found, expected(plain, wanted))


TOP = _filter("TOP", "product", howMany=1, fieldToMeasure=REVENUE)
EAST = _filter("SET", "region", values=["East"])


@pytest.mark.requirement("R45", part="tools")
@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize("direction", ["TOP", "BOTTOM"])
def test_a_top_looks_past_all_filters_but_those_of_the_context(
    context: bool, direction: str, source: Tables, plain: duckdb.DuckDBPyConnection
) -> None:
    found = asked(
        source, [{"fieldCaption": "product"}, REVENUE], {**TOP, "direction": direction}, {**EAST, "context": context}
    )
    inside = "WHERE region = 'East'" if context else ""
    order = "DESC" if direction == "TOP" else "ASC"
    same(
        found,
        expected(
            plain,
            f"""SELECT product, sum(revenue) FROM sales WHERE region = 'East' AND product IN (
            SELECT product FROM sales {inside} GROUP BY 1 ORDER BY sum(revenue) {order} LIMIT 1) GROUP BY 1""",
        ),
    )


def test_a_member_without_a_value_can_be_the_top_one(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    found = asked(source, [REGION, REVENUE], _filter("TOP", "region", howMany=4, fieldToMeasure=REVENUE))
    assert None in {row[0] for row in found}
    assert len(found) == 4


CALCULATED: dict[str, tuple[dict[str, Any], str]] = {
    "running total": ({"tableCalcType": "RUNNING_TOTAL"}, "sum(r) OVER (PARTITION BY region ORDER BY m)"),
    "running average": (
        {"tableCalcType": "RUNNING_TOTAL", "aggregation": "AVG"},
        "avg(r) OVER (PARTITION BY region ORDER BY m)",
    ),
    "moving average": (
        {"tableCalcType": "MOVING_CALCULATION", "aggregation": "AVG"},
        "avg(r) OVER (PARTITION BY region ORDER BY m ROWS 2 PRECEDING)",
    ),
    "moving maximum on both sides": (
        {"tableCalcType": "MOVING_CALCULATION", "aggregation": "MAX", "previous": 1, "next": 1},
        "max(r) OVER (PARTITION BY region ORDER BY m ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    ),
    "change": ({"tableCalcType": "DIFFERENCE_FROM"}, "r - lag(r) OVER (PARTITION BY region ORDER BY m)"),
    "change to the next": (
        {"tableCalcType": "DIFFERENCE_FROM", "relativeTo": "NEXT"},
        "r - lead(r) OVER (PARTITION BY region ORDER BY m)",
    ),
    "change from the first": (
        {"tableCalcType": "DIFFERENCE_FROM", "relativeTo": "FIRST"},
        "r - first_value(r) OVER (PARTITION BY region ORDER BY m)",
    ),
    "change from the last": (
        {"tableCalcType": "DIFFERENCE_FROM", "relativeTo": "LAST"},
        "r - first_value(r) OVER (PARTITION BY region ORDER BY m DESC)",
    ),
    "share": ({"tableCalcType": "PERCENT_OF_TOTAL"}, "r / sum(r) OVER (PARTITION BY region)"),
    "rank": ({"tableCalcType": "RANK"}, "rank() OVER (PARTITION BY region ORDER BY r DESC)"),
    "rank from below": (
        {"tableCalcType": "RANK", "direction": "ASC", "rankType": "UNIQUE"},
        "row_number() OVER (PARTITION BY region ORDER BY r)",
    ),
}


@pytest.mark.requirement("R45", part="tools")
@pytest.mark.parametrize("case", CALCULATED)
def test_table_calculations_go_along_their_dimensions(
    case: str, source: Tables, plain: duckdb.DuckDBPyConnection
) -> None:
    told, sql = CALCULATED[case]
    calculation = {**REVENUE, "fieldAlias": "calculated", "tableCalculation": {**told, "dimensions": [MONTH]}}
    same(
        asked(source, [REGION, MONTH, REVENUE, calculation]),
        expected(
            plain,
            f"""WITH g AS (
                SELECT region, date_trunc('month', day)::date AS m, sum(revenue) AS r FROM sales GROUP BY ALL)
            SELECT region, m, r, {sql} FROM g ORDER BY 1, 2""",
        ),
    )


@pytest.mark.parametrize(
    ("kind", "places"),
    [
        ("COMPETITION", [1, 2, 2, 4]),
        ("MODIFIED COMPETITION", [1, 3, 3, 4]),
        ("DENSE", [1, 2, 2, 3]),
        ("UNIQUE", [1, 2, 3, 4]),
    ],
)
def test_ties_share_a_rank_as_its_type_says(kind: str, places: list[int]) -> None:
    source = Tables.open(duckdb.sql("SELECT * FROM (VALUES ('a', 9), ('b', 5), ('c', 5), ('d', 1)) t(name, size)").df())
    (table,) = source.names
    size = {"fieldCaption": "size", "function": "SUM"}
    along = {"tableCalcType": "RANK", "rankType": kind, "dimensions": [{"fieldCaption": "name"}]}
    fields = [{"fieldCaption": "name"}, size, {**size, "fieldAlias": "place", "tableCalculation": along}]
    found = rows(source, made(source, "query_table", {"query": {"fields": fields}}, table))
    assert [row["place"] for row in found] == places


@pytest.mark.requirement("R45", part="tools")
def test_a_row_limit_keeps_the_first_of_the_sorted_rows(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    fields = [{"fieldCaption": "customer_id"}, {**REVENUE, "sortPriority": 1, "sortDirection": "DESC"}]
    wanted = "SELECT customer_id, sum(revenue) FROM sales GROUP BY 1 ORDER BY 2 DESC LIMIT 2"
    same(asked(source, fields, rowLimit=2), expected(plain, wanted))


def test_columns_are_named_by_alias_function_or_caption(duckdb_source: Tables) -> None:
    fields = [
        REGION,
        REVENUE,
        {**MONTH, "fieldAlias": "month"},
        {**REVENUE, "function": "AVG", "fieldAlias": "average"},
    ]
    handle = made(duckdb_source, "query_table", {"query": {"fields": fields}})
    assert [column.name for column in handle.columns] == ["region", "SUM(revenue)", "month", "average"]
    assert [column.kind for column in handle.columns] == ["text", "number", "time", "number"]
    assert handle.find("month").grain == "month"


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ({"fieldCaption": "x", "calculation": "SUM([revenue])"}, "formulas are not supported"),
        ({"fieldCaption": "region", "function": "TRUNC_MONTH"}, "needs a time column"),
        ({"fieldCaption": "region", "function": "SUM"}, "cannot be computed"),
        ({"fieldCaption": "region", "binSize": 5}, "needs a number column"),
        ({"fieldCaption": "revenue", "function": "COLLECT"}, "needs an aggregate"),
        ({"fieldCaption": "turnover"}, "has no column"),
    ],
)
def test_what_a_table_cannot_do_is_refused_in_words(field: dict[str, Any], said: str, duckdb_source: Tables) -> None:
    with pytest.raises(ToolError, match=said):
        made(duckdb_source, "query_table", {"query": {"fields": [field]}})
