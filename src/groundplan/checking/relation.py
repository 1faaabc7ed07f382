"""A table between the steps of a plan, in the language of readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from groundplan.contracts.expression import Column, Condition, Expression, Ties
from groundplan.contracts.meaning import Sorting, Things
from groundplan.contracts.normal_form import normal_expression, of_filter, substituted
from groundplan.contracts.reading import Filter

Given = TypeVar("Given")
Read = TypeVar("Read")


class Unknown(Exception):
    """The step does something that the language of readings has no words for."""


def read_param(read: Callable[[Given], Read], given: Given) -> Read:
    """What a param says; raises `Unknown` if it is ill-formed, which other rules report."""
    try:
        return read(given)
    except ValueError as error:
        raise Unknown from error


def read_filter(given: object) -> Condition:
    """The condition that a filter in its short form means; raises ValueError."""
    return of_filter(Filter.model_validate(given))


@dataclass(frozen=True)
class Relation:
    """A table between steps. `columns` defines the columns that are more than the source's own."""

    table: str
    columns: Mapping[str, Expression] = field(default_factory=dict)
    things: Things | None = None
    where: Condition | None = None
    groups: frozenset[Expression] | None = None  # None: its rows are the source's
    having: Condition | None = None
    shown: tuple[str, ...] | None = None  # None: all of them
    distinct: bool = False
    order: tuple[Sorting, ...] = ()
    limit: int | None = None
    ties: Ties = "cut"
    cut_by: tuple[Sorting, ...] = ()  # the order in which `limit` took the first rows
    within: frozenset[Expression] = frozenset()
    along: Expression | None = None
    analysed: bool = False  # a tool that brings an analysis with it made something of this table

    def column(self, name: str) -> Expression:
        return self.columns.get(name) or read_param(Column.model_validate, {"name": name})

    def measure(self, name: str) -> Expression:
        """The expression of a column that this table defines; raises `Unknown` if it defines none."""
        if name not in self.columns:
            raise Unknown
        return self.columns[name]

    def with_columns(self, columns: Mapping[str, Expression]) -> Relation:
        return replace(self, columns={**self.columns, **columns})

    def value(self, node: Expression) -> Expression:
        return normal_expression(substituted(node, self.columns))
