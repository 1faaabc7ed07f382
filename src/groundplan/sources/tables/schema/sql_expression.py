"""SQL expressions of a model file, read into the closed language of expressions; never run as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import sqlglot
from sqlglot import exp

from groundplan.budget import Budget, spend, spending
from groundplan.contracts.columns import Function
from groundplan.contracts.expression import (
    Aggregate,
    All,
    AnyOf,
    Arithmetic,
    ArithmeticOperator,
    Column,
    Compare,
    ComparisonOperator,
    Condition,
    Constant,
    Elapsed,
    Expression,
    Missing,
    Not,
    OneOf,
    Rows,
    level,
    parts,
    walk,
)
from groundplan.contracts.normal_form import mapped
from groundplan.errors import TooMuch

ARITHMETIC: Mapping[type[Any], ArithmeticOperator] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
COMPARISONS: Mapping[type[Any], ComparisonOperator] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
FUNCTIONS: Mapping[type[Any], Function] = {
    exp.Sum: "sum",
    exp.Avg: "mean",
    exp.Median: "median",
    exp.Min: "min",
    exp.Max: "max",
    exp.Stddev: "std",
}


LONGEST, MOST_NODES, DEEPEST = 20_000, 2_000, 60  # characters, parts and levels of one expression
DIALECT = "duckdb"  # close to the standard, and it has DATE_DIFF in the usual order


class Unsupported(Exception):
    """The expression says something that the language has no words for."""


def read_sql(text: str, known: Mapping[str, Expression]) -> Expression:
    """Columns carry their table, as written; `known` are the metrics that it may name; raises Unsupported."""
    try:
        found = _value(parsed(text), known)
    except (ValueError, TypeError, AttributeError, KeyError) as error:  # 1e999, COUNT(DISTINCT a, b), …
        raise Unsupported(f"{text[:80]!r} has a part that is not supported") from error
    _refuse_large(found, "when the metrics that it names are written out")
    return found


@contextmanager
def bounded() -> Iterator[None]:
    """One expression with all that it names: `m1 = m0 + m0` doubles each time. Raises Unsupported, and nothing else."""
    try:
        with spending(Budget("the expression", "write it shorter", nodes=MOST_NODES)):
            yield
    except (TooMuch, RecursionError) as error:
        raise Unsupported(str(error) or "it is nested too deep") from error


def parsed(text: str) -> Any:
    """The tree of an SQL expression of a bounded size; raises Unsupported."""
    if len(text) > LONGEST:
        raise Unsupported(f"it has {len(text):,} characters; use at most {LONGEST:,}")
    try:
        tree = sqlglot.parse_one(text, read=DIALECT)
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        raise Unsupported(str(error).partition("\n")[0]) from error
    waiting, size = [(tree, 1)], 0
    while waiting:
        node, depth = waiting.pop()
        size += 1
        if depth > DEEPEST:
            raise Unsupported(f"it is nested deeper than {DEEPEST} levels")
        waiting.extend((child, depth + 1) for child in node.iter_expressions())
    spend(size, "nodes")
    return tree


def _refuse_large(expression: Expression, why: str) -> None:
    waiting: list[tuple[Any, int]] = [(expression, 1)]
    size = 0
    while waiting:
        node, depth = waiting.pop()
        size += 1
        if depth > DEEPEST or size > MOST_NODES:
            raise Unsupported(f"it has more than {MOST_NODES:,} parts or {DEEPEST} levels, {why}")
        waiting.extend((part, depth + 1) for part in parts(node))


def _value(node: Any, known: Mapping[str, Expression]) -> Expression:
    match node:
        case exp.Paren():
            return _value(node.this, known)
        case exp.Column() if not node.table and node.name in known:
            spend(sum(1 for _ in walk(known[node.name])), "nodes")
            return known[node.name]
        case exp.Column():
            return Column(table=node.table or None, name=node.name)
        case exp.Literal():
            return Constant(value=node.name if node.is_string else float(node.name))
        case exp.Boolean():
            return Constant(value=bool(node.this))
        case exp.Nullif() if node.expression.name == "0":
            return _value(node.this, known)  # a division by zero has no value anyway
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            left, right = _value(node.left, known), _value(node.right, known)
            return Arithmetic(operator=ARITHMETIC[type(node)], left=left, right=right)
        case exp.Count():
            return _count(node, known)
        case exp.Sum() | exp.Avg() | exp.Median() | exp.Min() | exp.Max() | exp.Stddev():
            return _aggregate(FUNCTIONS[type(node)], node.this, known)
        case exp.DateDiff() if node.text("unit").lower() == "day":
            return Elapsed(start=_value(node.expression, known), end=_value(node.this, known), unit="day")
        case exp.Filter():
            where = _condition(node.expression.this, known)
            return under(_value(node.this, known), where)
    raise Unsupported(f"{node.sql()!r} is not supported")


def _count(node: exp.Count, known: Mapping[str, Expression]) -> Expression:
    if isinstance(node.this, exp.Star):
        return Rows()
    if isinstance(node.this, exp.Distinct):
        (of,) = node.this.expressions
        return _aggregate("count_distinct", of, known)
    return _aggregate("count", node.this, known)


def _aggregate(function: Function, of: Any, known: Mapping[str, Expression]) -> Expression:
    """`SUM(CASE WHEN condition THEN value END)` is the sum under a condition."""
    where = None
    if isinstance(of, exp.Case) and not of.this and len(of.args["ifs"]) == 1 and _is_nothing(of.args.get("default")):
        where, of = _condition(of.args["ifs"][0].this, known), of.args["ifs"][0].args["true"]
    value = _value(of, known)
    if level(value) != "row":
        raise Unsupported(f"{of.sql()!r} is a measure already")
    return Aggregate(function=function, of=value, where=where)


def _is_nothing(default: Any) -> bool:
    return default is None or isinstance(default, exp.Null) or default.sql() == "0"


def _condition(node: Any, known: Mapping[str, Expression]) -> Condition:
    match node:
        case exp.Paren():
            return _condition(node.this, known)
        case exp.And() | exp.Or():
            both = (_condition(node.left, known), _condition(node.right, known))
            return All(parts=both) if isinstance(node, exp.And) else AnyOf(parts=both)
        case exp.Not():
            return Not(part=_condition(node.this, known))
        case exp.Is() if isinstance(node.expression, exp.Null):
            return Missing(of=_value(node.this, known))
        case exp.In():
            values = tuple(cast(Constant, _value(one, known)).value for one in node.expressions)
            return OneOf(of=_value(node.this, known), values=values)
        case _ if type(node) in COMPARISONS:
            left, right = _value(node.left, known), _value(node.right, known)
            return Compare(left=left, operator=COMPARISONS[type(node)], right=right)
    raise Unsupported(f"the condition {node.sql()!r} is not supported")


def under(node: Expression, where: Condition) -> Expression:
    """The measure of those rows only."""
    if isinstance(node, Rows | Aggregate):
        both = where if node.where is None else All(parts=(node.where, where))
        return node.model_copy(update={"where": both})
    return mapped(node, lambda part: under(part, where))  # type: ignore[arg-type]
