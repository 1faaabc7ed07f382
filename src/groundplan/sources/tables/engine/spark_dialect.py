"""Spark as Ibis compiles it, with what Ibis lacks."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Self

import ibis.expr.datatypes as dt
import sqlglot.expressions as sge
from ibis.backends.pyspark import Backend
from ibis.backends.sql.compilers.base import NULL, STAR
from ibis.backends.sql.compilers.pyspark import PySparkCompiler

SECONDS = {"s": Decimal(1), "ms": Decimal("0.001")}


class Compiler(PySparkCompiler):  # type: ignore[misc]
    __slots__ = ()

    def visit_CountStar(self, op: Any, *, arg: Any, where: Any) -> Any:
        """Zero, not nothing, where no row is left."""
        return self.f.count(STAR if where is None else self.if_(where, 1, NULL))

    def visit_Sum(self, op: Any, *, arg: Any, where: Any) -> Any:
        """Exact: past the largest whole number, Spark would go on from the smallest one."""
        exact = self.cast(arg, dt.Decimal(38, 0)) if op.arg.dtype.is_integer() else arg
        return super().visit_Sum(op, arg=exact, where=where)

    def visit_IntervalFromInteger(self, op: Any, *, arg: Any, unit: Any) -> Any:
        """By a function: Ibis would write the number into a text and have that read."""
        exact = self.cast(arg, dt.Decimal(20, 3)) * sge.convert(SECONDS[unit.short])
        return self.f.anon.make_dt_interval(0, 0, 0, self.cast(exact, dt.Decimal(18, 6)))

    def visit_Median(self, op: Any, *, arg: Any, where: Any) -> Any:
        """Ibis would put the condition around the share as well."""
        return self.visit_Quantile(op, arg=arg, quantile=sge.convert(0.5), where=where)


class SparkBackend(Backend):  # type: ignore[misc]
    compiler = Compiler()

    @classmethod
    def on(cls, session: Any) -> Self:
        made = cls()
        made._can_reconnect = False
        made.register_options()
        made.do_connect(session)
        return made
