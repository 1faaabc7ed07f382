"""Questions over several tables, from a folder of files, a DuckDB file and Postgres with foreign keys."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.project import Project

pytestmark = pytest.mark.requirement("R72")
POSTGRES = os.environ.get("GROUNDPLAN_TEST_POSTGRES")
TABLES = """
    CREATE TABLE members (member_id INT PRIMARY KEY, full_name TEXT, town TEXT, joined_on DATE);
    CREATE TABLE classes (class_id INT PRIMARY KEY, title TEXT, difficulty TEXT);
    CREATE TABLE bookings (
        booking_id INT PRIMARY KEY, member_id INT REFERENCES members (member_id),
        class_id INT REFERENCES classes (class_id), booked_on DATE, amount DECIMAL(8, 2), status TEXT
    );
    CREATE TABLE stations (station_id INT PRIMARY KEY, region TEXT);
    CREATE TABLE rides (
        ride_id INT PRIMARY KEY, start_station_id INT REFERENCES stations (station_id),
        end_station_id INT REFERENCES stations (station_id), fare DECIMAL(8, 2)
    );
"""
ROWS = """
    INSERT INTO members VALUES (1, 'Ana Ruiz', 'Porto', '2024-01-05'), (2, 'Bo Lind', 'Turku', '2024-02-11'),
        (3, 'Cy Moss', 'Porto', '2024-05-20'), (4, 'Di Fox', 'Turku', '2025-01-02'),
        (5, 'Ed Hahn', NULL, '2025-03-04');
    INSERT INTO classes VALUES (10, 'Rowing', 'hard'), (11, 'Stretching', 'gentle'), (12, 'Boxing', 'hard');
    INSERT INTO bookings VALUES (100, 1, 10, '2025-01-10', 12.50, 'attended'),
        (101, 1, 11, '2025-01-12', 8, 'attended'),
        (102, 2, 10, '2025-02-01', 12.50, 'missed'), (103, 3, 12, '2025-02-03', 15, 'attended'),
        (104, NULL, 11, '2025-02-09', 8, 'attended'), (105, 1, 12, '2025-03-01', 15, 'missed'),
        (106, 2, 11, '2025-03-02', 8, 'attended'), (107, 4, 10, '2025-03-08', 12.50, 'attended');
    INSERT INTO stations VALUES (1, 'North'), (2, 'South'), (3, 'South');
    INSERT INTO rides VALUES (1, 1, 2, 3.5), (2, 2, 1, 4.5), (3, 2, 3, 2), (4, 3, NULL, 1);
"""
ASKED = {
    "total amount by town": "SELECT town, sum(amount) FROM bookings LEFT JOIN members USING (member_id) GROUP BY town",
    "number of bookings by difficulty": (
        "SELECT difficulty, count(*) FROM bookings JOIN classes USING (class_id) GROUP BY 1"
    ),
    "top 2 members by total amount": (
        "SELECT full_name, sum(amount) FROM bookings JOIN members USING (member_id) GROUP BY member_id, full_name "
        "ORDER BY 2 DESC LIMIT 2"
    ),
    "total amount of hard classes by month": (
        "SELECT CAST(date_trunc('month', booked_on) AS DATE), sum(amount) FROM bookings JOIN classes USING (class_id) "
        "WHERE difficulty = 'hard' GROUP BY 1"
    ),
    "how many bookings from Porto members": (
        "SELECT count(*) FROM bookings JOIN members USING (member_id) WHERE town = 'Porto'"
    ),
    "total fare by start region": (
        "SELECT region, sum(fare) FROM rides JOIN stations ON station_id = start_station_id GROUP BY 1"
    ),
}


@pytest.fixture(scope="module")
def truth() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(TABLES + ROWS)
    return connection


@pytest.fixture(scope="module", params=["files", "duckdb", "postgres"])
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("tables")
    if request.param == "postgres":
        yield from _postgres()
        return
    with duckdb.connect(str(folder / "gym.duckdb")) as connection:
        connection.execute(TABLES + ROWS)
        if request.param == "files":
            for name in ("members", "classes", "bookings", "stations", "rides"):
                connection.execute(f"COPY {name} TO '{folder / name}.csv'")
    if request.param == "files":
        (folder / "gym.duckdb").unlink()
    with Project(str(folder if request.param == "files" else folder / "gym.duckdb")) as opened:
        yield opened


def _postgres() -> Iterator[Project]:
    if POSTGRES is None:
        pytest.skip("set GROUNDPLAN_TEST_POSTGRES to a PostgreSQL server")
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    name = f"several_{os.getpid()}"
    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}; SET search_path = {name}")
        try:
            connection.execute(TABLES + ROWS)
            with Project(f"{POSTGRES}/{name}") as opened:
                yield opened
        finally:
            connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.mark.parametrize("question", ASKED)
def test_a_question_over_several_tables_gives_what_sql_gives(
    project: Project, truth: duckdb.DuckDBPyConnection, question: str
) -> None:
    answer = project.ask(question, today=date(2025, 6, 1)).outcome
    assert isinstance(answer, Answer), answer
    wanted = {tuple(map(_plain, row)) for row in truth.execute(ASKED[question]).fetchall()}
    found = {tuple(map(_plain, row)) for row in answer.tables[0].rows}
    assert {row[: len(next(iter(wanted)))] for row in found} == wanted
    assert "oined with" in answer.text


SIDES = {
    "orders.csv": "order_no,buyer_id,paid\n1,7,2.5\n2,8,3\n3,8,4\n4,7,1\n5,9,6\n",
    "refunds.csv": "refund_no,buyer_id,given\n1,8,1\n2,8,1.5\n",
    "buyers.csv": "buyer_id,land\n7,Peru\n8,Chad\n9,Peru\n10,Mali\n",
}


@pytest.mark.parametrize(
    "question",
    [
        "total paid and number of refunds by land",
        "number of orders and number of refunds by land",
        "number of orders and total given by land",
    ],
)
def test_measures_of_two_tables_are_refused_by_words(question: str, tmp_path: Path) -> None:
    """A buyer with two orders and two refunds has two of each, not four."""
    for name, text in SIDES.items():
        (tmp_path / name).write_text(text)
    with Project(str(tmp_path)) as project:
        assert isinstance(project.ask(question).outcome, Refusal | Clarification)


def test_of_two_paths_the_question_has_to_say_one(project: Project) -> None:
    asked = project.ask("total fare by region").outcome
    assert isinstance(asked, Clarification), asked
    assert [" ".join(one.split()[:9]) for one in asked.candidates] == [
        "total fare by region of stations by start station",
        "total fare by region of stations by end station",
    ]


@pytest.mark.parametrize("question", ["how many members never booked", "which members have no bookings"])
def test_rows_that_another_table_lacks_are_refused_by_words(project: Project, question: str) -> None:
    assert isinstance(project.ask(question).outcome, Refusal | Clarification)


def test_what_several_rows_share_is_not_summed(project: Project) -> None:
    """The fare of a ride is one number, however many stations there are; a member's bookings are several."""
    outcome = project.ask("total fare by town").outcome
    assert isinstance(outcome, Refusal), outcome


def test_what_another_table_has_is_never_called_missing(project: Project) -> None:
    outcome = project.ask("median region by difficulty").outcome
    assert isinstance(outcome, Refusal), outcome
    assert "nothing called" not in outcome.text
    lacking = project.ask("total turbidity by town").outcome
    assert isinstance(lacking, Refusal), lacking


def test_a_folder_of_files_shows_what_it_proposes(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("order_no,buyer_id,paid\n1,7,2.5\n2,8,3\n3,8,4\n")
    (tmp_path / "buyers.csv").write_text("buyer_id,land\n7,Peru\n8,Chad\n")
    with Project(str(tmp_path)) as project:
        (link,) = next(iter(project.schemas.values())).relationships
        assert (link.text, link.known) == ("orders → buyers by buyer_id", "proposed")


def test_rows_between_two_tables_are_not_counted_as_either(tmp_path: Path) -> None:
    """The rows of `author_poem` are no poems: a poem with two authors counts once."""
    (tmp_path / "poem.csv").write_text("poem_id,house_id,pages\n1,7,90\n2,7,120\n3,8,80\n")
    (tmp_path / "author.csv").write_text("author_id,full_name\n1,Ana\n2,Bo\n")
    (tmp_path / "author_poem.csv").write_text("poem_id,author_id\n1,1\n1,2\n2,1\n3,2\n")
    (tmp_path / "house.csv").write_text("house_id,house_name\n7,Alba\n8,Brio\n")
    with Project(str(tmp_path)) as project:
        answer = project.ask("number of poems by house name").outcome
        assert isinstance(answer, Answer), answer
        assert {row[:2] for row in answer.tables[0].rows} == {("Alba", 2), ("Brio", 1)}


def test_rows_that_nothing_points_at_are_not_lost(tmp_path: Path) -> None:
    """Each crew points at a voyage of its own; the third voyage has none, and is a voyage all the same."""
    (tmp_path / "crews.csv").write_text("crew_id,voyage_id\n1,11\n2,12\n")
    (tmp_path / "voyages.csv").write_text("voyage_id,harbour,late\n11,Nord,yes\n12,Syd,no\n13,Syd,yes\n")
    with Project(str(tmp_path)) as project:
        answer = project.ask("number of voyages by harbour").outcome
        assert isinstance(answer, Answer), answer
        assert {row[:2] for row in answer.tables[0].rows} == {("Nord", 1), ("Syd", 2)}


def test_columns_of_many_tables_with_the_same_names_are_told_apart(tmp_path: Path) -> None:
    sides = [f"side{letter}" for letter in "abcdefghijkl"]
    for side in sides:
        (tmp_path / f"{side}.csv").write_text(f"{side}_id,opened,shade\n1,2024-01-01,x\n2,2024-02-01,y\n")
    pointers = ",".join(f"{side}_id" for side in sides)
    (tmp_path / "facts.csv").write_text(
        f"fact_no,weight,{pointers}\n"
        + "".join(f"{n},{n}.5,{','.join(['1', '2'][n % 2] for _ in sides)}\n" for n in range(5))
    )
    with Project(str(tmp_path)) as project:
        answer = project.ask("total weight by sidec shade").outcome
        assert isinstance(answer, Answer), answer
        assert {row[:2] for row in answer.tables[0].rows} == {("x", 7.5), ("y", 5.0)}


def _plain(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()[:10]
    if value is None or isinstance(value, str):
        return value[:10] if value and value[:4].isdigit() else value
    return round(float(value), 4)
