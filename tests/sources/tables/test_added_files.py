"""Database files whose tables are added to other data, read-only, in a database of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import duckdb
import pytest

from groundplan.errors import SourceError
from groundplan.project import AsyncProject
from groundplan.sources.tables.engine.duckdb_engine import open_together
from groundplan.sources.tables.engine.engines import AttachedFile
from groundplan.sources.tables.files.load import load_file
from groundplan.sources.tables.source import Tables


def database(path: Path, *statements: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def loaded(folder: Path, name: str, text: str) -> Path:
    file, target = folder / name, folder / f"{name}.duckdb"
    file.write_text(text)
    load_file(file, target)
    return target


def test_keys_and_notes_stay_and_names_differ_in_more_than_case(tmp_path: Path) -> None:
    shop = database(
        tmp_path / "shop.duckdb",
        "create table customers (id integer primary key, city text)",
        "create table Orders (id integer, customer integer references customers (id), amount integer)",
        "insert into customers values (1, 'Bonn')",
        "insert into Orders values (7, 1, 3)",
    )
    added = AttachedFile(loaded(tmp_path, "orders.csv", "n,n\n1,2\n"))

    async def described() -> None:
        source = Tables.with_files(str(shop), [added])
        schema = await source.describe()
        assert [table.name for table in schema.tables] == ["Orders", "customers", "orders_2"]
        assert schema.find("customers").keys[0] == ("id",)  # type: ignore[union-attr]
        assert [(link.table, link.to_table, link.known) for link in schema.relationships] == [
            ("Orders", "customers", "proven")
        ]
        assert "same name" in schema.find("orders_2").columns[1].note  # type: ignore[union-attr]
        await source.close()

    asyncio.run(described())


def test_a_view_that_cannot_be_read_does_not_prevent_the_rest(tmp_path: Path) -> None:
    shop = database(
        tmp_path / "shop.duckdb",
        "create table base (amount integer)",
        "create table gone (a integer)",
        "create view broken as select a from gone",
        "drop table gone",
    )
    added = AttachedFile(loaded(tmp_path, "targets.csv", "region,target\nWest,3\n"))

    async def described() -> None:
        project = await AsyncProject.open(str(shop), files=[added])
        tables = {table.name: table for table in project.schemas["tables"].tables}
        assert tables["broken"].unreadable
        assert tables["targets"].columns
        assert "3" in (await project.ask("total target")).text
        await project.close()

    asyncio.run(described())


@pytest.mark.parametrize(
    "statement",
    [
        "from read_csv('{folder}/targets.csv')",
        "attach '{folder}/other.duckdb'",
        "insert into attached_0.main.targets values ('East', 1)",
        "set enable_external_access = true",
        "copy (select 1) to '{folder}/out.csv'",
    ],
)
def test_the_engine_reaches_nothing_else(statement: str, tmp_path: Path) -> None:
    engine = open_together([AttachedFile(loaded(tmp_path, "targets.csv", "region,target\nWest,3\n"))])
    try:
        assert engine.backend.con.execute("from targets").fetchall() == [("West", 3)]
        with pytest.raises(duckdb.Error):
            engine.backend.con.execute(statement.format(folder=tmp_path))
    finally:
        engine.close()


def test_a_file_that_redefines_a_function_is_refused(tmp_path: Path) -> None:
    shop = database(tmp_path / "shop.duckdb", "create table t (a integer)", "create macro sum(x) as 1")
    with pytest.raises(SourceError, match="redefines"):
        open_together([AttachedFile(shop)])
