"""Iceberg tables: the rows of the current snapshot, as the package that wrote them reads them."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

import groundplan
from groundplan.contracts.answer import Answer
from groundplan.errors import GroundplanError
from groundplan.sources.tables.source import Tables

pytestmark = [pytest.mark.needs("iceberg"), pytest.mark.requirement("R86", part="lakes")]

ROWS = pa.table(
    {
        "haul": [1, 2, 3, 4],
        "port": ["west", "far east", "100%/a+b", None],
        "day": [date(2024, 1, 1), date(2024, 1, 1), date(2024, 2, 1), date(2024, 2, 1)],
        "left_at": [datetime(2024, 1, 1, 10, 30)] * 4,
        "tons": [1.5, 2.5, 3.5, 4.5],
        "price": [Decimal("1.10"), Decimal("2.20"), Decimal("3.30"), None],
    }
)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Any]:
    pytest.importorskip("sqlalchemy", reason="writing tables needs: pip install 'pyiceberg[sql-sqlite]'")
    from pyiceberg.catalog.sql import SqlCatalog

    made = SqlCatalog("local", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=tmp_path.as_uri())
    made.create_namespace("lake")
    yield made
    made.close()


def written(catalog: Any, name: str = "hauls", rows: pa.Table = ROWS, by: str = "") -> Any:
    table = catalog.create_table(f"lake.{name}", schema=rows.schema)
    if by:
        with table.update_spec() as spec:
            spec.add_identity(by)
    table.append(rows)
    return table


def folder_of(table: Any) -> Path:
    return Path(table.location().removeprefix("file://"))


def hinted(table: Any) -> Path:
    """Its folder, with the name of the current metadata."""
    folder = folder_of(table)
    (folder / "metadata" / "version-hint.text").write_text(Path(table.metadata_location).name)
    return folder


def found(where: Path) -> list[dict[str, Any]]:
    source = Tables.open(where)
    connection = source._executor.engine.backend.con
    rows: list[dict[str, Any]] = connection.sql(f"FROM {source.names[0]} ORDER BY ALL").to_arrow_table().to_pylist()
    asyncio.run(source.close())
    return rows


def wanted(table: Any) -> list[dict[str, Any]]:
    """By the package itself."""
    rows = table.scan().to_arrow()
    assert rows is not None
    ordered: list[dict[str, Any]] = duckdb.sql("FROM rows ORDER BY ALL").to_arrow_table().to_pylist()
    return ordered


def appended(table: Any) -> None:
    table.append(ROWS)


def deleted(table: Any) -> None:
    table.delete("haul = 2")


def renamed(table: Any) -> None:
    """The old name is given to a new column, which older files do not have."""
    from pyiceberg.types import StringType

    with table.update_schema() as schema:
        schema.rename_column("tons", "weight")
    with table.update_schema() as schema:
        schema.add_column("tons", StringType())
    table.append(ROWS.rename_columns(["haul", "port", "day", "left_at", "weight", "price"]))


def narrowed(table: Any) -> None:
    with table.update_schema() as schema:
        schema.delete_column("price")


def emptied(table: Any) -> None:
    table.delete()


def partitioned(table: Any) -> None:
    """Files before and after are partitioned differently."""
    with table.update_spec() as spec:
        spec.add_identity("haul")
    table.append(ROWS)


@pytest.mark.parametrize("by", ["", "port", "day"])
@pytest.mark.parametrize("change", [None, appended, deleted, renamed, narrowed, emptied, partitioned])
def test_the_rows_are_those_of_the_current_snapshot(
    catalog: Any, change: Callable[[Any], None] | None, by: str
) -> None:
    table = written(catalog, by=by)
    if change:
        change(table)
    rows = found(hinted(table))
    assert rows == wanted(table)
    assert len(rows) == {None: 4, deleted: 3, narrowed: 4, emptied: 0}.get(change, 8)
    assert found(Path(table.metadata_location.removeprefix("file://"))) == rows


def test_an_earlier_version_is_asked_by_its_metadata(catalog: Any) -> None:
    table = written(catalog)
    before = Path(table.metadata_location.removeprefix("file://"))
    appended(table)
    assert len(found(before)) == 4


def test_it_is_asked_and_joined_like_other_tables(catalog: Any, tmp_path: Path) -> None:
    ports = pa.table({"port_id": [1, 2, 3], "country": ["Chile", "Japan", "Peru"]})
    many = {"haul_id": range(30), "port_id": [n % 3 + 1 for n in range(30)], "tons": [float(n) for n in range(30)]}
    hauls = written(catalog, "hauls", pa.table(many))
    hauls.delete("tons = 3")
    places = {hinted(written(catalog, "ports", ports)), hinted(hauls)}
    (root,) = {place.parent for place in places}
    with groundplan.open(root) as project:
        outcome = project.ask("total tons by country").outcome
    assert isinstance(outcome, Answer), outcome
    countries = ["Chile", "Japan", "Peru"]
    sums = {name: sum(n for n in range(30) if n % 3 == place and n != 3) for place, name in enumerate(countries)}
    assert {row[0]: row[1] for row in outcome.tables[0].rows} == sums


def test_which_metadata_is_current_is_not_guessed(catalog: Any) -> None:
    table = written(catalog)
    with pytest.raises(GroundplanError, match="only a catalog knows"):
        Tables.open(folder_of(table))


def test_a_table_that_was_moved_is_refused(catalog: Any, tmp_path: Path) -> None:
    folder = hinted(written(catalog))
    moved = shutil.move(folder, tmp_path / "elsewhere")
    with pytest.raises(GroundplanError, match="outside of the table's folder"):
        Tables.open(moved)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("file:///etc/passwd", "outside of the table's folder"),
        ("s3://bucket/snap.avro", "not on this machine"),
        ("http://127.0.0.1:9/snap.avro", "not on this machine"),
        ("snap.avro", "not on this machine"),
    ],
)
def test_no_file_outside_of_the_folder_is_read(catalog: Any, place: str, says: str) -> None:
    def change(known: dict[str, Any]) -> None:
        known["properties"]["py-io-impl"] = "os.system"
        for snapshot in known["snapshots"]:
            snapshot["manifest-list"] = place

    with pytest.raises(GroundplanError, match=says):
        Tables.open(with_metadata(written(catalog), change))


def test_a_linked_file_is_not_read(catalog: Any, tmp_path: Path) -> None:
    table = written(catalog)
    (task,) = table.scan().plan_files()
    file = Path(task.file.file_path.removeprefix("file://"))
    outside = shutil.move(file, tmp_path / "outside.parquet")
    file.symlink_to(outside)
    with pytest.raises(GroundplanError, match="or a link"):
        Tables.open(hinted(table))


def test_files_without_ids_of_columns_are_refused(catalog: Any) -> None:
    """By the name mapping of such a table its columns would be found; by ids all of them would be empty."""
    table = written(catalog)
    file = folder_of(table) / "data" / "added.parquet"
    parquet.write_table(ROWS, file)
    table.add_files([file.as_uri()])
    with pytest.raises(GroundplanError, match="1 files of this Iceberg table lack ids of columns"):
        Tables.open(hinted(table))


def test_delete_files_are_refused(catalog: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package writes none, so the plan of a scan is given one."""
    from pyiceberg.table import FileScanTask

    folder = hinted(written(catalog))
    original = FileScanTask.__init__

    def with_delete(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self.delete_files = {self.file}

    monkeypatch.setattr(FileScanTask, "__init__", with_delete)
    with pytest.raises(GroundplanError, match="uses delete files"):
        Tables.open(folder)


@pytest.mark.parametrize("hint", ["../../catalog", "", "nothing", "/etc/passwd"])
def test_a_hint_that_names_no_metadata_is_refused(catalog: Any, hint: str) -> None:
    folder = hinted(written(catalog))
    (folder / "metadata" / "version-hint.text").write_text(hint)
    with pytest.raises(GroundplanError, match=r"names no metadata|not there"):
        Tables.open(folder)


def test_damaged_metadata_is_a_typed_error(catalog: Any) -> None:
    folder = hinted(written(catalog))
    for file in (folder / "metadata").glob("*.metadata.json"):
        file.write_text("no json")
    with pytest.raises(GroundplanError, match="its Iceberg metadata cannot be read"):
        Tables.open(folder)


def with_metadata(table: Any, change: Callable[[dict[str, Any]], None]) -> Path:
    """The folder with its current metadata changed."""
    folder = hinted(table)
    file = Path(table.metadata_location.removeprefix("file://"))
    known = json.loads(file.read_text())
    change(known)
    file.write_text(json.dumps(known))
    return folder
