"""Tools that filter, select, derive and join."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ibis
import ibis.expr.types as ir

from groundplan.contracts.contract import Scalar
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import Handle, Params, ascending, handle_on, kind_of, widened
from groundplan.sources.tables.engine.values import bound, is_day


def filter_rows(handle: Handle, params: Params) -> Handle:
    """Rows that meet every condition. A null meets no comparison, as in SQL."""
    met = [_condition(handle, condition) for condition in params["conditions"]]
    return Handle(handle.table.filter(met), handle.columns, handle.order)


def select_columns(handle: Handle, params: Params) -> Handle:
    chosen = handle.table.select([handle.column(name) for name in params["columns"]])
    if params["distinct"]:
        return handle_on(chosen.distinct(), handle.columns, ascending(params["columns"]))
    return handle_on(chosen, handle.columns, handle.order)


def derive_column(handle: Handle, params: Params) -> Handle:
    operation: str = params["operation"]
    names: Sequence[str] = params["columns"]
    if operation in CALENDAR or operation == "days_between":
        made = _of_dates(handle, operation, names)
    elif operation in TEXTUAL:
        made = TEXTUAL[operation](_column_of_kind(handle, names[0], "text", operation))
    else:
        made = _of_numbers(handle, operation, names, params.get("number"))
    return widened(handle, {params["as"]: made})


def join_tables(left: Handle, right: Handle, params: Params) -> Handle:
    """Right keys with the same name as the left ones are dropped; other clashing names get `_right`."""
    pairs = [(on["left"], on["right"]) for on in params["on"]]
    for first, second in pairs:
        _refuse_unlike(left, first, right, second)
    same = {second for first, second in pairs if first == second}
    renamed = _renamed(left, right, same)
    other = right.table.select(**{new: right.table[old] for old, new in renamed.items()})
    predicates = [left.table[first] == other[renamed[second]] for first, second in pairs]
    joined = left.table.join(other, predicates, how=params["how"])
    kept = [new for old, new in renamed.items() if old not in same]
    known = [column.model_copy(update={"name": renamed[column.name]}) for column in right.columns]
    return handle_on(joined.select([*left.table.columns, *kept]), [*known, *left.columns], left.order)


def _condition(handle: Handle, condition: Mapping[str, Any]) -> ir.BooleanValue:
    name, operator = condition["column"], condition["operator"]
    values: Sequence[Scalar] = condition.get("values", ())
    column = handle.column(name)
    wanted = {"is null": 0, "not null": 0, "between": 2}.get(operator, 1)
    if operator not in ("in", "not in") and len(values) != wanted:
        raise ToolError(f"{operator!r} on column {name!r} takes {wanted} values and got {len(values)}")
    match operator:
        case "is null":
            return column.isnull()
        case "not null":
            return column.notnull()
        case "contains":
            return _contains(handle, name, values[0])
        case "in" | "not in":
            return _one_of(handle, name, values, operator == "in")
        case "between":
            start, end = (bound(handle, name, value) for value in values)
            return (_clock(column) >= start) & (_clock(column) < end)
        case _:
            return _compared(handle, name, operator, values[0])


COMPARISONS: Mapping[str, Callable[[ir.Value, ir.Value], ir.BooleanValue]] = {
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def _compared(handle: Handle, name: str, operator: str, value: Scalar) -> ir.BooleanValue:
    return COMPARISONS[operator](_against(handle.column(name), [value]), bound(handle, name, value))


def _one_of(handle: Handle, name: str, values: Sequence[Scalar], inside: bool) -> ir.BooleanValue:
    column = handle.column(name)
    given = [value for value in values if value is not None]
    among = _against(column, given).isin([bound(handle, name, value) for value in given])
    if None not in values:
        return among if inside else ~among
    return among | column.isnull() if inside else ~among & column.notnull()


def _contains(handle: Handle, name: str, value: Scalar) -> ir.BooleanValue:
    """Case-insensitive, because people do not type a cell's exact case."""
    text = _column_of_kind(handle, name, "text", "contains")
    if not isinstance(value, str):
        raise ToolError(f"'contains' on column {name!r} takes text and got {value!r}")
    return text.lower().contains(ibis.literal(value.lower()))


def _against(column: ir.Column, values: Sequence[Scalar]) -> ir.Column:
    """A timestamp is compared with days by its date: `= 2024-03-01` matches the whole day."""
    if column.type().is_timestamp() and values and all(is_day(value) for value in values):
        return column.cast("date")
    return column.cast("string") if kind_of(column.type()) == "other" else _clock(column)


def _clock(column: ir.Column) -> ir.Column:
    dtype = column.type()
    return column.cast("timestamp") if dtype.is_timestamp() and dtype.timezone else column


CALENDAR: Mapping[str, Callable[[Any], ir.Value]] = {
    "year": lambda date: date.year(),
    "quarter": lambda date: date.quarter(),
    "month": lambda date: date.month(),
    "week": lambda date: date.week_of_year(),
    "day": lambda date: date.day(),
    "weekday": lambda date: date.day_of_week.index() + 1,  # ISO 8601: Monday is 1
    "hour": lambda date: date.hour(),
}
TEXTUAL: Mapping[str, Callable[[Any], ir.Value]] = {
    "lower": lambda text: text.lower(),
    "upper": lambda text: text.upper(),
    "length": lambda text: text.length(),
}
PAIRS: Mapping[str, Callable[[Any, Any], ir.Value]] = {
    "add": lambda left, right: left + right,
    "subtract": lambda left, right: left - right,
    "multiply": lambda left, right: left * right,
    "divide": lambda left, right: left.cast("float64") / right.cast("float64").nullif(0),
    "percent_of": lambda left, right: left.cast("float64") * 100 / right.cast("float64").nullif(0),
}


def _of_dates(handle: Handle, operation: str, names: Sequence[str]) -> ir.Value:
    dates = [_column_of_kind(handle, name, "time", operation) for name in names]
    if operation == "days_between":
        if len(dates) != 2:
            raise ToolError("'days_between' takes two columns: the first date and the second")
        return dates[1].cast("date").delta(dates[0].cast("date"), unit="day")
    if operation == "hour" and dates[0].type().is_date():
        raise ToolError(f"column {names[0]!r} holds days, which have no hours")
    return CALENDAR[operation](_clock(dates[0])).cast("int64")


def _of_numbers(handle: Handle, operation: str, names: Sequence[str], number: float | None) -> ir.Value:
    columns = [_column_of_kind(handle, name, "number", operation) for name in names]
    match operation:
        case "absolute":
            return columns[0].abs()
        case "round":
            return columns[0].cast("float64").round(int(number or 0))
        case "log":
            return ibis.cases((columns[0] > 0, columns[0].cast("float64").ln()))
        case "bin":
            if number is None or number <= 0:
                raise ToolError("'bin' needs the width of a bin in `number`, more than 0")
            return (columns[0].cast("float64") / number).floor() * number
    if (len(columns) == 2) == (number is not None):
        raise ToolError(f"{operation!r} takes two columns, or one column and `number`")
    return PAIRS[operation](columns[0], ibis.literal(number) if number is not None else columns[1])


def _column_of_kind(handle: Handle, name: str, kind: str, operation: str) -> Any:
    column = handle.column(name)
    if handle.kind(name) != kind:
        raise ToolError(f"{operation!r} needs a {kind} column and {name!r} is of kind {handle.kind(name)}")
    return column


def _refuse_unlike(left: Handle, first: str, right: Handle, second: str) -> None:
    if left.kind(first) != right.kind(second):
        raise ToolError(
            f"{first!r} is of kind {left.kind(first)} and {second!r} of kind {right.kind(second)}; "
            "join columns of the same kind"
        )


def _renamed(left: Handle, right: Handle, same: set[str]) -> dict[str, str]:
    """A name for each right column that is unique in the joined table, in the right table's order."""
    taken = set(left.table.columns)
    names: dict[str, str] = {}
    for name in right.table.columns:
        new = name
        while new in taken or (new != name and new in right.table.columns) or (name in same and new == name):
            new += "_right"
        taken.add(new)
        names[name] = new
    return names
