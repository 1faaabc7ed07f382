"""Division of whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.scope import Scope, peeled
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    Absolute,
    Aggregate,
    Arithmetic,
    Column,
    Constant,
    DatePart,
    Expression,
    Length,
    Rounded,
    is_count,
)

DIVIDED_AS_WHOLE = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT"})  # of 64 bits at most, and with a sign


def _quotient(node: Any, scope: Scope) -> Expression:
    """`a // b` of two whole numbers is their quotient, cut; DuckDB divides all others as `/` does."""
    sides = [scope.value(side) for side in (node.this, node.expression)]
    for side, value in zip((node.this, node.expression), sides, strict=True):
        inner, _ = peeled(side, scope)
        is_cast = isinstance(inner, exp.Cast) and str(inner.to.this.value).upper() in DIVIDED_AS_WHOLE
        if not is_cast and not _is_integer(value, scope):
            raise Untranslatable("// of numbers that may have fractions", f"{shown(node)}; use FLOOR(a / b)")
    left, right = sides
    if isinstance(left, Constant):
        raise Untranslatable("// of a constant", shown(node))
    quotient = Arithmetic(operator="/", left=left, right=right)
    return Rounded(of=quotient, how="toward_zero")


def _is_integer(node: Expression, scope: Scope) -> bool:
    """True if the engine's type of it is one of whole numbers."""
    match node:
        case Column():
            return scope.kind(node) == "number" and "INT" in scope.fact(node).type
        case Constant(value=value):
            return isinstance(value, int) and not isinstance(value, bool)
        case DatePart() | Length():
            return True
        case Absolute(of=of) | Aggregate(function="sum" | "min" | "max", of=of):
            return _is_integer(of, scope)
        case Arithmetic(operator="+" | "-" | "*", left=left, right=right):
            return _is_integer(left, scope) and _is_integer(right, scope)
        case _:
            return is_count(node) and not isinstance(node, Rounded)


READERS: Mapping[type[Any], Callable[[Any, Scope], Expression]] = {exp.IntDiv: _quotient}
