"""Reads Excel workbooks: each sheet with a header and rows becomes a table. Called only in a child process."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from python_calamine import CalamineError, CalamineWorkbook


class Unreadable(Exception):
    """The file is not an Excel workbook."""


def sheets_of(path: Path) -> dict[str, pa.Table]:
    """Sheets by name, in the workbook's order, with the titles of their columns as they are."""
    try:
        workbook = CalamineWorkbook.from_path(path)
        sheets = {name: workbook.get_sheet_by_name(name).to_python() for name in workbook.sheet_names}
    except CalamineError as error:
        raise Unreadable(f"is not a readable Excel workbook: {error}") from error
    tables = {name: _table(rows) for name, rows in sheets.items()}
    return {name: table for name, table in tables.items() if table is not None}


def _table(rows: Sequence[Sequence[Any]]) -> pa.Table | None:
    filled = [row for row in rows if any(value not in ("", None) for value in row)]
    if not filled:
        return None
    header, *body = filled
    places = [
        place
        for place, title in enumerate(header)
        if title not in ("", None) or any(row[place] not in ("", None) for row in body)
    ]
    arrays = [_array([row[place] for row in body]) for place in places]
    return pa.table(arrays, names=[_text(header[place]) for place in places])


def _array(values: Sequence[Any]) -> pa.Array:
    """The narrowest type that fits every cell; mixed columns become text."""
    given = [None if value == "" else value for value in values]
    kinds = {type(value) for value in given if value is not None}
    if kinds == {bool}:
        return pa.array(given, pa.bool_())
    if kinds and kinds <= {int, float}:
        return _numbers(given)
    if kinds and kinds <= {date, datetime}:
        return _dates(given)
    return pa.array([None if value is None else _text(value) for value in given], pa.string())


def _numbers(values: Sequence[Any]) -> pa.Array:
    whole = all(value is None or (float(value).is_integer() and abs(value) < 2**53) for value in values)
    convert = int if whole else float
    return pa.array([None if value is None else convert(value) for value in values])


def _dates(values: Sequence[Any]) -> pa.Array:
    moments = [value if value is None or isinstance(value, datetime) else _midnight(value) for value in values]
    if all(moment is None or moment.time() == time() for moment in moments):
        return pa.array([None if moment is None else moment.date() for moment in moments], pa.date32())
    return pa.array(moments, pa.timestamp("us"))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time())


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if not isinstance(value, timedelta) else f"{value.total_seconds():g} s"
