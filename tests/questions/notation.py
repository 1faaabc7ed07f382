"""A short way to write readings by hand, for tests: expressions as Python would write them.

    metric: {rate: "rows(status == 'refunded') / rows()"}
    by:     {month: "cut(order_date, 'month')"}
    where:  "region == 'North' and not missing(c['Ship Date'])"

`named('revenue')` is a metric of the model file. Names are columns;
`c['…']` names one with spaces, `orders.freight` one of another table, and `items.related(sum(n))`
is a measure of the rows of another table that point at a row; `overall(mean(price))` is one of all rows, and
`orders.overall(rows())` one of all rows of another table, with an optional second argument, a condition;
`alike(mean(price), region)` is one of all rows with the same region.
 Functions: rows([condition]), sum, mean, median, min, max, std,
count, distinct (each takes an optional second argument, a condition), percentile(of, percent[, condition]),
correlation(left, right), days(start, end), hours, weeks, months, years, part(date, 'hour'), cut(date, 'month'),
bins(of, 18, 65), width(of, 10), cases(condition, value, …[, otherwise]), filled(of, otherwise), holds(condition),
rounded(of, 'nearest'[, digits]), absolute(of),
joined(first, ' ', last), length(of),
share(of, *within), change(of), growth(of), yearly_change(of), yearly_growth(of), running(of), moving(of, 7).
Conditions: one_of(of, *values), contains(of, 'text'[, 'start'][, cased=True]), missing(of),
found(of, orders.customer[, condition]), among_top(of, 10),
among_bottom(of, 10).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

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
    Rows,
    Running,
    Share,
    Sort,
)
from groundplan.contracts.reading import (
    ColumnsAsked,
    Each,
    EachMeasure,
    Evidence,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
)

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Eq: "=",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
FUNCTIONS = {name: name for name in ("sum", "mean", "median", "min", "max", "std", "count")} | {
    "distinct": "count_distinct"
}
UNITS = {
    "seconds": "second",
    "minutes": "minute",
    "hours": "hour",
    "days": "day",
    "weeks": "week",
    "months": "month",
    "years": "year",
}


def value(text: str) -> Expression:
    return _value(ast.parse(text.strip(), mode="eval").body)


def condition(text: str) -> Condition:
    return _condition(ast.parse(text.strip(), mode="eval").body)


def reading(question: str, table: str, written: Mapping[str, Any]) -> Reading:
    """The reading that a case of `readings.yaml` describes."""
    found = [Requirement(id=id_, value=given, evidence=Evidence(text=question)) for id_, given in _parts(written)]
    return Reading(question=question, tables=(table,), requirements=tuple(found))


def _parts(written: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, text in written.get("metric", {}).items():
        yield f"metric:{name}", Metric(expression=value(text), name=name)
    for name, text in written.get("by", {}).items():
        made = value(text)
        plain = made == Column(name=name)
        ordered = isinstance(made, DateCut | DatePart) or name in written.get("ordered", ())
        yield f"group_by:{name}", GroupBy(column=name, expression=None if plain else made, ordered=ordered)
    if "each" in written:
        measures = tuple(EachMeasure(name=n, expression=value(t)) for n, t in written["each"]["measures"].items())
        yield "each:thing", Each(keys=tuple(written["each"]["keys"]), measures=measures)
    for number, text in enumerate(written.get("where", [])):
        yield f"filter:{number}", Filter(condition=condition(text))
    if "columns" in written:
        yield "columns:shown", ColumnsAsked(columns=tuple(written["columns"]), distinct=written.get("distinct", False))
    if {"top", "bottom", "order"} & written.keys():
        direction = "bottom" if "bottom" in written or written.get("ascending") else "top"
        limit = written.get("top", written.get("bottom"))
        by = value(written["order"]) if "order" in written else None
        then = [Sort(by=value(text), direction=way) for text, way in written.get("then", {}).items()]
        yield (
            f"rank:{direction}",
            Rank(
                direction=direction,
                limit=limit,
                by=by,
                within=tuple(written.get("within", ())),
                then=tuple(then),
                shown=written.get("shown", True),
            ),
        )
    yield "output:table", OutputAsked(label="table")


def _value(node: ast.AST) -> Expression:
    match node:
        case ast.Name(id=name):
            return Column(name=name)
        case ast.Subscript(value=ast.Name(id="c"), slice=ast.Constant(value=name)):
            return Column(name=name)
        case ast.Attribute(value=ast.Name(id=table), attr=name):
            return Column(table=table, name=name)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=table), attr="related"), args=[of]):
            return Related(table=table, of=_value(of))
        case ast.Call(func=ast.Attribute(value=ast.Name(id=table), attr="overall"), args=[of, *where]):
            return Overall(table=table, of=_value(of), where=_condition(where[0]) if where else None)
        case ast.Call(func=ast.Name(id="alike"), args=[of, *by]):
            return Alike(of=_value(of), by=tuple(map(_value, by)))
        case ast.Call(func=ast.Name(id="overall"), args=[of, *where]):
            return Overall(of=_value(of), where=_condition(where[0]) if where else None)
        case ast.Constant(value=given):
            return Constant(value=given)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=given)):
            return Constant(value=-given)
        case ast.BinOp(left=left, op=operator, right=right):
            made = {"operator": OPERATORS[type(operator)], "left": _value(left), "right": _value(right)}
            return Arithmetic(**made)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _called(name, args)
    raise ValueError(f"no value: {ast.unparse(node)}")


def _called(name: str, args: list[ast.expr]) -> Expression:
    if name == "rows":
        return Rows(where=_condition(args[0]) if args else None)
    if name in FUNCTIONS:
        where = _condition(args[1]) if len(args) > 1 else None
        return Aggregate(function=FUNCTIONS[name], of=_value(args[0]), where=where)
    if name in UNITS:
        return Elapsed(start=_value(args[0]), end=_value(args[1]), unit=UNITS[name])
    if name == "holds":
        return Holds(condition=_condition(args[0]))
    if name == "named":
        return Named(name=ast.literal_eval(args[0]))
    if name == "cases":
        conditions, values = args[: len(args) // 2 * 2 : 2], args[1::2]
        otherwise = ast.literal_eval(args[-1]) if len(args) % 2 else None
        return Cases(
            conditions=tuple(map(_condition, conditions)),
            values=tuple(map(ast.literal_eval, values)),
            otherwise=otherwise,
        )
    if name == "filled":
        return Filled(of=_value(args[0]), otherwise=_value(args[1]))
    if name == "joined":
        return Concatenated(parts=tuple(map(_value, args)))
    if name == "correlation":
        return Correlation(left=_value(args[0]), right=_value(args[1]))
    of = _value(args[0])
    rest = [ast.literal_eval(arg) for arg in args[1:]] if name not in ("share", "percentile") else []
    match name:
        case "percentile":
            where = _condition(args[2]) if len(args) > 2 else None
            return Aggregate(function="percentile", of=of, percent=ast.literal_eval(args[1]), where=where)
        case "part":
            return DatePart(of=of, part=rest[0])
        case "cut":
            return DateCut(of=of, grain=rest[0])
        case "bins":
            return Bins(of=of, edges=tuple(rest))
        case "width":
            return Bins(of=of, width=rest[0])
        case "share":
            return Share(of=of, within=tuple(map(_value, args[1:])))
        case "change" | "growth":
            return Change(of=of, ratio=name == "growth")
        case "yearly_change" | "yearly_growth":
            return Change(of=of, against="year", ratio=name == "yearly_growth")
        case "rounded":
            return Rounded(of=of, how=rest[0], digits=rest[1] if len(rest) > 1 else 0)
        case "length":
            return Length(of=of)
        case "absolute":
            return Absolute(of=of)
        case "running":
            return Running(of=of)
        case "moving":
            return Moving(of=of, periods=rest[0])
    raise ValueError(f"no function {name!r}")


def _condition(node: ast.AST) -> Condition:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return All(parts=tuple(map(_condition, values)))
        case ast.BoolOp(op=ast.Or(), values=values):
            return AnyOf(parts=tuple(map(_condition, values)))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Not(part=_condition(operand))
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return Compare(left=_value(left), operator=OPERATORS[type(operator)], right=_value(right))
        case ast.Call(func=ast.Name(id="missing"), args=[of]):
            return Missing(of=_value(of))
        case ast.Call(func=ast.Name(id="contains"), args=[of, ast.Constant(value=text), *places], keywords=keywords):
            place = ast.literal_eval(places[0]) if places else "anywhere"
            return Contains(of=_value(of), text=text, place=place, cased=bool(keywords))
        case ast.Call(func=ast.Name(id="among_top" | "among_bottom" as name), args=[of, ast.Constant(value=limit)]):
            return Among(of=_value(of), limit=limit, direction=name.removeprefix("among_"))
        case ast.Call(
            func=ast.Name(id="found"), args=[of, ast.Attribute(value=ast.Name(id=table), attr=column), *where]
        ):
            kept = _condition(where[0]) if where else None
            return Found(of=_value(of), table=table, column=column, where=kept)
        case ast.Call(
            func=ast.Name(id="found_group"),
            args=[of, ast.Attribute(value=ast.Name(id=table), attr=column), *more],
            keywords=keywords,
        ):
            said = {keyword.arg: keyword.value for keyword in keywords}
            kept, having = (_condition(said[key]) if key in said else None for key in ("where", "having"))
            cuts = [(way, said[way]) for way in ("top", "bottom") if way in said]  # `top=(sum(price), 5)`
            order = tuple(Sort(by=_value(cut.elts[0]), direction=way) for way, cut in cuts)  # type: ignore[attr-defined, arg-type]
            limit = next((ast.literal_eval(cut.elts[1]) for _, cut in cuts), None)  # type: ignore[attr-defined]
            keys = (Column(name=column), *map(_value, more))
            return FoundGroup(
                of=_value(of), table=table, keys=keys, where=kept, having=having, order=order, limit=limit
            )
        case ast.Call(func=ast.Name(id="one_of"), args=[of, *values]):
            return OneOf(of=_value(of), values=tuple(ast.literal_eval(one) for one in values))
    raise ValueError(f"no condition: {ast.unparse(node)}")
