"""An Iceberg table: the data files of its current snapshot, whose columns are found by their ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from groundplan.errors import GroundplanError, SourceError, UsageError
from groundplan.sources.tables.engine.duckdb_limits import connect
from groundplan.sources.tables.engine.interface import first_line
from groundplan.sources.tables.files.lake_table import LakeTable, inside, limited, refuse_features
from groundplan.sources.tables.files.quoting import exact_path, literal

METADATA = ".metadata.json"
HINT = "version-hint.text"
VERSION = re.compile(r"[\w.-]{1,200}")
TYPES = {
    "binary": "BLOB",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "double": "DOUBLE",
    "float": "FLOAT",
    "int": "INTEGER",
    "long": "BIGINT",
    "string": "VARCHAR",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "uuid": "UUID",
}
DECIMAL = re.compile(r"decimal\(\d{1,2}, \d{1,2}\)")
UNFIT = """
    SELECT count(*) FROM (
        SELECT bool_or(field_id IS NULL AND num_children IS NULL) AS unnumbered, list(field_id) AS found
        FROM parquet_schema({}) GROUP BY file_name
    ) WHERE unnumbered OR NOT list_has_all(found, {}::BIGINT[])
"""


def is_iceberg(folder: Path) -> bool:
    return (folder / "metadata").is_dir() and any((folder / "metadata").glob(f"*{METADATA}"))


def iceberg_table(folder: Path, metadata: Path | None = None) -> LakeTable:
    """As this metadata file says, or the one that the table's version hint names.

    Columns of nested types are left out: no question can be about them.
    """
    try:
        import pyiceberg  # noqa: F401 - to say what is missing
    except ImportError as error:
        raise UsageError(f"{folder}: is an Iceberg table; it needs: pip install 'groundplan[iceberg]'") from error

    current = inside(folder, (metadata or _current(folder)).resolve(), "the name of the metadata")
    try:
        table = _opened(folder, current)
        files = [(task.file, bool(task.delete_files)) for task in table.scan().plan_files()]
        fields = table.schema().fields
    except GroundplanError:
        raise
    except Exception as error:
        raise SourceError(f"{folder}: its Iceberg metadata cannot be read: {first_line(error)}") from error
    limited(folder, len(files))
    _refuse_unreadable(folder, fields, files)
    columns = {field.field_id: (field.name, duck) for field in fields if (duck := _type(field.field_type))}
    paths = {file.file_path: inside(folder, _local(folder, file.file_path), "an Iceberg manifest") for file, _ in files}
    identities = _identities(table, columns.keys())
    for spec in {file.spec_id for file, _ in files}:
        of_spec = [paths[file.file_path] for file, _ in files if file.spec_id == spec]
        _refuse_unnumbered(folder, of_spec, identities.get(spec, []))
    listed = ", ".join(
        f"{number}: {{name: {literal(name)}, type: {literal(duck)}, default_value: NULL}}"
        for number, (name, duck) in columns.items()
    )
    return LakeTable(
        sorted(paths.values()), f"hive_partitioning = false, schema = MAP {{{listed}}}", dict(columns.values())
    )


def _current(folder: Path) -> Path:
    """Without a hint only a catalog knows which file is current: the newest may never have been committed."""
    inner = folder / "metadata"
    if (inner / HINT).is_file():
        version = (inner / HINT).read_text(encoding="utf-8")[:300].strip()
        if not VERSION.fullmatch(version):
            raise SourceError(f"{folder}: its {HINT} names no metadata file")
        name = version if version.endswith(METADATA) else f"{'v' if version.isdecimal() else ''}{version}{METADATA}"
        return inner / name
    found = sorted(inner.glob(f"*{METADATA}"))
    if len(found) != 1:
        raise UsageError(
            f"{folder}: only a catalog knows which metadata of this Iceberg table is current; name that file, such as "
            f"{found[-1]}, or write its name into {inner / HINT}"
        )
    return found[0]


def _opened(folder: Path, metadata: Path) -> Any:
    """By classes of our own choice: a table's properties may name others, and its metadata any file or address."""
    from pyiceberg.catalog.noop import NoopCatalog
    from pyiceberg.serializers import FromInputFile
    from pyiceberg.table import StaticTable

    io: Any = OwnFolder(folder)
    known = FromInputFile.table_metadata(io.new_input(str(metadata)))
    return StaticTable(("table",), known, str(metadata), io, NoopCatalog("none"))


class OwnFolder:
    """Opens the files of the table's folder for the package, and no others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def new_input(self, location: str) -> Any:
        from pyiceberg.io.pyarrow import PyArrowFileIO

        path = inside(self._folder, _local(self._folder, location), "the Iceberg metadata")
        return PyArrowFileIO().new_input(str(path))


def _local(folder: Path, location: str) -> Path:
    path = location.removeprefix("file://").removeprefix("file:")
    if not path.startswith("/"):
        raise SourceError(
            f"{folder}: its Iceberg metadata names a file that is not on this machine; open it by an engine"
        )
    return Path(path)


def _refuse_unreadable(folder: Path, fields: Sequence[Any], files: Iterable[tuple[Any, bool]]) -> None:
    unknown = set[str]()
    if any(deleted for _, deleted in files):
        unknown.add("delete files")
    if any(file.file_format != "PARQUET" for file, _ in files):
        unknown.add("files other than Parquet")
    if any(field.initial_default is not None for field in fields):
        unknown.add("default values")
    refuse_features(folder, "Iceberg", unknown)


def _identities(table: Any, known: Iterable[int]) -> Mapping[int, list[int]]:
    """The columns by whose values files are partitioned, for each partition spec; a file may leave them out."""
    return {
        number: [
            field.source_id for field in spec.fields if str(field.transform) == "identity" and field.source_id in known
        ]
        for number, spec in table.specs().items()
    }


def _refuse_unnumbered(folder: Path, paths: Sequence[Path], wanted: Sequence[int]) -> None:
    """A column that is not found by its id would be empty."""
    with connect(":memory:", {}) as connection:
        listed = literal([exact_path(path) for path in paths])
        (unfit,) = connection.execute(UNFIT.format(listed, list(wanted))).fetchone() or (0,)
    if unfit:
        raise UsageError(
            f"{folder}: {unfit:,} files of this Iceberg table lack ids of columns, or columns of their partition; "
            "ask it through Spark or another engine, or rewrite them"
        )


def _type(declared: object) -> str | None:
    text = str(declared)
    return text.upper() if DECIMAL.fullmatch(text) else TYPES.get(text)
