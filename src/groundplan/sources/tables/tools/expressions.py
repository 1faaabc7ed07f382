"""Expressions and conditions of the requirement language, as Ibis evaluates them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeVar

import ibis
import ibis.expr.types as ir
from pydantic import ValidationError

from groundplan.contracts.columns import ColumnKind, Function, fits
from groundplan.contracts.contract import Scalar
from groundplan.contracts.expression import (
    Absolute,
    Aggregate,
    Alike,
    All,
    Among,
    AnyOf,
    Arithmetic,
    Bins,
    Cases,
    Change,
    Column,
    Compare,
    Concatenated,
    Condition,
    Constant,
    Contains,
    Correlation,
    DateCut,
    DatePart,
    Elapsed,
    Expression,
    Filled,
    Found,
    FoundGroup,
    GroupValue,
    Holds,
    Length,
    Missing,
    Moving,
    Named,
    Not,
    OneOf,
    Overall,
    Related,
    Rounded,
    Rounding,
    Rows,
    Running,
    Share,
    columns_of,
    read_condition,
    read_expression,
)
from groundplan.contracts.normal_form import MIRRORED, lowered
from groundplan.contracts.ranges import bin_labels
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import Handle, kind_of, orderable, sort_key
from groundplan.sources.tables.engine.values import is_day, literal
from groundplan.sources.tables.tools.grain import cut_at

T = TypeVar("T")
COMPARISONS: Mapping[str, Callable[[Any, Any], ir.BooleanValue]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
PARTS: Mapping[str, Callable[[Any], ir.Value]] = {
    "year": lambda date: date.year(),
    "quarter": lambda date: date.quarter(),
    "month": lambda date: date.month(),
    "week": lambda date: date.week_of_year(),
    "day": lambda date: date.day(),
    "weekday": lambda date: date.day_of_week.index() + 1,  # ISO 8601: Monday is 1
    "hour": lambda date: date.hour(),
}
SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3_600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_629_746,
    "year": 31_556_952,
}


def expression_in(params: object) -> Expression:
    return _read(read_expression, params)


def condition_in(params: object) -> Condition:
    return _read(read_condition, params)


def _read(read: Callable[[object], T], params: object) -> T:
    try:
        return read(params)
    except ValidationError as error:
        raise ToolError(f"this is not in the requirement language: {error.errors()[0]['msg']}") from error


@dataclass(frozen=True)
class Compiler:
    """Compiles what is said of one table. `along` is the column that orders a series, `by` what separates them."""

    handle: Handle
    along: str | None = None
    by: tuple[str, ...] = ()

    def value(self, node: Expression) -> Any:
        match node:
            case Column(name=name, table=str() as table):
                raise ToolError(f"the column {name!r} of {table!r} has to be joined first")
            case Column(name=name):
                return self.handle.column(name)
            case Constant(value=float() as value):
                return ibis.literal(str(value)).cast("float64")  # DuckDB reads a bare 0.5 as a decimal of one place
            case Constant(value=value):
                return ibis.literal(value)
            case Arithmetic():
                return self._arithmetic(node)
            case Elapsed():
                return self._elapsed(node)
            case DatePart(of=of, part=part):
                return self._part(of, part)
            case DateCut(of=of, grain=grain):
                if grain is None:
                    raise ToolError("a date is cut at a grain; name it: day, week, month, quarter or year")
                return cut_at(self._of_kind(of, "time"), grain)
            case Bins(of=of, width=float() as width):
                return (self._of_kind(of, "number").cast("float64") / width).floor() * width
            case Bins(of=of, edges=edges):
                return _binned(self._of_kind(of, "number"), edges)
            case Cases(conditions=conditions, values=values, otherwise=otherwise):
                branches = [(self.condition(c), ibis.literal(v)) for c, v in zip(conditions, values, strict=True)]
                return ibis.cases(*branches, else_=otherwise)
            case Filled():
                return self._filled(node)
            case Rounded(of=of, how=how, digits=digits):
                return _rounded(self._of_kind(of, "number"), how, digits)
            case Absolute(of=of):
                return self._of_kind(of, "number").abs()
            case Concatenated(parts=parts):
                return reduce(operator.add, map(self._said, parts))
            case Length(of=of):
                return self._of_kind(of, "text").length().cast("int64")
            case Holds(condition=condition):
                return ibis.coalesce(self.condition(condition), False)
            case Named(name=name):
                raise ToolError(f"no metric {name!r} is defined here")
            case _:
                return self._of_group(node)

    def _said(self, part: Expression) -> Any:
        """A part of a text; of a date's part its digits: `2025 Q3`."""
        if isinstance(part, DatePart):
            return self.value(part).cast("int64").cast("string")
        return self._of_kind(part, "text")

    def _of_group(self, node: GroupValue) -> Any:
        match node:
            case Rows(where=where):
                return self.handle.table.count(where=self.condition(where) if where else None)
            case Aggregate():
                return self._aggregate(node)
            case Correlation():
                left, right = (self._of_kind(side, "number").cast("float64") for side in (node.left, node.right))
                return left.corr(right, where=self.condition(node.where) if node.where else None, how="pop")
            case Share() | Change() | Running() | Moving():
                return self._series(node)
            case Related(table=table):
                raise ToolError(f"a measure of {table!r} has to be joined first")
            case Alike():
                return self._alike(node)
            case Overall():
                raise ToolError("an overall value has to be added to the rows first; see `add_overall`")

    def _alike(self, node: Alike) -> Any:
        """What a condition leaves out is made missing first: few engines filter inside windows."""
        alike = ibis.window(group_by=[self.value(part) for part in node.by])
        where = node.of.where
        kept = None if where is None else self.condition(where)
        if isinstance(node.of, Rows):
            if kept is None:
                return self.handle.table.count().over(alike)
            return kept.ifelse(ibis.literal(1), ibis.null("int64")).count().over(alike)
        of, function = self.value(node.of.of), node.of.function
        kind = kind_of(of.type())
        if function == "percentile" or not fits(function, kind):
            raise ToolError(f"{function!r} cannot be computed on {_named(node.of.of)}, which is of kind {kind}")
        value = of if kept is None else kept.ifelse(of, ibis.null(of.type()))
        return applied(function, value, None).over(alike)

    def condition(self, node: Condition) -> Any:
        match node:
            case All(parts=parts):
                return reduce(operator.and_, map(self.condition, parts))
            case AnyOf(parts=parts):
                return reduce(operator.or_, map(self.condition, parts))
            case Not(part=part):
                return ~self.condition(part)
            case Missing(of=of):
                return self.value(of).isnull()
            case Among():
                return self._among(node)
            case Found(table=table) | FoundGroup(table=table):
                raise ToolError(f"what is found in {table!r} has to be marked first; see `mark_found`")
            case Contains():
                return self._contains(node)
            case OneOf(of=of, values=values):
                return self._one_of(of, values)
            case Compare():
                return self._compare(node)

    def _among(self, node: Among) -> Any:
        """Exactly so many rows: those with the same value are told apart by the other columns."""
        value = self.value(node.of)
        others = [name for name in orderable(self.handle) if columns_of(node.of) != {name}]
        ties = [sort_key(self.handle.column(name)) for name in others]
        place = ibis.row_number().over(order_by=[sort_key(value, node.direction == "top"), *ties])
        return value.notnull() & (place < node.limit)

    def _contains(self, node: Contains) -> Any:
        """By functions that know no wildcards; both sides are put in lower case by the engine, so that they agree."""
        value, text = self._of_kind(node.of, "text"), ibis.literal(node.text)
        if not node.cased:
            value, text = value.lower(), ibis.literal(lowered(node.text)).lower()
        match node.place:
            case "anywhere":
                return value.contains(text)
            case "start":
                return value.startswith(text)
            case "end":
                return value.endswith(text)
            case "whole":
                return value == text

    def _filled(self, node: Filled) -> Any:
        value = _clock(self.value(node.of))
        kind = kind_of(value.type())
        match node.otherwise:
            case Constant(value=float() as number) if value.type().is_integer() and number.is_integer():
                other: Any = ibis.literal(int(number))
            case Constant(value=given) if kind != "number" or isinstance(given, str | bool):
                other = literal(given, kind, _named(node.of))
            case _:
                other = _clock(self._of_kind(node.otherwise, kind))
        if kind == "time" and value.type().is_date() != other.type().is_date():
            value, other = value.cast("timestamp"), other.cast("timestamp")
        return ibis.coalesce(value, other)

    def _compare(self, node: Compare) -> Any:
        compare = COMPARISONS[node.operator]
        if isinstance(node.right, Constant):
            left = _comparable(self.value(node.left), [node.right.value], node.operator)
            return compare(left, literal(node.right.value, kind_of(left.type()), _named(node.left)))
        if isinstance(node.left, Constant):
            return self._compare(Compare(left=node.right, operator=MIRRORED[node.operator], right=node.left))
        left, right = self.value(node.left), self.value(node.right)
        kinds = [kind_of(side.type()) for side in (left, right)]
        if kinds[0] != kinds[1]:
            raise ToolError(f"{_named(node.left)} is of kind {kinds[0]} and {_named(node.right)} of kind {kinds[1]}")
        if left.type().is_date() != right.type().is_date():
            left, right = left.cast("timestamp"), right.cast("timestamp")
        return compare(_clock(left), _clock(right))

    def _one_of(self, of: Expression, values: Sequence[Scalar]) -> Any:
        known = [value for value in values if value is not None]
        side = _comparable(self.value(of), known)
        among = side.isin([literal(value, kind_of(side.type()), _named(of)) for value in known])
        return among | side.isnull() if None in values else among

    def _arithmetic(self, node: Arithmetic) -> Any:
        left, right = (self._of_kind(side, "number") for side in (node.left, node.right))
        match node.operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return ratio(left, right)

    def _elapsed(self, node: Elapsed) -> Any:
        start, end = (self._moment(side) for side in (node.start, node.end))
        seconds = end.delta(start, unit="second")
        return seconds.cast("float64") / SECONDS[node.unit]

    def _moment(self, side: Expression) -> Any:
        if isinstance(side, Constant):
            return literal(side.value, "time", "a moment").cast("timestamp")
        return _clock(self._of_kind(side, "time")).cast("timestamp")

    def _part(self, of: Expression, part: str) -> Any:
        date = self._of_kind(of, "time")
        if part == "hour" and date.type().is_date():
            raise ToolError(f"{_named(of)} holds days, which have no hours")
        return PARTS[part](_clock(date)).cast("int64")

    def _aggregate(self, node: Aggregate) -> Any:
        of = self.value(node.of)
        where = self.condition(node.where) if node.where else None
        if node.function == "percentile":
            return self._of_kind(node.of, "number").cast("float64").quantile((node.percent or 50) / 100, where=where)
        kind = kind_of(of.type())
        if not fits(node.function, kind):
            raise ToolError(f"{node.function!r} cannot be computed on {_named(node.of)}, which is of kind {kind}")
        return applied(node.function, of, where)

    def _series(self, node: Share | Change | Running | Moving) -> Any:
        of = self._of_kind(node.of, "number")
        if isinstance(node, Share):
            groups = [self.value(part) for part in node.within]
            return ratio(of, of.cast("float64").sum().over(group_by=groups))
        if self.along is None:
            raise ToolError(f"{node.kind!r} follows a series: name the column that orders it in `along`")
        groups = [self.handle.column(name) for name in self.by]
        clock = [sort_key(self.handle.column(self.along))]
        match node:
            case Running():
                return of.sum().over(ibis.cumulative_window(group_by=groups, order_by=clock))
            case Moving(periods=periods):
                recent = ibis.window(group_by=groups, order_by=clock, preceding=periods - 1, following=0)
                return of.cast("float64").mean().over(recent)
            case Change(against="year"):
                raise ToolError("a change against the year before is computed for a whole table; see `derive_column`")
            case Change():
                return changed(of, of.lag().over(group_by=groups, order_by=clock), node.ratio)

    def _of_kind(self, node: Expression, kind: ColumnKind) -> Any:
        value = self.value(node)
        found = kind_of(value.type())
        if found != kind:
            raise ToolError(f"this needs a {kind} column, and {_named(node)} is of kind {found}")
        return value


def year_before(compiler: Compiler, node: Change) -> tuple[Handle, Any]:
    """The table beside its own values of the same period a year earlier, and the change from them."""
    handle, along = compiler.handle, compiler.along
    if along is None:
        raise ToolError("a change follows a series: name the column that orders it in `along`")
    clock = handle.column(along)
    days = {"year": clock.year(), "month": clock.month(), "day": clock.day()}
    now = handle.table.mutate(**{f"now_{part}": value for part, value in days.items()})
    then = handle.table.select(
        **{f"then_{number}": handle.column(name) for number, name in enumerate(compiler.by)},
        **{f"then_{part}": value + 1 if part == "year" else value for part, value in days.items()},
        then_value=compiler.value(node.of),
    ).view()
    same = [now[name].identical_to(then[f"then_{number}"]) for number, name in enumerate(compiler.by)]
    joined = now.left_join(then, [*same, *(now[f"now_{part}"] == then[f"then_{part}"] for part in days)])
    wide = joined.select([*handle.table.columns, "then_value"])
    beside = replace(handle, table=wide)
    value = replace(compiler, handle=beside).value(node.of)
    return beside, changed(value, wide["then_value"], node.ratio)


def changed(now: Any, before: Any, as_ratio: bool) -> Any:
    return ratio(now - before, before) if as_ratio else now - before


def ratio(part: Any, whole: Any) -> Any:
    """Nothing where the whole is zero."""
    return part.cast("float64") / whole.cast("float64").nullif(0)


def applied(function: Function, column: Any, where: Any) -> Any:
    match function:
        case "sum":
            return column.sum(where=where)
        case "min":
            return column.min(where=where)
        case "max":
            return column.max(where=where)
        case "count":
            return column.count(where=where)
        case "count_distinct":
            return column.nunique(where=where)
        # engines average and interpolate exact decimals with different rounding: doubles agree
        case "mean":
            return column.cast("float64").mean(where=where)
        case "median":
            return column.cast("float64").median(where=where)
        case "std":
            return column.cast("float64").std(where=where, how="sample")
        case "defined":
            raise ToolError("these tables define no measures of their own")


def _rounded(value: Any, how: Rounding, digits: int) -> Any:
    if value.type().is_integer():
        return value if digits >= 0 else _rounded(value.cast("float64"), how, digits).cast("int64")
    if value.type().is_decimal() and digits < 0:  # Ibis knows no decimals of tens
        value = value.cast("float64")
    match how:
        case "nearest":
            return _nearest(value, digits)
        case "down":
            return value.floor() if digits == 0 else _beside(value, digits, -1)
        case "up":
            return value.ceil() if digits == 0 else _beside(value, digits, 1)
        case "toward_zero":
            return (value < 0).ifelse(_rounded(value, "up", digits), _rounded(value, "down", digits))


def _nearest(value: Any, digits: int) -> Any:
    """Postgres rounds a half of a double to the even number beside it: whole numbers go another way."""
    if digits == 0 and value.type().is_floating():
        return (value < 0).ifelse((value - 0.5).ceil(), (value + 0.5).floor())
    return value.round(digits)


def _beside(value: Any, digits: int, side: int) -> Any:
    """The nearest, or its neighbour where that lies on the other side: 0.29 is 29 hundredths, and 0.29 * 100 is not."""
    near = value.round(digits)
    step = ibis.literal(str(10.0**-digits)).cast("float64")
    beyond = near < value if side > 0 else near > value
    return beyond.ifelse((near.cast("float64") + side * step).round(digits), near.cast("float64"))


def _binned(value: Any, edges: Sequence[float]) -> Any:
    """The label of the range that it lies in."""
    labels = bin_labels(edges, whole=value.type().is_integer())
    cases = [(value < edge, label) for edge, label in zip(edges, labels, strict=False)]
    return ibis.cases((value.isnull(), ibis.null("string")), *cases, else_=labels[-1])


def _comparable(value: Any, constants: Sequence[Scalar], comparison: str = "=") -> Any:
    """A timestamp beside whole days is compared by its day: `= 2024-03-01` means all of that day."""
    days = constants and all(is_day(constant) for constant in constants)
    if value.type().is_timestamp() and days and comparison not in ("<", ">="):  # those two are the same by midnight
        return _clock(value).cast("date")
    return value.cast("string") if kind_of(value.type()) == "other" else _clock(value)


def _clock(value: Any) -> Any:
    dtype = value.type()
    return value.cast("timestamp") if dtype.is_timestamp() and dtype.timezone else value


def _named(node: Expression) -> str:
    return f"column {node.name!r}" if isinstance(node, Column) else f"the {node.kind.replace('_', ' ')}"
