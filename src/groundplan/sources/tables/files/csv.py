"""Reads CSV files as they occur in practice: other separators, decimal commas, ragged rows, old encodings."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from groundplan.sources.tables.files.quoting import arguments, quoted

SEPARATORS = ",;\t|"
UTF8 = "utf-8-sig"
OLD_CYRILLIC = re.compile(rb"[\xc0-\xff]{3}")  # such byte runs are words in Cyrillic and rare in Latin text
NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "DOUBLE", "FLOAT", "DECIMAL")


def read_csv(connection: duckdb.DuckDBPyConnection, path: Path, name: str) -> None:
    """Creates the table; a file that DuckDB cannot read strictly is first rewritten as rectangular UTF-8."""
    try:
        _create(connection, path, name)
    except duckdb.InvalidInputException:
        with TemporaryDirectory(prefix="groundplan-") as folder:
            tidy = Path(folder) / "rows.csv"
            _tidy(path, tidy)
            _create(connection, tidy, name)


def _create(connection: duckdb.DuckDBPyConnection, path: Path, name: str) -> None:
    options = _options(connection, path)
    try:
        _read(connection, path, name, options)
    except duckdb.ConversionException:  # a type was guessed wrongly from the first rows
        options = {**options, "sample_size": -1}
        _read(connection, path, name, options)
    unsure = _unsure_dates(connection, path, name, options)
    if unsure:
        _read(connection, path, name, {**options, "types": dict.fromkeys(unsure, "VARCHAR")})


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
    return [column for column in dates if _latest_day(connection, name, column) <= 12]


def _latest_day(connection: duckdb.DuckDBPyConnection, name: str, column: str) -> int:
    found = connection.execute(f"SELECT max(day({quoted(column)})) FROM {quoted(name)}").fetchone()  # noqa: S608 - quoted
    return found[0] if found and found[0] is not None else 31


def _read(connection: duckdb.DuckDBPyConnection, path: Path, name: str, options: Mapping[str, Any]) -> None:
    connection.execute(f"CREATE OR REPLACE TABLE {quoted(name)} AS FROM read_csv({arguments(path, options)})")


def _options(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Any]:
    """Explicit options: by itself, the sniffer may silently skip ragged lines or drop rows as comments."""
    options: dict[str, Any] = {"skip": 0, "quote": '"', "escape": '"', "comment": ""}
    separator = _separator(path)
    if separator is None:
        return options
    options["delim"] = separator
    if separator == ",":
        return options
    with_comma = {**options, "decimal_separator": ","}
    more = _numbers(connection, path, with_comma) > _numbers(connection, path, options)
    return with_comma if more else options


def count_columns(path: Path) -> int:
    """The columns of the header, or at least as many as its first 100,000 bytes have."""
    header = _header(path)
    return 1 + max(map(header.count, SEPARATORS))


def _separator(path: Path) -> str | None:
    """The most frequent separator in the header, outside quotes."""
    text = _header(path)
    best = max(SEPARATORS, key=text.count)
    return best if best in text else None


def _header(path: Path) -> str:
    """The first line without quoted text."""
    with path.open("rb") as file:
        header = file.readline(100_000)
    return re.sub(r'"[^"]*"', "", header.decode(_encoding(header), errors="replace"))


def _numbers(connection: duckdb.DuckDBPyConnection, path: Path, options: Mapping[str, Any]) -> int:
    types = "SELECT list_transform(Columns, lambda c: c.type)"
    found = connection.execute(f"{types} FROM sniff_csv({arguments(path, options)})").fetchone()
    return sum(type_.startswith(NUMBERS) for type_ in found[0]) if found else 0


def _tidy(path: Path, target: Path) -> None:
    width = max((len(row) for row in _rows(path)), default=0)
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_MINIMAL)
        for row in _rows(path):
            writer.writerow([*row, *[""] * (width - len(row))])


def _rows(path: Path) -> Iterator[list[str]]:
    with path.open("rb") as raw:
        telling = next((line for line in raw if _encoding(line) != UTF8), b"")
    encoding, separator = _encoding(telling), _separator(path) or ","
    with path.open(encoding=encoding, newline="") as file:
        yield from (row for row in csv.reader(file, delimiter=separator) if row)


def _encoding(sample: bytes) -> str:
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        sample.decode(UTF8)
    except UnicodeDecodeError:
        return "cp1251" if OLD_CYRILLIC.search(sample) else "latin-1"
    return UTF8
