"""Functions of single values: rounding, and numbers without their signs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.scope import Scope
from groundplan.asking.tables.sql.statement import named, shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import Absolute, Expression, Rounded, Rounding

MOST_DIGITS = 12
ROUNDING: Mapping[type[Any], Rounding] = {
    exp.Round: "nearest",
    exp.Floor: "down",
    exp.Ceil: "up",
    exp.Trunc: "toward_zero",
}


def _rounded(node: Any, scope: Scope) -> Expression:
    """`ROUND(x, 2)`, `FLOOR(x)`; the number of digits is written out."""
    given = node.args.get("decimals")
    sign, digits = (-1, given.this) if isinstance(given, exp.Neg) else (1, given)
    if digits is not None and not (isinstance(digits, exp.Literal) and digits.name.isdigit()):
        raise Untranslatable(f"{named(node)} to a number of digits that is no constant", shown(node))
    return rounded(_number(node, scope), ROUNDING[type(node)], sign * int(digits.name) if digits is not None else 0)


def rounded(value: Expression, how: Rounding, digits: int) -> Expression:
    if abs(digits) > MOST_DIGITS:
        raise Untranslatable(f"rounding to {digits} digits", f"at most {MOST_DIGITS} are possible")
    return Rounded(of=value, how=how, digits=digits)


def _absolute(node: Any, scope: Scope) -> Expression:
    return Absolute(of=_number(node, scope))


def _number(node: Any, scope: Scope) -> Expression:
    value = scope.value(node.this)
    if scope.kind(value) not in ("number", "other"):
        raise Untranslatable(f"{named(node)} of {scope.kind(value)} values", shown(node))
    return value


READERS: Mapping[type[Any], Callable[[Any, Scope], Expression]] = {
    **dict.fromkeys(ROUNDING, _rounded),
    exp.Abs: _absolute,
}
