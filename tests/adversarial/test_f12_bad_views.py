"""One table or view that cannot be read does not keep the others from being asked about."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

import groundplan
from groundplan.contracts.schema import Table
from groundplan.errors import SourceError
from groundplan.sources.tables.schema import samples
from tests.sources.tables.conftest import superuser  # noqa: F401 - a fixture

ENDLESS = "SELECT count(*) AS revenue FROM range(10000000) a, range(10000000) b WHERE a.range <> b.range"


def database(folder: Path, *views: str) -> Path:
    file = folder / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE sales AS SELECT 'West' AS region, 41 AS revenue")
        connection.execute("CREATE TABLE gone AS SELECT 1 AS x")
        for number, view in enumerate(views):
            connection.execute(f"CREATE VIEW view_{number} AS {view}")
        connection.execute("DROP TABLE gone")
    return file


@pytest.mark.parametrize(
    "view",
    [
        "SELECT x FROM gone",
        "SELECT CAST('a' || x AS INT) AS n FROM gone",
        "SELECT CAST(region AS INT) AS n FROM sales",
        "SELECT error('hunter22') AS n",
        "FROM read_csv('/etc/passwd', auto_detect = false, columns = {'a': 'VARCHAR'})",
    ],
)
def test_a_bad_view_is_listed_with_its_reason(view: str, tmp_path: Path) -> None:
    with groundplan.open(database(tmp_path, view)) as project:
        tables: dict[str, Table] = {table.name: table for table in project.schemas["tables"].tables}
        assert "cannot be read" in tables["view_0"].description
        assert "41" in project.ask("total revenue").text


def test_a_view_that_never_ends_is_known_by_its_columns_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "SECONDS", 0.5)
    with groundplan.open(database(tmp_path, ENDLESS)) as project:
        [view] = [table for table in project.schemas["tables"].tables if table.name == "view_0"]
        assert [(column.name, column.cardinality) for column in view.columns] == [("revenue", None)]
        assert "41" in project.ask("total revenue by region").text


def test_an_unknown_schema_of_postgres_is_named(superuser: str) -> None:
    with pytest.raises(SourceError, match="there is no schema 'nosuch'"):
        groundplan.open(f"{superuser.rpartition('?')[0] or superuser}/nosuch")


def test_tables_of_strange_types_are_listed(superuser: str) -> None:
    with groundplan.open(f"{superuser.rpartition('?')[0] or superuser}/pg_catalog") as project:
        assert len(project.schemas["tables"].tables) > 60  # in outline: described when a question is about them
        assert project.ask("how many rows in pg_statistic are there?").outcome.kind in ("answer", "refusal")
        assert project.ask("how many rows in pg_class are there?").outcome.kind == "answer"


ORDERS = "CREATE TABLE orders AS SELECT * FROM (VALUES ('Ann', 3), ('Bob', 4)) AS t(customer, amount)"
BROKEN = {
    "a table that is gone": ("CREATE TABLE gone AS SELECT 1 AS amount", "SELECT * FROM gone", "DROP TABLE gone"),
    "a value of another type": ("SELECT CAST(customer AS INT) AS amount FROM orders",),
    "an error": ("SELECT error('no') AS amount",),
    "a file": ("FROM read_csv('/etc/passwd', auto_detect = false, columns = {'amount': 'VARCHAR'})",),
}


@pytest.mark.parametrize("name", ["sales", "stock", "late_refunds"])
@pytest.mark.parametrize("broken", BROKEN)
def test_a_question_about_a_table_that_cannot_be_read_is_refused(broken: str, name: str, tmp_path: Path) -> None:
    *before, view = BROKEN[broken][:2]
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        for statement in (ORDERS, *before, f"CREATE VIEW {name} AS {view}", *BROKEN[broken][2:]):
            connection.execute(statement)
    said = name.replace("_", " ")
    asked = [f"how many rows in {said}", f"total amount in {said}", f"how many {said}", f"list {said}"]
    with groundplan.open(tmp_path / "shop.duckdb") as project:
        for question in [*asked, f"average amount by customer in {said}", f"{said} by customer", f"сколько {said}"]:
            refused = project.ask(question).outcome
            assert refused.kind == "refusal", question
            assert refused.issues[0].code == "reading/unreadable-table", question
            assert f"the table {name!r} cannot be read: " in refused.issues[0].problem
        assert "7" in project.ask("total amount").text
        answer = project.ask("total amount of orders")
        assert "7" in answer.text
        assert [f"the table {name!r} cannot be read" in note for note in answer.outcome.notes] == [True]


def test_a_view_of_postgres_that_cannot_be_read_is_named_and_told(superuser: str) -> None:
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    schema = f"f12_{os.getpid()}"
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}; SET search_path = {schema}")
        try:
            connection.execute(ORDERS)
            connection.execute("CREATE VIEW late_refunds AS SELECT CAST(customer AS INT) AS amount FROM orders")
            with groundplan.open(f"{superuser.rpartition('?')[0] or superuser}/{schema}") as project:
                refused = project.ask("total amount of late refunds").outcome
                assert refused.kind == "refusal"
                assert refused.issues[0].code == "reading/unreadable-table"
                answer = project.ask("total amount of orders")
                assert "7" in answer.text
                assert ["'late_refunds' cannot be read" in note for note in answer.outcome.notes] == [True]
        finally:
            connection.execute(f"DROP SCHEMA {schema} CASCADE")


def test_a_column_may_have_the_name_of_a_table_that_cannot_be_read(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(ORDERS)
        connection.execute("CREATE VIEW customers AS SELECT error('no') AS x")
    with groundplan.open(tmp_path / "shop.duckdb") as project:
        assert project.ask("total amount by customer").kind == "answer"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("sales.csv", b""),
        ("sales.tsv", b""),
        ("sales.csv", b'a,b\n1,"x\n2,3\n'),
        ("sales.csv", b"\0" * 100),
        ("sales.csv", (",".join("c" * 3_000) + "\n").encode()),
        ("sales.parquet", b""),
        ("sales.parquet", b"PAR1xxxx"),
        ("sales.xlsx", b""),
        ("sales.xlsx", b"PK\x03\x04"),
    ],
)
def test_a_folder_with_a_file_that_cannot_be_read_is_not_opened_without_it(
    name: str, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "orders.csv").write_text("customer,amount\nAnn,3\n")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=name):
        groundplan.open(tmp_path)
