"""A reading written as a proposal: how approved readings are shown to a model as examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from groundplan.asking.tables.with_model.proposal import (
    Against,
    Group,
    Having,
    Measure,
    Number,
    Order,
    RowTest,
    Then,
    Value,
    WholeReading,
)
from groundplan.contracts.expression import (
    Aggregate,
    All,
    Arithmetic,
    Bins,
    Change,
    Column,
    Compare,
    Condition,
    Constant,
    Contains,
    DateCut,
    DatePart,
    Elapsed,
    Expression,
    Missing,
    Moving,
    Not,
    OneOf,
    Rows,
    Running,
    Share,
    columns_of,
    level,
)
from groundplan.contracts.meaning import has_meaning, measure_of
from groundplan.contracts.normal_form import of_filter
from groundplan.contracts.reading import (
    AnalysisAsked,
    ColumnsAsked,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
    Time,
)

Quote = Callable[[Requirement], str]


class Unwritable(Exception):
    """The form of a proposal has no place for a part of the reading."""


def written(reading: Reading, quote: Quote = lambda requirement: requirement.evidence.text) -> WholeReading | None:
    """The proposal that says what the reading says; None where the form has no place for it."""
    if not has_meaning(reading):
        return None
    parts: dict[str, Any] = {"measures": (), "groups": (), "filters": (), "having": ()}
    computed = {r.value.column for r in reading.requirements if isinstance(r.value, GroupBy) and r.value.expression}
    try:
        for requirement in reading.requirements:
            if isinstance(requirement.value, Filter) and columns_of(of_filter(requirement.value)) & computed:
                return None
            for name, made in _part(requirement, quote(requirement)):
                parts[name] = (*parts[name], made) if isinstance(parts.get(name), tuple) else made
    except Unwritable:
        return None
    shown = parts.pop("shown", None)
    more = {"columns": shown.columns, "distinct": shown.distinct} if shown else {}
    return WholeReading(table=reading.tables[0], **parts, **more) if len(reading.tables) == 1 else None


def _part(requirement: Requirement, words: str) -> Iterator[tuple[str, Any]]:
    match requirement.value:
        case Metric() as metric:
            yield "measures", _measure(measure_of(metric), words)
        case GroupBy() as group:
            yield "groups", _group(group, words)
        case Filter() as asked:
            for condition in _conjuncts(of_filter(asked)):
                if level(condition) == "row":
                    yield "filters", _test(condition, words)
                else:
                    yield "having", _having(condition, words)
        case ColumnsAsked(computed=()) as shown:
            yield "shown", shown
        case Rank() as rank:
            yield "order", _order(rank, words)
        case Time(column=column, grain=str() as grain):
            yield "groups", Group(words=words, of=Value(column=column), at=grain)
        case AnalysisAsked(label="total" | "compare" | "ranking" | "trend" | "detail"):
            return  # it says nothing that the other parts do not
        case OutputAsked(label="table"):
            return
        case OutputAsked() if requirement.implied:
            return
        case _:
            raise Unwritable


def _conjuncts(condition: Condition) -> Iterator[Condition]:
    """The parts that must all hold; a period stays whole."""
    if isinstance(condition, All) and _within(condition) is None:
        for part in condition.parts:
            yield from _conjuncts(part)
    else:
        yield condition


def _within(condition: Condition) -> tuple[Expression, str, str] | None:
    match condition:
        case All(
            parts=(
                Compare(left=left, operator=">=", right=Constant(value=str() as start)),
                Compare(left=right, operator="<", right=Constant(value=str() as end)),
            )
        ) if left == right:
            return left, start, end
    return None


def _value(node: Expression) -> Value:
    match node:
        case Column(table=None, via=None, name=name):
            return Value(column=name)
        case Arithmetic(operator=operator, left=left, right=Column(table=None, via=None, name=name)):
            before = _value(left)
            return Value(column=before.column, then=(*before.then, Then(operator=operator, column=name)))
        case Elapsed(start=Column(name=start), end=Column(name=end), unit=unit):
            return Value(column=start, then=(Then.model_validate({"operator": f"{unit}s until", "column": end}),))
    raise Unwritable


def _test(condition: Condition, words: str) -> RowTest:
    within = _within(condition)
    if within:
        return RowTest(words=words, of=_value(within[0]), check="within", to=within[1:])
    match condition:
        case Missing(of=of):
            return RowTest(words=words, of=_value(of), check="missing")
        case Not(part=Missing(of=of)):
            return RowTest(words=words, of=_value(of), check="present")
        case Contains(of=of, text=text, place="anywhere", cased=False):
            return RowTest(words=words, of=_value(of), check="contains", to=(text,))
        case OneOf(of=of, values=values):
            return _compared(of, "=", values, words)
        case Not(part=OneOf(of=of, values=values)):
            return _compared(of, "!=", values, words)
        case Compare(left=left, operator=operator, right=Constant(value=value)):
            return _compared(left, operator, (value,), words)
        case Compare(left=left, operator=operator, right=Column(table=None, via=None, name=name)):
            return RowTest(words=words, of=_value(left), check=operator, than=name)
    raise Unwritable


def _compared(of: Expression, check: str, values: tuple[Any, ...], words: str) -> RowTest:
    part = of.part if isinstance(of, DatePart) else ""
    left = of.of if isinstance(of, DatePart) else of
    return RowTest.model_validate({"words": words, "of": _value(left), "part": part, "check": check, "to": values})


def _number(node: Expression, words: str) -> Number:
    match node:
        case Rows(where=where):
            return Number(function="rows", where=_where(where, words))
        case Aggregate(function=function, of=of, where=where, percent=percent):
            name = "distinct" if function == "count_distinct" else function
            return Number(function=name, of=_value(of), where=_where(where, words), percent=percent)
    raise Unwritable


def _where(where: Condition | None, words: str) -> tuple[RowTest, ...]:
    return tuple(_test(part, words) for part in _conjuncts(where)) if where is not None else ()


def _measure(node: Expression, words: str) -> Measure:
    match node:
        case Share(of=of, within=within):
            inner = tuple(_value(part).column for part in within)
            return _measure(of, words).model_copy(update={"along": "share", "within": inner})
        case Change(of=of, against=against, ratio=ratio):
            along = f"{'yearly ' if against == 'year' else ''}{'growth' if ratio else 'change'}"
            return _measure(of, words).model_copy(update={"along": along})
        case Running(of=of):
            return _measure(of, words).model_copy(update={"along": "running"})
        case Moving(of=of, periods=periods):
            return _measure(of, words).model_copy(update={"along": "moving", "periods": periods})
        case Arithmetic(operator="-", left=Arithmetic(operator="/", left=new, right=old), right=Constant(value=1)):
            before = Against(operator="growth", number=_number(old, words))
            return Measure(words=words, number=_number(new, words), against=before)
        case Arithmetic(operator="/" | "-" as operator, left=left, right=right):
            other = Against(operator=operator, number=_number(right, words))
            return Measure(words=words, number=_number(left, words), against=other)
    return Measure(words=words, number=_number(node, words))


def _group(group: GroupBy, words: str) -> Group:
    match group.expression:
        case None:
            return Group(words=words, of=Value(column=group.column))
        case DateCut(of=of, grain=str() as grain):
            return Group(words=words, of=_value(of), at=grain)
        case DatePart(of=of, part=part) if part != "week":
            return Group.model_validate({"words": words, "of": _value(of), "at": f"{part} of date"})
        case Bins(of=of, width=float() as width):
            return Group(words=words, of=_value(of), width=width)
        case _:
            return Group(words=words, of=_value(group.expression))


def _having(condition: Condition, words: str) -> Having:
    match condition:
        case Compare(left=left, operator=operator, right=Constant(value=int() | float() as value)):
            return Having(words=words, number=_number(left, words), check=operator, to=value)
        case Compare(left=left, operator=operator, right=right) if level(right) == "group":
            return Having(words=words, number=_number(left, words), check=operator, than=_number(right, words))
    raise Unwritable


def _order(rank: Rank, words: str) -> Order:
    given = {"words": words, "direction": rank.direction, "limit": rank.limit, "within": rank.within}
    if rank.by is None:
        return Order.model_validate(given)
    of = {"value": _value(rank.by)} if level(rank.by) == "row" else {"number": _number(rank.by, words)}
    return Order.model_validate({**given, **of})
