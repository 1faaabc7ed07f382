"""One table or view that cannot be read does not keep the others from being asked about."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import groundplan
from groundplan.contracts.schema import Table
from groundplan.errors import SourceError
from groundplan.sources.tables.schema import describe
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
        ENDLESS,
    ],
)
def test_a_bad_view_is_listed_with_its_reason(view: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describe, "SECONDS", 1.0)
    with groundplan.open(database(tmp_path, view)) as project:
        tables: dict[str, Table] = {table.name: table for table in project.schemas["tables"].tables}
        assert "cannot be read" in tables["view_0"].description
        assert "41" in project.ask("total revenue").text


def test_an_unknown_schema_of_postgres_is_named(superuser: str) -> None:
    with pytest.raises(SourceError, match="there is no schema 'nosuch'"):
        groundplan.open(f"{superuser.rpartition('?')[0] or superuser}/nosuch")


def test_tables_of_strange_types_are_listed(superuser: str) -> None:
    with groundplan.open(f"{superuser.rpartition('?')[0] or superuser}/pg_catalog") as project:
        assert len(project.schemas["tables"].tables) > 60  # in outline: described when a question is about them
        assert project.ask("how many rows in pg_statistic are there?").outcome.kind in ("answer", "refusal")
        assert project.ask("how many rows in pg_class are there?").outcome.kind == "answer"
