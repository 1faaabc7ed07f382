"""Hundreds of tables: opened in outline, and only those that a question may be about are described in full."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from groundplan.contracts.answer import Answer
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Column, Table
from groundplan.project import Project
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.schema.distinct import first_values
from groundplan.sources.tables.schema.search import TableIndex
from groundplan.sources.tables.source import MANY, Tables

pytestmark = pytest.mark.requirement("R74")
TABLES = """
    CREATE TABLE growers (grower_id INT PRIMARY KEY, village TEXT);
    CREATE TABLE harvests (harvest_id INT PRIMARY KEY, grower_id INT REFERENCES growers (grower_id), tonnage DOUBLE);
    INSERT INTO growers VALUES (1, 'Alm'), (2, 'Birk');
    INSERT INTO harvests VALUES (1, 1, 2.5), (2, 1, 3), (3, 2, 4);
"""
OTHERS = "".join(f"CREATE TABLE noise_{place} (noise_{place}_id INT, level_{place} TEXT);" for place in range(MANY))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "many.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES + OTHERS)
    return path


def test_a_source_with_many_tables_is_opened_in_outline(file: Path) -> None:
    source = Tables.open(file)
    schema = asyncio.run(source.describe())
    assert len(schema.tables) == MANY + 2
    assert [link.text for link in schema.relationships] == ["harvests → growers by grower_id"]
    assert {table.row_count for table in schema.tables} == {None}
    tonnage = schema.find("harvests").find("tonnage")  # type: ignore[union-attr]
    assert tonnage is not None
    assert (tonnage.kind, tonnage.role) == ("number", "measure")


def test_only_the_tables_of_a_question_are_described_in_full(file: Path) -> None:
    found = asyncio.run(Tables.open(file).about("total tonnage by village"))
    assert {table.name: table.row_count for table in found.tables} == {"growers": 2, "harvests": 3}


def test_a_question_over_two_of_many_tables_is_answered(file: Path) -> None:
    with Project(str(file)) as project:
        answer = project.ask("total tonnage by village").outcome
        assert isinstance(answer, Answer), answer
        assert {*answer.tables[0].rows} == {("Alm", 5.5), ("Birk", 4.0)}


def test_a_table_is_found_by_a_value_in_it(file: Path) -> None:
    with duckdb.connect(str(file)) as connection:
        connection.execute("INSERT INTO noise_7 VALUES (1, 'Saffron')")
    found = asyncio.run(Tables.open(file).about("how many are saffron"))
    assert "noise_7" in {table.name for table in found.tables}
    assert "noise_8" not in {table.name for table in found.tables}


def test_tables_that_explain_more_together_come_first() -> None:
    """Of two tables with the same columns, the one that is related to what else is asked about."""
    named = Column(name="weight", type="DOUBLE", kind="number", role="measure")
    tables = [Table(name=name, columns=(named,)) for name in ("parcels", "coaches", "senders", *"abcdefgh")]
    link = Relationship(table="parcels", columns=("sender_id",), to_table="senders", to_columns=("sender_id",))
    called = [one.model_copy(update={"synonyms": ("shipper",)}) if one.name == "senders" else one for one in tables]
    assert TableIndex(called, [link]).ranked("weight by shipper")[:2] == ["senders", "parcels"]


@pytest.fixture(params=["duckdb", "postgres"])
def place(request: pytest.FixtureRequest, file: Path) -> Iterator[str]:
    if request.param == "duckdb":
        yield str(file)
        return
    superuser = request.getfixturevalue("superuser")
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    name = f"many_{os.getpid()}"
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}; SET search_path = {name}")
        try:
            connection.execute((TABLES + OTHERS).replace("DOUBLE", "DOUBLE PRECISION"))
            yield f"{superuser}/{name}"
        finally:
            connection.execute(f"DROP SCHEMA {name} CASCADE")


def test_each_database_is_outlined(place: str) -> None:
    source = Tables.open(place)
    assert len(asyncio.run(source.describe()).tables) == MANY + 2
    found = asyncio.run(source.about("total tonnage by village"))
    assert {table.name for table in found.tables} == {"growers", "harvests"}


def test_opening_asks_two_queries_and_the_first_rows_of_all_tables_take_one_connection(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many tables there are: each connection that is lent has a thread that watches it."""
    source = Tables.open(place)
    engine, lent = source._executor.engine, list[float]()
    plain = engine._lent  # type: ignore[union-attr]

    def counted(scope: Any) -> AbstractContextManager[Any]:
        lent.append(time.monotonic())
        return plain(scope)

    monkeypatch.setattr(engine, "_lent", counted)
    asyncio.run(source.describe())
    assert len(lent) == 2, "columns, and what is enforced"
    schema = asyncio.run(source.describe())
    assert set(first_values(schema, source._executor, CancelScope())) == {table.name for table in schema.tables} - {
        "harvests"  # which has no texts
    }
    assert len(lent) == 3


def test_opening_a_thousand_tables_takes_little_of_a_processor(tmp_path: Path) -> None:
    """The time of a processor, which the other programs of a busy machine do not lengthen; 1 to 2 s."""
    path, columns = tmp_path / "thousand.duckdb", ", ".join(f"field_{place} TEXT" for place in range(20))
    with duckdb.connect(str(path)) as connection:
        connection.execute("BEGIN;" + "".join(f"CREATE TABLE depot_{n} ({columns});" for n in range(1_000)) + "COMMIT")
    began = time.process_time()
    with Project(str(path)) as project:
        assert len(project.schemas["tables"].tables) == 1_000
        assert time.process_time() - began <= 5


def test_a_table_whose_rows_cannot_be_read_hinders_no_other(file: Path) -> None:
    with duckdb.connect(str(file)) as connection:
        connection.execute("INSERT INTO noise_7 VALUES (1, 'Saffron')")
        connection.execute("CREATE VIEW noise_0_gone AS SELECT error('lost') AS kept FROM growers")
        connection.execute("CREATE VIEW noise_9_gone AS SELECT error('lost') AS kept FROM growers")
    source = Tables.open(file)
    found = first_values(asyncio.run(source.describe()), source._executor, CancelScope())
    assert {*found} == {"growers", *(f"noise_{place}" for place in range(MANY))}
    assert found["noise_7"] == {"Saffron"}


def test_what_is_not_read_in_time_has_no_values(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.sources.tables.schema.distinct.FIRST_SECONDS", 1e-9)
    found = asyncio.run(Tables.open(file).about("total tonnage by village"))
    assert {table.name for table in found.tables} == {"growers", "harvests"}, "by their names"


def test_tables_between_two_that_are_named_come_with_them() -> None:
    def table(name: str, *columns: str) -> Table:
        made = (Column(name=column, type="TEXT", kind="text", role="dimension") for column in columns)
        return Table(name=name, columns=tuple(made))

    tables = [
        table("a", "pressure"),
        table("b", "b_id"),
        table("c", "climate"),
        *(table(f"x{n}", "y") for n in range(50)),
    ]
    links = [
        Relationship(table="a", columns=("b_id",), to_table="b", to_columns=("b_id",)),
        Relationship(table="b", columns=("c_id",), to_table="c", to_columns=("c_id",)),
    ]
    assert {*TableIndex(tables, links).find("pressure by climate")} == {"a", "b", "c"}
