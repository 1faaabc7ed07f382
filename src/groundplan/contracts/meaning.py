"""What a reading asks for, in the normal form in which the gate compares it with what a plan does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeVar

from groundplan.contracts.contract import Contract
from groundplan.contracts.expression import (
    Aggregate,
    Change,
    Column,
    Condition,
    DateCut,
    DatePart,
    Expression,
    Found,
    FoundGroup,
    Moving,
    Node,
    Overall,
    Related,
    Rows,
    Running,
    Share,
    Ties,
    columns_of,
    level,
    walk,
)
from groundplan.contracts.normal_form import (
    both,
    looked_in,
    mapped,
    normal_condition,
    normal_expression,
    of_filter,
    settled_ties,
    substituted,
)
from groundplan.contracts.reading import (
    AnalysisAsked,
    ColumnsAsked,
    Each,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
    Time,
)

T = TypeVar("T")
N = TypeVar("N", bound=Node)
C = TypeVar("C", bound=Contract)
DAY = re.compile(r"\d{4}-\d\d-\d\d")
Stage = Literal["rows", "things", "groups"]
Sorting = tuple[Expression, bool]
"""What rows are ordered by, and whether it descends."""


@dataclass(frozen=True)
class Things:
    """The rows that the rest speaks of: one for each value of `keys`, from rows that meet `where`."""

    keys: frozenset[Expression]
    where: Condition | None


@dataclass(frozen=True)
class Meaning:
    """Rows kept, groups, measures, groups kept, order and cut. Without measures and groups: the rows by `columns`.

    Columns of things are written out: a condition on the number of visits has that number's expression in it. Shares
    and series are computed before groups are dropped: `having` chooses what is shown, not what counts.
    """

    table: str | None
    things: Things | None = None
    where: Condition | None = None
    groups: frozenset[Expression] = frozenset()
    measures: frozenset[Expression] = frozenset()
    having: Condition | None = None
    columns: tuple[Expression, ...] = ()
    distinct: bool = False
    order: Sorting | None = None
    then: tuple[Sorting, ...] = ()  # in turn, those that tie
    limit: int | None = None
    ties: Ties = "cut"
    within: frozenset[Expression] = frozenset()
    along: Expression | None = None  # the group that orders a series
    order_shown: bool = field(default=True, compare=False)  # what orders may be shown though nobody asked for it

    @property
    def sorting(self) -> tuple[Sorting, ...]:
        return (self.order, *self.then) if self.order else ()


def is_extended(reading: Reading) -> bool:
    """Whether it says more than a function of a column, plain groups, and comparisons of columns with values."""
    return any(map(says_more, reading.requirements))


def says_more(requirement: Requirement) -> bool:
    """Whether it needs an expression or a condition to be said."""
    match requirement.value:
        case Metric(expression=expression) | GroupBy(expression=expression):
            return expression is not None
        case Filter(condition=condition):
            return condition is not None
        case Rank(limit=limit, by=by, within=within, then=then, shown=shown, ties=ties):
            return limit is None or by is not None or bool(within or then) or not shown or ties != "cut"
        case ColumnsAsked() | Each():
            return True
        case _:
            return False


def has_meaning(reading: Reading) -> bool:
    """Whether `meaning_of` says all of it: rows or groups of one table, and no look at how single values spread."""
    analyses = {asked.label for asked in _values(reading, AnalysisAsked)}
    charts = {asked.chart for asked in _values(reading, OutputAsked)}
    kinds = {requirement.kind for requirement in reading.requirements}
    return (
        len(reading.tables) <= 1
        and not analyses & {"distribution", "anomaly", "correlation", "summary"}
        and not charts & {"scatter", "histogram", "box"}
        and not ("detail" in analyses and kinds & {"metric", "group_by", "time"})
        and not kinds & {"intent", "goal", "constraint"}
    )


def compared_periods(asked: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """The two periods of one column that are compared, for no row is in both."""
    periods = [r for r in asked if isinstance(r.value, Filter) and is_period(r.value)]
    columns = {r.value.column for r in periods if isinstance(r.value, Filter)}
    return tuple(periods) if len(periods) == 2 and len(columns) == 1 else ()


def is_period(asked: Filter) -> bool:
    """Whether it keeps a span of days with two ends."""
    return asked.operator == "between" and all(isinstance(value, str) and DAY.match(value) for value in asked.values)


def measure_of(metric: Metric) -> Expression:
    """The metric as an expression; where the question names no function, the usual one of the column."""
    if metric.expression is not None:
        return metric.expression
    if metric.column is None:
        return Rows()
    return Aggregate(function=metric.function or metric.usual or "sum", of=Column(name=metric.column))


def follows_series(node: Node) -> bool:
    """Whether it looks at earlier periods."""
    return any(isinstance(part, Change | Running | Moving) for part in walk(node))


def series_group(reading: Reading) -> str | None:
    """The name of the group that orders a series: the time axis, the first ordered group, or the only group."""
    times = [time.column for time in _values(reading, Time)]
    groups = [*_values(reading, GroupBy)]
    ordered = [g.column for g in groups if g.ordered or isinstance(g.expression, DateCut | DatePart)]
    only = [group.column for group in groups] if len(groups) == 1 else []
    return next(iter((*times, *ordered, *only)), None)


def stage_of(condition: Condition, reading: Reading) -> Stage:
    """What it selects: rows, things by their measures, or groups by theirs or by the names of computed groups."""
    computed = {group.column for group in _values(reading, GroupBy) if group.expression is not None}
    own = {made.name for each in _values(reading, Each) for made in (*each.measures, *each.computed)}
    named = columns_of(condition)
    if level(condition) != "row" or named & computed:
        return "groups"
    return "things" if named & own else "rows"


def meaning_of(reading: Reading) -> Meaning:
    """What the reading asks for, in normal form."""
    asked = _Asked(_without_table(reading))
    kept, rank, order, shown = asked.kept, asked.rank, asked.order, asked.shown
    listed = asked.lists_things
    things = Things(asked.keys, both(*kept["rows"])) if asked.each and not listed else None
    return Meaning(
        table=reading.tables[0] if reading.tables else None,
        things=things,
        where=both(*kept["things" if things else "rows"]),
        groups=asked.keys if listed else frozenset(map(normal_expression, asked.groups.values())),
        measures=frozenset(asked.metrics),
        having=both(*kept["groups"], *(kept["things"] if listed else ())),
        columns=asked.written(shown.columns) if shown else (),
        distinct=shown.distinct if shown else False,
        order=order[0] if order else None,
        then=order[1:],
        limit=rank.limit if rank else None,
        ties=settled_ties(rank.limit, rank.ties) if rank else "cut",
        within=frozenset(asked.written(rank.within)) if rank else frozenset(),
        along=asked.along,
        order_shown=rank is None or rank.shown,
    )


@dataclass(frozen=True, eq=False)
class _Asked:
    """The parts of a reading, names written out."""

    reading: Reading

    @cached_property
    def each(self) -> Each | None:
        return next(_values(self.reading, Each), None)

    @cached_property
    def shown(self) -> ColumnsAsked | None:
        return next(_values(self.reading, ColumnsAsked), None)

    @cached_property
    def rank(self) -> Rank | None:
        return next(_values(self.reading, Rank), None)

    @cached_property
    def made_keys(self) -> Mapping[str, Expression]:
        return {one.name: normal_expression(one.expression) for one in self.each.computed} if self.each else {}

    @cached_property
    def measures(self) -> Mapping[str, Expression]:
        """Of each thing."""
        return {one.name: normal_expression(one.expression) for one in self.each.measures} if self.each else {}

    @cached_property
    def own(self) -> Mapping[str, Expression]:
        return {**self.measures, **self.made_keys}

    @cached_property
    def keys(self) -> frozenset[Expression]:
        """What tells one thing from another."""
        return frozenset(self.made_keys.get(key, Column(name=key)) for key in (self.each.keys if self.each else ()))

    @cached_property
    def groups(self) -> Mapping[str, Expression]:
        groups = {group.column: substituted(_group(group), self.own) for group in _values(self.reading, GroupBy)}
        for time in _values(self.reading, Time):
            groups[time.column] = DateCut(of=self.own.get(time.column, Column(name=time.column)), grain=time.grain)
        return groups

    @cached_property
    def named(self) -> Mapping[str, Expression]:
        made = {one.name: one.expression for one in (self.shown.computed if self.shown else ())}
        return {**self.own, **self.groups, **made}

    @property
    def lists_things(self) -> bool:
        """True if the things themselves are asked for: groups like any others."""
        return self.each is not None and not self.groups and next(_values(self.reading, Metric), None) is None

    @cached_property
    def metrics(self) -> Sequence[Expression]:
        if self.lists_things:
            wanted = self.shown.columns if self.shown else tuple(self.measures)
            return [self.measures[name] for name in wanted if name in self.measures]
        return [_measured(measure_of(metric), self.own, self.groups) for metric in _values(self.reading, Metric)]

    @cached_property
    def kept(self) -> Mapping[Stage, Sequence[Condition]]:
        """The conditions by what they select, in normal form."""
        computed = {
            group.column: self.groups[group.column] for group in _values(self.reading, GroupBy) if group.expression
        }
        kept: dict[Stage, list[Condition]] = {"rows": [], "things": [], "groups": []}
        for asked in _values(self.reading, Filter):
            condition = of_filter(asked.model_copy(update={"table": None}))
            stage = stage_of(condition, self.reading)
            names = {**self.own, **computed} if stage == "groups" else self.own
            kept[stage].append(normal_condition(substituted(condition, names)))
        return kept

    @cached_property
    def order(self) -> tuple[Sorting, ...]:
        first = () if self.lists_things else self.metrics
        return _order(self.rank, first, self.named, self.own, self.groups)

    @property
    def along(self) -> Expression | None:
        """The group that orders a series, if something is computed along one."""
        series = [*self.metrics, *self.kept["groups"], *(by for by, _ in self.order)]
        along = self.groups.get(series_group(self.reading) or "") if any(map(follows_series, series)) else None
        return normal_expression(along) if along is not None else None

    def written(self, names: Iterable[str]) -> tuple[Expression, ...]:
        return tuple(normal_expression(self.named.get(name, Column(name=name))) for name in names)


def _measured(node: Expression, own: Mapping[str, Expression], groups: Mapping[str, Expression]) -> Expression:
    """In normal form; the groups that a share is within are written out."""
    return normal_expression(_within_groups(substituted(node, own), groups))


def _within_groups(node: N, groups: Mapping[str, Expression]) -> N:
    if isinstance(node, Share):
        return node.model_copy(update={"within": tuple(substituted(part, groups) for part in node.within)})
    return mapped(node, lambda part: _within_groups(part, groups))


def _order(
    rank: Rank | None,
    metrics: Sequence[Expression],
    named: Mapping[str, Expression],
    own: Mapping[str, Expression],
    groups: Mapping[str, Expression],
) -> tuple[Sorting, ...]:
    """What orders the result, then those that tie. Columns are those of the result: groups and computed ones."""

    def written_out(by: Expression) -> Expression:
        if level(by) != "row":
            return _measured(by, own, groups)
        normal = normal_expression(by)
        same = any(normal == normal_expression(group) for group in groups.values())
        return normal if same else normal_expression(substituted(by, named))

    if rank is None:
        return ()
    by = written_out(rank.by) if rank.by is not None else next(iter(metrics), None)
    if by is None:
        return ()
    return ties_once([(by, rank.direction), *((written_out(one.by), one.direction) for one in rank.then)])


def ties_once(keys: Iterable[tuple[Expression, str]]) -> tuple[Sorting, ...]:
    """Without keys that came before: those leave no ties by themselves."""
    found: dict[Expression, bool] = {}
    for by, direction in keys:
        found.setdefault(by, direction == "top")
    return tuple(found.items())


def _group(group: GroupBy) -> Expression:
    return group.expression if group.expression is not None else Column(name=group.column)


def _values(reading: Reading, kind: type[T]) -> Iterator[T]:
    return (r.value for r in reading.requirements if isinstance(r.value, kind))


def _without_table(reading: Reading) -> Reading:
    """Columns of the table that the question is about do not name it, nor do overall values of its rows."""
    root = reading.tables[0] if reading.tables else None
    requirements = tuple(
        r.model_copy(update={"value": _own(_own_overall(r.value, root), root)}) for r in reading.requirements
    )
    return reading.model_copy(update={"requirements": requirements})


def _own_overall(node: C, table: str | None) -> C:
    if isinstance(node, Overall):
        owner = node.table or table
        made = mapped(node, lambda part: _own(_own_overall(part, owner), owner))
        return made.model_copy(update={"table": None if owner == table else owner})
    if isinstance(node, Related):
        return node
    if isinstance(node, Found | FoundGroup):
        groups = mapped(looked_in(node), lambda part: _own(_own_overall(part, node.table), node.table))
        return groups.model_copy(update={"of": _own_overall(node.of, table)})  # type: ignore[return-value]
    return mapped(node, lambda part: _own_overall(part, table))  # type: ignore[type-var]


def _own(node: C, table: str | None) -> C:
    """Without the table of its columns where it is this one; where none is known, any says nothing."""
    if isinstance(node, Column):
        return Column(name=node.name) if node.via is None and table in (None, node.table) else node  # type: ignore[return-value]
    if isinstance(node, Related | Overall):
        return node
    if isinstance(node, Found | FoundGroup):
        return node.model_copy(update={"of": _own(node.of, table)})  # type: ignore[return-value]
    return mapped(node, lambda part: _own(part, table))  # type: ignore[type-var]
