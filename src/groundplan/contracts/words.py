"""Expressions and conditions in words, for people who read why a plan was refused."""

from __future__ import annotations

from groundplan.contracts.expression import (
    Aggregate,
    All,
    Among,
    AnyOf,
    Arithmetic,
    Bins,
    Cases,
    Change,
    Column,
    Compare,
    Constant,
    Contains,
    Correlation,
    DateCut,
    DatePart,
    Elapsed,
    Holds,
    Missing,
    Moving,
    Named,
    Node,
    Not,
    OneOf,
    Rows,
    Running,
    Share,
)

FUNCTIONS = {
    "sum": "total",
    "mean": "average",
    "median": "median",
    "min": "lowest",
    "max": "highest",
    "count": "number of values of",
    "count_distinct": "number of different",
    "std": "standard deviation of",
}


def in_words(node: Node | None) -> str:
    match node:
        case None:
            return "no condition"
        case Column(name=name) | Named(name=name):
            return name
        case Constant(value=value):
            return f"{value:g}" if isinstance(value, float) else str(value)
        case Arithmetic(operator=operator, left=left, right=right):
            return f"({in_words(left)} {operator} {in_words(right)})"
        case Elapsed(start=start, end=end, unit=unit):
            return f"{unit}s from {in_words(start)} to {in_words(end)}"
        case DatePart(of=of, part=part):
            return f"{part} of {in_words(of)}"
        case DateCut(of=of, grain=grain):
            return f"{in_words(of)} by {grain or 'period'}"
        case Bins(of=of, width=float() as width):
            return f"{in_words(of)} in ranges of {width:g}"
        case Bins(of=of, edges=edges):
            return f"{in_words(of)} in ranges at {', '.join(f'{edge:g}' for edge in edges)}"
        case Cases(conditions=conditions, values=values, otherwise=otherwise):
            named = [
                f"{value} where {in_words(condition)}" for condition, value in zip(conditions, values, strict=True)
            ]
            return ", ".join([*named, *([f"else {otherwise}"] if otherwise is not None else [])])
        case Holds(condition=condition):
            return f"whether {in_words(condition)}"
        case Rows(where=where):
            return f"number of rows{_where(where)}"
        case Aggregate(function="percentile", of=of, where=where, percent=percent):
            return f"{percent:g}th percentile of {in_words(of)}{_where(where)}"
        case Aggregate(function=function, of=of, where=where):
            return f"{FUNCTIONS[function]} {in_words(of)}{_where(where)}"
        case Correlation(left=left, right=right, where=where):
            return f"correlation of {in_words(left)} with {in_words(right)}{_where(where)}"
        case Share(of=of, within=within):
            return f"share of {in_words(of)}" + (f" within {', '.join(map(in_words, within))}" if within else "")
        case Change(of=of, against=against, ratio=ratio):
            before = "the period before" if against == "previous" else "a year before"
            return f"{'relative ' if ratio else ''}change of {in_words(of)} from {before}"
        case Running(of=of):
            return f"running total of {in_words(of)}"
        case Moving(of=of, periods=periods):
            return f"average of {in_words(of)} over {periods} periods"
        case All(parts=parts):
            return " and ".join(f"({in_words(p)})" if isinstance(p, AnyOf) else in_words(p) for p in parts)
        case AnyOf(parts=parts):
            return " or ".join(f"({in_words(p)})" if isinstance(p, All) else in_words(p) for p in parts)
        case Not(part=part):
            return f"not ({in_words(part)})"
        case Compare(left=left, operator=operator, right=right):
            return f"{in_words(left)} {operator} {in_words(right)}"
        case OneOf(of=of, values=values):
            return f"{in_words(of)} is one of {', '.join(map(str, values))}"
        case Contains(of=of, text=text):
            return f"{in_words(of)} contains {text!r}"
        case Among(of=of, limit=limit, direction=direction):
            return f"{in_words(of)} is among the {limit} {'highest' if direction == 'top' else 'lowest'}"
        case Missing(of=of):
            return f"{in_words(of)} is missing"


def _where(condition: Node | None) -> str:
    return f" where {in_words(condition)}" if condition is not None else ""
