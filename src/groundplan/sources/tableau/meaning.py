"""What a query of the VizQL Data Service means in the language of readings, told from the query alone.

Every query is compared with what its step asks before it is sent: the compiler is not trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from groundplan.contracts.columns import Grain
from groundplan.contracts.expression import (
    Aggregate,
    Column,
    Compare,
    Condition,
    Constant,
    Contains,
    DateCut,
    Expression,
    Missing,
    Not,
    OneOf,
)
from groundplan.contracts.meaning import Meaning, Sorting
from groundplan.contracts.normal_form import both, in_whole_days, normal_expression
from groundplan.contracts.schema import Table
from groundplan.errors import ToolError
from groundplan.sources.tableau.calculation import FUNCTIONS, read
from groundplan.sources.tableau.vizql import (
    DATE_CUTS,
    CalculatedField,
    DayFilter,
    MatchFilter,
    Measured,
    NumberFilter,
    Query,
    QueryField,
    QueryFilter,
    SetFilter,
    TopFilter,
)


@dataclass(frozen=True)
class Asked:
    """What a step asks for.

    The first `limit` groups are kept by the first measure, from the highest if it `descends`.
    """

    table: Table
    where: tuple[Condition, ...]
    groups: Mapping[str, Expression]  # by the name of their column
    measures: Mapping[str, Expression]
    limit: int | None = None
    descends: bool = True

    @property
    def columns(self) -> dict[str, Expression]:
        return {**self.groups, **self.measures}


def refuse_other(query: Query, row_limit: int | None, asked: Asked) -> None:
    """Raises `ToolError` if the query means anything else than what was asked."""
    columns = {name: normal_expression(value) for name, value in asked.columns.items()}
    said = _Said(frozenset(column.name for column in asked.table.columns if column.aggregated))
    same_columns = {field.name: normal_expression(said.value(field)) for field in query.fields} == columns
    if not same_columns or said.meaning(query, row_limit) != meaning_asked(asked):
        raise ToolError("the query to Tableau would not mean what the step asks, so it is not sent; please report this")


def meaning_asked(asked: Asked) -> Meaning:
    return Meaning(
        table=None,
        where=_in_days(both(*asked.where), asked),
        groups=frozenset(map(normal_expression, asked.groups.values())),
        measures=frozenset(map(normal_expression, asked.measures.values())),
        order=(normal_expression(next(iter(asked.measures.values()))), asked.descends) if asked.limit else None,
        limit=asked.limit,
    )


def _in_days(where: Condition | None, asked: Asked) -> Condition | None:
    """Days are compared by their beginnings, as the query's days are."""
    times = {(None, one.name) for one in asked.table.columns if one.kind == "time"}
    return in_whole_days(where, times) if where is not None else None


@dataclass(frozen=True)
class _Said:
    """What queries say, where these fields of the data source are aggregated. Columns name no table: there is one."""

    aggregated: frozenset[str]

    def meaning(self, query: Query, row_limit: int | None) -> Meaning:
        tops = [one for one in query.filters if isinstance(one, TopFilter)]
        order, limit = self._cut(query, tops[0] if tops else None, row_limit)
        applied = [one for one in query.filters if not isinstance(one, TopFilter)]
        if len(tops) > 1 or (tops and not all(one.context for one in applied)):
            raise ToolError("a TOP filter beside a filter that applies after it")
        if any(one.field.field_caption in self.aggregated for one in query.filters):
            raise ToolError("a filter on a field that has no values for single rows")
        return Meaning(
            table=None,
            where=both(*(condition for one in applied for condition in _conditions(one))),
            groups=frozenset(normal_expression(self.value(field)) for field in query.fields if self._groups(field)),
            measures=frozenset(
                normal_expression(self.value(field)) for field in query.fields if not self._groups(field)
            ),
            order=order,
            limit=limit,
        )

    def _groups(self, field: QueryField | CalculatedField) -> bool:
        if isinstance(field, CalculatedField) or field.field_caption in self.aggregated:
            return False
        return field.function is None or field.function in DATE_CUTS

    def value(self, field: QueryField | CalculatedField | Measured) -> Expression:
        if isinstance(field, CalculatedField):
            return read(field.calculation)
        of = Column(name=field.field_caption)
        if field.function is None:
            return Aggregate(function="defined", of=of) if of.name in self.aggregated else of
        if field.function in DATE_CUTS:
            return DateCut(of=of, grain=cast(Grain, field.function.removeprefix("TRUNC_").lower()))
        return Aggregate(function=FUNCTIONS[field.function], of=of)

    def _cut(self, query: Query, top: TopFilter | None, row_limit: int | None) -> tuple[Sorting | None, int | None]:
        """By what, and how many groups are kept."""
        if top is not None:
            groups = [self.value(field) for field in query.fields if self._groups(field)]
            if row_limit is not None or groups != [Column(name=top.field.field_caption)]:
                raise ToolError("a TOP filter on something else than the only group")
            return (normal_expression(self.value(top.field_to_measure)), top.direction == "TOP"), top.how_many
        if row_limit is None:
            return None, None
        first = min((f for f in query.fields if f.sort_priority), key=lambda f: f.sort_priority or 0)
        return (normal_expression(self.value(first)), first.sort_direction == "DESC"), row_limit


def _conditions(one: QueryFilter) -> Iterator[Condition]:
    of = Column(name=one.field.field_caption)
    match one:
        case SetFilter(exclude=False):
            yield OneOf(of=of, values=one.values)
        case SetFilter():
            if None not in one.values:
                raise ToolError("values are excluded, and rows without one are kept")
            known = tuple(value for value in one.values if value is not None)
            yield Not(part=OneOf(of=of, values=known)) if known else Not(part=Missing(of=of))
        case MatchFilter(contains=str() as text):
            yield Contains(of=of, text=text)
        case MatchFilter(starts_with=str() as text):
            yield Contains(of=of, text=text, place="start")
        case MatchFilter(ends_with=str() as text):
            yield Contains(of=of, text=text, place="end")
        case NumberFilter(min=least, max=greatest):
            if least is not None:
                yield Compare(left=of, operator=">=", right=Constant(value=least))
            if greatest is not None:
                yield Compare(left=of, operator="<=", right=Constant(value=greatest))
        case DayFilter(min_date=first, max_date=last):
            if first is not None:
                yield Compare(left=of, operator=">=", right=Constant(value=first.isoformat()))
            if last is not None:
                yield Compare(left=of, operator="<", right=Constant(value=(last + timedelta(days=1)).isoformat()))
