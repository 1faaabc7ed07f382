"""Loads files and frames into a DuckDB database file, which is then opened read-only.

Loaded files are cached until the file on disk changes.
"""

from __future__ import annotations

import csv
import hashlib
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa
from pyarrow import parquet

from groundplan.budget import Budget, spend, spending
from groundplan.errors import SourceError, UsageError
from groundplan.settings import cache_folder
from groundplan.sources.tables.engine.duckdb_limits import connect, is_running, most_memory
from groundplan.sources.tables.files.csv import MOST_COLUMNS, TOO_WIDE, count_columns, read_csv
from groundplan.sources.tables.files.csv_dialect import is_page, is_text
from groundplan.sources.tables.files.excel_aside import read_excel
from groundplan.sources.tables.files.naming import Notes, column_names, joined
from groundplan.sources.tables.files.notes import write_notes
from groundplan.sources.tables.files.quoting import arguments, quoted
from groundplan.sources.tables.files.text_cells import write_anew
from groundplan.sources.tables.files.text_values import convert_text

LOADER = f"11/{duckdb.__version__}"  # change it when the same file would load differently
MOST_HASHED = 64_000_000  # bytes of a file whose content is hashed, in a tenth of a second
MOST_SECONDS = 600.0  # to load one file
FREE_BYTES = 256_000_000  # that any file may become when it is loaded
MOST_TIMES = 100  # its size, that a larger file may become
LOADING = ".loading-"
UNDEFINED = "missing values: NaN"
DATABASES = (".duckdb", ".ddb", ".db")
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}


def load_files(where: Path) -> Path:
    """A database file with this file, or every file in this folder, as tables."""
    paths = _files(where)
    folder = cache_folder() / "tables"
    folder.mkdir(mode=0o700, exist_ok=True)
    place, state = _hash([str(where.resolve())]), _state_of(paths)
    target = folder / f"{place}-{state}.duckdb"
    if not target.exists():
        _remove_abandoned(folder)
        _build(target, lambda connection: _load_all(connection, paths))
        if _state_of(paths) != state:
            target.unlink()
            raise SourceError(f"{where}: was changed while it was read; try again")
        for older in set(folder.glob(f"{place}-*.duckdb")) - {target}:
            older.unlink(missing_ok=True)
    return target


def load_file(path: Path, target: Path) -> tuple[str, ...]:
    """Load one file into a new database file; returns the names of its tables."""
    if path.suffix.lower() not in READERS:
        raise UsageError(f"{path}: files of this kind cannot be opened; give one of {', '.join(READERS)}")
    names: list[str] = []
    _build(target, lambda connection: names.extend(_load_all(connection, [path])))
    return tuple(names)


def _state_of(paths: Sequence[Path]) -> str:
    """A hash that differs if any file differs: by content or, for a large file, by what a writer cannot set back."""
    return _hash([LOADER, *(f"{path.resolve()}|{_content_key(path)}" for path in paths)])


def _content_key(path: Path) -> str:
    try:
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())
            if stat.st_size <= MOST_HASHED:
                return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}") from error
    return f"{stat.st_dev}|{stat.st_ino}|{stat.st_size}|{stat.st_mtime_ns}|{stat.st_ctime_ns}"


def _remove_abandoned(folder: Path) -> None:
    """Delete what a killed process left half loaded."""
    for part in folder.glob(f"{LOADING}*"):
        process = part.name.removeprefix(LOADING).partition("-")[0]
        if not process.isdigit() or not is_running(int(process)):
            shutil.rmtree(part, ignore_errors=True)


def load_frames(frames: Mapping[str, object]) -> tuple[Path, TemporaryDirectory[str]]:
    """A database file with the frames, in a folder that is deleted when the source is closed."""
    folder = TemporaryDirectory(prefix="groundplan-", ignore_cleanup_errors=True)
    target = Path(folder.name) / "frames.duckdb"
    _build(target, lambda connection: _load_frames(connection, frames))
    return target, folder


def safe_name(text: str, taken: Iterable[str]) -> str:
    """A table name from a file's: lower case, words joined by underscores, unique."""
    plain = re.sub(r"\W+", "_", text.lower()).strip("_")[:60] or "table"
    plain = f"t_{plain}" if plain[0].isdigit() else plain
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}_{number}"
    return name


def _files(where: Path) -> Sequence[Path]:
    if where.is_dir():
        found = sorted(path for path in where.iterdir() if path.suffix.lower() in READERS and path.is_file())
        if not found:
            raise UsageError(f"{where}: contains none of the files that can be opened ({_supported()})")
        return found
    if where.suffix.lower() not in READERS:
        raise UsageError(
            f"{where}: files of this kind cannot be opened; give one of {_supported()}, a SQLite file, or a folder"
        )
    if not where.is_file():  # a pipe would be waited for without end
        raise UsageError(f"{where}: is no regular file; save what it gives as a file")
    return [where]


def _build(target: Path, fill: Callable[[duckdb.DuckDBPyConnection], object]) -> None:
    """Written under another name and then renamed, so that nobody opens an incomplete file."""
    with TemporaryDirectory(dir=target.parent, prefix=f"{LOADING}{os.getpid()}-") as folder:
        part = Path(folder) / "part.duckdb"
        try:
            with connect(str(part), SETTINGS) as connection:
                fill(connection)
        except duckdb.IOException as error:  # of the database itself, such as a full disk
            raise SourceError(f"{target.parent}: cannot be written to; is the disk full?") from error
        os.replace(part, target)  # noqa: PTH105 - it replaces an older file


def _load_all(connection: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> Iterable[str]:
    """Load the files as tables and return their names, in order."""
    taken: dict[str, None] = {}
    for path in paths:
        try:
            with _time_limit(connection), spending(_budget(path)):
                for wanted, fill in READERS[path.suffix.lower()](connection, path):
                    name = safe_name(wanted, taken)
                    write_notes(connection, name, fill(name))
                    taken[name] = None
        except (duckdb.InterruptException, TimeoutError) as error:
            raise SourceError(f"{path}: could not be read in {MOST_SECONDS:g} s; save it as Parquet") from error
        except duckdb.OutOfMemoryException as error:
            raise SourceError(
                f"{path}: does not fit into {most_memory()}; set GROUNDPLAN_MEMORY to allow more"
            ) from error
        except (duckdb.Error, pa.ArrowException, csv.Error, OSError, ValueError) as error:
            why = str(error).strip().partition(chr(10))[0]
            raise SourceError(f"{path}: cannot be read: {why}; save it again from the program that wrote it") from error
    if not taken:
        raise SourceError(f"{paths[0]}: is empty and has no table")
    return taken


def _budget(path: Path) -> Budget:
    """What a file may become in memory and on disk: a Parquet file of 66 KB can hold gigabytes."""
    most = max(FREE_BYTES, MOST_TIMES * path.stat().st_size)
    return Budget(f"{path}: it", "load a part of it", bytes=most)


@contextmanager
def _time_limit(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Interrupt the queries of the block once its time is over; again and again, as it may be between two of them."""
    ended, until = threading.Event(), time.monotonic() + MOST_SECONDS

    def watch() -> None:
        left = until - time.monotonic()
        while not ended.wait(max(left, 0.1)):
            connection.interrupt()
            left = 0.1

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()


Table = tuple[str, Callable[[str], Notes]]
"""The preferred name of a table, and a function that creates it under its final name and returns notes on columns."""


def _csv(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterable[Table]:
    if not is_text(path):
        raise SourceError(
            f"{path} is not a text file; save it as CSV, or give it the ending of its real format, such as .xlsx"
        )
    if is_page(path):
        raise SourceError(f"{path}: is a web page and no table; download the file itself, or save the table as CSV")
    if count_columns(path) > MOST_COLUMNS:
        raise ValueError(TOO_WIDE)
    if path.stat().st_size == 0:
        raise SourceError(f"{path}: is empty and has no table; move it away, or fill it")
    until = time.monotonic() + MOST_SECONDS
    yield path.stem, lambda name: read_csv(connection, path, name, until)


def _parquet(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterable[Table]:
    titles = parquet.read_schema(path).names
    if titles[MOST_COLUMNS:]:
        raise ValueError(TOO_WIDE)
    rows = f"read_parquet({arguments(path, {})})"
    _count_bytes(connection, path, rows)
    yield path.stem, lambda name: joined(_create(connection, name, rows, titles), convert_text(connection, name))


def _count_bytes(connection: duckdb.DuckDBPyConnection, path: Path, rows: str) -> None:
    """Before anything is kept: first what the file says of itself, then the texts, which dictionaries repeat."""
    said = parquet.read_metadata(path)
    groups = [said.row_group(number) for number in range(said.num_row_groups)]
    packed = sum(group.column(place).total_uncompressed_size for group in groups for place in range(group.num_columns))
    spend(max(packed, said.num_rows * said.num_columns), "bytes")
    columns = connection.execute(f"DESCRIBE FROM {rows}").fetchall()
    texts = [quoted(name) for name, type_, *_ in columns if type_ in ("VARCHAR", "BLOB") or type_.endswith((")", "]"))]
    if texts:
        lengths = " + ".join(f"coalesce(sum(strlen({text}::VARCHAR)), 0)" for text in texts)
        (length,) = connection.execute(f"SELECT {lengths} FROM {rows}").fetchone() or (0,)  # noqa: S608 - quoted
        spend(int(length), "bytes")


def _excel(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterable[Table]:
    def store(rows: pa.Table, name: str) -> Notes:
        return joined(_store(connection, rows, name), convert_text(connection, name))

    sheets = read_excel(path)
    spend(sum(rows.nbytes for rows in sheets.values()), "bytes")
    if any(rows.num_columns > MOST_COLUMNS for rows in sheets.values()):
        raise ValueError(TOO_WIDE)
    for sheet, rows in sheets.items():
        yield path.stem if len(sheets) == 1 else sheet, partial(store, rows)


READERS: Mapping[str, Callable[[duckdb.DuckDBPyConnection, Path], Iterable[Table]]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".parquet": _parquet,
    ".xlsx": _excel,
}


def _load_frames(connection: duckdb.DuckDBPyConnection, frames: Mapping[str, object]) -> None:
    taken: set[str] = set()
    for given, frame in frames.items():
        name = safe_name(given, taken)
        try:
            write_notes(connection, name, _store(connection, _storable(frame), name))
        except (duckdb.Error, pa.ArrowException, TypeError, ValueError) as error:
            raise SourceError(f"the frame {given!r} cannot be read: {error}") from error
        taken.add(name)


def _storable(frame: object) -> Any:
    """pandas frames are passed unchanged: DuckDB reads columns of Python objects, which Arrow refuses."""
    return frame if type(frame).__module__.startswith("pandas") else pa.table(frame)


def _store(connection: duckdb.DuckDBPyConnection, rows: Any, name: str) -> Notes:
    titles = [str(title) for title in (rows.column_names if isinstance(rows, pa.Table) else rows.columns)]
    if isinstance(rows, pa.Table):
        rows = rows.rename_columns([str(place) for place in range(len(titles))])  # DuckDB refuses repeated names
    connection.register("rows_to_store", rows)
    try:
        return _create(connection, name, "rows_to_store", titles)
    finally:
        connection.unregister("rows_to_store")


def _create(connection: duckdb.DuckDBPyConnection, name: str, rows: str, titles: Sequence[str]) -> Notes:
    names, notes = column_names(titles)
    listed = ", ".join(map(quoted, names))
    connection.execute(f"CREATE TABLE {quoted(name)} AS FROM {rows} AS given({listed})")
    return joined(notes, _clear_undefined(connection, name))


def _clear_undefined(connection: duckdb.DuckDBPyConnection, name: str) -> Notes:
    """NaN counts as missing, and the column's note says so. Answers mention infinite numbers, which they leave out."""
    described = connection.execute(f"DESCRIBE {quoted(name)}").fetchall()
    columns = {column: type_ for column, type_, *_ in described if type_ in ("FLOAT", "DOUBLE")}
    if not columns:
        return {}
    looked = ", ".join(f"bool_or(isnan({quoted(column)}))" for column in columns)
    told = connection.execute(f"SELECT {looked} FROM {quoted(name)}").fetchone() or ()  # noqa: S608 - quoted
    cleared = [column for column, undefined in zip(columns, told, strict=True) if undefined]
    if cleared:
        defined = {column: f"CAST(CASE WHEN NOT isnan(v) THEN v END AS {columns[column]})" for column in cleared}
        write_anew(connection, name, defined)
    return dict.fromkeys(cleared, UNDEFINED)


def _supported() -> str:
    return ", ".join((*READERS, *DATABASES))


def _hash(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
