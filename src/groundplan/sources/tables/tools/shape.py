"""Tools that filter, select, derive and join."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import ibis
import ibis.expr.types as ir

from groundplan.contracts.contract import Scalar
from groundplan.contracts.expression import Change, Column, Condition, DateCut, DatePart, Part, adds_up, is_ratio
from groundplan.contracts.facts import TableColumn
from groundplan.contracts.normal_form import of_filter
from groundplan.contracts.reading import Filter
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import Ask, Handle, Params, ToolOutput, ascending, handle_on, widened
from groundplan.sources.tables.tools.expressions import (
    PARTS,
    Compiler,
    condition_in,
    expression_in,
    ratio,
    year_before,
)
from groundplan.sources.tables.tools.grain import partial_periods


def filter_rows(handle: Handle, params: Params) -> Handle:
    """Rows that meet every condition. A row without a value meets no comparison, as in SQL."""
    conditions = [_condition(short) for short in params.get("conditions", ())]
    if "where" in params:
        conditions.append(condition_in(params["where"]))
    if not conditions:
        raise ToolError("say which rows to keep, in `conditions` or in `where`")
    compiler = Compiler(handle)
    return Handle(handle.table.filter([compiler.condition(c) for c in conditions]), handle.columns, handle.order)


def select_columns(handle: Handle, params: Params) -> Handle:
    chosen = handle.table.select([handle.column(name) for name in params["columns"]])
    if params["distinct"]:
        return handle_on(chosen.distinct(), handle.columns, ascending(params["columns"]))
    return handle_on(chosen, handle.columns, handle.order)


def derive_column(handle: Handle, params: Params, ask: Ask) -> ToolOutput:
    return (_by_expression(handle, params, ask) if "expression" in params else _by_operation(handle, params)), ()


def _by_operation(handle: Handle, params: Params) -> Handle:
    if "operation" not in params:
        raise ToolError("say what to compute, in `expression` or in `operation`")
    operation: str = params["operation"]
    names: Sequence[str] = params["columns"]
    if operation in PARTS or operation == "days_between":
        made = _of_dates(handle, operation, names)
    elif operation in TEXTUAL:
        made = TEXTUAL[operation](_column_of_kind(handle, names[0], "text", operation))
    else:
        made = _of_numbers(handle, operation, names, params.get("number"))
    return widened(handle, {params["as"]: made})


def _by_expression(handle: Handle, params: Params, ask: Ask) -> Handle:
    expression = expression_in(params["expression"])
    compiler = Compiler(handle, params.get("along"), tuple(params.get("by", ())))
    told = TableColumn(name=params["as"], kind="number", ratio=is_ratio(expression), adds_up=adds_up(expression))
    if isinstance(expression, DateCut) and expression.grain:
        partial = partial_periods(handle.table, compiler.value(expression.of), expression.grain, ask)
        told = TableColumn(name=params["as"], kind="time", grain=expression.grain, partial=partial)
    if isinstance(expression, DatePart) and expression.part == "hour":
        told = told.model_copy(update={"grain": "hour"})
    if isinstance(expression, Change) and expression.against == "year":
        beside, made = year_before(compiler, expression)
        whole = widened(beside, {params["as"]: made})
        return handle_on(whole.table.drop("then_value"), [*whole.columns, told], handle.order)
    made = widened(handle, {params["as"]: compiler.value(expression)})
    return handle_on(made.table, [*made.columns, told], handle.order)


def join_tables(left: Handle, right: Handle, params: Params) -> Handle:
    """Right keys with the same name as the left ones are dropped; other clashing names get `_right`."""
    pairs = [(on["left"], on["right"]) for on in params["on"]]
    for first, second in pairs:
        _refuse_unlike(left, first, right, second)
    if "columns" in params:
        return _with_columns(left, right, pairs, params)
    same = {second for first, second in pairs if first == second}
    renamed = _renamed(left, right, same)
    other = right.table.select(**{new: right.table[old] for old, new in renamed.items()})
    predicates = [left.table[first] == other[renamed[second]] for first, second in pairs]
    joined = left.table.join(other, predicates, how=params["how"])
    kept = [new for old, new in renamed.items() if old not in same]
    known = [column.model_copy(update={"name": renamed[column.name]}) for column in right.columns]
    return handle_on(joined.select([*left.table.columns, *kept]), [*known, *left.columns], left.order)


def add_overall(left: Handle, right: Handle, params: Params) -> Handle:
    """The gate has proven that the right table has one row."""
    taken = {one["as"]: right.column(one["column"]) for one in params["columns"]}
    if len(taken) < len(params["columns"]) or {*taken} & {*left.table.columns}:
        raise ToolError("each column taken from the right table needs a name that is not in use")
    known = [right.find(one["column"]).model_copy(update={"name": one["as"]}) for one in params["columns"]]
    wide = left.table.cross_join(right.table.select(**taken).view())
    return handle_on(wide.select([*left.table.columns, *taken]), [*left.columns, *known], left.order)


def mark_found(left: Handle, right: Handle, params: Params) -> Handle:
    """A missing value is found nowhere."""
    name = params["as"]
    if name in left.table.columns:
        raise ToolError(f"the table already has a column {name!r}; give the new one another name")
    _refuse_unlike(left, params["column"], right, params["among"])
    known = right.table.select(found=right.column(params["among"])).distinct().view()
    wide = left.table.left_join(known, left.column(params["column"]) == known["found"])
    made = {column: wide[column] for column in left.table.columns} | {name: wide["found"].notnull()}
    return handle_on(wide.select(**made), left.columns, left.order)


def _with_columns(left: Handle, right: Handle, pairs: Sequence[tuple[str, str]], params: Params) -> Handle:
    """The left table with the columns that were chosen, each under its name."""
    taken = {one["as"]: right.column(one["column"]) for one in params["columns"]}
    if len(taken) < len(params["columns"]) or {*taken} & {*left.table.columns}:
        raise ToolError("each column taken from the right table needs a name that is not in use")
    keys = {f"key_{place}": right.column(second) for place, (_, second) in enumerate(pairs)}
    values = {f"value_{place}": value for place, value in enumerate(taken.values())}
    other = right.table.select(**keys, **values).view()
    on = [left.column(first) == other[f"key_{place}"] for place, (first, _) in enumerate(pairs)]
    joined = left.table.join(other, on, how=params["how"])
    made = {
        one["as"]: ibis.coalesce(joined[f"value_{place}"], one["otherwise"])
        if "otherwise" in one
        else joined[f"value_{place}"]
        for place, one in enumerate(params["columns"])
    }
    known = [right.find(one["column"]).model_copy(update={"name": one["as"]}) for one in params["columns"]]
    kept = {name: joined[name] for name in left.table.columns}
    return handle_on(joined.select(**kept, **made), [*left.columns, *known], left.order)


def _condition(short: Mapping[str, Any]) -> Condition:
    """The short form of a condition: a column, an operator, its values."""
    name, comparison = short["column"], short["operator"]
    values: Sequence[Scalar] = short.get("values", ())
    wanted = {"is null": 0, "not null": 0, "between": 2}.get(comparison, 1)
    if comparison not in ("in", "not in") and len(values) != wanted:
        raise ToolError(f"{comparison!r} on column {name!r} takes {wanted} values and got {len(values)}")
    if comparison == "contains" and not isinstance(values[0], str):
        raise ToolError(f"'contains' on column {name!r} takes text and got {values[0]!r}")
    return of_filter(Filter(column=name, operator=comparison, values=tuple(values)))


TEXTUAL: Mapping[str, Callable[[Any], ir.Value]] = {
    "lower": lambda text: text.lower(),
    "upper": lambda text: text.upper(),
    "length": lambda text: text.length(),
}
PAIRS: Mapping[str, Callable[[Any, Any], ir.Value]] = {
    "add": lambda left, right: left + right,
    "subtract": lambda left, right: left - right,
    "multiply": lambda left, right: left * right,
    "divide": ratio,
    "percent_of": lambda left, right: left.cast("float64") * 100 / right.cast("float64").nullif(0),
}


def _of_dates(handle: Handle, operation: str, names: Sequence[str]) -> ir.Value:
    dates = [_column_of_kind(handle, name, "time", operation) for name in names]
    if operation == "days_between":
        if len(dates) != 2:
            raise ToolError("'days_between' takes two columns: the first date and the second")
        return dates[1].cast("date").delta(dates[0].cast("date"), unit="day")
    return Compiler(handle).value(DatePart(of=Column(name=names[0]), part=cast("Part", operation)))


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
