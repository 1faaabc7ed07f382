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
from groundplan.contracts.query import DATE_CUTS, DATE_PARTS, BinField, Query, QueryField, TableCalcField, output_name
from groundplan.contracts.schema import Table
from groundplan.errors import SourceError

WHOLE = frozenset({"COUNT", "COUNTD", *DATE_PARTS})
AVERAGES = frozenset({"AVG", "MEDIAN", "STDEV", "VAR"})


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
    documented: bool  # whether the spelling of its key is documented


def expected_columns(query: Query, table: Table) -> tuple[ExpectedColumn, ...]:
    """The columns of the response, in the query's order."""
    return tuple(_expected_column(item, table) for item in query.fields)


def to_table(rows: Sequence[Mapping[str, JsonValue]], columns: Sequence[ExpectedColumn], zone: ZoneInfo) -> pa.Table:
    """Raises SourceError if a row lacks a column or has another one, or if a cell has the wrong type."""
    keys = _keys(rows, columns)
    arrays = [_array([row[key] for row in rows], item, zone) for key, item in zip(keys, columns, strict=True)]
    return pa.Table.from_arrays(arrays, names=[item.column.name for item in columns])


def _keys(rows: Sequence[Mapping[str, JsonValue]], columns: Sequence[ExpectedColumn]) -> list[str]:
    """The key of each column. The key of a bin or a table calculation is not documented: it is the one left over."""
    given = rows[0].keys() if rows else {item.column.name for item in columns}
    missing = [item for item in columns if item.column.name not in given]
    foreign = [key for key in given if key not in {item.column.name for item in columns}]
    clear = len(missing) <= 1 and len(foreign) == len(missing) and not any(item.documented for item in missing)
    if not clear or any(row.keys() != given for row in rows):
        raise SourceError("Tableau sent other columns than the query asked for; check the server's version")
    return [foreign[0] if item in missing else item.column.name for item in columns]


def _expected_column(item: QueryField, table: Table) -> ExpectedColumn:
    function = getattr(item, "function", None)
    form = FORMS.get(_data_type(item, function, table), OTHER)
    grain = function.removeprefix("TRUNC_").lower() if function in DATE_CUTS else None
    documented = bool(item.field_alias) or not isinstance(item, BinField | TableCalcField)
    return ExpectedColumn(TableColumn(name=output_name(item), kind=form.kind, grain=grain), form, documented)


def _data_type(item: QueryField, function: str | None, table: Table) -> str:
    if isinstance(item, TableCalcField):
        return "INTEGER" if item.table_calculation.table_calc_type == "RANK" else "REAL"
    if isinstance(item, BinField) or function in AVERAGES:
        return "REAL"
    if function in WHOLE:
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
