"""Delta tables: the rows of the newest version, as the package that wrote them reads them."""

from __future__ import annotations

import asyncio
import json
import struct
from base64 import b85encode
from collections.abc import Callable
from datetime import date
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
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.source import Tables

pytestmark = [pytest.mark.needs("delta"), pytest.mark.requirement("R86", part="lakes")]

ROWS = pa.table(
    {
        "haul": [1, 2, 3, 4],
        "port": ["west", "far east", "100%/a+b", None],
        "day": [date(2024, 1, 1), date(2024, 1, 1), date(2024, 2, 1), date(2024, 2, 1)],
        "tons": [1.5, 2.5, 3.5, 4.5],
        "price": [Decimal("1.10"), Decimal("2.20"), Decimal("3.30"), None],
    }
)
BASE85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
PYTHONS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
SECOND_ROW = struct.pack("<IQIIIHHIHxx", 1681511377, 1, 0, 12346, 1, 0, 0, 16, 1)  # a Roaring bitmap of the number 1
INLINE = b85encode(SECOND_ROW).decode().translate(str.maketrans(PYTHONS, BASE85))


def written(folder: Path, rows: pa.Table = ROWS, **options: Any) -> Path:
    from deltalake import write_deltalake

    write_deltalake(folder, rows, **options)
    return folder


def opened(folder: Path) -> Any:
    from deltalake import DeltaTable

    return DeltaTable(folder)


@pytest.fixture(params=[None, ["port"], ["day", "port"]], ids=["whole", "by port", "by day and port"])
def hauls(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return written(tmp_path / "Hauls (all)", partition_by=request.param)


def found(where: Path) -> list[dict[str, Any]]:
    source = Tables.open(where)
    connection = source._executor.engine.backend.con
    rows: list[dict[str, Any]] = connection.sql(f"FROM {source.names[0]} ORDER BY ALL").to_arrow_table().to_pylist()
    asyncio.run(source.close())
    return rows


def wanted(folder: Path) -> list[dict[str, Any]]:
    """By the package itself."""
    rows = opened(folder).to_pyarrow_table()
    assert rows is not None
    ordered: list[dict[str, Any]] = duckdb.sql("FROM rows ORDER BY ALL").to_arrow_table().to_pylist()
    return ordered


def appended(folder: Path) -> None:
    written(folder, mode="append")


def deleted(folder: Path) -> None:
    opened(folder).delete("haul = 2")


def widened(folder: Path) -> None:
    """A column that older files do not have, and columns in another order."""
    more = ROWS.select(["tons", "port", "haul", "day", "price"]).append_column("crew", pa.array([5, 6, 7, None]))
    written(folder, more, mode="append", schema_mode="merge")


def emptied(folder: Path) -> None:
    opened(folder).delete()


def compacted(folder: Path) -> None:
    appended(folder)
    opened(folder).optimize.compact()
    opened(folder).create_checkpoint()


@pytest.mark.parametrize("change", [None, appended, deleted, widened, emptied, compacted])
def test_the_rows_are_those_of_the_newest_version(hauls: Path, change: Callable[[Path], None] | None) -> None:
    if change:
        change(hauls)
    rows = found(hauls)
    assert rows == wanted(hauls)
    assert len(rows) == {None: 4, deleted: 3, emptied: 0}.get(change, 8)


def test_it_is_asked_and_joined_like_other_tables(tmp_path: Path) -> None:
    ports = pa.table({"port_id": [1, 2, 3], "country": ["Chile", "Japan", "Peru"]})
    hauls = pa.table(
        {"haul_id": range(30), "port_id": [n % 3 + 1 for n in range(30)], "tons": [float(n) for n in range(30)]}
    )
    written(tmp_path / "ports", ports)
    opened(written(tmp_path / "hauls", hauls, partition_by=["port_id"])).delete("tons = 3")
    with groundplan.open(tmp_path) as project:
        outcome = project.ask("total tons by country").outcome
    assert isinstance(outcome, Answer), outcome
    sums = {
        country: sum(n for n in range(30) if n % 3 == place and n != 3)
        for place, country in enumerate(["Chile", "Japan", "Peru"])
    }
    assert {row[0]: row[1] for row in outcome.tables[0].rows} == sums


def test_only_the_files_of_asked_partitions_are_read(tmp_path: Path) -> None:
    many = pa.table({"year": [2022 + n % 4 for n in range(4_000)], "tons": [float(n) for n in range(4_000)]})
    written(tmp_path / "hauls", many, partition_by=["year"])
    engine, scope = Tables.open(tmp_path / "hauls")._executor.engine, CancelScope(30)
    whole = engine.estimate('SELECT sum("tons") FROM "hauls"', scope)
    part = engine.estimate('SELECT sum("tons") FROM "hauls" WHERE "year" = 2023', scope)
    assert whole == pytest.approx(4_000, rel=0.1)
    assert part == pytest.approx(1_000, rel=0.1)


def test_a_large_table_is_described_by_a_sample(hauls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    widened(hauls)
    monkeypatch.setattr("groundplan.sources.tables.schema.samples.WHOLE_ROWS", 2)
    (table,) = asyncio.run(Tables.open(hauls).describe()).tables
    assert {column.name for column in table.columns} == {"haul", "port", "day", "tons", "price", "crew"}
    assert all(column.sampled for column in table.columns)


def change_log(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change each action of the first version."""
    log = folder / "_delta_log" / "00000000000000000000.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        change(action)
    log.write_text("".join(f"{json.dumps(action)}\n" for action in actions))


def moved(to: str) -> Callable[[dict[str, Any]], None]:
    def move(action: dict[str, Any]) -> None:
        if "add" in action:
            action["add"]["path"] = to

    return move


def features(*names: str, **settings: str) -> Callable[[dict[str, Any]], None]:
    def change(action: dict[str, Any]) -> None:
        if "protocol" in action:
            action["protocol"] = {"minReaderVersion": 3, "minWriterVersion": 7}
            action["protocol"] |= {"readerFeatures": [*names], "writerFeatures": [*names]}
        if "metaData" in action:
            action["metaData"]["configuration"] = settings
        if "add" in action and "deletionVectors" in names:
            vector = {"storageType": "i", "pathOrInlineDv": INLINE, "sizeInBytes": 34, "cardinality": 1}
            action["add"]["deletionVector"] = vector

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (moved("../outside.parquet"), "outside of the table's folder"),
        (moved("%2e%2e/outside.parquet"), "outside of the table's folder"),
        (moved("/etc/passwd"), "outside of the table's folder"),
        (moved("linked.parquet"), "outside of the table's folder, or a link"),
        (moved("file:///etc/passwd"), "names a file"),
        (moved("s3://bucket/a.parquet"), "names a file"),
        (moved("not-there.parquet"), "not there"),
        (features("deletionVectors"), "deletionVectors"),
        (features("columnMapping", **{"delta.columnMapping.mode": "name"}), "columnMapping"),
    ],
)
def test_what_a_list_of_files_cannot_say_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], says: str
) -> None:
    folder = written(tmp_path / "hauls")
    parquet.write_table(ROWS, tmp_path / "outside.parquet")
    (folder / "linked.parquet").symlink_to(tmp_path / "outside.parquet")
    change_log(folder, change)
    with pytest.raises(GroundplanError, match=says):
        Tables.open(folder)


def test_a_log_behind_a_link_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "hauls")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "_delta_log").symlink_to(tmp_path / "hauls" / "_delta_log")
    with pytest.raises(GroundplanError, match="has links"):
        Tables.open(tmp_path / "other")


def test_a_file_outside_of_its_partition_is_refused(tmp_path: Path) -> None:
    def other(action: dict[str, Any]) -> None:
        if "add" in action:
            action["add"]["partitionValues"] = {"port": "elsewhere"}

    change_log(written(tmp_path / "hauls", partition_by=["port"]), other)
    with pytest.raises(GroundplanError, match="not in a folder of its partition"):
        Tables.open(tmp_path / "hauls")


def test_a_damaged_log_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "hauls" / "_delta_log").mkdir(parents=True)
    (tmp_path / "hauls" / "_delta_log" / "00000000000000000000.json").write_text("no json")
    with pytest.raises(GroundplanError, match="hauls: its Delta log cannot be read"):
        Tables.open(tmp_path / "hauls")
