"""MySQL and MariaDB as Ibis compiles them, with what Ibis and they lack."""

from __future__ import annotations

from typing import Any

import ibis.expr.schema as sch
import sqlglot as sg
import sqlglot.expressions as sge
from ibis.backends.mysql import Backend
from ibis.backends.sql.compilers.base import NULL, STAR
from ibis.backends.sql.compilers.mysql import MySQLCompiler

from groundplan.sources.tables.engine.by_place import by_place

DIGITS = 1e30  # larger numbers have no such places


class Compiler(MySQLCompiler):  # type: ignore[misc]
    __slots__ = ()
    UNSUPPORTED_OPS = ()

    def visit_IsNan(self, op: Any, *, arg: Any) -> Any:
        """These engines store neither NaN nor infinite numbers."""
        return sge.false()

    visit_IsInf = visit_IsNan

    def translate(self, op: Any, *, params: Any) -> Any:
        return super().translate(op.replace(by_place), params=params)

    def visit_CountStar(self, op: Any, *, arg: Any, where: Any) -> Any:
        """Zero, not nothing, where no row is left."""
        return self.f.count(STAR if where is None else self.if_(where, 1, NULL))

    def visit_Round(self, op: Any, *, arg: Any, digits: Any) -> Any:
        """As a decimal: these engines round a half of a double to the even number beside it."""
        places = 0 if digits is None else digits
        if not op.arg.dtype.is_floating():
            return self.f.round(arg, places)
        exact = self.f.round(sg.cast(arg, sge.DataType.build("decimal(60, 20)")), places)
        return self.if_(self.f.abs(arg) < DIGITS, sg.cast(exact, sge.DataType.build("double")), arg)

    def visit_StartsWith(self, op: Any, *, arg: Any, start: Any) -> Any:
        return self._same(self.f.left(arg, self._letters(start)), start)

    def visit_EndsWith(self, op: Any, *, arg: Any, end: Any) -> Any:
        return self._same(self.f.right(arg, self._letters(end)), end)

    def _letters(self, text: Any) -> Any:
        return self.f.anon.char_length(text)

    def _same(self, left: Any, right: Any) -> Any:
        return sge.Cast(this=left, to=sge.DataType(this=sge.DataType.Type.BINARY)).eq(right)

    def visit_Cast(self, op: Any, *, arg: Any, to: Any) -> Any:
        """A moment keeps its fraction, which a plain DATETIME drops."""
        if to.is_timestamp() and not op.arg.dtype.is_numeric():
            moment = sg.cast(arg, sge.DataType.build("datetime(6)", dialect="mysql"))
            return self._in_utc(arg, moment) if to.timezone and op.arg.dtype.is_string() else moment
        return super().visit_Cast(op, arg=arg, to=to)

    def _in_utc(self, text: Any, moment: Any) -> Any:
        """These engines pass over an offset such as +03:00 at the end of a text."""
        hours = self.f.left(self.f.right(text, 6), 3)
        minutes = self.f.concat(self.f.left(hours, 1), self.f.right(text, 2))
        east = sg.cast(hours, "bigint", dialect="mysql") * 60 + sg.cast(minutes, "bigint", dialect="mysql")
        utc = self.f.date_sub(moment, sge.Interval(this=sge.paren(east), unit=self.v.MINUTE))
        return self.if_(self.f.regexp_like(text, "[+-][0-9]{2}:[0-9]{2}$"), utc, moment)

    def visit_TimestampTruncate(self, op: Any, *, arg: Any, unit: Any) -> Any:
        if unit.short == "W":
            return self.f.date_sub(self.f.date(arg), sge.Interval(this=self.f.weekday(arg), unit=self.v.DAY))
        return super().visit_TimestampTruncate(op, arg=arg, unit=unit)

    visit_DateTruncate = visit_TimestampTruncate

    def visit_TimestampDelta(self, op: Any, *, left: Any, right: Any, part: Any) -> Any:
        return self.f.anon.timestampdiff(self.v[part.this], right, left)

    def visit_StringConcat(self, op: Any, *, arg: Any) -> Any:
        return self.f.concat(*arg)


class MySQLBackend(Backend):  # type: ignore[misc]
    compiler = Compiler()

    def _post_connect(self) -> None:
        """By its offset: a server may lack the names of time zones."""
        with self.begin() as cursor:
            cursor.execute("SET SESSION time_zone = '+00:00'")

    def get_schema(self, name: str, *, catalog: str | None = None, database: str | None = None) -> sch.Schema:
        """With `tinyint(1)` as boolean: that is what BOOLEAN becomes."""
        found = super().get_schema(name, catalog=catalog, database=database)
        with self.begin() as cursor:
            cursor.execute(sge.Describe(this=sge.table_(name, db=database, quoted=True)).sql("mysql"))
            flags = {column for column, type_, *_ in cursor.fetchall() if type_ == "tinyint(1)"}
        return sch.Schema({column: "boolean" if column in flags else dtype for column, dtype in found.items()})
