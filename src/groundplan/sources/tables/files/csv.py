"""Reads CSV files as they occur in practice: other separators, decimal commas, ragged rows, old encodings."""

from __future__ import annotations

import csv
import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from groundplan.budget import spend
from groundplan.errors import SourceError
from groundplan.sources.tables.files.csv_dialect import SEPARATORS, UTF8, Dialect, encoding_of, find_dialect
from groundplan.sources.tables.files.naming import Notes, column_names, joined
from groundplan.sources.tables.files.quoting import arguments, quoted
from groundplan.sources.tables.files.text_values import convert_text

TYPES = ("BOOLEAN", "BIGINT", "DOUBLE", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR")  # 3:45 may be a length: text
EXACT = 2**53  # from here on, DOUBLE does not hold every whole number
MOST_COLUMNS = 2_000
TOO_WIDE = f"a table may have {MOST_COLUMNS:,} columns, and this one has more"
SNIFFED = 20_480  # rows from which DuckDB guesses types


def read_csv(connection: duckdb.DuckDBPyConnection, path: Path, name: str, until: float = math.inf) -> Notes:
    """Creates the table; a file that DuckDB cannot read strictly is first rewritten as rectangular UTF-8.

    Raises TimeoutError if that is not done `until` a time of `time.monotonic`.
    """
    dialect = find_dialect(path)
    types = [type_ for type_ in TYPES if type_ != "DOUBLE" or not dialect.has_comma_decimals]
    try:
        notes = _create(connection, path, name, dialect, types)
    except duckdb.InvalidInputException:
        with TemporaryDirectory(prefix="groundplan-") as folder:
            tidy = Path(folder) / "rows.csv"
            _tidy(path, tidy, until)
            notes = _create_tidy(connection, tidy, name, types)
    notes = joined(notes, convert_text(connection, name, dialect.has_comma_decimals))
    (first, *_), *_ = connection.execute(f"DESCRIBE {quoted(name)}").fetchall()
    above = {first: f"{dialect.above} lines above the header are left out"} if dialect.above else {}
    return joined(notes, above)


def _create_tidy(connection: duckdb.DuckDBPyConnection, path: Path, name: str, types: Sequence[str]) -> Notes:
    """Where DuckDB still cannot guess the types, all columns are text."""
    dialect = find_dialect(path)
    try:
        return _create(connection, path, name, dialect, types)
    except duckdb.InvalidInputException:
        names, notes = column_names(dialect.first)
        columns = dict.fromkeys(names, "VARCHAR")
        options = {"delim": ",", "quote": '"', "escape": '"', "header": True, "auto_detect": False, "columns": columns}
        _read(connection, path, name, options)
        return notes


def _create(
    connection: duckdb.DuckDBPyConnection, path: Path, name: str, dialect: Dialect, types: Sequence[str]
) -> Notes:
    options = _options(dialect, types)
    header = dialect.has_titles or _has_header(connection, path, options)
    names, notes = column_names(dialect.first if header else [""] * len(dialect.first))
    options |= {"header": header, "names": names}
    try:
        _read(connection, path, name, options)
    except duckdb.ConversionException:  # a type was guessed wrongly from the first rows
        options = {**options, "sample_size": -1}
        _read(connection, path, name, options)
    unsure = [*_unsure_dates(connection, path, name, options), *_misread(connection, path, name, options)]
    if unsure:
        _read(connection, path, name, {**options, "types": dict.fromkeys(unsure, "VARCHAR")})
    return notes


def _options(dialect: Dialect, types: Sequence[str]) -> dict[str, Any]:
    """Explicit options: by itself, the sniffer may silently skip ragged lines or drop rows as comments."""
    options: dict[str, Any] = {
        "skip": dialect.above,
        "quote": '"',
        "escape": '"',
        "comment": "",
        "auto_type_candidates": types,
    }
    return options if dialect.separator is None else {**options, "delim": dialect.separator}


def _has_header(connection: duckdb.DuckDBPyConnection, path: Path, options: Mapping[str, Any]) -> bool:
    sql = f"SELECT HasHeader FROM sniff_csv({arguments(path, options)})"  # noqa: S608 - quoted
    return connection.execute(sql).fetchone() == (True,)


def _misread(connection: duckdb.DuckDBPyConnection, path: Path, name: str, options: Mapping[str, Any]) -> list[str]:
    """Columns that DuckDB reads as other numbers than the file has: 1.5 as 2, 007 as 7, or long ids as fractions."""
    (count,) = connection.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone() or (0,)  # noqa: S608 - quoted
    types = {column: type_ for column, type_, *_ in connection.execute(f"DESCRIBE {quoted(name)}").fetchall()}
    long = {c: f"abs({quoted(c)}) >= {EXACT}" for c, type_ in types.items() if type_ == "DOUBLE"}
    found = _holding(connection, quoted(name), long)
    if count <= SNIFFED:  # DuckDB has seen all rows before it chose the types
        return found
    whole = [c for c, type_ in types.items() if type_ == "BIGINT"]
    changed = {c: f"CAST(TRY_CAST({quoted(c)} AS BIGINT) AS VARCHAR) <> {quoted(c)}" for c in whole}
    return found + _holding(connection, f"read_csv({arguments(path, {**options, 'all_varchar': True})})", changed)


def _holding(connection: duckdb.DuckDBPyConnection, rows: str, conditions: Mapping[str, str]) -> list[str]:
    """The keys of the conditions that hold for some row."""
    if not conditions:
        return []
    wanted = ", ".join(f"bool_or({condition})" for condition in conditions.values())
    found = connection.execute(f"SELECT {wanted} FROM {rows}").fetchone()  # noqa: S608 - quoted
    return [key for key, holds in zip(conditions, found or (), strict=True) if holds]


def _unsure_dates(
    connection: duckdb.DuckDBPyConnection, path: Path, name: str, options: Mapping[str, Any]
) -> list[str]:
    """Columns like 03/04/2025 in which no day is above 12: day and month are ambiguous, so they stay text."""
    sql = f"SELECT DateFormat FROM sniff_csv({arguments(path, options)})"  # noqa: S608 - quoted
    (form,) = connection.execute(sql).fetchone() or (None,)
    if not form or not form.startswith(("%d", "%m")) or "%b" in form.lower():
        return []
    described = connection.execute(f"DESCRIBE {quoted(name)}").fetchall()
    dates = [column for column, type_, *_ in described if type_.startswith(("DATE", "TIMESTAMP"))]
    if not dates:
        return []
    days = ", ".join(f"max(day({quoted(column)}))" for column in dates)
    latest = connection.execute(f"SELECT {days} FROM {quoted(name)}").fetchone() or ()  # noqa: S608 - quoted
    return [column for column, day in zip(dates, latest, strict=True) if day is not None and day <= 12]


def _read(connection: duckdb.DuckDBPyConnection, path: Path, name: str, options: Mapping[str, Any]) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {quoted(name)}")  # not replaced, which would keep both in memory
    connection.execute(f"CREATE TABLE {quoted(name)} AS FROM read_csv({arguments(path, options)})")


def count_columns(path: Path) -> int:
    """The columns of the header, or at least as many as its first 100,000 bytes have."""
    with path.open("rb") as file:
        header = file.readline(100_000)
    plain = re.sub(r'"[^"]*"', "", header.decode(encoding_of(header), errors="replace"))
    return 1 + max(map(plain.count, SEPARATORS))


def _tidy(path: Path, target: Path, until: float) -> None:
    """The same cells with one kind of line end: DuckDB reads no file that has two."""
    width = max((len(row) for row in _rows(path, until)), default=0)
    if width > MOST_COLUMNS:
        raise ValueError(TOO_WIDE)
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in _rows(path, until):
            spend(width, "bytes")  # short rows are filled up
            cells = ["\n".join(cell.splitlines()) if "\r" in cell else cell for cell in row]
            writer.writerow([*cells, *[""] * (width - len(row))])


def _rows(path: Path, until: float) -> Iterator[list[str]]:
    with path.open("rb") as raw:
        telling = next((line for line in raw if encoding_of(line) != UTF8), b"")
    dialect = find_dialect(path)
    separator = dialect.separator or ","
    row, started, ended, seen = [""], 1, 0, [""]
    with path.open(encoding=encoding_of(telling), newline="") as file:
        reader = csv.reader(_remembered(islice(file, dialect.above, None), seen), delimiter=separator)
        for row in reader:
            if time.monotonic() > until:
                raise TimeoutError
            started, ended = ended + 1, reader.line_num
            if row:
                yield row
    if "\n" in "".join(row[-1:]) and not seen[0].rstrip().endswith('"'):
        raise SourceError(f"{path}: a quote in line {started} is never closed; close it, or write it twice")


def _remembered(lines: Iterable[str], seen: list[str]) -> Iterator[str]:
    for line in lines:
        seen[0] = line
        yield line
