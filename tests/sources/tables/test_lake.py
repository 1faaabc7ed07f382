"""A folder of Parquet files in folders such as `year=2024`: one table with columns for its partitions."""

from __future__ import annotations

import asyncio
from pathlib import Path

import duckdb
import pytest

from groundplan.contracts.answer import Answer, Refusal
from groundplan.errors import GroundplanError, UsageError
from groundplan.project import Project
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.engines import AttachedFile
from groundplan.sources.tables.files import lake_table
from groundplan.sources.tables.files.load import load_files
from groundplan.sources.tables.source import Tables

ROWS = 40_000
WRITE = f"""
    COPY (SELECT i AS haul_id, 'truck ' || (i % 6) AS truck, (i % 30)::INT AS tons, 2022 + (i % 3) AS year,
        ['west', 'far east'][1 + i % 2] AS region FROM range({ROWS}) t(i))
    TO '{{}}' (FORMAT parquet, PARTITION_BY (year, region))
"""


@pytest.fixture
def hauls(tmp_path: Path) -> Path:
    folder = tmp_path / "Hauls [all]"
    duckdb.sql(WRITE.format(folder))
    return folder


def test_a_folder_with_partitions_is_one_table_with_a_column_for_each(hauls: Path) -> None:
    (table,) = asyncio.run(Tables.open(hauls).describe()).tables
    assert table.name == "hauls_all"
    assert [column.name for column in table.columns] == ["haul_id", "truck", "tons", "region", "year"]
    region, year = table.columns[-2:]
    assert (region.kind, year.kind, year.role) == ("text", "number", "dimension")


def test_each_folder_with_partitions_in_a_folder_is_a_table(tmp_path: Path) -> None:
    for name in ("hauls", "returns"):
        duckdb.sql(WRITE.format(tmp_path / name))
    (tmp_path / "notes").mkdir()
    assert {table.name for table in asyncio.run(Tables.open(tmp_path).describe()).tables} == {"hauls", "returns"}


def test_questions_are_answered_over_partitions(hauls: Path) -> None:
    with Project(str(hauls)) as project:
        outcome = project.ask("total tons by truck where year is 2023 and region is far east").outcome
        assert isinstance(outcome, Answer), outcome.text
        wanted = [(i % 6, i % 30) for i in range(ROWS) if 2022 + i % 3 == 2023 and i % 2 == 1]
        expected = {f"truck {truck}": sum(tons for of, tons in wanted if of == truck) for truck, _ in wanted}
        assert dict(outcome.tables[0].rows) == expected  # type: ignore[arg-type]


def test_only_the_files_of_asked_partitions_are_read(hauls: Path) -> None:
    engine, scope = Tables.open(hauls)._executor.engine, CancelScope(30)
    whole = engine.estimate('SELECT sum("tons") FROM "hauls_all"', scope)
    part = engine.estimate('SELECT sum("tons") FROM "hauls_all" WHERE "year" = 2023', scope)
    assert whole == pytest.approx(ROWS, rel=0.1)
    assert part == pytest.approx(ROWS / 3, rel=0.1)


def test_a_partition_needs_no_approval_where_the_whole_does(hauls: Path) -> None:
    with Project(str(hauls), rows_without_approval=20_000) as project:
        assert isinstance(project.ask("total tons by truck").outcome, Refusal)
        assert isinstance(project.ask("total tons by truck where year is 2023").outcome, Answer)


def test_a_large_lake_is_described_by_rows_from_all_over_it(hauls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.sources.tables.schema.samples.WHOLE_ROWS", 1_000)
    (table,) = asyncio.run(Tables.open(hauls).describe()).tables
    year, region = table.find("year"), table.find("region")
    assert year is not None
    assert region is not None
    assert (year.sampled, year.least, year.greatest) == (True, 2022, 2024)
    assert region.cardinality == 2


def test_the_rows_of_a_sample_are_read_one_file_after_the_other(
    hauls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A union of the first rows of ten files of millions of rows hung DuckDB 1.5 for good, also when interrupted."""
    monkeypatch.setattr("groundplan.sources.tables.schema.samples.WHOLE_ROWS", 1_000)
    ran: list[str] = []
    for folder in (hauls, _of_two_types(tmp_path / "zones")):
        source = Tables.open(folder)
        plain = source._executor.engine.run
        monkeypatch.setattr(source._executor.engine, "run", lambda q, s, run=plain: (ran.append(q.sql), run(q, s))[1])
        (table,) = asyncio.run(source.describe()).tables
        assert {column.sampled for column in table.columns} == {True}
    held = source._samples.taken["zones"].values["zone"]
    assert held == ("7", "north"), "texts, also of the file whose folder is called by a number"
    read = [sql for sql in ran if "read_parquet" in sql]
    assert len(read) == 6 + 2
    assert not any("UNION" in sql for sql in read)


def _of_two_types(folder: Path) -> Path:
    rows = "SELECT i AS id, ['7', 'north'][1 + i % 2] AS zone FROM range(5000) t(i)"
    duckdb.sql(f"COPY ({rows}) TO '{folder}' (FORMAT parquet, PARTITION_BY (zone))")
    return folder


def test_the_connection_reads_no_other_file(hauls: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("word\nhidden\n")
    connection = Tables.open(hauls)._executor.engine.backend.con
    for query in (
        f"FROM '{other}'",
        f"FROM read_text('{other}')",
        "FROM glob('/*')",
        "SET enable_external_access = true",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(query)


def test_links_are_not_followed(hauls: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.parquet"
    duckdb.sql(f"COPY (SELECT 1 AS haul_id, 'hidden' AS truck, 1000000 AS tons) TO '{outside}' (FORMAT parquet)")
    (hauls / "year=2030").symlink_to(tmp_path)
    (hauls / "year=2022" / "region=west" / "linked.parquet").symlink_to(outside)
    with Project(str(hauls)) as project:
        outcome = project.ask("how many hauls all").outcome
        assert isinstance(outcome, Answer), outcome.text
        assert outcome.tables[0].rows == ((ROWS,),)


def test_a_folder_with_files_of_its_own_stays_a_folder_of_files(hauls: Path) -> None:
    (hauls / "depots.csv").write_text("depot,size\nnorth,3\n")
    assert {table.name for table in asyncio.run(Tables.open(hauls).describe()).tables} == {"depots"}


def test_a_plain_file_in_a_folder_called_like_a_partition_has_no_more_columns(hauls: Path) -> None:
    (file,) = (hauls / "year=2022" / "region=west").glob("*.parquet")
    (table,) = asyncio.run(Tables.open(file).describe()).tables
    assert [column.name for column in table.columns] == ["haul_id", "truck", "tons"]


def test_too_many_files_are_refused_with_what_to_do(hauls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lake_table, "MOST_FILES", 2)
    with pytest.raises(UsageError, match="ask them through Spark or a warehouse"):
        Tables.open(hauls)


def test_files_that_are_no_parquet_are_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "hauls" / "year=2024").mkdir(parents=True)
    (tmp_path / "hauls" / "year=2024" / "a.parquet").write_text("no parquet")
    with pytest.raises(GroundplanError, match="hauls: cannot be read"):
        Tables.open(tmp_path / "hauls")


def test_uploaded_files_are_asked_together_with_a_lake(hauls: Path, tmp_path: Path) -> None:
    file = tmp_path / "drivers.csv"
    file.write_text("truck,driver\ntruck 1,Ada\n")
    source = Tables.with_files(hauls, [AttachedFile(load_files(file))])
    assert {table.name for table in asyncio.run(source.describe()).tables} == {"hauls_all", "drivers"}
