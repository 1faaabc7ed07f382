"""Large tables are opened by the engine's estimates and a bounded sample; no statement reads all of their rows."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from groundplan.contracts.answer import Answer
from groundplan.contracts.schema import Column
from groundplan.interfaces.cli.main import app
from groundplan.project import Project
from groundplan.sources.tables.engine.interface import Query
from groundplan.sources.tables.schema import named_values
from groundplan.sources.tables.schema.samples import SAMPLED_ROWS, WHOLE_ROWS
from groundplan.sources.tables.source import Tables

ROWS = 2_000_000
DELIVERIES = """
    CREATE UNLOGGED TABLE deliveries AS
    SELECT i AS delivery_id, 'Carrier ' || (i % 12) AS carrier, DATE '2020-01-01' + (i % 1400)::int AS shipped_on,
        (i % 50)::int AS weight, CASE WHEN i % 4 = 0 THEN NULL ELSE 'north ' || (i % 9000) END AS lane
    FROM generate_series(1, {rows}) AS t(i);
    INSERT INTO deliveries VALUES ({rows} + 1, 'Quillon', DATE '2023-05-05', 77, NULL);
    ALTER TABLE deliveries ADD PRIMARY KEY (delivery_id);
"""


@pytest.fixture(scope="module")
def large(superuser: str) -> Iterator[str]:
    yield from _database(superuser, ROWS)


@pytest.fixture(scope="module")
def small(superuser: str) -> Iterator[str]:
    yield from _database(superuser, 0)


def _database(superuser: str, rows: int) -> Iterator[str]:
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    name = f"large_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(superuser, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        address = f"{superuser.rpartition('/')[0]}/{name}"
        try:
            with psycopg.connect(address, autocommit=True) as owner:
                owner.execute(DELIVERIES.format(rows=rows))
            yield address
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _read(address: str) -> int:
    """Rows of `deliveries` that statements have read, by the server's own count."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        found = connection.execute(
            "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = 'deliveries'"
        ).fetchone()
    assert found is not None
    return int(found[0])


def _column(source: Tables, table: str, name: str) -> Column:
    described = asyncio.run(source.describe()).find(table)
    assert described is not None
    column = described.find(name)
    assert column is not None
    return column


@pytest.mark.requirement("R86", part="opening")
def test_no_statement_of_opening_reads_a_large_table_of_postgres_whole(large: str) -> None:
    before = _read(large)
    source = Tables.open(large)
    schema = asyncio.run(source.describe())
    asyncio.run(source.close())  # the server counts when a connection ends
    assert _read(large) - before <= 3 * SAMPLED_ROWS
    (table,) = schema.tables
    assert table.row_count == pytest.approx(ROWS, rel=0.2)
    assert table.keys == (("delivery_id",),), "by its declaration"


def test_columns_of_a_large_table_are_described_by_its_sample(large: str) -> None:
    source = Tables.open(large)
    carrier, lane, weight = (_column(source, "deliveries", name) for name in ("carrier", "lane", "weight"))
    assert (carrier.role, carrier.sampled) == ("dimension", True)
    assert carrier.cardinality == pytest.approx(12, abs=1)
    assert carrier.nulls is None, "none in the sample is no proof"
    assert lane.nulls == pytest.approx(ROWS / 4, rel=0.1)
    assert lane.cardinality == pytest.approx(6_750, rel=0.3)
    assert weight.role == "measure"
    shipped = _column(source, "deliveries", "shipped_on")
    assert (str(shipped.least)[:7], str(shipped.greatest)[:7]) == ("2020-01", "2023-10")


def test_questions_about_a_large_table_are_answered(large: str) -> None:
    with Project(large) as project:
        outcome = project.ask("total weight for Carrier 7").outcome
        assert isinstance(outcome, Answer), outcome.text
        assert outcome.tables[0].rows == ((sum(i % 50 for i in range(1, ROWS + 1) if i % 12 == 7),),)


def test_a_value_outside_of_the_sample_is_found_by_a_question(large: str) -> None:
    with Project(large) as project:
        for question in ("total weight for Quillon", "total weight where carrier is quillon"):
            outcome = project.ask(question).outcome
            assert isinstance(outcome, Answer), outcome.text
            assert outcome.tables[0].rows == ((77,),)
            assert outcome.notes == ()


def test_a_question_of_known_words_looks_nothing_up(large: str) -> None:
    source = Tables.open(large)
    asyncio.run(source.describe())
    before = _read(large)
    found = asyncio.run(source.values("total weight by carrier per month, only Carrier 3"))
    asyncio.run(source.close())
    assert "Carrier 3" in (found["deliveries"]["carrier"] or ())
    assert _read(large) - before <= 3 * SAMPLED_ROWS, "those of the sample of opening, counted when it was closed"


def test_a_value_that_is_not_found_in_time_is_left_with_a_note(large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.sources.tables.schema.distinct.LOOKUP_SECONDS", 1e-9)
    with Project(large) as project:
        outcome = project.ask("total weight for Quillon").outcome
        assert not isinstance(outcome, Answer)
        note = "the values of 'deliveries' could not be read in time, so words that name one were not looked up there"
        assert note in outcome.notes
        assert isinstance(project.ask("total weight by carrier").outcome, Answer)


@pytest.mark.timed
def test_a_large_table_opens_as_fast_as_an_empty_one(large: str, small: str) -> None:
    def seconds(address: str) -> float:
        began = time.perf_counter()
        asyncio.run(Tables.open(address).describe())
        return time.perf_counter() - began

    seconds(small)
    empty = min(seconds(small) for _ in range(3))
    assert min(seconds(large) for _ in range(3)) <= empty + 1


@pytest.fixture
def depots(tmp_path: Path) -> Path:
    """Two large tables without declared keys; parcel_id identifies a parcel."""
    path = tmp_path / "depots.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"CREATE TABLE parcels AS SELECT i AS parcel_id, 'depot ' || (i % 5) AS depot FROM range({2 * WHOLE_ROWS}) "
            f"t(i); CREATE TABLE scans AS SELECT i AS scan_id, i // 2 AS parcel_id, i % 10 AS seconds "
            f"FROM range({3 * WHOLE_ROWS}) t(i)"
        )
    return path


def test_a_sample_proves_no_key_but_a_question_over_both_tables_does(depots: Path) -> None:
    source = Tables.open(depots)
    described = asyncio.run(source.describe())
    assert described.relationships == ()
    assert {table.keys for table in described.tables} == {()}
    assert asyncio.run(source.about("how many scans")).relationships == ()
    found = asyncio.run(source.about("total seconds of scans by depot of parcels"))
    assert [link.text for link in found.relationships] == ["scans → parcels by parcel_id"]
    with Project(str(depots)) as project:
        outcome = project.ask("total seconds of scans by depot of parcels").outcome
        assert isinstance(outcome, Answer), outcome.text
        assert sum(row[1] for row in outcome.tables[0].rows) == 3 * WHOLE_ROWS * 4.5  # type: ignore[misc]


def test_a_column_with_one_value_twice_is_no_key(depots: Path) -> None:
    with duckdb.connect(str(depots)) as connection:
        connection.execute("INSERT INTO parcels VALUES (7, 'depot 9')")
    with Project(str(depots)) as project:
        outcome = project.ask("total seconds of scans by depot of parcels").outcome
        assert not isinstance(outcome, Answer), outcome.text


def test_a_key_that_cannot_be_proven_in_time_is_not_used(depots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.sources.tables.source.PROVING_SECONDS", 1e-9)
    found = asyncio.run(Tables.open(depots).about("total seconds of scans by depot of parcels"))
    assert found.relationships == ()


def test_files_that_we_loaded_are_described_exactly(tmp_path: Path) -> None:
    path = tmp_path / "scans.csv"
    duckdb.sql(f"COPY (SELECT i AS scan_id, i % 10 AS seconds FROM range({WHOLE_ROWS + 1}) t(i)) TO '{path}'")
    source = Tables.open(path)
    assert not _column(source, "scans", "seconds").sampled
    assert _column(source, "scans", "scan_id").cardinality == WHOLE_ROWS + 1


def test_the_command_line_says_about_where_it_shows_estimates(depots: Path) -> None:
    told = CliRunner().invoke(app, ["catalog", "tables", str(depots)])
    assert told.exit_code == 0, told.output
    assert f"parcels: about {2 * WHOLE_ROWS:,} rows" in told.output
    assert "about 5 different" in told.output


def test_a_large_table_is_sampled_once(depots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Tables.open(depots)
    asyncio.run(source.describe())
    ran: list[str] = []
    engine = source._executor.engine
    plain = engine.run

    def run(query: Query, scope: object) -> object:
        ran.append(query.sql)
        return plain(query, scope)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "run", run)
    asyncio.run(source.about("how many scans"))
    asyncio.run(source.values("how many scans"))
    assert ran == []


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("total revenue by month", []),
        ("revenue for Quillon", ["Quillon"]),
        ("revenue of acme-42 in 2024", ["acme-42"]),
        ("revenue in May of Blue Wharf", ["Blue Wharf"]),
    ],
)
def test_only_words_with_no_other_meaning_are_looked_up(question: str, named: list[str]) -> None:
    from groundplan.text.stems import stem

    known = frozenset({stem("revenue")}) | named_values._calendar_stems()
    runs = named_values._strange_runs(question, known, {"blue"})
    assert {*named} <= {*runs}
    assert bool(runs) == bool(named)


@pytest.mark.requirement("R86", part="opening")
def test_every_engine_describes_a_large_table_by_a_sample(source: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """What would be large elsewhere: the sample has all rows, so it says what the whole table does."""
    whole = asyncio.run(Tables(source._executor.engine).describe()).find("sales")
    monkeypatch.setattr("groundplan.sources.tables.schema.samples.WHOLE_ROWS", 100)
    sampled = asyncio.run(Tables(source._executor.engine).describe()).find("sales")
    assert whole is not None
    assert sampled is not None
    assert all(column.sampled for column in sampled.columns)
    assert not any(column.sampled for column in whole.columns)
    for name in ("region", "product", "units"):
        exact, estimated = whole.find(name), sampled.find(name)
        assert exact is not None
        assert estimated is not None
        assert (estimated.kind, estimated.role) == (exact.kind, exact.role)
        assert estimated.cardinality == pytest.approx(exact.cardinality, rel=0.2)
    asked = asyncio.run(source.values("units in the North"))["sales"]["region"]
    assert "North" in (asked or ())
