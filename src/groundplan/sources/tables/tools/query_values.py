"""The expression for a field of a typed query: a column, a part or a period of a date, a bin, an aggregate."""

from __future__ import annotations

from typing import Any, cast

from groundplan.contracts.columns import Grain
from groundplan.contracts.query import (
    AGGREGATES,
    DATE_CUTS,
    DATE_PARTS,
    BinField,
    Condition,
    FieldReference,
    FilterField,
    QueryField,
)
from groundplan.contracts.query_meaning import OURS
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import Handle
from groundplan.sources.tables.tools.expressions import PARTS
from groundplan.sources.tables.tools.grain import cut
from groundplan.sources.tables.tools.measures import measured

Named = QueryField | FilterField | FieldReference | Condition


def value_of(handle: Handle, field: Named) -> Any:
    """The value of each row; weeks follow ISO 8601 and begin on Monday."""
    name, function = named(field)
    if isinstance(field, BinField):
        return (_of_kind(handle, name, "number", "binSize").cast("float64") / field.bin_size).floor() * field.bin_size
    if function is None:
        return handle.column(name)
    if function in DATE_CUTS:
        _of_kind(handle, name, "time", function)
        return cut(handle, name, cast(Grain, function.removeprefix("TRUNC_").lower()))
    if function in DATE_PARTS:
        moment = _of_kind(handle, name, "time", function).cast("timestamp")
        return PARTS[function.lower()](moment).cast("int64")
    raise ToolError(f"{function} of {name!r} is not a value of one row; remove the function, or use a date function")


def aggregate_of(handle: Handle, field: Named) -> Any:
    """The aggregate of each group."""
    name, function = named(field)
    if function in OURS:
        return measured(handle, {"column": name, "function": OURS[function]})
    if function == "VAR":
        return _of_kind(handle, name, "number", function).cast("float64").var(how="sample")
    raise ToolError(f"{name!r} needs an aggregate here; write one of {', '.join(sorted(AGGREGATES))} as its function")


def named(field: Named) -> tuple[str, str | None]:
    """The column and the function of a field."""
    caption = getattr(field, "field_caption", None)
    if caption is None or getattr(field, "calculation", None):
        raise ToolError("formulas are not supported; name a column, and a function if one is needed")
    return caption, getattr(field, "function", None)


def _of_kind(handle: Handle, name: str, kind: str, what: str) -> Any:
    if handle.kind(name) != kind:
        raise ToolError(f"{what} needs a {kind} column and {name!r} is of kind {handle.kind(name)}")
    return handle.column(name)
