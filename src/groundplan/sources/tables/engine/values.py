"""Values for queries (bound as literals, never spliced into SQL) and from results (plain JSON)."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.contract import Scalar
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import Handle


def bound(handle: Handle, name: str, value: Scalar) -> ir.Scalar:
    """The value as a literal of the column's kind; a value of another kind is refused."""
    return literal(value, handle.kind(name), f"column {name!r}")


def literal(value: Scalar, kind: ColumnKind, beside: str) -> ir.Scalar:
    """The value as a literal of this kind, to be compared with what `beside` names."""
    match kind, value:
        case "number", bool():
            raise _misfit(beside, kind, value)
        case ("number", int() | float()) | ("text", str()) | ("boolean", bool()) | ("other", str()):
            return _literal(beside, value)
        case "time", str():
            return ibis.literal(_moment(beside, value))
        case _:
            raise _misfit(beside, kind, value)


def is_day(value: Scalar) -> bool:
    """Whether the text is a day without a time."""
    return isinstance(value, str) and len(value.strip()) <= len("YYYY-MM-DD")


def cell(value: Any) -> Scalar:
    """An engine's value as JSON: dates in ISO 8601, decimals as numbers, NaN and infinity as null."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return _number(value)
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC).isoformat()
        case date():
            return value.isoformat()
        case _:
            return str(value)


def cells(table: pa.Table) -> list[dict[str, Scalar]]:
    return [{name: cell(value) for name, value in row.items()} for row in table.to_pylist()]


def _literal(beside: str, value: Scalar) -> ir.Scalar:
    try:
        return ibis.literal(value)
    except (TypeError, ValueError) as error:
        raise ToolError(f"{value!r} cannot be compared with {beside}: {error}") from error


def _moment(beside: str, text: str) -> date:
    try:
        if is_day(text):
            return date.fromisoformat(text.strip())
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise ToolError(
            f"{beside} holds dates and {text!r} is not a date; write YYYY-MM-DD or YYYY-MM-DDThh:mm:ss"
        ) from error
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _misfit(beside: str, kind: str, value: Scalar) -> ToolError:
    return ToolError(f"{beside} is of kind {kind} and cannot be compared with {value!r}; give a {kind} value")


def _number(value: Decimal) -> Scalar:
    if not value.is_finite():
        return None
    return int(value) if value == value.to_integral_value() and value.as_tuple().exponent == 0 else float(value)
