"""What a part of a reading could be instead, or what could be added: only what fits the meaning of the columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import get_args

from groundplan.asking.tables.grammar.meanings import NUMBERS, Meanings, meanings_of
from groundplan.asking.tables.values import Values
from groundplan.contracts.columns import Function, Grain
from groundplan.contracts.columns import Meaning as ColumnMeaning
from groundplan.contracts.editing import Change, Suggestion, SuggestionGroup
from groundplan.contracts.expression import All, Column, Compare, Condition, Constant, Expression
from groundplan.contracts.meaning import measure_of
from groundplan.contracts.normal_form import normal_expression
from groundplan.contracts.reading import (
    AnalysisAsked,
    Filter,
    GroupBy,
    Kind,
    Metric,
    Operator,
    Period,
    Rank,
    Reading,
    Time,
    Value,
)
from groundplan.contracts.schema import Column as SchemaColumn
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.errors import UsageError
from groundplan.text.periods.find import find_periods
from groundplan.text.read_back import language_of, part_in_words, rows_called
from groundplan.text.words import normalise

MOST = 60  # suggestions at once; a search narrows them
YEARS = 6  # of the data, the latest first
LIMITS = (1, 3, 5, 10)
COMPARED: tuple[Operator, ...] = ("=", "!=", ">", ">=", "<", "<=")
GROUPED: tuple[ColumnMeaning, ...] = ("category", "name", "flag", "year")
ADDED: Mapping[ColumnMeaning, tuple[Function, ...]] = {
    "amount": ("sum", "mean", "median", "min", "max"),
    "count": ("sum", "mean", "median", "min", "max"),
    "rate": ("mean", "median", "min", "max", "sum"),  # hours add up; percents do not
    "date": ("min", "max"),
}
"""The functions of a column by its meaning; any other column can only be counted by its different values."""

Found = tuple[SuggestionGroup, Value]


@dataclass(frozen=True)
class Field:
    """A column of the table that is asked about, or of one that it points at."""

    column: SchemaColumn
    meaning: ColumnMeaning
    table: str | None  # None: the table that is asked about
    values: tuple[str, ...] = ()
    percent: bool = False

    @property
    def node(self) -> Column:
        return Column(name=self.column.name, table=self.table)


def suggest(
    reading: Reading,
    schema: SourceSchema,
    values: Mapping[str, Values],
    *,
    today: date,
    requirement: str | None = None,
    kind: Kind | None = None,
    search: str = "",
) -> tuple[Suggestion, ...]:
    """Replacements for the requirement; without one, additions of this kind."""
    old = next((r.value for r in reading.requirements if r.id == requirement), None)
    if requirement is not None and old is None:
        raise UsageError(f"the reading has no part {requirement!r}")
    table = schema.find(reading.tables[0]) if reading.tables else None
    if table is None:
        return ()
    if old is None and kind == "rank" and any(isinstance(r.value, Rank) for r in reading.requirements):
        return ()  # there is one order at most; it can be changed
    finder = _Finder(tuple(_fields(table, schema, values)), old, search.strip(), today, looks_at_values(reading))
    language, wanted = language_of(reading), normalise(search).casefold().strip()
    rows, there = rows_called(reading), {_measured(r.value) for r in reading.requirements}
    found: dict[str, Suggestion] = {}
    for group, value in finder.find(old.kind if old is not None else kind):
        label = part_in_words(value, language, of_values=finder.looks, rows=rows)
        matches = wanted in label.casefold() or group == "comparison" or (group == "period" and finder.named)
        if matches and _measured(value) not in there and label not in found:
            found[label] = Suggestion(label=label, group=group, change=Change(requirement=requirement, to=value))
        if len(found) == MOST:
            break
    return tuple(found.values())


def _measured(value: Value) -> Value | Expression:
    """A sum that was said is the same measure as one that is usual."""
    return normal_expression(measure_of(value)) if isinstance(value, Metric) else value


def looks_at_values(reading: Reading) -> bool:
    """Whether it looks at single values, which have no function."""
    labels = {r.value.label for r in reading.requirements if isinstance(r.value, AnalysisAsked)}
    return bool(labels & {"distribution", "correlation", "summary"})


def _fields(table: Table, schema: SourceSchema, values: Mapping[str, Values]) -> Iterator[Field]:
    """The columns of the table, then those of the tables that each of its rows points at."""
    yield from _columns(meanings_of(table, values.get(table.name, {})), None)
    pointed = dict.fromkeys(link.to_table for link in schema.relationships if link.table == table.name)
    for name in pointed:
        other = schema.find(name)
        if other is not None and name != table.name:
            yield from _columns(meanings_of(other, values.get(name, {})), name)


def _columns(meanings: Meanings, table: str | None) -> Iterator[Field]:
    for column in meanings.table.columns:
        values = tuple(meanings.values.get(column.name, ()))
        yield Field(column, meanings.of[column.name], table, values, meanings.is_percent(column))


@dataclass(frozen=True)
class _Finder:
    fields: tuple[Field, ...]
    old: Value | None
    search: str
    today: date
    looks: bool  # at single values, which have no function

    @cached_property
    def named(self) -> tuple[Period, ...]:
        """The periods that the search names."""
        return tuple(one.period for one in find_periods(self.search, self.today) if one.period)

    def find(self, kind: Kind | None) -> Iterator[Found]:
        match kind:
            case "metric":
                yield from self._metrics()
            case "group_by" | "time":
                yield from self._groups()
            case "filter":
                yield from self._filters()
            case "rank":
                yield from self._ranks()

    def _metrics(self) -> Iterator[Found]:
        old = self.old if isinstance(self.old, Metric) else None
        if old is not None and old.column is not None and not self.looks:
            yield from (("function", value) for f in self.fields if f.column.name == old.column for value in _of(f))
        function = (old.function or old.usual) if old is not None else None
        for field in self.fields:
            found = [*_of(field)]
            if old is not None and old.usual and field.meaning in NUMBERS and found:
                yield "column", Metric(column=field.column.name, usual=found[0].function)
                continue
            if self.looks:
                continue
            yield from (("column", value) for value in found if value.function == function)
            if found and function not in {value.function for value in found}:
                yield "column", found[0]
        if self.looks:
            return
        yield "function", Metric(function="count")

    def _groups(self) -> Iterator[Found]:
        for field in self.fields:
            if isinstance(self.old, Time) and field.column.name == self.old.column:
                yield from (("grain", Time(column=self.old.column, grain=grain)) for grain in _grains(field))
        yield from (("column", _group(field)) for field in self.fields if field.meaning in GROUPED)
        for field in self.fields:
            if field.meaning == "date" and field.table is None:
                yield from (("grain", Time(column=field.column.name, grain=grain)) for grain in _grains(field))

    def _filters(self) -> Iterator[Found]:
        old = self.old if isinstance(self.old, Filter) else None
        first = [f for f in self.fields if old is not None and f.column.name == old.column]
        rest = [] if first else [*self.fields]
        for field in (*first, *rest):
            if field.meaning == "date":
                yield from (("period", value) for value in self._periods(field))
            elif field.values and field.meaning in ("category", "name", "flag", "text"):
                yield from (("value", _compared(field, "=", value)) for value in field.values)
                if field in first:
                    yield from (("value", _compared(field, "!=", value)) for value in field.values)
            elif field.column.kind == "number" and field.meaning != "identifier":
                yield from (("comparison", value) for value in self._comparisons(field, old))

    def _comparisons(self, field: Field, old: Filter | None) -> Iterator[Filter]:
        """With the number that is searched for, or the one that was compared with before."""
        numbers: list[float] = []
        with suppress(ValueError):
            numbers.append(float(self.search.replace(",", ".")))
        numbers += [v for v in (old.values if old else ()) if isinstance(v, int | float) and not numbers]
        for number in filter(math.isfinite, numbers[:1]):
            exact = int(number) if number == int(number) else number
            yield from (_compared(field, operator, exact) for operator in COMPARED)

    def _periods(self, field: Field) -> Iterator[Filter]:
        """The periods that the search names, else the years of the data."""
        for period in self.named:
            yield _between(field, period.start.isoformat(), period.end.isoformat())
        least, greatest = (str(value or "")[:4] for value in (field.column.least, field.column.greatest))
        if not self.named and least.isdigit() and greatest.isdigit():
            for year in range(int(greatest), max(int(least), int(greatest) - YEARS) - 1, -1):
                yield _between(field, f"{year:04}-01-01", f"{year + 1:04}-01-01")

    def _ranks(self) -> Iterator[Found]:
        old = self.old if isinstance(self.old, Rank) else Rank()
        asked = [int(self.search)] if self.search.isdecimal() and 0 < int(self.search) <= 10_000 else []
        for direction in (old.direction, "bottom" if old.direction == "top" else "top"):
            for limit in (*asked, old.limit, None, *LIMITS):
                yield "order", old.model_copy(update={"direction": direction, "limit": limit})


def _of(field: Field) -> Iterator[Metric]:
    """The measures of a column of the table itself."""
    if field.table is not None:
        return
    for function in ADDED.get(field.meaning, ("count_distinct",)):
        if function == "sum" and field.percent:
            continue
        yield Metric(column=field.column.name, function=function)


def _grains(field: Field) -> Iterator[Grain]:
    """The coarsest first; parts of a day only where the column has a time of day."""
    timed = "time" in field.column.type.lower()
    yield from (grain for grain in reversed(get_args(Grain)) if timed or grain not in ("minute", "hour"))


def _group(field: Field) -> GroupBy:
    return GroupBy(
        column=field.column.name,
        ordered=field.meaning == "year",
        expression=field.node if field.table else None,
    )


def _compared(field: Field, operator: Operator, value: str | float) -> Filter:
    if field.table is None:
        return Filter(column=field.column.name, operator=operator, values=(value,))
    return Filter(condition=Compare(left=field.node, operator=operator, right=Constant(value=value)))


def _between(field: Field, start: str, end: str) -> Filter:
    if field.table is None:
        return Filter(column=field.column.name, operator="between", values=(start, end))
    parts: tuple[Condition, ...] = (
        Compare(left=field.node, operator=">=", right=Constant(value=start)),
        Compare(left=field.node, operator="<", right=Constant(value=end)),
    )
    return Filter(condition=All(parts=parts))
