"""Every lazy tool on every engine, against values computed by hand-written SQL or plain Python."""

from __future__ import annotations

import math
import statistics
from typing import Any

import duckdb
import pytest
from tests.questions.notation import condition as written
from tests.sources.tables.data import ROWS, SPIKES
from tests.sources.tables.tooling import call, made, rows

from groundplan.errors import ToolError
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.handle import Handle
from groundplan.sources.tables.engine.values import cell
from groundplan.sources.tables.source import Tables
from groundplan.sources.tables.tools.charts import prepare

pytestmark = [pytest.mark.requirement("R38"), pytest.mark.requirement("R45", part="tools")]

TOTAL = {"function": "sum", "column": "revenue", "as": "total"}


def expected(plain: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(cell(value) for value in row) for row in plain.execute(sql).fetchall()]


def same(found: list[dict[str, Any]], wanted: list[tuple[Any, ...]]) -> None:
    """The same rows in any order; numbers to nine digits, since engines add them in another order."""
    assert sorted((_rounded(row.values()) for row in found), key=repr) == sorted(map(_rounded, wanted), key=repr)


def _rounded(values: Any) -> tuple[Any, ...]:
    return tuple(
        float(f"{value:.9g}") if isinstance(value, int | float) and not isinstance(value, bool) else value
        for value in values
    )


def where(column: str, operator: str, *values: object) -> dict[str, Any]:
    return {"conditions": [{"column": column, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("condition", "sql"),
    [
        (where("region", "=", "North"), "region = 'North'"),
        (where("region", "!=", "North"), "region <> 'North'"),
        (where("units", "<", 3), "units < 3"),
        (where("units", "<=", 3), "units <= 3"),
        (where("price", ">", 12.5), "price > 12.5"),
        (where("price", ">=", 12.5), "price >= 12.5"),
        (where("region", "in", "North", "East"), "region IN ('North', 'East')"),
        (where("region", "in", "North", None), "region = 'North' OR region IS NULL"),
        (where("region", "not in", "North", None), "region <> 'North' AND region IS NOT NULL"),
        (where("units", "between", 3, 6), "units >= 3 AND units < 6"),
        (where("day", "between", "2024-02-01", "2024-03-01"), "day >= '2024-02-01' AND day < '2024-03-01'"),
        (where("moment", "=", "2024-02-01"), "moment::date = '2024-02-01'"),
        (where("moment", "<=", "2024-02-01"), "moment < '2024-02-02'"),
        (where("moment", ">", "2024-02-01T12:00:00"), "moment > '2024-02-01 12:00:00'"),
        (where("product", "contains", "COFF"), "product ILIKE '%coff%'"),
        (where("product", "contains", "% off_"), "contains(product, '% off_')"),
        (where("paid", "=", True), "paid"),
        (where("region", "is null"), "region IS NULL"),
        (where("region", "not null"), "region IS NOT NULL"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_filter_keeps_what_plain_sql_keeps(
    source: Tables, plain: duckdb.DuckDBPyConnection, condition: dict[str, Any], sql: str
) -> None:
    kept = rows(source, made(source, "filter_rows", condition))
    wanted = [row[0] for row in expected(plain, f"SELECT id FROM sales WHERE {sql}")]
    assert wanted, "a case that keeps nothing proves nothing"
    assert sorted(row["id"] for row in kept) == sorted(wanted)


@pytest.mark.parametrize(
    ("condition", "sql"),
    [
        ("contains(product, 'COF', 'start')", "product ILIKE 'cof%'"),
        ("contains(product, 'КО', 'start')", "product ILIKE 'ко%'"),
        ("contains(product, 'EE', 'end')", "product ILIKE '%ee'"),
        ("contains(product, 'off_mug', 'end')", r"product LIKE '%off\_mug' ESCAPE '\'"),
        ("contains(product, '50%', 'start', cased=True)", r"product LIKE '50\%%' ESCAPE '\'"),
        ("contains(product, 'TEA', 'whole')", "product ILIKE 'tea'"),
        ("not contains(product, 'К', cased=True)", "product NOT LIKE '%К%'"),
        ("contains(product, 'Кофе', 'whole', cased=True)", "product LIKE 'Кофе'"),
        ("rounded(price, 'nearest') == 25", "price >= 24.5 AND price < 25.5"),
        ("rounded(price, 'nearest', 1) < 2", "price < 1.95"),
        ("rounded(price, 'down') == 3", "price >= 3 AND price < 4"),
        ("rounded(price, 'nearest', -1) == 30", "price >= 25 AND price < 35"),
        ("rounded(price, 'up', -1) == 30", "price > 20 AND price <= 30"),
        ("rounded(0 - price, 'toward_zero', -1) == -20", "price >= 20 AND price < 30"),
        ("rounded(revenue, 'down', 1) == 20", "revenue >= 20 AND revenue < 20.1"),
        ("rounded(revenue, 'up', -1) == 50", "revenue > 40 AND revenue <= 50"),
        ("rounded(0 - revenue, 'toward_zero') == -20", "revenue >= 20 AND revenue < 21"),
        ("rounded(units / 100, 'down', 2) == 0.07", "units = 7"),
        ("rounded(units + 0.5, 'nearest') == 3", "units = 2"),
        ("rounded(0 - units - 0.5, 'nearest') == -3", "units = 2"),
        ("rounded(units, 'nearest', -1) == 10", "units >= 5"),
        ("joined(region, '-', product) == 'North-tea'", "region || '-' || product = 'North-tea'"),
        ("missing(joined(product, region))", "region IS NULL"),
        ("length(product) == 4", "product IN ('Кофе')"),
        ("absolute(units - 6) == 2", "units IN (4, 8)"),
        ("filled(region, 'none') == 'none'", "coalesce(region, 'none') = 'none'"),
        ("filled(region, product) != 'tea'", "coalesce(region, product) <> 'tea'"),
        ("filled(units, 0.5) < 1", "coalesce(units, 0.5) < 1"),
        ("filled(day, '2024-02-01') < '2024-02-02'", "coalesce(day, '2024-02-01') < '2024-02-02'"),
        ("filled(moment, day) < '2024-02-02'", "coalesce(moment, day) < '2024-02-02'"),
    ],
    ids=lambda value: value,
)
def test_a_condition_keeps_what_plain_sql_keeps(
    source: Tables, plain: duckdb.DuckDBPyConnection, condition: str, sql: str
) -> None:
    asked = written(condition).model_dump(mode="json")
    kept = rows(source, made(source, "filter_rows", {"where": asked}))
    wanted = [row[0] for row in expected(plain, f"SELECT id FROM sales WHERE {sql}")]
    assert wanted, "a case that keeps nothing proves nothing"
    assert sorted(row["id"] for row in kept) == sorted(wanted)


def test_a_filter_keeps_the_first_of_all_rows(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    asked = written("among_top(units, 7)").model_dump(mode="json")
    kept = rows(source, made(source, "filter_rows", {"where": asked}))
    wanted = expected(plain, "SELECT id FROM sales ORDER BY units DESC, id LIMIT 7")
    assert sorted(row["id"] for row in kept) == sorted(row[0] for row in wanted)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (where("region", "=", 5), "column 'region' is of kind text"),
        (where("units", "=", "five"), "column 'units' is of kind number"),
        (where("units", "=", True), "column 'units' is of kind number"),
        (where("day", "=", "03.04.2025"), "write YYYY-MM-DD"),
        (where("units", "between", 1), "takes 2 values and got 1"),
        (where("units", "contains", "1"), "needs a text column"),
        (where("nothing", "=", 1), "the table has no column 'nothing'; its columns are id, day"),
    ],
)
def test_a_value_that_does_not_fit_the_column_is_refused(
    duckdb_source: Tables, condition: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        call(duckdb_source, "filter_rows", condition)


def test_selecting_keeps_the_order_of_the_params(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    found = rows(source, made(source, "select_columns", {"columns": ["product", "region"], "distinct": True}))
    assert list(found[0]) == ["product", "region"]
    same(found, expected(plain, "SELECT DISTINCT product, region FROM sales"))


@pytest.mark.parametrize(
    ("params", "sql"),
    [
        ({"operation": "add", "columns": ["units", "id"]}, "units + id"),
        ({"operation": "subtract", "columns": ["units"], "number": 3}, "units - 3"),
        ({"operation": "multiply", "columns": ["units", "price"]}, "units * price"),
        ({"operation": "divide", "columns": ["price", "units"]}, "price::double / nullif(units, 0)"),
        ({"operation": "percent_of", "columns": ["units", "id"]}, "100.0 * units / nullif(id, 0)"),
        ({"operation": "absolute", "columns": ["revenue"]}, "abs(revenue)"),
        ({"operation": "round", "columns": ["revenue"], "number": 1}, "round(revenue, 1)"),
        ({"operation": "log", "columns": ["units"]}, "CASE WHEN units > 0 THEN ln(units) END"),
        ({"operation": "days_between", "columns": ["day", "moment"]}, "moment::date - day"),
        ({"operation": "year", "columns": ["day"]}, "year(day)"),
        ({"operation": "quarter", "columns": ["moment"]}, "quarter(moment)"),
        ({"operation": "month", "columns": ["day"]}, "month(day)"),
        ({"operation": "week", "columns": ["day"]}, "week(day)"),
        ({"operation": "day", "columns": ["day"]}, "day(day)"),
        ({"operation": "weekday", "columns": ["day"]}, "isodow(day)"),
        ({"operation": "hour", "columns": ["moment"]}, "hour(moment)"),
        ({"operation": "bin", "columns": ["price"], "number": 5}, "floor(price::double / 5) * 5"),
        ({"operation": "lower", "columns": ["product"]}, "lower(product)"),
        ({"operation": "upper", "columns": ["region"]}, "upper(region)"),
        ({"operation": "length", "columns": ["product"]}, "length(product)"),
    ],
    ids=lambda value: value["operation"] if isinstance(value, dict) else "",
)
def test_a_derived_column_is_what_plain_sql_computes(
    source: Tables, plain: duckdb.DuckDBPyConnection, params: dict[str, Any], sql: str
) -> None:
    derived = made(source, "derive_column", {**params, "as": "new"})
    found = rows(source, made(source, "select_columns", {"columns": ["id", "new"]}, derived))
    same(found, expected(plain, f"SELECT id, {sql} FROM sales"))


def test_a_join_drops_the_same_key_and_renames_what_clashes(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    joined = made(
        source, "join_tables", {"on": [{"left": "customer_id", "right": "customer_id"}]}, "sales", "customers"
    )
    assert joined.table.columns[-3:] == ("name", "city", "id_right")
    assert joined.table.columns.count("customer_id") == 1
    found = rows(source, made(source, "select_columns", {"columns": ["id", "name", "id_right"]}, joined))
    same(found, expected(plain, "SELECT s.id, c.name, c.id FROM sales s LEFT JOIN customers c USING (customer_id)"))


def test_an_inner_join_by_differently_named_keys_keeps_both(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    params = {"on": [{"left": "units", "right": "id"}], "how": "inner"}
    joined = made(source, "join_tables", params, "sales", "customers")
    assert "id_right" in joined.table.columns
    found = rows(source, made(source, "select_columns", {"columns": ["id", "id_right", "customer_id_right"]}, joined))
    same(found, expected(plain, "SELECT s.id, c.id, c.customer_id FROM sales s JOIN customers c ON s.units = c.id"))


def test_a_table_joins_itself(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    params = {"on": [{"left": "customer_id", "right": "id"}]}
    joined = made(source, "join_tables", params, "customers", "customers")
    assert joined.table.columns == (
        "customer_id",
        "name",
        "city",
        "id",
        "customer_id_right",
        "name_right",
        "city_right",
        "id_right",
    )
    assert len(rows(source, joined)) == 4


def test_columns_of_different_kinds_do_not_join(duckdb_source: Tables) -> None:
    with pytest.raises(ToolError, match="join columns of the same kind"):
        made(duckdb_source, "join_tables", {"on": [{"left": "id", "right": "name"}]}, "sales", "customers")


@pytest.mark.parametrize("grain", ["day", "week", "month", "quarter", "year"])
@pytest.mark.parametrize("time", ["day", "moment"])
def test_time_is_cut_to_the_grain(source: Tables, plain: duckdb.DuckDBPyConnection, time: str, grain: str) -> None:
    metrics = [TOTAL, {"function": "count", "as": "n"}]
    cut = made(source, "aggregate", {"group_by": [time, "region"], "grain": grain, "metrics": metrics})
    assert (cut.columns[0].kind, cut.columns[0].grain) == ("time", grain)
    sql = f"SELECT date_trunc('{grain}', {time})::date, region, sum(revenue), count(*) FROM sales GROUP BY ALL"
    same(rows(source, cut), expected(plain, sql))


def test_timestamps_can_be_cut_to_hours_and_dates_cannot(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    params: dict[str, Any] = {"group_by": ["moment"], "grain": "hour", "metrics": [{"function": "count", "as": "n"}]}
    found = rows(source, made(source, "aggregate", params))
    same(found, expected(plain, "SELECT date_trunc('hour', moment), count(*) FROM sales GROUP BY ALL"))
    with pytest.raises(ToolError, match="holds days, which have no hours"):
        made(source, "aggregate", {**params, "group_by": ["day"]})


def test_every_aggregate_function_agrees_with_plain_python(source: Tables) -> None:
    functions = ("sum", "mean", "median", "min", "max", "count", "count_distinct", "std")
    metrics = [{"function": name, "column": "price", "as": name} for name in functions]
    found = {
        row["region"]: row
        for row in rows(source, made(source, "aggregate", {"group_by": ["region"], "metrics": metrics}))
    }
    for region in ("North", "South", "East", None):
        prices = [float(row[8]) for row in ROWS["sales"] if row[3] == region]
        wanted = {
            "sum": math.fsum(prices),
            "mean": statistics.fmean(prices),
            "median": statistics.median(prices),
            "min": min(prices),
            "max": max(prices),
            "count": len(prices),
            "count_distinct": len(set(prices)),
            "std": statistics.stdev(prices),
        }
        for name in functions:
            assert found[region][name] == pytest.approx(wanted[name]), (region, name)


def test_a_function_without_meaning_for_the_column_is_refused(duckdb_source: Tables) -> None:
    with pytest.raises(ToolError, match="'sum' cannot be computed on column 'region'"):
        made(duckdb_source, "aggregate", {"metrics": [{"function": "sum", "column": "region", "as": "x"}]})
    with pytest.raises(ToolError, match="two columns of the result are named 'region'"):
        made(duckdb_source, "aggregate", {"group_by": ["region"], "metrics": [{"function": "count", "as": "region"}]})


def test_segments_stand_beside_the_whole(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    metric = {"function": "mean", "column": "revenue", "as": "typical"}
    found = rows(source, made(source, "segment_metric", {"by": ["region"], "metric": metric}))
    assert list(found[0]) == ["region", "typical", "overall", "difference", "difference_ratio"]
    sql = """WITH whole AS (SELECT avg(revenue) AS o FROM sales)
        SELECT region, avg(revenue), any_value(o), avg(revenue) - any_value(o), avg(revenue) / any_value(o) - 1
        FROM sales, whole GROUP BY region"""
    same(found, expected(plain, sql))


@pytest.mark.parametrize("direction", ["top", "bottom"])
def test_ranks_within_groups_put_missing_values_last(
    source: Tables, plain: duckdb.DuckDBPyConnection, direction: str
) -> None:
    params = {"by": "revenue", "direction": direction, "limit": 3, "within": ["region"]}
    found = rows(
        source, made(source, "select_columns", {"columns": ["region", "id", "rank"]}, made(source, "rank_rows", params))
    )
    sort = "DESC" if direction == "top" else "ASC"
    sql = f"""SELECT region, id, row_number() OVER (PARTITION BY region ORDER BY revenue {sort} NULLS LAST, id) AS r
        FROM sales QUALIFY r <= 3"""
    same(found, expected(plain, sql))


@pytest.mark.parametrize("direction", ["top", "bottom"])
def test_whatever_shares_the_first_place_is_kept(
    source: Tables, plain: duckdb.DuckDBPyConnection, direction: str
) -> None:
    params = {"by": "units", "direction": direction, "limit": 1, "within": ["region"]}
    found = rows(
        source, made(source, "select_columns", {"columns": ["region", "id"]}, made(source, "rank_rows", params))
    )
    sort = "DESC" if direction == "top" else "ASC"
    sql = f"""SELECT region, id FROM sales
        QUALIFY rank() OVER (PARTITION BY region ORDER BY units {sort} NULLS LAST) = 1"""
    wanted = expected(plain, sql)
    assert len(wanted) > len({row[0] for row in wanted})
    same(found, wanted)


@pytest.mark.parametrize("limit", [1, 7])
def test_ties_are_ordered_as_asked_before_the_cut(source: Tables, plain: duckdb.DuckDBPyConnection, limit: int) -> None:
    then = [{"by": "day", "direction": "bottom"}, {"by": "id", "direction": "top"}]
    found = rows(source, made(source, "rank_rows", {"by": "units", "limit": limit, "then": then}))
    sql = f"SELECT id FROM sales ORDER BY units DESC NULLS LAST, day NULLS LAST, id DESC LIMIT {limit}"
    assert [row["id"] for row in found] == [row[0] for row in expected(plain, sql)]


def test_those_that_tie_in_everything_asked_share_the_first_place(
    source: Tables, plain: duckdb.DuckDBPyConnection
) -> None:
    params = {"by": "units", "limit": 1, "then": [{"by": "paid", "direction": "top"}]}
    found = rows(source, made(source, "select_columns", {"columns": ["id"]}, made(source, "rank_rows", params)))
    wanted = expected(
        plain, "SELECT id FROM sales QUALIFY rank() OVER (ORDER BY units DESC NULLS LAST, paid DESC NULLS LAST) = 1"
    )
    assert len(wanted) > 1
    same(found, wanted)


def test_ties_are_broken_the_same_way_every_time(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    found = rows(source, made(source, "rank_rows", {"by": "units", "limit": 5}))
    sql = "SELECT id FROM sales ORDER BY units DESC, id LIMIT 5"
    assert [row["id"] for row in found] == [row[0] for row in expected(plain, sql)]
    assert [row["rank"] for row in found] == [1, 2, 3, 4, 5]


def test_shares_add_up_to_one(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    by_product = made(source, "aggregate", {"group_by": ["region", "product"], "metrics": [TOTAL]})
    whole = rows(source, made(source, "share_of_total", {"column": "total"}, by_product))
    assert math.fsum(row["share"] for row in whole) == pytest.approx(1)
    within = rows(
        source, made(source, "share_of_total", {"column": "total", "within": ["region"], "as": "part"}, by_product)
    )
    sql = """SELECT region, product, sum(revenue), sum(revenue) / sum(sum(revenue)) OVER (PARTITION BY region)
        FROM sales GROUP BY region, product"""
    same(within, expected(plain, sql))


def test_a_summary_has_one_row_a_column(source: Tables) -> None:
    found = rows(source, made(source, "compute_summary_stats", {"columns": ["revenue", "region", "day"]}))
    assert [row["column"] for row in found] == ["revenue", "region", "day"]
    values = sorted(row[7] for row in ROWS["sales"] if row[7] is not None)
    quartiles = statistics.quantiles(values, n=4, method="inclusive")
    wanted = (len(values), 600 - len(values), len(set(values)), statistics.fmean(values), statistics.stdev(values))
    assert tuple(found[0].values())[1:6] == pytest.approx(wanted)
    assert tuple(found[0].values())[6:] == pytest.approx((values[0], *quartiles, values[-1]))
    regions = [row[3] for row in ROWS["sales"] if row[3]]
    assert tuple(found[1].values())[1:5] == (len(regions), 600 - len(regions), 3, None)


def test_a_summary_takes_every_numeric_column_when_none_is_named(source: Tables) -> None:
    found = rows(source, made(source, "compute_summary_stats"))
    assert [row["column"] for row in found] == ["id", "customer_id", "units", "revenue", "price"]


def test_bins_hold_every_value_once(source: Tables) -> None:
    result = call(source, "distribution_stats", {"column": "revenue", "bins": 7})
    assert isinstance(result.handle, Handle)
    found = rows(source, result.handle)
    values = [row[7] for row in ROWS["sales"] if row[7] is not None]
    assert list(found[0]) == ["bin", "bin_start", "bin_end", "count", "share"]
    assert sum(row["count"] for row in found) == len(values)
    assert found[0]["bin_start"] <= min(values)
    assert found[-1]["bin_end"] > max(values)
    for row in found:
        inside = [value for value in values if row["bin_start"] <= value < row["bin_end"]]
        assert row["count"] == len(inside)
    assert [item.value for item in result.facts.items] == [len(values), 600 - len(values)]


def test_bins_have_the_edges_that_a_histogram_draws(source: Tables) -> None:
    found = rows(source, made(source, "distribution_stats", {"column": "revenue", "bins": 7}))
    drawn = prepare("plot_histogram", source.table("sales").table, {"x": "revenue", "bins": 7})
    counts = {
        row["bin_start"]: row["count"] for row in source._executor.run(drawn, 100, CancelScope(10)).table.to_pylist()
    }
    assert {row["bin_start"]: row["count"] for row in found} == counts


def test_few_whole_numbers_get_a_bin_each(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    found = rows(source, made(source, "distribution_stats", {"column": "units"}))
    wanted = expected(plain, "SELECT units::text, units, units + 1, count(*), count(*) / 600 FROM sales GROUP BY units")
    same(found, wanted)


def test_categories_are_counted_with_the_missing_ones(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    found = rows(source, made(source, "distribution_stats", {"column": "region", "by": "paid"}))
    sql = """SELECT paid, region, NULL, NULL, count(*), count(*) / sum(count(*)) OVER (PARTITION BY paid)
        FROM sales GROUP BY paid, region"""
    same(found, expected(plain, sql))


def test_pearson_takes_the_rows_that_have_both_values(source: Tables) -> None:
    result = call(source, "correlate", {"columns": ["units", "revenue", "price"]})
    assert isinstance(result.handle, Handle)
    found = {(row["left"], row["right"]): row for row in rows(source, result.handle)}
    assert set(found) == {("units", "revenue"), ("units", "price"), ("revenue", "price")}
    for (left, right), row in found.items():
        pairs = [(float(x), float(y)) for x, y in _both(left, right)]
        assert row["rows"] == len(pairs)
        assert row["correlation"] == pytest.approx(statistics.correlation(*zip(*pairs, strict=True)))
    strongest = result.facts.items[0]
    assert (strongest.title, strongest.text) == ("units and revenue", "pearson, 585 rows")


def test_spearman_shares_ranks_between_equal_values(source: Tables) -> None:
    found = rows(source, made(source, "correlate", {"columns": ["units", "revenue"], "method": "spearman"}))
    units, revenues = zip(*_both("units", "revenue"), strict=True)
    wanted = statistics.correlation(_ranks(units), _ranks(revenues))
    assert found[0]["correlation"] == pytest.approx(wanted)


def _ranks(values: tuple[Any, ...]) -> list[float]:
    below = {value: sum(other < value for other in values) for value in set(values)}
    return [below[value] + (values.count(value) + 1) / 2 for value in values]


def _both(left: str, right: str) -> list[tuple[Any, Any]]:
    place = {"units": 6, "revenue": 7, "price": 8}
    pairs = [(row[place[left]], row[place[right]]) for row in ROWS["sales"]]
    return [pair for pair in pairs if None not in pair]


def test_planted_spikes_are_found_and_nothing_else(source: Tables) -> None:
    result = call(source, "detect_anomalies", {"column": "revenue"})
    assert isinstance(result.handle, Handle)
    found = rows(source, result.handle)
    assert {row["id"] for row in found} == set(SPIKES)
    assert [(item.value, item.text) for item in result.facts.items] == [(3, "of 585 values")]
    values = [row[7] for row in ROWS["sales"] if row[7] is not None]
    middle = statistics.median(values)
    scale = 1.4826 * statistics.median(abs(value - middle) for value in values)
    for row in found:
        assert row["expected"] == pytest.approx(middle)
        assert row["score"] == pytest.approx((row["revenue"] - middle) / scale)


def test_a_season_is_compared_with_itself(source: Tables) -> None:
    params = {"column": "revenue", "method": "seasonal", "time": "day", "by": ["paid"], "only": False}
    found = rows(source, made(source, "detect_anomalies", params))
    assert len(found) == 600
    assert {row["id"] for row in found if row["anomaly"]} == set(SPIKES)
    season = [row[7] for row in ROWS["sales"] if row[7] is not None and row[9] and row[1].weekday() == 0]
    mondays = [row for row in found if row["paid"] and row["day"] == "2024-01-08"]
    assert mondays
    assert all(row["expected"] == pytest.approx(statistics.median(season)) for row in mondays)


def test_a_flat_series_with_one_spike_is_still_measured(duckdb_source: Tables) -> None:
    flat = Tables.open({"flat": _frame([5.0] * 20 + [50.0])})
    found = rows(flat, made(flat, "detect_anomalies", {"column": "value"}, "flat"))
    assert [row["value"] for row in found] == [50.0]
    constant = Tables.open({"flat": _frame([5.0] * 20)})
    marked = rows(constant, made(constant, "detect_anomalies", {"column": "value", "only": False}, "flat"))
    assert {(row["score"], row["anomaly"]) for row in marked} == {(None, False)}


def _frame(values: list[float]) -> Any:
    import pyarrow as pa

    return pa.table({"value": values})


def test_a_series_is_described_along_time(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    monthly = made(source, "aggregate", {"group_by": ["paid", "day"], "grain": "month", "metrics": [TOTAL]})
    result = call(source, "time_series_features", {"time": "day", "column": "total", "by": ["paid"]}, monthly)
    assert isinstance(result.handle, Handle)
    sql = """WITH m AS (SELECT paid, date_trunc('month', day)::date AS d, sum(revenue) AS v FROM sales GROUP BY ALL)
        SELECT paid, d, v, lag(v) OVER w, v - lag(v) OVER w, (v - lag(v) OVER w) / lag(v) OVER w,
            avg(v) OVER (PARTITION BY paid ORDER BY d ROWS 2 PRECEDING), sum(v) OVER w
        FROM m WINDOW w AS (PARTITION BY paid ORDER BY d)"""
    same(rows(source, result.handle), expected(plain, sql))
    slopes = expected(
        plain,
        """WITH m AS (SELECT paid, date_trunc('month', day) AS d, sum(revenue) AS v FROM sales GROUP BY ALL),
        n AS (SELECT *, row_number() OVER (PARTITION BY paid ORDER BY d) AS i FROM m)
        SELECT paid, regr_slope(v, i), arg_max(v, d) - arg_min(v, d) FROM n GROUP BY paid""",
    )
    told = {item.title: item.value for item in result.facts.items}
    assert len(told) == 8
    for paid, slope, change in slopes:
        assert told[f"total of {paid}: slope"] == pytest.approx(slope)
        assert told[f"total of {paid}: change"] == pytest.approx(change)


def test_two_periods_stand_side_by_side(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    params = {
        "time": "moment",
        "metric": {"function": "sum", "column": "revenue"},
        "by": ["region"],
        "current": ["2024-07-01", "2025-01-01"],
        "previous": ["2024-01-01", "2024-07-01"],
    }
    found = rows(source, made(source, "compare_periods", params))
    assert list(found[0]) == ["region", "current", "previous", "change", "change_ratio"]
    sql = """WITH p AS (SELECT region, sum(revenue) FILTER (moment >= '2024-07-01' AND moment < '2025-01-01') AS c,
            sum(revenue) FILTER (moment >= '2024-01-01' AND moment < '2024-07-01') AS p FROM sales GROUP BY region)
        SELECT region, c, p, c - p, (c - p) / p FROM p"""
    same(found, expected(plain, sql))


def test_a_pivot_reads_across(source: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    found = rows(source, made(source, "pivot", {"rows": ["product"], "columns": "region", "values": "revenue"}))
    assert list(found[0]) == ["product", "East", "North", "South", "(none)"]
    parts = ["region = 'East'", "region = 'North'", "region = 'South'", "region IS NULL"]
    sums = ", ".join(f"sum(revenue) FILTER ({part})" for part in parts)
    same(found, expected(plain, f"SELECT product, {sums} FROM sales GROUP BY product"))


def test_a_pivot_of_too_many_values_says_what_to_do(source: Tables) -> None:
    with pytest.raises(ToolError, match="filter or rank"):
        made(source, "pivot", {"rows": ["product"], "columns": "id", "values": "revenue"})


def test_a_new_column_never_replaces_an_old_one(duckdb_source: Tables) -> None:
    with pytest.raises(ToolError, match="already has a column 'units'"):
        made(duckdb_source, "share_of_total", {"column": "revenue", "as": "units"})
