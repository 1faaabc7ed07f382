"""Tables of Parquet files of which only asked parts are read: by folders such as `year=2024`, of Delta, of Iceberg."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
from ibis.backends.sql import SQLBackend

from groundplan.errors import SourceError
from groundplan.sources.tables.engine.duckdb_engine import AttachedFile, DuckDB, LockedBackend, attached
from groundplan.sources.tables.engine.interface import PLACES, first_line
from groundplan.sources.tables.files.delta import delta_table, is_delta
from groundplan.sources.tables.files.iceberg import METADATA, iceberg_table, is_iceberg
from groundplan.sources.tables.files.lake_table import LakeTable, limited
from groundplan.sources.tables.files.load import READERS, safe_name
from groundplan.sources.tables.files.quoting import exact_path, quoted

PARTITION = re.compile(r"[^=/\\]+=[^/\\]*")
PARQUET = re.compile(r"[^._].*\.parquet")  # others are not finished yet, or describe the folder


def find_lake(path: Path) -> Mapping[str, LakeTable]:
    """The table of this folder, or of each folder in it that is one; none beside files of its own."""
    if path.name.endswith(METADATA):
        folder = path.resolve().parent.parent
        return {safe_name(folder.name, ()): iceberg_table(folder, path)}
    if not path.is_dir():
        return {}
    if known := _with_metadata(path):
        return {safe_name(path.name, ()): known}
    if any(inner.suffix.lower() in READERS and inner.is_file() for inner in path.iterdir()):
        return {}
    if _has_partitions(path):
        return {safe_name(path.name, ()): LakeTable(_files(path))}
    found: dict[str, LakeTable] = {}
    for inner in sorted(path.iterdir()):
        if inner.is_dir() and not inner.is_symlink():
            table = _with_metadata(inner) or (LakeTable(_files(inner)) if _has_partitions(inner) else None)
            found |= {safe_name(inner.name, found): table} if table else {}
    return found


def _with_metadata(folder: Path) -> LakeTable | None:
    """Their folders hold files of earlier versions too."""
    if is_delta(folder):
        return delta_table(folder)
    return iceberg_table(folder) if is_iceberg(folder) else None


def open_lake(folder: Path, tables: Mapping[str, LakeTable], files: Sequence[AttachedFile] = ()) -> Lake:
    """Its tables, with those of database files; the connection may read these files and no others."""
    views = {name: table.query(table.paths) for name, table in tables.items()}
    listed = [path for table in tables.values() for path in table.paths]
    readable = sorted({form for path in listed for form in (exact_path(path), path.resolve().as_posix())})
    try:
        connection = attached(files, views, readable)
    except duckdb.Error as error:
        raise SourceError(f"{folder}: cannot be read: {first_line(error)}") from error
    return Lake(LockedBackend.from_connection(connection), tables)


class Lake(DuckDB):
    """Views on lists of files. Files that are added later are seen when the lake is opened again."""

    def __init__(self, backend: SQLBackend, tables: Mapping[str, LakeTable]) -> None:
        super().__init__(backend, private=True)
        self._tables = tables

    def spread(self, table: str, columns: Sequence[str], about: int, rows: int) -> Sequence[str]:
        """The first rows of files from all over the folders."""
        if table not in self._tables:
            return super().spread(table, columns, about, rows)
        known, listed = self._tables[table], ", ".join(map(quoted, columns))
        if not known.paths:
            return ()
        paths = known.paths
        number = min(PLACES, len(paths))
        some = [paths[place * len(paths) // number] for place in range(number)]
        return [f"SELECT {listed} FROM ({known.query([path])}) LIMIT {rows // number}" for path in some]  # noqa: S608 - quoted


def _has_partitions(folder: Path) -> bool:
    inner = (path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    return any(PARTITION.fullmatch(path.name) and any(path.rglob("*.parquet")) for path in inner)


def _files(folder: Path) -> list[Path]:
    """Links are not followed: they could lead out of the folder that was named."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if PARTITION.fullmatch(name))
        paths = (Path(place, name) for name in sorted(names) if PARQUET.fullmatch(name))
        found += [path for path in paths if path.parent != folder and not path.is_symlink()]
        limited(folder, len(found))
    return found
