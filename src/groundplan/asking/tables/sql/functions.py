"""Functions of single values: rounded numbers, numbers without their signs, and texts joined and measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.scope import Scope
from groundplan.asking.tables.sql.statement import named, shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    Absolute,
    Arithmetic,
    Cases,
    Compare,
    ComparisonOperator,
    Concatenated,
    Condition,
    Constant,
    DatePart,
    Expression,
    Filled,
    Length,
    Rounded,
    Rounding,
)

MOST_DIGITS = 12
MOST_TEXTS = 32
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
    return (_corrected(value, digits) if how == "nearest" else None) or Rounded(of=value, how=how, digits=digits)


def _corrected(value: Expression, digits: int) -> Expression | None:
    """`ROUND(x, 1) - CASE WHEN ROUND(x, 1) > x THEN 0.1 ELSE 0 END` is x, rounded down to one digit."""
    match value:
        case Arithmetic(
            operator="-" | "+" as operator,
            left=Rounded(of=of) as near,
            right=Cases(conditions=(Compare() as beyond,), values=(int() | float() as step,), otherwise=0),
        ):
            sign: ComparisonOperator = ">" if operator == "-" else "<"
            if (
                near == Rounded(of=of, how="nearest", digits=digits)
                and beyond == Compare(left=near, operator=sign, right=of)
                and math.isclose(step, 10.0**-digits)
            ):
                return Rounded(of=of, how="down" if operator == "-" else "up", digits=digits)
    return None


def toward_zero(condition: Condition, value: Expression, other: Expression | None) -> Expression | None:
    """`CASE WHEN x < 0 THEN <x rounded up> ELSE <x rounded down> END`; None if it is something else."""
    match value, other:
        case Rounded(of=of, how="up", digits=digits), Rounded(how="down"):
            below = Compare(left=of, operator="<", right=Constant(value=0))
            if condition == below and other == Rounded(of=of, how="down", digits=digits):
                return Rounded(of=of, how="toward_zero", digits=digits)
    return None


def _absolute(node: Any, scope: Scope) -> Expression:
    return Absolute(of=_number(node, scope))


def _number(node: Any, scope: Scope) -> Expression:
    value = scope.value(node.this)
    if scope.kind(value) not in ("number", "other"):
        raise Untranslatable(f"{named(node)} of {scope.kind(value)} values", shown(node))
    return value


def _joined(node: Any, scope: Scope) -> Expression:
    """`first || ' ' || last`: missing where one of them is."""
    return _concatenated([_text(part, scope) for part in node.flatten(unnest=False)])


def _concat(node: Any, scope: Scope) -> Expression:
    """`CONCAT(first, last)` leaves out what is missing."""
    texts = [_text(part, scope) for part in node.expressions if not isinstance(part, exp.Null)]
    return _concatenated(
        [Filled(of=text, otherwise=Constant(value="")) if scope.nullable(text) else text for text in texts]
    )


def _concatenated(texts: list[Expression]) -> Expression:
    if not texts or len(texts) > MOST_TEXTS:
        raise Untranslatable(f"a text of {len(texts)} parts", f"1 to {MOST_TEXTS} are possible")
    return texts[0] if len(texts) == 1 else Concatenated(parts=tuple(texts))


def _length(node: Any, scope: Scope) -> Expression:
    return Length(of=_text(node.this, scope))


def _text(node: Any, scope: Scope) -> Expression:
    """A part of a text; of a date's part, as in `YEAR(day) || ' Q' || QUARTER(day)`, its digits."""
    as_text = isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.TEXT_TYPES)
    if as_text and isinstance(part := scope.value(node.this), DatePart):
        return part
    value = scope.value(node)
    if isinstance(value, Constant) and isinstance(value.value, int) and not isinstance(value.value, bool):
        return Constant(value=str(value.value))
    if scope.kind(value) != "text" and not isinstance(value, DatePart):
        raise Untranslatable(f"a text made of {scope.kind(value)} values", shown(node))
    return value


READERS: Mapping[type[Any], Callable[[Any, Scope], Expression]] = {
    **dict.fromkeys(ROUNDING, _rounded),
    exp.Abs: _absolute,
    exp.DPipe: _joined,
    exp.Concat: _concat,
    exp.Length: _length,
}
