"""The text of each kind of question, on rows few enough to add up by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.answering.asking import Data, after, by_groups, filtered, opened, over_time, periods, single, total

ROWS = """date,region,kind,units,revenue
2024-01-10,North,Books,10,1000.5
2024-01-20,South,Books,20,2000.0
2024-02-05,North,Games,30,3000.0
2024-02-15,South,Games,10,500.0
2025-01-11,North,Books,5,1500.0
2025-01-21,South,Games,25,2500.0
"""
SALES, TABLE = "shop.csv", "shop"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Data]:
    file: Path = tmp_path_factory.mktemp("shop") / SALES
    file.write_text(ROWS)
    with opened(file) as data:
        yield data


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Data]:
    """Nineteen values from 10 to 12, and one of 500."""
    file = tmp_path_factory.mktemp("odd") / "odd.csv"
    rows = [f"2024-01-{day:02},{10 + day % 3}" for day in range(1, 20)]
    file.write_text("\n".join(["date,units", *rows, "2024-01-20,500"]))
    with opened(file) as data:
        yield data


def test_one_number(shop: Data) -> None:
    assert shop.ask(total(TABLE)).text() == "Revenue totals 10,500.50."
    assert shop.ask(total(TABLE)).text("ru") == "Revenue: всего 10\u00a0500,50."
    assert shop.ask(total(TABLE, "sum", "units")).text() == "Units total 100."
    assert shop.ask(total(TABLE, "mean", "units")).text() == "Average units is 16.67."
    assert shop.ask(total(TABLE, "count_distinct", "region")).text() == "There are 2 different regions."


def test_groups(shop: Data) -> None:
    run = shop.ask(by_groups(TABLE, ["region"]))
    assert (
        run.text()
        == "North has the highest revenue (5,500.50, 52% of the total of 10,501) and South the lowest (5,000)."
    )
    assert run.text("ru") == (
        "Revenue: больше всего — «North» (5\u00a0500,50, 52\u00a0% из 10\u00a0501), "
        "меньше всего — «South» (5\u00a0000)."
    )


def test_groups_of_an_average_have_no_total(shop: Data) -> None:
    run = shop.ask(by_groups(TABLE, ["region"], "mean", "units"))
    assert run.text() == "South has the highest average units (18.33) and North the lowest (15)."


def test_two_groupings(shop: Data) -> None:
    assert shop.ask(by_groups(TABLE, ["region", "kind"], "sum", "units")).text() == (
        "South / Games has the highest units (35, 35% of the total of 100) and North / Books the lowest (15). "
        "By region, South has the highest units (55, 55% of the total) and North the lowest (45). "
        "By kind, Games has the highest units (65, 65% of the total) and Books the lowest (35)."
    )


def test_over_time(shop: Data) -> None:
    run = shop.ask(over_time(TABLE, "month", column="units"))
    assert run.text() == (
        "Units total 100. From January 2024 to January 2025, monthly units began at 30 and ended at 30, "
        "with a peak of 40 (February 2024) and a low of 30 (January 2024)."
    )
    run = shop.ask(over_time(TABLE, "year", column="units"))
    assert run.text() == (
        "Units total 100. From 2024 to 2025, yearly units fell from 70 to 30 (-57%), "
        "with a peak of 70 (2024) and a low of 30 (2025). "
        "The data for 2025 is partial: it ends on 21 January 2025."
    )
    assert run.text("ru") == (
        "Units: всего 100. Units по годам, 2024 – 2025: снижение с 70 до 30 (-57\u00a0%); "
        "максимум — 70 (2024), минимум — 30 (2025). "
        "Неполный период — 2025: данные заканчиваются 21 января 2025."
    )


def test_the_grain_that_the_data_chose_is_said(shop: Data) -> None:
    run = shop.ask(over_time(TABLE, "auto", column="units"))
    assert run.text().endswith("Dates are grouped by day, chosen from the data's span.")
    assert "From 10 January 2024 to 21 January 2025, daily units rose from 10 to 25 (+150%)" in run.text()
    assert "с 10 января 2024" not in run.text("ru")
    assert "Units по дням, 10 января 2024 – 21 января 2025: рост с 10 до 25" in run.text("ru")


def test_over_time_by_groups(shop: Data) -> None:
    assert shop.ask(over_time(TABLE, "quarter", ["region"])).text() == (
        "Revenue totals 10,500.50. From Q1 2024 to Q1 2025, quarterly revenue fell from 6,500.50 to 4,000 (-38%), "
        "with a peak of 6,500.50 (Q1 2024) and a low of 4,000 (Q1 2025). "
        "By region, North has the highest revenue (5,500.50, 52% of the total) and South the lowest (5,000). "
        "Revenue fell most for North, from 4,000.50 to 1,500 (-63%)."
    )


def test_ranking(shop: Data) -> None:
    question = after(
        by_groups(TABLE, ["region", "kind"]), "rank_rows", "rank:top3", "rank:top:3", by="sum_revenue", limit=3
    )
    run = shop.ask(question)
    assert run.text() == (
        "Top 3 by revenue:\n1. North / Games: 3,000\n2. South / Games: 3,000\n3. North / Books: 2,500.50"
    )
    assert run.text("ru").startswith("Первые 3 — revenue:\n1. «North» / «Games»: 3\u00a0000\n")


def test_shares(shop: Data) -> None:
    question = after(by_groups(TABLE, ["kind"], "sum", "units"), "share_of_total", "analysis:share", column="sum_units")
    run = shop.ask(question)
    assert run.text() == "Share of units by kind:\n- Games: 65% (65)\n- Books: 35% (35)"
    assert run.text("ru") == "Доля — units, разрез: kind:\n- «Games»: 65\u00a0% (65)\n- «Books»: 35\u00a0% (35)"


def test_two_periods(shop: Data) -> None:
    both = ["2025-01-01", "2025-02-01"], ["2024-01-01", "2024-02-01"]
    assert shop.ask(periods(TABLE, *both)).text() == (
        "Revenue rose from 3,000.50 (January 2024) to 4,000 (January 2025), a change of +33%."
    )
    by_region = shop.ask(periods(TABLE, *both, by=["region"]))
    assert by_region.text() == (
        "Revenue rose from 3,000.50 (January 2024) to 4,000 (January 2025), a change of +33%. "
        "Revenue rose most for South, from 2,000 to 2,500 (+25%)."
    )
    assert by_region.text("ru").startswith(
        "Revenue: рост с 3\u00a0000,50 (январь 2024) до 4\u00a0000 (январь 2025), изменение +33\u00a0%."
    )


def test_a_spread(odd: Data) -> None:
    asks = ["metric:units", "analysis:distribution"]
    run = odd.ask(single("distribution_stats", asks, asks, table="odd", column="units", bins=4))
    assert re.fullmatch(r"The most common range of units is \d+ to [\d.]+ \(19 of 20 values, 95%\)\.", run.text()), (
        run.text()
    )
    assert re.fullmatch(r"Units: чаще всего от \d+ до [\d,]+ \(19 из 20 значений, 95\u00a0%\)\.", run.text("ru"))


def test_a_summary(shop: Data) -> None:
    asks = ["metric:units", "analysis:summary"]
    run = shop.ask(single("compute_summary_stats", asks, asks, table=TABLE, columns=["units", "region"]))
    assert run.text() == (
        "- units: average 16.67, median 15, from 5 to 30 (6 values, 0 missing)\n"
        "- region: 2 different values (6 values, 0 missing)"
    )


def test_a_correlation(shop: Data) -> None:
    asks = ["metric:units", "metric:revenue", "analysis:correlation"]
    run = shop.ask(single("correlate", asks, asks, table=TABLE, columns=["units", "revenue"]))
    assert run.text() == "Units and revenue move together: r = 0.87 over 6 rows."
    assert run.text("ru") == "Units и revenue растут вместе: r = 0,87, строк: 6."


def test_anomalies(odd: Data) -> None:
    asks = ["metric:units", "analysis:anomaly"]
    run = odd.ask(single("detect_anomalies", asks, asks, table="odd", column="units"))
    assert run.text() == "One value of units stands out:\n- 20 January 2024: 500 (expected 11)"
    assert run.text("ru") == "Выделяется одно значение «units»:\n- 20 января 2024: 500 (ожидалось 11)"


def test_filters_are_named(shop: Data) -> None:
    run = shop.ask(filtered(total(TABLE), "region", "=", "North"))
    assert run.text() == "Revenue totals 5,500.50. Only rows where region is North are counted."
    assert run.text("ru") == "Revenue: всего 5\u00a0500,50. Учтены только строки, где «region» — «North»."


def test_nothing_matches(shop: Data) -> None:
    run = shop.ask(filtered(by_groups(TABLE, ["kind"]), "region", "=", "West"))
    assert run.text() == "No rows match. Only rows where region is West are counted."
    run = shop.ask(filtered(total(TABLE), "region", "=", "West"))
    assert run.text().startswith("There is no value of revenue.")


@pytest.mark.requirement("R44")
def test_rows_as_they_are_and_how_many_are_missing(shop: Data) -> None:
    asks = ["analysis:detail"]
    run = shop.ask(single("show_table", asks, asks, table=TABLE, limit=4))
    assert run.text() == ("There are 6 rows with date, region, kind, units, revenue. Only 4 of 6 rows are shown.")
    assert run.text("ru").endswith("Показано строк: 4 из 6.")


def test_every_value_is_cited_in_the_order_of_the_text(shop: Data) -> None:
    answer = shop.ask(by_groups(TABLE, ["region"])).answer()
    told = [(citation.text, citation.fact, citation.value) for citation in answer.citations]
    assert told == [
        ("North", "totals.r0.region", "North"),
        ("revenue", "totals.sum_revenue", "sum_revenue"),
        ("5,500.50", "totals.r0.sum_revenue", 5500.5),
        ("52%", "derived:share(totals.r0.sum_revenue, sum(totals.sum_revenue))", pytest.approx(5500.5 / 10500.5)),
        ("10,501", "derived:sum(totals.sum_revenue)", 10500.5),
        ("South", "totals.r1.region", "South"),
        ("5,000", "totals.r1.sum_revenue", 5000.0),
    ]


def test_a_chart_that_nothing_else_can_be_said_of(shop: Data) -> None:
    asks = ["metric:units", "metric:revenue", "analysis:correlation", "output:chart"]
    title = "Revenue soared by 500%"
    run = shop.ask(single("plot_scatter", asks, asks, table=TABLE, x="units", y="revenue", title=title))
    assert run.text() == "The chart shows units, revenue."
    assert run.text("ru") == "На графике: units, revenue."


def test_a_period_without_rows_is_unknown_not_zero(shop: Data) -> None:
    run = shop.ask(periods(TABLE, ["2025-01-01", "2025-02-01"], ["2020-01-01", "2020-02-01"]))
    assert run.text() == "Revenue is compared between January 2020 and January 2025."
