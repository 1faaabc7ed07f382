"""What one SELECT was read as, before it is written as requirements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from groundplan.asking.tables.sql.scope import Output, Scope
from groundplan.contracts.expression import Condition, Expression, Ties
from groundplan.contracts.normal_form import normal_expression


@dataclass(frozen=True)
class Ordering:
    """The order of rows and how many are kept: of all, or of each group that `within` lists."""

    keys: tuple[tuple[Expression, bool], ...]  # each with whether it descends
    limit: int | None = None
    within: tuple[Expression, ...] = ()
    ties: Ties = "cut"


@dataclass(frozen=True)
class Things:
    """One row for each value of the keys, with measures of its own; `where` chooses among them."""

    keys: tuple[str, ...]
    measures: Mapping[str, Expression]
    where: tuple[Condition, ...] = ()
    computed: Mapping[str, Expression] = field(default_factory=dict)  # the keys that are no columns of the table


@dataclass(frozen=True)
class Query:
    """Rows of a root table, or of things made of them; with `groups` one row for each group."""

    scope: Scope
    outputs: tuple[Output, ...]
    where: tuple[Condition, ...] = ()
    things: Things | None = None
    groups: tuple[tuple[str, Expression], ...] | None = None
    having: tuple[Condition, ...] = ()
    ordering: Ordering | None = None
    distinct: bool = False
    along: Expression | None = None
    series: bool = False  # it looks at other groups, so later filters choose what is shown
    places: frozenset[str] = field(default_factory=frozenset)  # normal names of outputs that number a ranking

    @property
    def is_cut(self) -> bool:
        return self.ordering is not None and self.ordering.limit is not None

    @property
    def is_rows(self) -> bool:
        return self.groups is None and not self.distinct


def same(first: Expression, second: Expression) -> bool:
    """Whether both say the same, in normal form."""
    return normal_expression(first) == normal_expression(second)
