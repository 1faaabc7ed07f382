"""Converts the rows of a response to typed columns; the types are known from the query."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
from pydantic import JsonValue

from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.facts import TableColumn
from groundplan.contracts.schema import Table
from groundplan.errors import SourceError
from groundplan.sources.tableau.vizql import DATE_CUTS, CalculatedField, Query, QueryField

WHOLE = frozenset({"COUNT", "COUNTD"})
AVERAGES = frozenset({"AVG", "MEDIAN", "STDEV"})


@dataclass(frozen=True)
class Form:
    """How values of a Tableau data type are converted; `convert` raises ValueError for other values."""

    kind: ColumnKind
    type: pa.DataType
    convert: Callable[[JsonValue, ZoneInfo], Any]


@dataclass(frozen=True)
class ExpectedColumn:
    """A column that the response must have."""

    column: TableColumn
    form: Form


def expected_columns(query: Query, table: Table) -> tuple[ExpectedColumn, ...]:
    """The columns of the response, in the query's order."""
    return tuple(_expected_column(item, table) for item in query.fields)


def to_table(rows: Sequence[Mapping[str, JsonValue]], columns: Sequence[ExpectedColumn], zone: ZoneInfo) -> pa.Table:
    """Raises SourceError if a row lacks a column or has another one, or if a cell has the wrong type."""
    names = [item.column.name for item in columns]
    if any(row.keys() != {*names} for row in rows):
        raise SourceError("Tableau sent other columns than the query asked for; check the server's version")
    arrays = [_array([row[name] for row in rows], item, zone) for name, item in zip(names, columns, strict=True)]
    return pa.Table.from_arrays(arrays, names=names)


def _expected_column(item: QueryField | CalculatedField, table: Table) -> ExpectedColumn:
    form = FORMS.get(_data_type(item, table), OTHER)
    function = item.function if isinstance(item, QueryField) else None
    grain = function.removeprefix("TRUNC_").lower() if function and function in DATE_CUTS else None
    adds_up = function in ("SUM", "COUNT")
    return ExpectedColumn(TableColumn(name=item.name, kind=form.kind, grain=grain, adds_up=adds_up), form)


def _data_type(item: QueryField | CalculatedField, table: Table) -> str:
    if isinstance(item, CalculatedField) or item.function in AVERAGES:
        return "REAL"
    if item.function in WHOLE:
        return "INTEGER"
    source = table.find(item.field_caption)
    return source.type if source else "UNKNOWN"


def _array(values: Sequence[JsonValue], item: ExpectedColumn, zone: ZoneInfo) -> pa.Array:
    form = item.form
    try:
        return pa.array([None if value is None else form.convert(value, zone) for value in values], form.type)
    except (ValueError, OverflowError):  # Arrow's own error is a ValueError
        name, kind = item.column.name, form.kind
    raise SourceError(
        f"Tableau sent a value in {name!r} that is not a {kind} value; if the data source changed, ask again"
    )


def _whole(value: JsonValue, zone: ZoneInfo) -> int:
    number = _real(value, zone)
    if number is None or not number.is_integer() or not isinstance(value, int | float):
        raise ValueError("not whole")
    return int(value)


def _real(value: JsonValue, _: ZoneInfo) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("not a number")  # noqa: TRY004
    return float(value) if math.isfinite(value) else None


def _truth(value: JsonValue, _: ZoneInfo) -> bool:
    if not isinstance(value, bool):
        raise ValueError("not a boolean")  # noqa: TRY004
    return value


def _text(value: JsonValue, _: ZoneInfo) -> str:
    if not isinstance(value, str):
        raise ValueError("not a text")  # noqa: TRY004
    return value


def _day(value: JsonValue, zone: ZoneInfo) -> date:
    """Some servers add midnight to a day."""
    moment = datetime.fromisoformat(_text(value, zone)).replace(tzinfo=None)
    if moment != datetime.combine(moment, datetime.min.time()):
        raise ValueError("not a day")
    return moment.date()


def _moment(value: JsonValue, zone: ZoneInfo) -> datetime:
    """Local time in the zone, without offset."""
    moment = datetime.fromisoformat(_text(value, zone))
    return moment.astimezone(zone).replace(tzinfo=None) if moment.tzinfo else moment


def _anything(value: JsonValue, _: ZoneInfo) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


OTHER = Form("other", pa.string(), _anything)
FORMS: Mapping[str, Form] = {
    "INTEGER": Form("number", pa.int64(), _whole),
    "REAL": Form("number", pa.float64(), _real),
    "STRING": Form("text", pa.string(), _text),
    "BOOLEAN": Form("boolean", pa.bool_(), _truth),
    "DATE": Form("time", pa.date32(), _day),
    "DATETIME": Form("time", pa.timestamp("us"), _moment),
}
