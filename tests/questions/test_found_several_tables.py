"""Wrong answers that trials over several tables found, asked of other tables: files, and Postgres if there is one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import pytest

from groundplan.project import Project
from tests.questions.found import NO_ANSWER, REFUSE, TODAY, assert_truth, write_csv

POSTGRES = os.environ.get("GROUNDPLAN_TEST_POSTGRES")
NAMES = ("reserves", "wardens", "permits", "checks", "duties")
TABLES = """
    CREATE TABLE reserves (reserve_id INT PRIMARY KEY, reserve_name TEXT, county TEXT);
    CREATE TABLE wardens (warden_id INT PRIMARY KEY, warden_name TEXT, joined_on DATE, left_on DATE);
    CREATE TABLE permits (
        permit_id INT PRIMARY KEY, reserve_id INT REFERENCES reserves (reserve_id), granted_on DATE, state TEXT
    );
    CREATE TABLE checks (
        check_id INT PRIMARY KEY, permit_id INT REFERENCES permits (permit_id),
        warden_id INT REFERENCES wardens (warden_id), fee DECIMAL(8, 2), minutes INT, items INT, method TEXT
    );
    CREATE TABLE duties (
        duty_id INT PRIMARY KEY, warden_id INT REFERENCES wardens (warden_id), start_date DATE, end_date DATE
    );
    INSERT INTO reserves SELECT n, 'Reserve ' || n, CASE n % 3 WHEN 0 THEN 'Kent' WHEN 1 THEN 'Fife' ELSE 'Mayo' END
        FROM generate_series(1, 12) AS s(n);
    INSERT INTO wardens SELECT n, 'Warden ' || n, DATE '2020-01-01' + CAST(n * 40 AS INT),
        CASE WHEN n % 4 = 0 THEN DATE '2025-01-01' + CAST(n * 20 AS INT) END FROM generate_series(1, 16) AS s(n);
    INSERT INTO permits SELECT n, 1 + n % 10, DATE '2025-01-01' + CAST(n * 37 % 300 AS INT),
        CASE n % 3 WHEN 0 THEN 'expired' WHEN 1 THEN 'valid' ELSE 'withdrawn' END FROM generate_series(1, 90) AS s(n);
    INSERT INTO checks SELECT n, 1 + n % 80, 1 + n % 13, 5 + (n * 31) % 90, 10 + (n * 7) % 50, n * 3 % 17,
        CASE n % 2 WHEN 0 THEN 'patrol' ELSE 'camera' END FROM generate_series(1, 240) AS s(n);
    INSERT INTO duties SELECT n, 1 + n % 16, DATE '2024-01-01' + CAST(n * 5 AS INT),
        CASE WHEN n % 3 > 0 THEN DATE '2025-02-01' + CAST(n * 4 AS INT) END FROM generate_series(1, 50) AS s(n);
"""
MONTH = "CAST(date_trunc('month', granted_on) AS DATE)"
ASKED = {
    "how many permits": "SELECT count(*) FROM permits",
    "how many wardens": "SELECT count(*) FROM wardens",
    "number of permits by county": "SELECT county, count(*) FROM permits JOIN reserves USING (reserve_id) GROUP BY 1",
    "permits by method": "SELECT method, count(DISTINCT permit_id) FROM checks GROUP BY 1",
    "total fee by month": f"SELECT {MONTH}, sum(fee) FROM checks JOIN permits USING (permit_id) GROUP BY 1",
    "fee by county and month": (
        f"SELECT county, {MONTH}, sum(fee) FROM checks JOIN permits USING (permit_id) JOIN reserves USING (reserve_id) "
        "GROUP BY 1, 2"
    ),
    "how many left in 2025": "SELECT count(*) FROM wardens WHERE left_on BETWEEN '2025-01-01' AND '2025-12-31'",
    "how many duties ended in 2025": "SELECT count(*) FROM duties WHERE end_date BETWEEN '2025-01-01' AND '2025-12-31'",
    "which warden sells most": NO_ANSWER,
    "total minutes by month": f"SELECT {MONTH}, sum(minutes) FROM checks JOIN permits USING (permit_id) GROUP BY 1",
    "items per month": f"SELECT {MONTH}, sum(items) FROM checks JOIN permits USING (permit_id) GROUP BY 1",
    "fee by county in 2024 and in 2025": NO_ANSWER,
    "average permit id": REFUSE,
    "average number of checks per day": NO_ANSWER,
    "average number of duties per day": NO_ANSWER,
    "list the checks with a fee over 92 with the warden": (
        "SELECT check_id, permit_id, warden_id, fee, minutes, items, method, warden_name FROM checks "
        "JOIN wardens USING (warden_id) WHERE fee > 92"
    ),
    "permits and fee by month": REFUSE,
    "total fee and number of permits by county": REFUSE,
}


@pytest.fixture(scope="module")
def truth() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(TABLES)
    return connection


@pytest.fixture(scope="module", params=["files", "postgres"])
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    if request.param == "postgres":
        yield from _postgres()
        return
    folder = tmp_path_factory.mktemp("reserves")
    write_csv(folder, TABLES, NAMES)
    with Project(str(folder)) as opened:
        yield opened


def _postgres() -> Iterator[Project]:
    if POSTGRES is None:
        pytest.skip("set GROUNDPLAN_TEST_POSTGRES to a PostgreSQL server")
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    name = f"found_{os.getpid()}"
    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}; SET search_path = {name}")
        try:
            connection.execute(TABLES)
            with Project(f"{POSTGRES}/{name}") as opened:
                yield opened
        finally:
            connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.mark.parametrize("question", ASKED)
def test_the_answer_is_what_sql_gives(project: Project, truth: duckdb.DuckDBPyConnection, question: str) -> None:
    assert_truth(project.ask(question, today=TODAY).outcome, ASKED[question], truth)


def assert_asked(folder: Path, statements: str, names: Sequence[str], question: str, wanted: str) -> None:
    """The question over files of the tables that the statements make."""
    write_csv(folder, statements, names)
    with duckdb.connect() as truth, Project(str(folder)) as project:
        truth.execute(statements)
        assert_truth(project.ask(question, today=TODAY).outcome, wanted, truth)


CHARGES = """
    CREATE TABLE lodges AS SELECT n AS lodge_id, ['Fell', 'Tarn'][1 + n % 2] AS valley FROM range(1, 25) AS s(n);
    CREATE TABLE stays AS SELECT n AS stay_id, 1 + n % 24 AS lodge_id, 1 + n % 6 AS nights FROM range(1, 90) AS s(n);
    CREATE TABLE charges AS SELECT n AS charge_id, 1 + n % 70 AS stay_id, n % 60 AS pence FROM range(1, 300) AS s(n);
"""


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("fees by valley", NO_ANSWER),
        (
            "charges by valley",
            "SELECT valley, count(*) FROM charges JOIN stays USING (stay_id) JOIN lodges USING (lodge_id) GROUP BY 1",
        ),
        ("how many stays have charges", "SELECT count(DISTINCT stay_id) FROM charges"),
        ("which stays were never charged out", REFUSE),
        ("which stays were charged out", NO_ANSWER),
    ],
)
def test_what_points_at_rows_is_counted_itself(question: str, wanted: str, tmp_path: Path) -> None:
    assert_asked(tmp_path, CHARGES, ("lodges", "stays", "charges"), question, wanted)


VISITS = """
    CREATE TABLE gyms AS SELECT 'G' || n AS gym_id, 'Gym ' || n AS gym_name, ['Gold', 'Basic'][1 + n % 2] AS acct_type,
        ['Open', 'Closed', 'Open'][1 + n % 3] AS acct_status FROM range(1, 13) AS s(n);
    CREATE TABLE visits AS SELECT 500 + n AS visit_no, 'G' || CAST(1 + floor(sqrt(n)) AS INT) AS gym_id,
        DATE '2025-01-01' + CAST(n * 3 % 400 AS INT) AS visited FROM range(1, 120) AS s(n);
    CREATE TABLE faults AS SELECT 'F' || n AS fault_id, 501 + n * 7 % 90 AS visit_no,
        ['Gym', 'Maker'][1 + n % 2] AS blame, ['belt', 'pad', 'bolt'][1 + n % 3] AS kind FROM range(1, 40) AS s(n);
"""


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        (
            "top 3 gyms by number of visits",
            "SELECT gym_name, count(*) FROM visits JOIN gyms USING (gym_id) "
            "GROUP BY gym_id, gym_name ORDER BY 2 DESC LIMIT 3",
        ),
        ("number of faults by blame", "SELECT blame, count(*) FROM faults GROUP BY 1"),
        ("how many faults have the blame gym", "SELECT count(*) FROM faults WHERE blame = 'Gym'"),
        (
            "how many gyms with a closed account had visits in 2025",
            "SELECT count(DISTINCT gym_id) FROM visits JOIN gyms USING (gym_id) "
            "WHERE acct_status = 'Closed' AND year(visited) = 2025",
        ),
        ("share of visits that had at least one fault, by kind", NO_ANSWER),
    ],
)
def test_the_name_of_a_table_is_no_value_of_another(question: str, wanted: str, tmp_path: Path) -> None:
    assert_asked(tmp_path, VISITS, ("gyms", "visits", "faults"), question, wanted)


GAMES = """
    CREATE TABLE courts AS SELECT n AS court_id, ['Elm', 'Fir', 'Oak'][1 + n % 3] AS club, 4 + n % 5 AS hire_fee
        FROM range(1, 31) AS s(n);
    CREATE TABLE games AS SELECT n AS game_id, 1 + n % 29 AS court_id, n * 7 % 60 + 0.5 AS charge
        FROM range(1, 200) AS s(n);
"""
CHARGED = "FROM games JOIN courts USING (court_id) GROUP BY 1"


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("charge by club", f"SELECT club, sum(charge) {CHARGED}"),
        ("which club has the highest charge", f"SELECT club, sum(charge) {CHARGED} ORDER BY 2 DESC LIMIT 1"),
        ("hire fee by club", "SELECT club, sum(hire_fee) FROM courts GROUP BY 1"),
    ],
)
def test_a_column_called_so_is_meant_in_whatever_table_it_is(question: str, wanted: str, tmp_path: Path) -> None:
    """A fee may be called a charge, but not where another table has a column `charge`."""
    assert_asked(tmp_path, GAMES, ("courts", "games"), question, wanted)


KILNS = """
    CREATE TABLE glazes AS SELECT n AS glaze_id, 'GZ-' || (100 + n) AS sku, 'Glaze ' || n AS glaze_name
        FROM range(1, 21) AS s(n);
    CREATE TABLE pours AS SELECT n AS pour_id, 'GZ-' || (101 + n * 7 % 20) AS sku, 1 + n * 11 % 7 AS qty
        FROM range(1, 200) AS s(n);
"""


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("total qty by glaze name", "SELECT glaze_name, sum(qty) FROM pours JOIN glazes USING (sku) GROUP BY 1"),
        ("units sold by glaze name", "SELECT glaze_name, sum(qty) FROM pours JOIN glazes USING (sku) GROUP BY 1"),
    ],
)
def test_a_code_joins_files_and_units_are_those_that_are_counted(question: str, wanted: str, tmp_path: Path) -> None:
    assert_asked(tmp_path, KILNS, ("glazes", "pours"), question, wanted)


LOADS = """
    CREATE TABLE depots AS SELECT ['Fal', 'Ose', 'Tay'][n] AS depot, ['east', 'west'][1 + n % 2] AS coast
        FROM range(1, 4) AS s(n);
    CREATE TABLE loads AS SELECT n AS load_id, ['Fal', 'Ose', 'Tay'][1 + n % 3] AS depot, n * 7 % 40 AS tonnes
        FROM range(1, 60) AS s(n);
"""


def test_a_column_called_like_the_table_whose_rows_it_tells_joins_files(tmp_path: Path) -> None:
    wanted = "SELECT coast, sum(tonnes) FROM loads JOIN depots USING (depot) GROUP BY 1"
    assert_asked(tmp_path, LOADS, ("depots", "loads"), "total tonnes by coast", wanted)


RECITALS = """
    CREATE TABLE recitals AS SELECT n AS recital_id, ['Elm', 'Oak'][1 + n % 2] AS organ,
        ['oil', 'lime'][1 + n * 3 % 7 % 2] AS paint, n * 7 % 40 AS pieces
        FROM range(1, 60) AS s(n);
"""


@pytest.mark.parametrize("person", ["organist", "painter"])
def test_a_person_is_not_what_he_is_called_after(tmp_path: Path, person: str) -> None:
    assert_asked(tmp_path, RECITALS, ("recitals",), f"total pieces by {person}", NO_ANSWER)
