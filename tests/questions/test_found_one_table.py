"""Wrong answers that trials over one table found, asked of other tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from groundplan.project import Project
from tests.questions.found import ASK, NO_ANSWER, REFUSE, TODAY, assert_truth, write_csv

HIRES = """
    CREATE TABLE hires AS SELECT n AS hire_id, 100 + n * 7 % 31 AS guest_id,
        DATE '2024-01-03' + CAST(n * 53 % 720 AS INT) AS hired_on,
        ['Arlo', 'Brim', 'Cove', 'Dune'][1 + n * 3 % 4] AS harbour, ['kayak', 'sailboat', 'canoe'][1 + n % 3] AS boat,
        10 + n * 37 % 397 + 0.5 AS takings, 20 + n * 11 % 300 AS minutes FROM range(1, 241) AS s(n)
"""
REPAIRS = """
    CREATE TABLE repairs AS SELECT 'R' || (1000 + n) AS repair_no,
        ['Ada Moss', 'Ben Cole', 'Cat Dunn', 'Dov Ellis'][1 + n * 5 % 7 % 4] AS owner,
        DATE '2025-01-03' + CAST(n * 29 % 300 AS INT) AS logged_on,
        CASE WHEN n % 5 > 0 THEN DATE '2025-01-09' + CAST(n * 29 % 300 + n % 40 AS INT) END AS fixed_on,
        CASE WHEN n % 5 > 0 THEN ['Tia', 'Uma', 'Vic'][1 + n * 3 % 11 % 3] END AS fixed_by,
        ['open', 'In Delivery', 'on hold', 'done'][1 + n % 4] AS status,
        ['rush', 'paint;rush', 'warranty', 'refit;warranty', 'paint', 'refit;rush;paint'][1 + n % 6] AS labels,
        ['N/A', 'Leith', 'Troon', 'Ayr'][1 + n % 4] AS yard, 1 + n * 3 % 9 + 0.5 AS hours,
        (n * 7 % 40) || '%' AS rebate, '£' || (20 + n * 13 % 280) || '.50' AS charge,
        CASE WHEN n % 3 > 0 THEN ['trade', 'retail'][n % 3] END AS channel FROM range(1, 121) AS s(n)
"""
GAUGES = """
    CREATE TABLE gauges AS SELECT ['M1', 'M2', 'M3'][1 + n % 3] AS gauge,
        DATE '2025-01-01' + CAST(n * 17 % 300 AS INT) AS taken_on,
        ['spring', 'neap'][1 + n % 2] AS tide, n * 41 % 199 + 0.5 AS level_cm FROM range(1, 151) AS s(n)
"""
EXAMS = """
    CREATE TABLE exams AS SELECT 'E' || n AS "ex no", ['Dr Fox', 'Dr Elm', 'Dr Oak'][1 + n % 3] AS examiner,
        1 + n * 3 % 7 % 5 AS rating, 20 + n * 11 % 70 AS "pupil age" FROM range(1, 81) AS s(n)
"""
CALLS = """
    CREATE TABLE calls AS SELECT 'C' || n AS "call no", DATE '2025-01-01' + CAST(n * 7 % 300 AS INT) AS called_on,
        ['Elm', 'Oak'][1 + n % 2] AS branch, 5 + n * 13 % 80 + 0.25 AS fee, 3 + n * 17 % 60 + 0.5 AS "amt paid",
        ['Kim', 'Lou'][1 + n % 2] AS sales_rep FROM range(1, 90) AS s(n)
"""
STALLS = """
    CREATE TABLE stalls AS SELECT 'S' || n AS "stall no", ['fish', 'fruit'][1 + n % 2] AS goods,
        100 + n * 37 % 400 AS sales, 5 + n * 11 % 60 AS profit, ['Sold', 'Let', 'Empty'][1 + n % 3] AS state
        FROM range(1, 70) AS s(n)
"""
TOURS = """
    CREATE TABLE tours AS SELECT 'T' || n AS "tour no", DATE '2025-01-05' + CAST(n * 11 % 280 AS INT) AS led_on,
        ['Moor', 'Glen', 'Shore'][1 + n % 3] AS route, ['yes', 'no'][1 + n * 7 % 5 % 2] AS guide_rep,
        200 + n AS walker_id, 1 + n * 5 % 6 AS tickets, 4 + n * 17 % 23 + 0.25 AS "hike price", 1 + n * 3 % 5 AS rating,
        3 + n * 29 % 97 + 0.1 AS wind_speed FROM range(1, 97) AS s(n)
"""
CREW = """
    CREATE TABLE crew AS SELECT n AS crew_id, ['deck', 'galley'][1 + n % 2] AS unit_name,
        DATE '2019-02-01' + CAST(n * 31 % 1900 AS INT) AS hired_on,
        CASE WHEN n % 4 = 0 THEN DATE '2025-01-10' + CAST(n * 3 AS INT) END AS left_on FROM range(1, 70) AS s(n)
"""
SHIFTS = """
    CREATE TABLE shifts AS SELECT 'S' || n AS "shift no", ['PT', 'QA', 'BX', 'lab'][1 + n % 4] AS team,
        ['x', 'y', 'a', 'all'][1 + n * 3 % 7 % 4] AS bay, 2 + n * 5 % 9 AS pay FROM range(1, 70) AS s(n)
"""
PLANTS = """
    CREATE TABLE plants AS SELECT 'P' || n AS "sale id", DATE '2025-01-02' + CAST(n * 13 % 400 AS INT) AS "sale date",
        ['Shop', 'Yard', 'Market'][1 + n % 3] AS stand, ['Rosé', 'Rose', 'Fern', 'Box'][1 + n * 3 % 7 % 4] AS plant,
        ['Ivo', 'Una', 'Rhea'][1 + n * 5 % 7 % 3] AS seller, 1 + n * 3 % 5 AS qty, 2 + n * 7 % 50 + 0.5 AS takings,
        1 + n * 11 % 9 + 0.25 AS hours, ['done', 'returned'][1 + n * 3 % 8 % 7 % 2] AS state FROM range(1, 91) AS s(n)
"""
CHARGE = "CAST(replace(charge, '£', '') AS DOUBLE)"
MONTH_FIXED = "CAST(date_trunc('month', fixed_on) AS DATE)"
ASKED = {
    "hires": {
        "takings by harbour for Arlo and Cove": (
            "SELECT harbour, avg(takings) FROM hires WHERE harbour IN ('Arlo', 'Cove') GROUP BY 1"
        ),
        "5 largest takings": "SELECT hire_id, takings FROM hires ORDER BY 2 DESC LIMIT 5",
        "top 4 takings in 2025": (
            "SELECT hire_id, takings FROM hires WHERE year(hired_on) = 2025 ORDER BY 2 DESC LIMIT 4"
        ),
        "the 3 highest takings": "SELECT hire_id, takings FROM hires ORDER BY 2 DESC LIMIT 3",
        "is takings good?": REFUSE,
        "how bad were takings?": REFUSE,
        "sum of guest_id by harbour": REFUSE,
        "average hire id": REFUSE,
        "takings by harbour in 2024 and in 2025": (
            "SELECT harbour, avg(takings) FILTER (year(hired_on) = 2025), avg(takings) FILTER (year(hired_on) = 2024) "
            "FROM hires GROUP BY 1"
        ),
        "takings per minute by boat": "SELECT boat, sum(takings) / sum(minutes) FROM hires GROUP BY 1",
        "total takings divided by total minutes, by harbour": (
            "SELECT harbour, sum(takings) / sum(minutes) FROM hires GROUP BY 1"
        ),
        "takings by boat for the two best harbours": REFUSE,
        "takings by boat and its distribution": "SELECT boat, avg(takings) FROM hires GROUP BY 1",
        "distribution of minutes by boat": (
            "SELECT boat, cast(minutes // 20 * 20 AS INT) || ' to ' || cast(minutes // 20 * 20 + 20 AS INT) FROM hires "
            "GROUP BY 1, 2"
        ),
        "repeat guests": NO_ANSWER,
    },
    "repairs": {
        "how many no-shows": NO_ANSWER,
        "trade rate per yard": (
            "SELECT nullif(yard, 'N/A'), avg(CAST(channel = 'trade' AS INT)) FROM repairs GROUP BY 1"
        ),
        "how many repairs came in in june 2025": (
            "SELECT count(*) FROM repairs WHERE logged_on BETWEEN '2025-06-01' AND '2025-06-30'"
        ),
        "which owner opens the most repairs": ASK,
        "average delivery hours": NO_ANSWER,
        "number of repairs labelled rush": (
            "SELECT count(*) FROM repairs WHERE list_contains(split(labels, ';'), 'rush')"
        ),
        "repairs labelled paint by owner": (
            "SELECT owner, count(*) FROM repairs WHERE list_contains(split(labels, ';'), 'paint') GROUP BY 1"
        ),
        "5 most common labels": REFUSE,
        "how many labels": REFUSE,
        "how many yards": "SELECT count(DISTINCT yard) FROM repairs WHERE yard <> 'N/A'",
        "repairs by yard": "SELECT nullif(yard, 'N/A'), count(*) FROM repairs GROUP BY 1",
        "total rebate": REFUSE,
        "rebate by owner": "SELECT owner, avg(CAST(replace(rebate, '%', '') AS INT)) FROM repairs GROUP BY 1",
        "done repairs by yard": ASK,  # that have the status, or a day on which they were fixed
        "charge as a % of hours by owner": f"SELECT owner, sum({CHARGE}) / sum(hours) FROM repairs GROUP BY 1",
        "charge as a percentage of hours": f"SELECT sum({CHARGE}) / sum(hours) FROM repairs",
        "which repair has the highest charge and which owner": (
            f"SELECT repair_no, owner FROM repairs ORDER BY {CHARGE} DESC LIMIT 1"
        ),
        "charge by owner": f"SELECT owner, sum({CHARGE}) FROM repairs GROUP BY 1",
        "repairs excluding retail": "SELECT count(*) FROM repairs WHERE channel IS DISTINCT FROM 'retail'",
        "charge except trade": f"SELECT sum({CHARGE}) FROM repairs WHERE channel IS DISTINCT FROM 'trade'",
        "who fixed the most repairs in each month of 2025": (
            f"SELECT {MONTH_FIXED}, fixed_by, count(*) AS n FROM repairs WHERE year(fixed_on) = 2025 GROUP BY 1, 2 "
            f"QUALIFY rank() OVER (PARTITION BY {MONTH_FIXED} ORDER BY count(*) DESC) = 1"
        ),
    },
    "gauges": {
        "highest single level - when and which gauge": (
            "SELECT taken_on, gauge, level_cm FROM gauges ORDER BY level_cm DESC LIMIT 1"
        ),
        "when was the lowest level": "SELECT taken_on, level_cm FROM gauges ORDER BY level_cm LIMIT 1",
        "average level spring vs neap": "SELECT tide, avg(level_cm) FROM gauges GROUP BY 1",
        "which gauge had the highest single level": (
            "SELECT taken_on, gauge, level_cm FROM gauges ORDER BY level_cm DESC LIMIT 1"
        ),
        "highest level ever, and where": REFUSE,
    },
    "calls": {
        "whats the number one branch": "SELECT branch FROM calls GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
        "monthly takings": NO_ANSWER,
        "top 2 branches by revenue": NO_ANSWER,
        "turnover by branch": NO_ANSWER,
        "fee by branch": "SELECT branch, sum(fee) FROM calls GROUP BY 1",
    },
    "stalls": {
        "profit margin by goods": "SELECT goods, sum(profit) / sum(sales) FROM stalls GROUP BY 1",
        "margin by goods": "SELECT goods, sum(profit) / sum(sales) FROM stalls GROUP BY 1",
        "profit by goods": "SELECT goods, sum(profit) FROM stalls GROUP BY 1",
        "sold stalls by goods": "SELECT goods, count(*) FROM stalls WHERE state = 'Sold' GROUP BY 1",
    },
    "crew": {
        "average tenure by unit name": REFUSE,
        "average tenure of those who left in 2025 by unit name": (
            "SELECT unit_name, avg(left_on - hired_on) FROM crew WHERE year(left_on) = 2025 GROUP BY 1"
        ),
        "средний стаж": REFUSE,
    },
    "tours": {
        "repeat walkers": NO_ANSWER,
        "tickets by route": "SELECT route, sum(tickets) FROM tours GROUP BY 1",
        "how many tickets": "SELECT sum(tickets) FROM tours",
        "average tickets by route for Moor and Glen": (
            "SELECT route, avg(tickets) FROM tours WHERE route IN ('Moor', 'Glen') GROUP BY 1"
        ),
        "which route had the highest wind speed ever": (
            'SELECT "tour no", route, wind_speed FROM tours ORDER BY wind_speed DESC LIMIT 1'
        ),
        "lowest wind speed on record, and which route": (
            'SELECT "tour no", route, wind_speed FROM tours ORDER BY wind_speed LIMIT 1'
        ),
        "hike price per ticket by route": NO_ANSWER,
        "total hike price per ticket by route": (
            'SELECT route, sum("hike price") / sum(tickets) FROM tours GROUP BY 1'
        ),
        "fare by route": NO_ANSWER,
    },
    "shifts": {
        "how many qa shifts": "SELECT count(*) FROM shifts WHERE team = 'QA'",
        "total pay for pt": "SELECT sum(pay) FROM shifts WHERE team = 'PT'",
        "total pay for QA": "SELECT sum(pay) FROM shifts WHERE team = 'QA'",
        "total pay in bay x": "SELECT sum(pay) FROM shifts WHERE bay = 'x'",
        "total pay when bay y, by team": "SELECT team, sum(pay) FROM shifts WHERE bay = 'y' GROUP BY 1",
        "total pay of bay A": "SELECT sum(pay) FROM shifts WHERE bay = 'a'",
        "average pay by team when they actually do something": REFUSE,
    },
    "exams": {
        "how many no-shows": NO_ANSWER,
        "which exam was the most expensive for the pupil": REFUSE,
        "price by examiner": NO_ANSWER,
        "score by examiner": "SELECT examiner, avg(rating) FROM exams GROUP BY 1",
        "number of ex no with pupil age over 65": 'SELECT count(*) FROM exams WHERE "pupil age" > 65',
        "lowest rated examiner": "SELECT examiner, avg(rating) FROM exams GROUP BY 1 ORDER BY 2 LIMIT 1",
        "2 highest rated examiners": "SELECT examiner, avg(rating) FROM exams GROUP BY 1 ORDER BY 2 DESC LIMIT 2",
    },
    "plants": {
        "what did the shop take in total in 2025": (
            "SELECT sum(takings) FROM plants WHERE stand = 'Shop' AND year(\"sale date\") = 2025"
        ),
        "return rate by seller (returned sales / all sales)": NO_ANSWER,
        "return rate of returned sales": NO_ANSWER,
        "number of ferns sold per month": ASK,
        "how many ferns by seller": "SELECT seller, count(*) FROM plants WHERE plant = 'Fern' GROUP BY 1",
        "hours per seller": ASK,
        "total hours per seller": "SELECT seller, sum(hours) FROM plants GROUP BY 1",
        "list the returned sales: sale id, seller": "SELECT \"sale id\", seller FROM plants WHERE state = 'returned'",
        "list the returned sales in May 2025: sale id, sale date, stand": (
            'SELECT "sale id", "sale date", stand FROM plants '
            "WHERE state = 'returned' AND date_trunc('month', \"sale date\") = DATE '2025-05-01'"
        ),
        "total qty by plant": (
            "SELECT CASE WHEN plant = 'Rosé' THEN 'Rose' ELSE plant END, sum(qty) FROM plants GROUP BY 1"
        ),
    },
}
MADE = {
    "hires": HIRES,
    "repairs": REPAIRS,
    "gauges": GAUGES,
    "exams": EXAMS,
    "calls": CALLS,
    "stalls": STALLS,
    "tours": TOURS,
    "crew": CREW,
    "shifts": SHIFTS,
    "plants": PLANTS,
}
CASES = [(table, question) for table, asked in ASKED.items() for question in asked]


@pytest.fixture(scope="module")
def truth() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for statement in MADE.values():
        connection.execute(statement)
    return connection


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Project]]:
    opened = {}
    for table, statement in MADE.items():
        folder: Path = tmp_path_factory.mktemp(table)
        write_csv(folder, statement, [table])
        opened[table] = Project(str(folder))
    yield opened
    for project in opened.values():
        project.close()


@pytest.mark.parametrize(("table", "question"), CASES)
def test_the_answer_is_what_sql_gives(
    projects: dict[str, Project], truth: duckdb.DuckDBPyConnection, table: str, question: str
) -> None:
    assert_truth(projects[table].ask(question, today=TODAY).outcome, ASKED[table][question], truth)


FOLLOWED = {
    ("repairs from Leith", "how many of these were trade"): (
        "SELECT count(*) FROM repairs WHERE yard = 'Leith' AND channel = 'trade'"
    ),
    ("repairs in May 2025", "how many of them are labelled rush"): (
        "SELECT count(*) FROM repairs WHERE date_trunc('month', logged_on) = DATE '2025-05-01' "
        "AND contains(labels, 'rush')"
    ),
    ("list the repairs from Ayr", "average hours of those"): "SELECT avg(hours) FROM repairs WHERE yard = 'Ayr'",
    ("which owner has the most repairs", "how many of them were trade"): ASK,
}


@pytest.mark.parametrize(("before", "after"), FOLLOWED)
def test_conditions_hold_for_what_is_asked_of_these(
    projects: dict[str, Project], truth: duckdb.DuckDBPyConnection, before: str, after: str
) -> None:
    thread = f"{before} {after}"
    projects["repairs"].ask(before, today=TODAY, thread=thread)
    assert_truth(projects["repairs"].ask(after, today=TODAY, thread=thread).outcome, FOLLOWED[before, after], truth)


def test_marks_of_missing_values_are_told(projects: dict[str, Project]) -> None:
    (schema,) = projects["repairs"].schemas.values()
    yard = schema.tables[0].find("yard")
    assert yard is not None
    assert yard.note == "missing values: 'N/A'"
    assert yard.nulls == 30
