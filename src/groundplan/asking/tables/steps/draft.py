"""The steps that answer a reading over one table: rows kept, things, groups, measures, order and what is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from groundplan.asking.tables.steps.names import LONGEST_NAME, NAMES, called, found_name
from groundplan.asking.tables.steps.nodes import (
    Sought,
    all_of,
    as_json,
    bases,
    by_choice,
    by_name,
    founds,
    in_place,
    is_measured,
    kept_rows,
    metric_params,
    overalls,
    told_with,
)
from groundplan.asking.tables.steps.step_list import StepList, first_free
from groundplan.contracts.contract import Contract
from groundplan.contracts.expression import (
    Aggregate,
    Among,
    Column,
    Condition,
    DateCut,
    Expression,
    Holds,
    Node,
    Rows,
    columns_of,
    level,
    walk,
)
from groundplan.contracts.meaning import Stage, compared_periods, follows_series, measure_of, series_group, stage_of
from groundplan.contracts.normal_form import normal_expression, of_filter
from groundplan.contracts.plan import Step
from groundplan.contracts.reading import (
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
from groundplan.contracts.schema import Table

C = TypeVar("C", bound=Contract)


@dataclass(frozen=True)
class Joined:
    """A reading over one wide table, and the steps that make it; `data` is the step whose table it is, if any.

    `overall` names, for each overall value in normal form, the step that computes it and its column there; `found`,
    for the rows or groups among which something is looked for, the step that keeps them, or None for all rows of a
    table, and the column there.
    """

    reading: Reading
    table: Table
    steps: tuple[Step, ...] = ()
    data: str | None = None
    overall: Mapping[Expression, tuple[str, str]] = field(default_factory=dict)
    found: Mapping[Condition, tuple[str | None, str]] = field(default_factory=dict)


@dataclass
class Draft(StepList):
    """A question's steps as they are added: what was grouped, measured and ordered so far."""

    measures: dict[Expression, str] = field(default_factory=dict)  # the columns of measures that were computed
    metrics: list[str] = field(default_factory=list)  # the columns of the metrics, in order
    bases: list[str] = field(default_factory=list)  # what the answer tells beside the metric: part and whole
    groups: list[str] = field(default_factory=list)
    chosen: dict[Condition, str] = field(default_factory=dict)  # the columns that say which rows are among the best
    order: dict[str, str] = field(default_factory=dict)  # the columns that rank and order, each with its direction
    made_to_order: list[str] = field(default_factory=list)  # those of them that are derived for that alone

    share: str | None = None  # the column of shares
    looks_at_values: bool = False  # nothing is grouped or added up: `metrics` are the table's own columns

    overall: Mapping[Expression, tuple[str, str]] = field(default_factory=dict)
    found: Mapping[Condition, tuple[str | None, str]] = field(default_factory=dict)
    added: dict[Node, str] = field(default_factory=dict)  # the columns that the present rows were given

    @cached_property
    def sides(self) -> tuple[Requirement, ...]:
        """Two periods that are compared: neither filters the other away."""
        return compared_periods(self.reading.requirements)

    @property
    def ranked_by(self) -> str | None:
        return next(iter(self.order), None)

    def here(self, node: C, serves: Sequence[Requirement | str]) -> C:
        """With columns in place of overall values and of what is found elsewhere, added to the present rows first."""
        for one in dict.fromkeys(overalls(node)):
            step, column = self.overall.get(normal_expression(one), ("", ""))
            if step and column not in self.added.values():
                self.add("overall", "add_overall", {"columns": [{"column": column, "as": column}]}, serves, beside=step)
            if step:
                self.added[one] = column
        for looked in dict.fromkeys(founds(node)):
            if looked not in self.added and kept_rows(looked) in self.found:
                self.added[looked] = self.mark(looked, serves)
        return in_place(node, self.added)

    def mark(self, found: Sought, serves: Sequence[Requirement | str]) -> str:
        """The column that says whether the value is found."""
        (step, among), of = self.found[kept_rows(found)], self.here(found.of, serves)
        if not isinstance(of, Column):
            if of not in self.added:
                self.added[of] = self.free_name(called(of, self.language))
                self.add("value", "derive_column", {"expression": as_json(of), "as": self.added[of]}, serves)
            of = Column(name=self.added[of])
        name = self.free_name(found_name(found, self.language))
        source = {} if step else {"right": found.table}
        params = {**source, "column": of.name, "among": among, "as": name}
        self.add("found", "mark_found", params, serves, beside=step)
        return name

    def parse_dates(self) -> None:
        """A time axis is read as dates, and so are dates that a file keeps as text or numbers, each column once."""
        for column in self.table.columns:
            if column.name in self.times or (column.kind != "time" and column.role == "temporal"):
                users = [r for r in self.reading.requirements if column.name in _columns(r)]
                if users:
                    self.add("dates", "parse_datetime", {"column": column.name}, users)

    @property
    def times(self) -> list[str]:
        return [time.column for _, time in self.asked(Time)]

    @property
    def series(self) -> list[str]:
        """The groups beside the time axis."""
        return [group for group in self.groups if group not in self.times]

    @property
    def chart(self) -> Requirement | None:
        return next((r for r, value in self.asked(OutputAsked) if value.label == "chart"), None)

    @property
    def measured(self) -> list[Requirement]:
        """The requirements that a look at single values measures and groups by itself."""
        return [r for r, _ in (*self.asked(Metric), *self.asked(GroupBy))]

    def look_at_values(self) -> None:
        """The values themselves: a measure that needs an expression has none, and the gate tells."""
        self.group_columns()
        self.metrics = [metric.column for _, metric in self.asked(Metric) if metric.column]
        self.looks_at_values = True

    def groups_rows(self) -> bool:
        return bool(self.asked(GroupBy) or self.asked(Time))

    def filters(self, stage: Stage) -> list[tuple[Requirement, Filter]]:
        wanted = [(r, f) for r, f in self.asked(Filter) if r.id not in self.applied and r not in self.sides]
        return [(r, f) for r, f in wanted if stage_of(of_filter(f), self.reading) == stage]

    def filter_rows(self) -> None:
        self.keep("rows", self.filters("rows"))

    def keep(self, id_: str, filters: Sequence[tuple[Requirement, Filter]]) -> None:
        if filters:
            serves = [r for r, _ in filters]
            self.add(id_, "filter_rows", _filter_params([self.here(f, serves) for _, f in filters]), serves)

    def group_things(self) -> None:
        """One row for each thing, and only the things that were asked for."""
        for requirement, each in self.asked(Each):
            serves = [requirement, *(r for r, _ in self.asked(Metric))]
            for key in each.computed:
                made = self.here(key.expression, serves)
                self.add("key", "derive_column", {"expression": as_json(made), "as": key.name}, serves)
            names = dict[Expression, str]()
            for measure in each.measures:
                for base in bases(measure.expression):
                    whole = base is measure.expression
                    taken = {*each.keys, *names.values(), *(() if whole else (m.name for m in each.measures))}
                    name = measure.name if whole else first_free(called(base, self.language)[:LONGEST_NAME], taken, " ")
                    names.setdefault(normal_expression(base), name)
            metrics = [metric_params(self.here(base, serves), name) for base, name in names.items()]
            params = {"group_by": list(each.keys), "metrics": metrics or [{"function": "count", "as": "rows"}]}
            self.add("things", "aggregate", params, serves)
            self.added.clear()
            for measure in each.measures:
                if names.get(normal_expression(measure.expression)) != measure.name:
                    value = self.here(by_name(measure.expression, names), serves)
                    self.add("thing", "derive_column", {"expression": as_json(value), "as": measure.name}, serves)
            self.keep("things_kept", self.filters("things"))

    def aggregate(self) -> None:
        """The measures of each group, then what compares the groups with each other."""
        self.group_columns()
        metrics = self.asked(Metric)
        asked = [(measure_of(metric), metric.name) for _, metric in metrics]
        names = {normal_expression(measure): name for measure, name in reversed(asked) if is_measured(measure)}
        for whole, _ in asked:
            for measure in bases(whole):
                self.measure(measure, names.get(normal_expression(measure)))
        for _, filter_ in self.filters("groups"):
            for measure in bases(of_filter(filter_)):
                name = self.measure(measure)
                if not metrics:
                    self.metrics.append(name)
        for _, rank in self.asked(Rank):
            for by in (rank.by, *(one.by for one in rank.then)):
                for measure in bases(by) if by is not None and level(by) != "row" else ():
                    self.measure(measure)
        if not self.measures:
            self.measure(Rows())
        if len(metrics) == 1:
            self.bases = [self.measure(base) for base in told_with(measure_of(metrics[0][1]))]
        self.choose_rows()
        times = self.asked(Time)
        serves = [r for r, _ in (*metrics, *self.asked(GroupBy), *times)]
        params: dict[str, Any] = {
            "group_by": self.groups,
            "metrics": [
                metric_params(self.here(by_choice(measure, self.chosen), serves), name)
                for measure, name in self.measures.items()
            ],
        }
        if times:
            params["grain"] = times[0][1].grain or "auto"
        self.add("totals", "aggregate", params, [*serves, "analysis:total", "analysis:compare", "analysis:trend"])
        self.added.clear()
        for requirement, metric in metrics:
            self.metrics.append(self.follow(requirement, metric))

    def choose_rows(self) -> None:
        """Which rows are among the best is known before they are grouped."""
        for measure in self.measures:
            for part in walk(measure):
                if isinstance(part, Among) and part not in self.chosen:
                    by = called(part.of, self.language)
                    self.chosen[part] = NAMES[self.language]["among"].format(part.limit, by)
                    serves = [r for r, _ in self.asked(Metric)]
                    made = self.here(Holds(condition=part), serves)
                    params = {"expression": as_json(made), "as": self.chosen[part]}
                    self.add("chosen", "derive_column", params, serves)

    def group_columns(self) -> None:
        """Derives what rows are grouped by."""
        for requirement, group in self.asked(GroupBy):
            if group.expression is not None:
                params = {"expression": as_json(self.here(group.expression, [requirement])), "as": group.column}
                self.add("group", "derive_column", params, [requirement])
            self.groups.append(group.column)
        for _, time in self.asked(Time):
            self.groups.insert(0, time.column)

    def measure(self, measure: Expression, name: str | None = None) -> str:
        normal = normal_expression(measure)
        if normal not in self.measures:
            taken = {*self.groups, *self.measures.values()}
            self.measures[normal] = first_free(name or called(measure, self.language)[:LONGEST_NAME], taken, " ")
        return self.measures[normal]

    def follow(self, requirement: Requirement, metric: Metric) -> str:
        """The column of a metric; one that looks along or across the groups is derived from the others."""
        expression = measure_of(metric)
        if is_measured(expression):
            return self.measures[normal_expression(expression)]
        name = metric.name or called(expression, self.language)
        return self.derive_series(expression, name, [requirement, "analysis:share", "analysis:trend"])

    def derive_series(self, expression: Expression, name: str, serves: Sequence[Requirement | str]) -> str:
        """The column of what looks along or across the groups, or beside them at an overall value."""
        made = self.here(by_name(expression, self.measures), serves)
        if isinstance(made, Column):
            return made.name
        params: dict[str, Any] = {"expression": as_json(made), "as": name}
        along = series_group(self.reading)
        if follows_series(expression) and along:
            params |= {"along": along, "by": [group for group in self.groups if group != along]}
        self.add("series", "derive_column", params, serves)
        self.measures[normal_expression(expression)] = name
        return name

    def filter_groups(self) -> None:
        kept = self.filters("groups")
        if kept:
            serves = [r for r, _ in kept]
            where = self.here(all_of([by_name(of_filter(f), self.measures) for _, f in kept]), serves)
            self.add("groups_kept", "filter_rows", {"where": as_json(where)}, serves)

    def rank_by_measure(self) -> None:
        first = self.metrics[0] if self.asked(Metric) else None
        for requirement, rank in self.asked(Rank):
            names = [first if rank.by is None else self.group_key(requirement, rank.by)]
            names += [self.group_key(requirement, one.by) for one in rank.then]
            self.order_by(rank, names)

    def rank_by_column(self) -> None:
        for requirement, rank in self.asked(Rank):
            if rank.by is not None:
                self.order_by(rank, [self.row_key(requirement, by) for by in (rank.by, *(one.by for one in rank.then))])

    def order_by(self, rank: Rank, names: Sequence[str | None]) -> None:
        directions = (rank.direction, *(one.direction for one in rank.then))
        for name, direction in zip(names, directions, strict=True) if None not in names else ():
            self.order.setdefault(str(name), direction)

    def group_key(self, requirement: Requirement, by: Expression) -> str | None:
        """The column of groups that holds it: a group, a measure, or one made for it."""
        if isinstance(by, Column):
            return by.name
        normal = normal_expression(by)
        for _, group in self.asked(GroupBy):
            if group.expression is not None and normal == normal_expression(group.expression):
                return group.column
        for _, time in self.asked(Time):
            if normal == DateCut(of=Column(name=time.column), grain=time.grain):
                return time.column
        if level(by) == "row":
            return self.made_key(requirement, by)
        if normal not in self.measures and not is_measured(by):
            return self.derive_series(by, self.free_name(called(by, self.language)), [requirement])
        return self.measures.get(normal)

    def row_key(self, requirement: Requirement, by: Expression) -> str:
        """The column of rows that holds it: the table's own, a computed one, or one made for it."""
        if isinstance(by, Column):
            return by.name
        for _, asked in self.asked(ColumnsAsked):
            for one in asked.computed:
                if normal_expression(one.expression) == normal_expression(by):
                    return one.name
        return self.made_key(requirement, by)

    def made_key(self, requirement: Requirement, by: Expression) -> str:
        name = self.free_name(called(by, self.language))
        made = self.here(by, [requirement])
        if isinstance(made, Column):
            return made.name
        self.add("ranked_by", "derive_column", {"expression": as_json(made), "as": name}, [requirement])
        self.made_to_order.append(name)
        return name

    def free_name(self, name: str) -> str:
        """The name, or another that no column of the rows has."""
        computed = [one.name for _, asked in self.asked(ColumnsAsked) for one in asked.computed]
        own = [one.name for _, each in self.asked(Each) for one in (*each.measures, *each.computed)]
        groups = [group.column for _, group in self.asked(GroupBy)]
        made = (*self.groups, *self.measures.values(), *self.metrics, *self.made_to_order, "rank")
        rows = (column.name for column in self.table.columns)
        taken = {*rows, *computed, *own, *groups, *made, *self.added.values()}
        return first_free(name[:LONGEST_NAME], taken, " ")

    def rank(self) -> None:
        """After the columns are chosen, so that the table keeps the ranks and their order."""
        for requirement, rank in self.asked(Rank):
            if self.ranked_by is not None and rank.limit is not None:
                params: dict[str, Any] = {"by": self.ranked_by, "direction": rank.direction, "limit": rank.limit}
                params |= {"within": list(rank.within)} if rank.within else {}
                params |= {"then": self.ties()} if rank.then else {}
                params |= {"ties": rank.ties} if rank.ties != "cut" else {}
                self.add("ranked", "rank_rows", params, [requirement, "analysis:ranking"])

    def ties(self) -> list[dict[str, str]]:
        return [{"by": name, "direction": direction} for name, direction in [*self.order.items()][1:]]

    def keep_asked_columns(self) -> None:
        """Measures that were only needed to choose or to order groups are not shown."""
        shown = [*self.groups, *self.metrics, *self.bases]
        hidden = {*self.measures.values(), *self.added.values()} - {*shown, *self.order}
        if hidden and self.asked(Metric):
            columns = [*dict.fromkeys([*shown, *self.order])]
            self.add("shown", "select_columns", {"columns": columns}, [r for r, _ in self.asked(Metric)])

    def compute_columns(self) -> None:
        for requirement, asked in self.asked(ColumnsAsked):
            for one in asked.computed:
                params = {"expression": as_json(self.here(one.expression, [requirement])), "as": one.name}
                self.add("computed", "derive_column", params, [requirement])

    def keep_columns(self) -> None:
        for requirement, asked in self.asked(ColumnsAsked):
            columns = [*dict.fromkeys((*asked.columns, *(self.order if not asked.distinct else ())))]
            shown: dict[str, Any] = {"columns": columns, "distinct": asked.distinct}
            self.add("shown", "select_columns", shown, [requirement, "analysis:detail"])

    def only_orders(self, rank: Rank) -> bool:
        """Whether it orders groups by what their names are made from: days of the week by their number."""
        by = rank.by.of if isinstance(rank.by, Aggregate) else None
        named = [part for _, group in self.asked(GroupBy) if group.expression for part in walk(group.expression)]
        return self.ranked_by not in (*self.groups, *self.metrics) and by is not None and by in named

    def hidden(self, rank: Rank) -> list[str]:
        """The columns that only order, of those that nobody asked to see."""
        listed = [name for _, asked in self.asked(ColumnsAsked) for name in asked.columns]
        if self.groups or self.metrics:
            bases = (*self.measures.values(), *self.added.values()) if not self.asked(Metric) else ()
            made = dict.fromkeys((*self.order, *bases))
            helpers = [name for name in made if name not in (*self.groups, *self.metrics, *self.bases)]
        else:
            helpers = [name for name in self.order if name not in listed and (listed or name in self.made_to_order)]
        formula = bool(self.groups) and self.ranked_by in self.made_to_order
        shows_first = rank.shown and not formula and not self.only_orders(rank)
        return [name for name in helpers if name != self.ranked_by or not shows_first]

    def show(self) -> None:
        serves: list[Requirement | str] = ["output:table", "output:text", "analysis:detail", "analysis:ranking"]
        serves += [r for r, _ in (*self.asked(Rank), *self.asked(ColumnsAsked), *self.asked(Metric))]
        self.add("table", "show_table", self.shown_order(), serves)

    def shown_order(self) -> dict[str, Any]:
        """As asked for; otherwise along time or an ordered group, or the largest group first."""
        rank = next((value for _, value in self.asked(Rank)), None)
        if rank is None:
            return self.usual_order() if self.metrics and self.groups and not self.looks_at_values else {}
        order: dict[str, Any] = {}
        unranked = any(step.tool == "select_columns" for step in self.steps)  # it drops the column of ranks
        if self.ranked_by:
            if rank.limit is None or (unranked and not rank.within and not rank.then):
                order = {"order_by": [self.ranked_by], "descending": rank.direction == "top"}
                order |= {"then": self.ties()} if rank.then else {}
            order |= {"hide": hidden} if (hidden := self.hidden(rank)) else {}
        return order

    def usual_order(self) -> dict[str, Any]:
        """Along time, an ordered group or the group that a series runs along; otherwise the largest first."""
        if self.times:
            return {"order_by": self.groups}
        ordered = [value.column for _, value in self.asked(GroupBy) if value.ordered]
        along = series_group(self.reading)
        if along and any(follows_series(measure_of(metric)) for _, metric in self.asked(Metric)):
            ordered = [along, *(group for group in self.groups if group != along)]
        return {"order_by": ordered} if ordered else {"order_by": [self.metrics[0]], "descending": True}


def _filter_params(filters: Sequence[Filter]) -> dict[str, Any]:
    short = [f for f in filters if f.condition is None]
    params: dict[str, Any] = {}
    if short:
        params["conditions"] = [{"column": f.column, "operator": f.operator, "values": list(f.values)} for f in short]
    conditions = [f.condition for f in filters if f.condition is not None]
    if conditions:
        params["where"] = as_json(all_of(conditions))
    return params


def _columns(requirement: Requirement) -> frozenset[str]:
    value = requirement.value
    named = {name for name in (getattr(value, "column", None), *getattr(value, "columns", ())) if name}
    nodes = [getattr(value, key, None) for key in ("expression", "condition", "by")]
    nodes += [one.by for one in value.then] if isinstance(value, Rank) else []
    nodes += [one.expression for one in value.computed] if isinstance(value, ColumnsAsked) else []
    inside = [columns_of(node) for node in nodes if node is not None]
    made = (*value.measures, *value.computed) if isinstance(value, Each) else ()
    each = [columns_of(one.expression) for one in made]
    return frozenset(named).union(*inside, *each)
