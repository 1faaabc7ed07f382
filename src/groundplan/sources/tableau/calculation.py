"""Formulas over measures, as Tableau writes them: `SUM([Profit])/SUM([Sales])`.

A formula is written from a typed expression, and read back by code that shares nothing with the writer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from groundplan.contracts.columns import Function
from groundplan.contracts.expression import Aggregate, Arithmetic, ArithmeticOperator, Column, Constant, Expression
from groundplan.errors import ToolError

FUNCTIONS: Mapping[str, Function] = {
    "SUM": "sum",
    "AVG": "mean",
    "MEDIAN": "median",
    "MIN": "min",
    "MAX": "max",
    "COUNT": "count",
    "COUNTD": "count_distinct",
    "STDEV": "std",
}
NAMES: Mapping[str, str] = {ours: theirs for theirs, ours in FUNCTIONS.items()}
TOKEN = re.compile(r"\[(?P<field>(?:[^\]]|\]\])+)\]|(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Z]+)|(?P<sign>[-+*/()])")


def write(node: Expression) -> str | None:
    """The formula; None if it is made of anything else than arithmetic over measures of fields and numbers."""
    match node:
        case Constant(value=int() | float() as value) if not isinstance(value, bool) and value >= 0:
            return f"{value:f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
        case Aggregate(function=function, of=Column(name=name, table=None, via=None), where=None, percent=None):
            field = f"[{name.replace(']', ']]')}]"
            return field if function == "defined" else f"{NAMES[function]}({field})"
        case Arithmetic(left=left, operator="+" | "-" | "*" | "/" as operator, right=right):
            sides = [_operand(side) for side in (left, right)]
            return None if None in sides else f"{sides[0]}{operator}{sides[1]}"
        case _:
            return None


def _operand(node: Expression) -> str | None:
    written = write(node)
    return f"({written})" if written and isinstance(node, Arithmetic) else written


def read(formula: str) -> Expression:
    """The typed expression of a formula; raises `ToolError` for one that this module would not write."""
    reader = _Reader([*_tokens(formula)])
    found = reader.sum()
    if reader.tokens:
        raise _unreadable(formula)
    return found


def _tokens(formula: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(formula):
        found = TOKEN.match(formula, at)
        if found is None:
            raise _unreadable(formula)
        yield str(found.lastgroup), found[str(found.lastgroup)]
        at = found.end()


def _unreadable(formula: str) -> ToolError:
    return ToolError(f"the formula {formula[:200]!r} cannot be read back, so it is not sent; please report this")


class _Reader:
    """Products before sums, brackets before both; operands of equal rank from the left."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens

    def sum(self) -> Expression:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> Expression:
        return self._chain(("*", "/"), self._value)

    def _chain(self, signs: tuple[ArithmeticOperator, ...], part: Callable[[], Expression]) -> Expression:
        found = part()
        while sign := next((one for one in signs if self.tokens[:1] == [("sign", one)]), None):
            self.tokens.pop(0)
            found = Arithmetic(operator=sign, left=found, right=part())
        return found

    def _value(self) -> Expression:
        kind, text = self.tokens.pop(0) if self.tokens else ("", "")
        if kind == "number":
            return Constant(value=float(text) if "." in text else int(text))
        if kind == "field":
            return Aggregate(function="defined", of=_field(text))
        if kind == "name" and text in FUNCTIONS:
            return Aggregate(function=FUNCTIONS[text], of=self._argument())
        if (kind, text) == ("sign", "("):
            found = self.sum()
            self._expect(")")
            return found
        raise _unreadable(text)

    def _argument(self) -> Column:
        self._expect("(")
        kind, text = self.tokens.pop(0) if self.tokens else ("", "")
        if kind != "field":
            raise _unreadable(text)
        self._expect(")")
        return _field(text)

    def _expect(self, sign: str) -> None:
        if not self.tokens or self.tokens.pop(0) != ("sign", sign):
            raise _unreadable(sign)


def _field(text: str) -> Column:
    return Column(name=text.replace("]]", "]"))
