"""The average number of deliveries per week is one of weeks; that of an amount may be one of periods or of rows."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pytest

import groundplan

SUM = (
    "SELECT {group} avg(v) FROM (SELECT {group} date_trunc('{grain}', sent) AS p, {total} AS v "
    "FROM deliveries {where} GROUP BY ALL) {by}"
)


@pytest.fixture(scope="module")
def deliveries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some days have no rows, and some rows no day."""
    chosen = random.Random(7)
    path = tmp_path_factory.mktemp("deliveries") / "deliveries.csv"
    lines = ["delivery_id,depot,sent,weight_kg,charge"]
    for number in range(400):
        day = "" if number % 40 == 0 else str(date(2025, 1, 1) + timedelta(days=chosen.randrange(300)))
        depot, weight = chosen.choice(("Ghent", "Lille")), chosen.randrange(1, 90)
        lines.append(f"D{1000 + number},{depot},{day},{weight},{weight * 3 + 0.5}")
    path.write_text("\n".join(lines) + "\n")
    return path


def truth(path: Path, grain: str, total: str, group: str = "", where: str = "") -> list[tuple[object, ...]]:
    sql = SUM.format(
        grain=grain,
        total=total,
        group=f"{group}," if group else "",
        where=f"WHERE sent IS NOT NULL {where}",
        by=f"GROUP BY {group} ORDER BY {group}" if group else "",
    )
    return duckdb.sql(sql.replace("deliveries", f"read_csv('{path}')", 1)).fetchall()


@pytest.mark.parametrize(
    ("question", "grain", "total", "group", "where"),
    [
        ("average number of deliveries per week", "week", "count(*)", "", ""),
        ("average deliveries per day", "day", "count(*)", "", ""),
        ("average total charge per month", "month", "sum(charge)", "", ""),
        ("total charge per week on average", "week", "sum(charge)", "", ""),
        ("average number of deliveries per month by depot", "month", "count(*)", "depot", ""),
        ("average number of deliveries per week in Q1 2025", "week", "count(*)", "", "AND sent < '2025-04-01'"),
    ],
)
def test_of_periods(deliveries: Path, question: str, grain: str, total: str, group: str, where: str) -> None:
    with groundplan.open(deliveries) as project:
        table = project.ask(question).outcome.tables[0]  # type: ignore[union-attr]
    expected = truth(deliveries, grain, total, group, where)
    assert sorted(table.rows) == [pytest.approx(row) for row in expected]


@pytest.mark.parametrize("question", ["average daily charge", "average charge per day"])
def test_of_periods_or_of_rows_is_asked(deliveries: Path, question: str) -> None:
    with groundplan.open(deliveries) as project:
        asked = project.ask(question)
        assert asked.kind == "clarification"
        assert asked.candidates == (
            "average charge by day (sent)",
            "average total charge over each day (sent), from rows where sent is present",
        )
        of_days = asked.choose(2).outcome.tables[0]  # type: ignore[union-attr]
        of_rows = asked.choose(1).outcome.tables[0]  # type: ignore[union-attr]
    assert [*of_days.rows] == [pytest.approx(row) for row in truth(deliveries, "day", "sum(charge)")]
    assert len(of_rows.rows) > 100


@pytest.mark.parametrize(
    "question", ["average charge by month", "total charge per month", "number of deliveries per day"]
)
def test_what_is_said_to_be_by_periods_is_a_series(deliveries: Path, question: str) -> None:
    with groundplan.open(deliveries) as project:
        assert len(project.ask(question).outcome.tables[0].rows) > 5  # type: ignore[union-attr]
