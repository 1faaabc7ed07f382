"""What the double of Tableau answers, held against SQL on the table behind it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from tests.sources.tableau.double.asking import ask, field, post, signed
from tests.sources.tableau.double.tableau import Tableau

REGION, STATE, SALES = field("Region"), field("State"), field("Sales", "SUM")
YEAR = field("Order Date", "YEAR")


def same(rows: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]]) -> bool:
    """Numbers may differ in the last digit: a sum depends on the order of what is summed."""
    near = [tuple(pytest.approx(value) if isinstance(value, float) else value for value in row) for row in wanted]
    return sorted(rows, key=str) == sorted(near, key=str) or rows == near


@pytest.mark.parametrize(
    ("function", "sql"),
    [
        ("SUM", 'sum("Profit")'),
        ("AVG", 'sum("Profit") / count("Profit")'),
        ("MEDIAN", 'quantile_cont("Profit", 0.5)'),
        ("COUNT", 'count("Profit")'),
        ("COUNTD", 'len(list_distinct(list("Profit")))'),
        ("MIN", 'min("Profit")'),
        ("MAX", 'max("Profit")'),
        ("STDEV", 'sqrt(var_samp("Profit"))'),
        ("VAR", 'stddev_samp("Profit") ** 2'),
    ],
)
def test_a_measure_is_aggregated_by_dimension(tableau: Tableau, function: str, sql: str) -> None:
    wanted = tableau.sql(f'SELECT "Region", {sql} FROM superstore GROUP BY 1 ORDER BY 1')
    found = ask(tableau, [field("Region", sortPriority=1), field("Profit", function)])
    assert found == [(region, pytest.approx(value)) for region, value in wanted]


@pytest.mark.parametrize(
    ("function", "sql"),
    [
        ("YEAR", 'year("Order Date")'),
        ("QUARTER", 'quarter("Order Date")'),
        ("MONTH", 'month("Order Date")'),
        ("WEEK", 'weekofyear("Order Date")'),
        ("DAY", 'day("Order Date")'),
        ("TRUNC_YEAR", "strftime(\"Order Date\", '%Y-01-01')"),
        ("TRUNC_QUARTER", 'strftime(make_date(year("Order Date"), quarter("Order Date") * 3 - 2, 1), \'%Y-%m-%d\')'),
        ("TRUNC_MONTH", "strftime(\"Order Date\", '%Y-%m-01')"),
        ("TRUNC_WEEK", 'strftime("Order Date" - (isodow("Order Date")::INT - 1), \'%Y-%m-%d\')'),
        ("TRUNC_DAY", "strftime(\"Order Date\", '%Y-%m-%d')"),
    ],
)
def test_a_date_is_grouped_by_its_parts(tableau: Tableau, function: str, sql: str) -> None:
    wanted = tableau.sql(f"SELECT {sql} AS part, count(*) FROM superstore GROUP BY 1 ORDER BY 1")
    assert ask(tableau, [field("Order Date", function, sortPriority=1), field("Row ID", "COUNT")]) == wanted


def numbers(kind: str, **bounds: Any) -> dict[str, Any]:
    return {"filterType": "QUANTITATIVE_NUMERICAL", "quantitativeFilterType": kind, **bounds}


def dates(kind: str, **bounds: Any) -> dict[str, Any]:
    return {"filterType": "QUANTITATIVE_DATE", "quantitativeFilterType": kind, **bounds}


@pytest.mark.parametrize(
    ("caption", "told", "sql"),
    [
        ("Region", {"filterType": "SET", "values": ["East", "West"]}, "\"Region\" IN ('East', 'West')"),
        ("State", {"filterType": "SET", "values": ["Ohio", None]}, '"State" = \'Ohio\' OR "State" IS NULL'),
        ("State", {"filterType": "SET", "values": ["Ohio"], "exclude": True}, "\"State\" IS DISTINCT FROM 'Ohio'"),
        ("Returned", {"filterType": "SET", "values": [True]}, '"Returned"'),
        ("Quantity", {"filterType": "SET", "values": [1, 2]}, '"Quantity" < 3'),
        ("Order Date", {"filterType": "SET", "values": ["2023-05-03"]}, "\"Order Date\" = DATE '2023-05-03'"),
        ("City", {"filterType": "MATCH", "contains": "AN"}, "\"City\" ILIKE '%an%'"),
        ("City", {"filterType": "MATCH", "startsWith": "S", "endsWith": "o"}, "\"City\" ILIKE 's%o'"),
        ("State", {"filterType": "MATCH", "contains": "o", "exclude": True}, "coalesce(\"State\", '') NOT ILIKE '%o%'"),
        ("Profit", numbers("RANGE", min=-10, max=10.5), '"Profit" BETWEEN -10 AND 10.5'),
        ("Profit", numbers("MIN", min=100, includeNulls=True), '"Profit" >= 100 OR "Profit" IS NULL'),
        ("Profit", numbers("MAX", max=0), '"Profit" <= 0'),
        ("Profit", numbers("ONLY_NULL"), '"Profit" IS NULL'),
        ("Profit", numbers("ONLY_NON_NULL"), '"Profit" IS NOT NULL'),
        ("Ship Date", dates("RANGE", minDate="2022-01-01", maxDate="2022-12-31"), 'year("Ship Date") = 2022'),
        ("Ship Date", dates("MIN", minDate="2024-12-01"), "\"Ship Date\" >= '2024-12-01'"),
        ("Ship Date", dates("ONLY_NULL"), '"Ship Date" IS NULL'),
    ],
)
def test_a_filter_keeps_its_rows(tableau: Tableau, caption: str, told: dict[str, Any], sql: str) -> None:
    [(wanted,)] = tableau.sql(f"SELECT count(*) FROM superstore WHERE {sql}")
    assert 0 < wanted < 5000
    assert ask(tableau, [field("Row ID", "COUNT")], [{"field": field(caption), **told}]) == [(wanted,)]


@pytest.mark.parametrize(
    ("period", "span", "more", "first", "last"),
    [
        ("MONTHS", "CURRENT", {}, "2023-05-01", "2023-05-31"),
        ("MONTHS", "LAST", {}, "2023-04-01", "2023-04-30"),
        ("MONTHS", "NEXT", {}, "2023-06-01", "2023-06-30"),
        ("MONTHS", "LASTN", {"rangeN": 3}, "2023-03-01", "2023-05-31"),
        ("MONTHS", "NEXTN", {"rangeN": 3}, "2023-05-01", "2023-07-31"),
        ("MONTHS", "TODATE", {}, "2023-05-01", "2023-05-17"),
        ("YEARS", "TODATE", {}, "2023-01-01", "2023-05-17"),
        ("QUARTERS", "LAST", {}, "2023-01-01", "2023-03-31"),
        ("WEEKS", "CURRENT", {}, "2023-05-15", "2023-05-21"),
        ("DAYS", "LASTN", {"rangeN": 7}, "2023-05-11", "2023-05-17"),
    ],
)
def test_a_relative_date_is_counted_from_its_anchor(
    tableau: Tableau, period: str, span: str, more: dict[str, int], first: str, last: str
) -> None:
    told = {"field": field("Order Date"), "filterType": "DATE", "anchorDate": "2023-05-17"}
    found = ask(tableau, [field("Row ID", "COUNT")], [{**told, "periodType": period, "dateRangeType": span, **more}])
    sql = f"SELECT count(*) FROM superstore WHERE \"Order Date\" BETWEEN '{first}' AND '{last}'"
    assert found == tableau.sql(sql)


def test_a_filter_on_an_aggregate_works_at_the_grain_of_the_query(tableau: Tableau) -> None:
    told = {"field": SALES, **numbers("MIN", min=100_000)}
    sql = 'SELECT "State", sum("Sales") FROM superstore GROUP BY 1 HAVING sum("Sales") >= 100000'
    assert same(ask(tableau, [STATE, SALES], [told]), tableau.sql(sql))


def test_top_is_chosen_before_ordinary_filters_and_after_the_context(tableau: Tableau) -> None:
    top = {"field": STATE, "filterType": "TOP", "howMany": 5, "fieldToMeasure": SALES}
    east = {"field": REGION, "filterType": "SET", "values": ["East"]}
    best = 'SELECT "State" FROM superstore {} GROUP BY 1 ORDER BY sum("Sales") DESC LIMIT 5'
    of_all = {row[0] for row in tableau.sql(best.format(""))}
    in_east = {row[0] for row in tableau.sql(best.format("WHERE \"Region\" = 'East'"))}
    some_in_east = {row[0] for row in tableau.sql('SELECT "State" FROM superstore WHERE "Region" = \'East\'')}
    assert {row[0] for row in ask(tableau, [STATE], [top, east])} == of_all & some_in_east != in_east
    assert {row[0] for row in ask(tableau, [STATE], [top, {**east, "context": True}])} == in_east


def test_bottom_takes_the_other_end(tableau: Tableau) -> None:
    worst = {"field": STATE, "filterType": "TOP", "direction": "BOTTOM", "howMany": 2, "fieldToMeasure": SALES}
    sql = 'SELECT "State" FROM superstore GROUP BY 1 ORDER BY sum("Sales") LIMIT 2'
    assert set(ask(tableau, [STATE], [worst])) == set(tableau.sql(sql))


def test_a_condition_chooses_members_by_an_aggregate(tableau: Tableau) -> None:
    told = {"fieldCaption": "Profit", "function": "SUM", "comparison": ">", "value": 15_000}
    sql = 'SELECT "State" FROM superstore GROUP BY 1 HAVING sum("Profit") > 15000'
    wanted = set(tableau.sql(sql))
    assert 0 < len(wanted) < 12
    assert set(ask(tableau, [STATE], [{"field": STATE, "filterType": "CONDITION", "condition": told}])) == wanted
    formula = {"field": STATE, "filterType": "CONDITION", "calculation": "SUM([Profit]) > 15000"}
    assert set(ask(tableau, [STATE], [formula])) == wanted


def test_calculations_come_from_the_catalogue_or_the_query(tableau: Tableau) -> None:
    ratio = {"fieldCaption": "Margin", "calculation": "SUM([Profit])/SUM([Sales])"}
    sql = 'SELECT "Region", sum("Profit") / sum("Sales"), sum("Profit") / sum("Sales") FROM superstore GROUP BY 1'
    assert same(ask(tableau, [REGION, field("Profit Ratio"), ratio]), tableau.sql(sql))


def test_a_bin_of_the_catalogue_follows_its_parameter(tableau: Tableau) -> None:
    size = {"parameterCaption": "Profit Bin Size", "value": 50}
    answered = post(tableau, [field("Profit (bin)", sortPriority=1), field("Row ID", "COUNT")], parameters=[size])
    rows = [tuple(row.values()) for row in answered.json()["data"]]
    sql = 'SELECT floor("Profit" / 50), count(*) FROM superstore GROUP BY 1 ORDER BY 1 NULLS FIRST'
    assert rows == tableau.sql(sql)


def test_sorting_goes_by_priority_and_a_limit_comes_after_it(tableau: Tableau) -> None:
    fields = [field("Category", sortPriority=2), field("Region", sortPriority=1, sortDirection="DESC"), SALES]
    sql = 'SELECT "Category", "Region", sum("Sales") FROM superstore GROUP BY 1, 2 ORDER BY 2 DESC, 1 LIMIT 5'
    assert ask(tableau, fields, rowLimit=5) == [(*row[:2], pytest.approx(row[2])) for row in tableau.sql(sql)]


def test_what_is_not_sorted_comes_in_no_order(tableau: Tableau) -> None:
    states = [row[0] for row in ask(tableau, [STATE])]
    assert states != sorted(states, key=str)


def test_rows_are_objects_arrays_or_events(tableau: Tableau) -> None:
    fields = [REGION, field("Sales", "SUM", fieldAlias="Revenue", maxDecimalPlaces=0), YEAR]
    objects = post(tableau, fields).json()["data"]
    assert list(objects[0]) == ["Region", "Revenue", "YEAR(Order Date)"]
    assert [list(row.values()) for row in objects] == [list(row) for row in ask(tableau, fields)]
    streamed = post(tableau, fields, returnServerSentEvents=True)
    events = [json.loads(line.removeprefix("data: ")) for line in streamed.text.split("\n\n") if line]
    assert streamed.headers["content-type"] == "text/event-stream"
    assert (events[0], events[1]["data"]) == ({"event": "METADATA", "data": {"rowCount": 16}}, objects)


def test_a_bin_names_itself(tableau: Tableau) -> None:
    [row, *_] = post(tableau, [{"fieldCaption": "Sales", "binSize": 500}]).json()["data"]
    assert list(row) == ["Sales (bin)"]


def test_nothing_left_is_no_row_even_for_an_aggregate(tableau: Tableau) -> None:
    assert ask(tableau, [SALES], [{"field": REGION, "filterType": "SET", "values": ["North"]}]) == []


def test_rows_are_not_summed_up_where_so_asked(tableau: Tableau) -> None:
    assert len(ask(tableau, [REGION, field("Sales")], disaggregate=True)) == 5000


def test_fields_may_be_called_by_their_names(tableau: Tableau) -> None:
    named = field("Calculation_1368249927221915648")
    assert len(ask(tableau, [REGION, named], interpretFieldCaptionsAsFieldNames=True)) == 4
    assert post(tableau, [named]).json()["errorCode"] == "404934"


def test_hidden_fields_are_told_only_where_asked_for(tableau: Tableau) -> None:
    def captions(**options: bool) -> set[str]:
        url = f"{tableau.url}/api/v1/vizql-data-service/read-metadata"
        body = {"datasource": {"datasourceLuid": tableau.luid}, "options": options}
        return {row["fieldCaption"] for row in httpx.post(url, json=body, headers=signed(tableau)).json()["data"]}

    assert captions(includeHiddenFields=True) - captions() == {"Row ID"}
