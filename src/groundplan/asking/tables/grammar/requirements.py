"""What was understood, as requirements of a reading: their values and ids."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from groundplan.asking.tables.grammar.meanings import Meanings
from groundplan.asking.tables.grammar.phrases import Cond, Group, Measure
from groundplan.contracts.expression import (
    Aggregate,
    All,
    Column,
    Compare,
    Constant,
    Contains,
    DateCut,
    DatePart,
    Rows,
    columns_of,
    level,
)
from groundplan.contracts.normal_form import of_filter
from groundplan.contracts.reading import Filter, GroupBy, Metric, Requirement, Time
from groundplan.contracts.reading import Rank as RankAsked


def as_metric(measure: Measure, meanings: Meanings, *, alone: bool) -> Metric:
    """The function of a column where that says it; `alone`: it is the only measure."""
    match measure.expression:
        case Rows(where=None) if alone:
            return Metric(function="count")
        case Aggregate(function=function, of=Column(name=column), where=None, percent=None):
            if measure.usual:
                return Metric(column=column, usual=function)
            return Metric(column=column, function=function)
    name = measure.name
    if name in {column.name for column in meanings.table.columns}:
        name = f"{name} value"
    return Metric(expression=measure.expression, name=name[:120])


def metric_id(metric: Metric) -> str:
    return f"metric:{metric.column or metric.name or 'rows'}"


def rows_counted_apart(asked: Sequence[Requirement]) -> list[Requirement]:
    """A count of rows beside another measure is written as an expression, with a name of its own."""
    if sum(isinstance(r.value, Metric) for r in asked) < 2:
        return [*asked]
    rows = Metric(expression=Rows(), name="rows")
    return [r.model_copy(update={"value": rows}) if r.value == Metric(function="count") else r for r in asked]


def as_group(group: Group, meanings: Meanings) -> GroupBy | Time:
    if group.time:
        return Time(column=group.name, grain=group.grain)
    ordered = isinstance(group.expression, DateCut | DatePart) or meanings.of.get(group.name) == "year"
    return GroupBy(column=group.name, expression=group.expression, ordered=ordered)


def rank_id(rank: RankAsked) -> str:
    return f"rank:{rank.direction}{rank.limit or ''}"


def filter_id(asked: Filter) -> str:
    return f"filter:{asked.column or ' and '.join(sorted(columns_of(of_filter(asked)))) or 'groups'}"


def as_filters(condition: Cond) -> tuple[Filter, ...]:
    """Between two numbers is two comparisons."""
    made = condition.condition
    if isinstance(made, All) and not condition.date and not condition.groups:
        each = tuple(as_filter(Cond(part)) for part in made.parts)
        if all(value.condition is None for value in each):
            return each
    return (as_filter(condition),)


def as_filter(condition: Cond) -> Filter:
    """A comparison of a column with values where that says it."""
    made = condition.condition
    match made:
        case Compare(left=Column(name=name), operator=operator, right=Constant(value=value)) if level(made) == "row":
            return Filter(column=name, operator=operator, values=(value,))
        case All(
            parts=(
                Compare(left=Column(name=name), operator=">=", right=Constant(value=str() as start)),
                Compare(left=Column(name=other), operator="<", right=Constant(value=str() as end)),
            )
        ) if name == other == condition.date:
            return Filter(column=name, operator="between", values=(start, end))
        case Contains(of=Column(name=name), text=text, place="anywhere", cased=False):
            return Filter(column=name, operator="contains", values=(text,))
    if condition.column and condition.values and not condition.groups and not condition.versus:
        among = Filter(column=condition.column, operator="in", values=condition.values)
        return among.model_copy(update={"operator": "not in"}) if condition.negated else among
    return Filter(condition=made)


def free_id(id_: str, taken: Collection[str]) -> str:
    """The id, with a number if it is taken."""
    return id_ if id_ not in taken else next(f"{id_}#{n}" for n in range(2, 99) if f"{id_}#{n}" not in taken)
