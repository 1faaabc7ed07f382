"""A Delta table: the files of its newest version, as its log lists them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from groundplan.errors import SourceError, UsageError
from groundplan.sources.tables.engine.interface import first_line
from groundplan.sources.tables.files.lake_table import LakeTable, inside, limited, refuse_features
from groundplan.sources.tables.files.quoting import literal

LOG = "_delta_log"
UNDERSTOOD = {"appendOnly", "deletionVectors", "invariants", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
"""Features that change nothing in a list of files; a table without deletion vectors may still have their feature."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
TYPES = {
    "binary": "BLOB",
    "boolean": "BOOLEAN",
    "byte": "TINYINT",
    "date": "DATE",
    "double": "DOUBLE",
    "float": "FLOAT",
    "integer": "INTEGER",
    "long": "BIGINT",
    "short": "SMALLINT",
    "string": "VARCHAR",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
}
DECIMAL = re.compile(r"decimal\(\d{1,2},\d{1,2}\)")


def is_delta(folder: Path) -> bool:
    return (folder / LOG).is_dir()


def delta_table(folder: Path) -> LakeTable:
    """Columns of nested types are left out: no question can be about them."""
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    except ImportError as error:
        raise UsageError(f"{folder}: is a Delta table; it needs: pip install 'groundplan[delta]'") from error

    if any(path.is_symlink() for path in (folder / LOG, *(folder / LOG).rglob("*"))):
        raise SourceError(f"{folder}: the log of this Delta table has links, which are not followed")
    try:
        table = DeltaTable(folder.resolve())
        _refuse_features(folder, table)
        partitions = list(table.metadata().partition_columns)
        files = pa.table(table.get_add_actions()).to_pylist()
        fields = json.loads(table.schema().to_json())["fields"]
    except (DeltaError, OSError, ValueError) as error:
        raise SourceError(f"{folder}: its Delta log cannot be read: {first_line(error)}") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Rust, which is no Exception
            raise
        raise SourceError(f"{folder}: its Delta log cannot be read: {first_line(error)}") from error
    limited(folder, len(files))
    columns = {field["name"]: duck for field in fields if (duck := _type(field["type"])) is not None}
    hive = "{" + ", ".join(f"{literal(name)}: {columns[name]}" for name in partitions) + "}"
    options = f"hive_partitioning = true, hive_types = {hive}" if partitions else "hive_partitioning = false"
    paths = [_placed(folder, file, partitions) for file in files]
    return LakeTable(sorted(paths), f"union_by_name = true, {options}", columns)


def _refuse_features(folder: Path, table: Any) -> None:
    protocol, settings = table.protocol(), table.metadata().configuration
    unknown = {*(protocol.reader_features or ())} - UNDERSTOOD
    if settings.get("delta.columnMapping.mode", "none") != "none":
        unknown.add("columnMapping")
    if "deletionVectors" in (protocol.reader_features or ()) and _has_rows(table.deletion_vectors()):
        unknown.add("deletionVectors")
    refuse_features(folder, "Delta", unknown)


def _has_rows(found: Any) -> bool:
    return bool(pa.RecordBatchReader.from_stream(found).read_all().num_rows)


def _type(declared: object) -> str | None:
    if isinstance(declared, str) and DECIMAL.fullmatch(declared):
        return declared.upper()
    return TYPES.get(declared) if isinstance(declared, str) else None


def _placed(folder: Path, file: Mapping[str, Any], partitions: Iterable[str]) -> Path:
    """The file, in folders that say its values as the log does: DuckDB reads them there."""
    path = inside(folder, Path(unquote(str(file["path"]))), "the Delta log")
    values = file.get("partition") or {}
    wanted = [f"{name}={_spelt(folder, values[name])}" for name in partitions]
    if [unquote(part) for part in path.relative_to(folder.resolve()).parts[:-1]] != wanted:
        raise UsageError(
            f"{folder}: a file of this Delta table is not in a folder of its partition; ask it through Spark"
        )
    return path


def _spelt(folder: Path, value: object) -> str:
    match value:
        case None:
            return NO_VALUE
        case bool():
            return str(value).lower()
        case int() | str() | date():
            return str(value)
    raise UsageError(
        f"{folder}: is partitioned by a {type(value).__name__}, which cannot be read here; ask it through Spark"
    )
