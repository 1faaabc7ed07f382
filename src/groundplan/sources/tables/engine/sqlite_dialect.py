"""SQLite as Ibis compiles it, with what SQLite or Ibis lacks: percentiles, rounding, capitals of any alphabet."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import ibis.expr.datatypes as dt
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.sqlite import SQLiteCompiler
from ibis.backends.sqlite import Backend
from sqlglot.optimizer.eliminate_subqueries import eliminate_subqueries

from groundplan.sources.tables.engine.by_place import by_place

INFINITY = "9e999"  # as SQLite writes it
NESTED = 8  # subqueries in one another; at twelve SQLite's parser, with its stack of 100, gave up


class Compiler(SQLiteCompiler):  # type: ignore[misc]
    __slots__ = ()
    UNSUPPORTED_OPS = ()

    def to_sqlglot(self, expr: Any, *, limit: Any = None, params: Any = None) -> Any:
        """Subqueries that are nested deeply become parts of a WITH, one after the other."""
        made = super().to_sqlglot(expr, limit=limit, params=params)
        return eliminate_subqueries(made.copy()) if _depth(made) > NESTED else made

    def visit_IsNan(self, op: Any, *, arg: Any) -> Any:
        """SQLite stores no NaN."""
        return sge.false()

    def visit_IsInf(self, op: Any, *, arg: Any) -> Any:
        return self.f.abs(arg).eq(sge.Literal.number(INFINITY))

    def translate(self, op: Any, *, params: Any) -> Any:
        return super().translate(op.replace(by_place), params=params)

    def visit_Variance(self, op: Any, *, arg: Any, where: Any, how: str) -> Any:
        return self.agg.groundplan_variance(arg, 1 if how == "sample" else 0, where=where)

    def visit_StandardDev(self, op: Any, *, arg: Any, where: Any, how: str) -> Any:
        return self.f.sqrt(self.visit_Variance(op, arg=arg, where=where, how=how))

    def visit_Round(self, op: Any, *, arg: Any, digits: Any) -> Any:
        """SQLite rounds to no tens: negative digits are zero to it."""
        return self.f.anon.groundplan_round(arg, 0 if digits is None else digits)

    def visit_StartsWith(self, op: Any, *, arg: Any, start: Any) -> Any:
        return self.f.substr(arg, 1, self.f.length(start)).eq(start)

    def visit_EndsWith(self, op: Any, *, arg: Any, end: Any) -> Any:
        return self.f.substr(arg, self.f.length(arg) - self.f.length(end) + 1).eq(end)

    def visit_TimestampDelta(self, op: Any, *, left: Any, right: Any, part: Any) -> Any:
        return self.visit_ExtractEpochSeconds(op, arg=left) - self.visit_ExtractEpochSeconds(op, arg=right)

    def visit_TimestampAdd(self, op: Any, *, left: Any, right: Any) -> Any:
        """SQLite itself adds fractions of a second since version 3.42."""
        return self.f.anon.groundplan_later(left, right.this, op.right.dtype.unit.plural)

    def visit_Cast(self, op: Any, *, arg: Any, to: Any) -> Any:
        if to.is_timestamp() and not op.arg.dtype.is_numeric():
            return self.f.anon.groundplan_moment(arg)
        return super().visit_Cast(op, arg=arg, to=to)

    def visit_TimestampTruncate(self, op: Any, *, arg: Any, unit: Any) -> Any:
        if unit.short in ("h", "m"):
            return self.f.strftime("%Y-%m-%d %H:00:00" if unit.short == "h" else "%Y-%m-%d %H:%M:00", arg)
        return super().visit_TimestampTruncate(op, arg=arg, unit=unit)

    def visit_ExtractQuarter(self, op: Any, *, arg: Any) -> Any:
        return (self.visit_ExtractMonth(op, arg=arg) + 2) / 3


def _depth(node: Any) -> int:
    """How many subqueries stand in one another."""
    return max(map(_depth, node.iter_expressions()), default=0) + isinstance(node, sge.Subquery)


class SQLiteBackend(Backend):  # type: ignore[misc]
    compiler = Compiler()

    def _post_connect(self, type_map: Any = None) -> None:
        super()._post_connect(type_map)
        add_functions(self.con)


def add_functions(connection: sqlite3.Connection) -> None:
    plain: dict[str, tuple[int, Callable[..., Any]]] = {
        "lower": (1, lambda text: text if text is None else str(text).lower()),
        "upper": (1, lambda text: text if text is None else str(text).upper()),
        "groundplan_round": (2, _rounded),
        "groundplan_moment": (1, _moment),
        "groundplan_later": (3, _later),
    }
    for name, (arguments, function) in plain.items():
        connection.create_function(name, arguments, function, deterministic=True)
    connection.create_aggregate("groundplan_variance", 2, _Variance)  # type: ignore[arg-type]


def _rounded(value: Any, digits: int) -> Any:
    """A half goes away from zero, as the shortest decimal form of the number has it."""
    if value is None or value in (float("inf"), float("-inf")):
        return value
    made = Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return int(made) if isinstance(value, int) else float(made)


def _moment(text: Any) -> str | None:
    """Moments in one spelling, so that they compare as texts; None for a text that is no moment."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment).isoformat(" ")


def _later(text: Any, number: Any, unit: str) -> str | None:
    """The moment so many seconds or milliseconds later; None if there is no such moment."""
    if text is None or number is None:
        return None
    try:
        return (datetime.fromisoformat(text) + timedelta(**{unit: number})).isoformat(" ")
    except OverflowError:
        return None


class _Variance:
    """Of a sample if one value less is counted; of one value there is none."""

    def __init__(self) -> None:
        self._count, self._mean, self._squares, self._less = 0, 0.0, 0.0, 1

    def step(self, value: float | None, less: int) -> None:
        self._less = less
        if value is not None:
            self._count += 1
            apart = value - self._mean
            self._mean += apart / self._count
            self._squares += apart * (value - self._mean)

    def finalize(self) -> float | None:
        return self._squares / (self._count - self._less) if self._count > self._less else None


def stored_type(declared: dt.DataType, kinds: set[str], form: str) -> dt.DataType:
    """The type by what a column declares and what it holds: SQLite lets a column hold anything.

    `kinds` are the `typeof` of its values without null, `form` is how its texts are written.
    """
    if not kinds:
        return dt.float64 if declared.is_decimal() else declared
    if kinds == {"integer"} and (declared.is_boolean() or declared.is_integer()):
        return declared if declared.is_boolean() else dt.int64
    if kinds <= {"integer", "real"}:
        return (
            dt.int64 if kinds == {"integer"} and not (declared.is_floating() or declared.is_decimal()) else dt.float64
        )
    if kinds == {"text"} and (declared.is_date() or declared.is_timestamp()) and form in ("day", "moment"):
        return dt.date if form == "day" else dt.timestamp
    return dt.binary if kinds == {"blob"} else dt.string
