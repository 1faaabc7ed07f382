"""From phrases to a reading: what is measured, by what, of which rows, in what order. Each slot must be used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import combinations
from typing import Any, Literal

from groundplan.asking.tables.grammar.chart import Cover
from groundplan.asking.tables.grammar.implied import intent_of, with_implied
from groundplan.asking.tables.grammar.meanings import IDENTIFYING, NUMBERS, Meanings
from groundplan.asking.tables.grammar.names import GENERIC, SAID
from groundplan.asking.tables.grammar.phrases import (
    Ask,
    Cond,
    Field,
    Group,
    Item,
    Mark,
    Measure,
    PartOfDate,
    Rank,
    ShareOf,
    Target,
    Thing,
    Unit,
    When,
)
from groundplan.asking.tables.grammar.requirements import (
    as_filters,
    as_group,
    as_metric,
    filter_id,
    free_id,
    metric_id,
    rank_id,
)
from groundplan.asking.tables.grammar.rules import Builders, under, within
from groundplan.asking.tables.grammar.senses import DAYS, one_of
from groundplan.asking.tables.grammar.together import asks_together
from groundplan.contracts.defaults import Default
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
    Condition,
    Constant,
    DateCut,
    DatePart,
    Elapsed,
    Expression,
    Filled,
    Missing,
    Moving,
    Node,
    Not,
    Rows,
    Running,
    Share,
    columns_of,
    walk,
)
from groundplan.contracts.normal_form import mapped
from groundplan.contracts.reading import (
    AnalysisAsked,
    ColumnsAsked,
    Each,
    EachMeasure,
    Evidence,
    Filter,
    Intent,
    OutputAsked,
    Reading,
    Requirement,
)
from groundplan.contracts.reading import Rank as RankAsked
from groundplan.contracts.schema import Column as SchemaColumn
from groundplan.text.names import split_name
from groundplan.text.periods.calendar import shift
from groundplan.text.periods.pairs import says_twice
from groundplan.text.stems import is_russian, stem
from groundplan.text.words import Word, language_of

USABLE = frozenset(
    category
    for line in (
        "measure share field thing group groups condition having period ask rank order event over_time whole_time list",
        "chart table by_measure binned versus compared change over_prior in_percent in_unit split count who function",
        "than comparative difference what fresh if_any anomaly correlation distribution summary",
    )
    for category in line.split()
)
LOOSE = frozenset(
    category
    for line in (
        "whole_time in_percent list compared over_time split who thing distribution event versus count fresh what",
        "table",
    )
    for category in line.split()
)
"""Phrases that a reading may have no part for: they say once more what it is about."""
TAKEN = (LOOSE | {"chart", "condition", "having"}) - {"thing", "event", "versus", "count"}
"""Phrases that say nothing before the others are read."""
EXCLUDING = frozenset(
    stem(word)
    for line in ("except excluding exclude without leaving leave ignoring ignore", "кроме без исключая")
    for word in line.split()
)
LISTING = ("", "and", "or", "и", "или")  # what may stand between the parts of a list
EARLIER = {">": "<", ">=": "<=", "<": ">", "<=": ">="}  # the longer it lasts, the earlier it began


class DoesNotCompose(Exception):
    """The phrases make no question; the reason, for whoever develops the grammar."""


class NamesElsewhere(DoesNotCompose):
    """The things that it groups by are called something in another table."""

    def __init__(self) -> None:
        super().__init__("its names are in another table")


class Unsound(Exception):
    """Understood, but must not be computed: says why, and what can be asked instead."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


class NeedsClarification(Exception):
    """Something has to be said first. `said`: the words that lack it; `link` leads from them to a choice."""

    def __init__(self, what: str, choices: tuple[str, ...] = (), said: str = "", link: str = "by") -> None:
        super().__init__(what)
        self.what = what
        self.choices = choices
        self.said = said
        self.link = link


@dataclass
class Part:
    """A requirement in the making: its value and the words that ask for it. Without any it is implied."""

    id: str
    value: Any
    items: tuple[Item, ...]
    assumed: tuple[Default | None, ...] = ()


@dataclass
class Assembly:
    cover: Cover
    words: tuple[Word, ...]
    text: str
    builders: Builders
    parts: list[Part] = field(default_factory=list)
    penalty: float = 0.0
    used: set[Item] = field(default_factory=set)

    @property
    def meanings(self) -> Meanings:
        return self.builders.meanings

    # what was said

    def all(self, *categories: str) -> list[Item]:
        return [item for item in self.cover.items if item.category in categories]

    def take(self, *items: Item) -> tuple[Item, ...]:
        self.used.update(items)
        return items

    def read(self) -> Reading:
        self._begin()
        for step in (
            self._collect,
            self._periods,
            self._compared_values,
            self._shares,
            self._bare,
            self._functions,
            self._ranking,
            self._asked,
            self._counting,
            self._nested,
            self._series,
            self._average_of_periods,
            self._differences,
            self._named_days,
            self._named_things,
            self._until_today,
            self._present_people,
            self._still_waiting,
            self._once_each,
            self._names_alone,
            self._drawn_over_time,
            self._check,
            self._keep_empty,
            self._write,
        ):
            step()
        return self._reading()

    def _begin(self) -> None:
        self.measures: list[tuple[Measure, tuple[Item, ...]]] = []
        self.groups: list[tuple[Group, tuple[Item, ...]]] = []
        self.having: list[tuple[Cond, tuple[Item, ...]]] = [(i.value, (i,)) for i in self.all("having")]  # type: ignore[misc]
        self.conditions: list[tuple[Cond, tuple[Item, ...]]] = [(i.value, (i,)) for i in self.all("condition")]  # type: ignore[misc]
        self.rank: tuple[Rank, tuple[Item, ...]] | None = None
        self.ask: tuple[Ask, tuple[Item, ...]] | None = None
        self.show: list[tuple[str, tuple[Item, ...]]] = []
        self.distinct = False
        self.each: Part | None = None
        self.axes: set[str] = set()  # dates that events tell
        self.asked: list[Part] = []  # analyses

    def said(self, *items: Item) -> str:
        """Their words, as they are written."""
        first, last = min(item.first for item in items), max(item.last for item in items)
        return self.text[self.words[first].start : self.words[last - 1].end]

    def _drawn_over_time(self) -> None:
        """A line of the revenue: over time."""
        lines = self._lines()
        if lines and self.measures and not self.groups:
            axis = self._axis()
            self.groups += [(axis, tuple(lines))] if axis else []

    def _lines(self) -> list[Item]:
        return [i for i in self.all("chart") if i.value.value in ("line", "area")]  # type: ignore[attr-defined]

    def _collect(self) -> None:
        for item in self.cover.items:
            value = item.value
            match item.category:
                case "measure":
                    if self._rows_before(item):
                        raise DoesNotCompose("rows and a measure")
                    if _is_running_value(value.expression) and any(self._events_in(item)):  # type: ignore[attr-defined]
                        raise DoesNotCompose("what happened, not what it is now")
                    self._refuse_unsound(value.expression)  # type: ignore[attr-defined]
                    self.measures.append((value, self.take(item)))  # type: ignore[arg-type]
                case "group":
                    if item.length == 1 and self._is_of_people(value):  # type: ignore[arg-type]
                        raise DoesNotCompose("a yearly salary is no group of years")
                    self.groups.append((value, self.take(item)))  # type: ignore[arg-type]
                case "groups":
                    self.groups += [(group, self.take(item)) for group in value]  # type: ignore[attr-defined]
                case "ask":
                    if self.ask is not None:
                        if value.person or self.ask[0].person:  # type: ignore[attr-defined]
                            raise DoesNotCompose("two questions")
                        self._also_shown(value, item)  # type: ignore[arg-type]
                    else:
                        self.ask = (value, self.take(item))  # type: ignore[assignment]
                case "rank":
                    if self.rank is not None:
                        raise DoesNotCompose("two rankings")
                    self.rank = (value, self.take(item))  # type: ignore[assignment]
                case category if category in TAKEN:
                    self.take(item)
        if len({(c.column, c.values) for c, _ in self.conditions if c.column and not c.negated}) < len(
            [c for c, _ in self.conditions if c.column and not c.negated]
        ):
            raise DoesNotCompose("a condition twice")
        spread = [self.words[item.first - 1].lower for item in self.all("distribution") if item.first]
        if {*spread} & {"its", "their", "ее", "их"}:
            raise DoesNotCompose("a breakdown, and how it spreads")
        self.axes.update(d for i in self.cover.items if (d := _date_of(i.value)))
        self._than()
        self._join_values()
        for unit in self.all("in_unit"):
            self._in_unit(str(unit.value.value), unit)  # type: ignore[attr-defined]

    def _refuse_unsound(self, measure: Expression) -> None:
        """Identifiers are neither added up nor averaged, and percents are not added up."""
        for node in walk(measure):
            match node:
                case Aggregate(function="sum" | "mean" | "median" | "std" as function, of=Column(name=name)):
                    known = self.meanings.table.find(name)
                    if self.meanings.of.get(name) == "identifier":
                        hint = f"ask how many different {name} there are, or name a column that measures something"
                        raise Unsound(f"{name} says which one it is: it is not added up or averaged", hint)
                    if function == "sum" and known is not None and self.meanings.is_percent(known):
                        raise Unsound(
                            f"{name} is in percent, and percents are not added up", f"ask for the average {name}"
                        )
                case Aggregate(function="count_distinct", of=Column(name=name)):
                    self._refuse_lists(name)

    def _refuse_lists(self, column: str) -> None:
        if column in self.meanings.lists:
            some = min(self.meanings.lists[column])
            raise Unsound(
                f"a cell of {column} holds several values, so that it cannot be split by them",
                f"ask about one of them, such as {some!r}",
            )

    def _join_values(self) -> None:
        """Values of one column, one behind the other: any of them. With other words between, they are no list."""
        joined: list[tuple[Cond, tuple[Item, ...]]] = []
        for condition, items in sorted(self.conditions, key=lambda pair: pair[1][0].first):
            before = joined[-1] if joined else None
            condition = self._left_out_too(before, condition, items) if before else condition
            plain = condition.column and condition.values and not condition.versus
            same = [c for c, _ in joined if plain and c.column == condition.column]
            if not same:
                joined.append((condition, items))
                continue
            if before is None or before[0].column != condition.column:
                raise DoesNotCompose("conditions that exclude each other")
            if before[0].negated != condition.negated:
                joined[-1] = (self._without(before[0], condition), (*before[1], *items))
                continue
            if self._gap(before[1][-1], items[0]).strip(" ,/;&") not in LISTING:
                raise DoesNotCompose("values that are no list")
            both = one_of(condition.column or "", (*before[0].values, *condition.values))
            if condition.negated:
                both = replace(both, condition=Not(part=both.condition), negated=True)
            joined[-1] = (both, (*before[1], *items))
        self.conditions = joined

    def _left_out_too(self, before: tuple[Cond, tuple[Item, ...]], condition: Cond, items: tuple[Item, ...]) -> Cond:
        """Leaving out cancellations and no shows: both."""
        last = before[1][-1]
        excludes = self.words[last.first].stem in EXCLUDING and not condition.date
        if not excludes or self._gap(last, items[0]).strip(" ,&") not in LISTING:
            return condition
        return self.builders.not_condition(condition) or condition

    def _keep_empty(self) -> None:
        """Excluding a value leaves out nothing else: rows without any stay."""
        for place, (condition, items) in enumerate(self.conditions):
            column = self.meanings.table.find(condition.column or "")
            said = {word.stem for item in items for word in self.words[item.first : item.last]}
            if condition.negated and column is not None and column.nulls and said & EXCLUDING:
                of = Column(name=column.name)
                kept = Cond(AnyOf(parts=(Missing(of=of), condition.condition)), negated=True)
                self.conditions[place] = (kept, items)

    def _without(self, left: Cond, right: Cond) -> Cond:
        """In the west but not the east: in the west."""
        kept, out = (left, right) if right.negated else (right, left)
        values = tuple(value for value in kept.values if value not in out.values)
        if not values:
            raise DoesNotCompose("conditions that exclude each other")
        return one_of(kept.column or "", values)

    def _is_of_people(self, group: Group) -> bool:
        start = self.meanings.events.get("start")
        person = self.meanings.person
        return group.time and start is not None and group.name == start.name and person is not None and person.is_rows

    def _also_shown(self, ask: Ask, item: Item) -> None:
        target = ask.target.value if ask.target else None
        if not isinstance(target, Field) or target.column is None:
            raise DoesNotCompose("two questions")
        self.show.append((target.name, self.take(item)))

    def _in_unit(self, unit: str, item: Item) -> None:
        changed = False

        def put(node: Any) -> Any:
            nonlocal changed
            if isinstance(node, Elapsed):
                changed = True
                return node.model_copy(update={"unit": unit})
            return mapped(node, put)

        self.measures = [(replace(m, expression=put(m.expression)), (*items, item)) for m, items in self.measures]
        told = [m.base.column for m, _ in self.measures if m.base and m.base.column]
        if not changed and not any(self.builders.unit_of(column) == unit for column in told):
            raise DoesNotCompose("a unit of nothing")
        self.take(item)

    # time

    def _join_times(self) -> tuple[Item, ...]:
        """Monthly sales by order date have one axis. Returns the words that only say by which date a period counts."""
        named = [(g, i) for g, i in self.groups if g.time and g.named and g.grain is None]
        cut = [(g, i) for g, i in self.groups if g.time and g.grain and not g.named]
        if len(named) != 1:
            return ()
        date, said = named[0]
        if len(cut) == 1:
            joined = (replace(cut[0][0], name=date.name, named=True), (*cut[0][1], *said))
            self.groups = [joined if pair == cut[0] else pair for pair in self.groups if pair != named[0]]
        elif (len(self.groups) > 1 or self.rank) and any(i.last == said[0].first for i in self.all("period")):
            self.groups.remove(named[0])
            self.axes.add(date.name)
            return said
        return ()

    def _periods(self) -> None:
        dating = self._join_times()
        events = self.all("event")
        periods = self.all("period")
        column = self._date(events)
        self.sides: list[tuple[When, Item]] = []
        if not periods:
            for event in events:
                self._only_dates(event)
            return
        whens = [(item.value, item) for item in periods]
        if len(whens) == 2 and self._compares():
            self.sides = whens  # type: ignore[assignment]
            self.take(*periods, *self.all("versus"))
            self.date = column
            return
        if len(whens) > 1:
            raise DoesNotCompose("several periods")
        if not events and any(item.first < periods[0].first for _, item in self._happened()):
            raise DoesNotCompose("what happened in this period is said before it")
        when: When = whens[0][0]  # type: ignore[assignment]
        fiscal = [c.name for c in self.meanings.table.columns if "fiscal" in self.meanings.names[c.name]]
        if fiscal and column and _whole_years(when) and not events:
            raise NeedsClarification("which year", (fiscal[0], column))
        self.take(*periods, *events)
        if column is None:
            self._year_condition(when, periods[0])
            return
        self.conditions.append((Cond(within(column, when), date=column), (*events, *periods, *dating)))

    def _happened(self) -> Iterator[tuple[str, Item]]:
        """The dates that are only asked to be known, as in flats that were let."""
        dates = {column.name for column in self.meanings.dates}
        for condition, items in self.conditions:
            match condition.condition:
                case Not(part=Missing(of=Column(name=name))) if name in dates and items:
                    yield name, items[0]

    def _only_dates(self, item: Item) -> None:
        """Tickets raised by month: an event that every row has only says which date counts."""
        column: SchemaColumn = item.value.column  # type: ignore[attr-defined]
        if column.nulls:
            raise DoesNotCompose("an event without a time")
        self.penalty += 0 if any(g.time for g, _ in self.groups) else 0.2  # it says nothing: open tasks are no event
        self.axes.add(column.name)
        self.take(item)

    def _date(self, events: list[Item]) -> str | None:
        told = {event.value.column.name for event in events}  # type: ignore[attr-defined]
        if len(told) > 1:
            raise DoesNotCompose("two events")
        told = told or self.axes or {g.name for g, _ in self.groups if g.named} or self._dates_of_measures()
        if len(told) == 1:
            return str(next(iter(told)))
        return self.meanings.main_date.name if self.meanings.main_date else None

    def _dates_of_measures(self) -> set[str]:
        """The date whose name has the verb of the question: `what was paid last month` goes by the date of payment."""
        bases: list[Any] = [*(m.base for m, _ in self.measures), *(i.value for i in self.all("field"))]
        named = [getattr(base, "name", "") for base in bases]
        found = self._dates_called_like(named)
        if not found:  # outcomes of one type in 2025: by the date of the outcome
            inside = [name for measure, _ in self.measures for name in columns_of(measure.expression)]
            found = self._dates_called_like([*(c.column or "" for c, _ in self.conditions), *inside])
            found |= self._dates_of_events()
        events = self.meanings.events
        visited = events.get("visit") or events.get("check_in")
        numbers = any(base is not None and base.meaning in NUMBERS for base in bases)
        if not found and numbers and visited and not visited.nulls and self.meanings.main_date == events.get("book"):
            found.add(visited.name)  # money is spent on the visit, not when it was booked
        return found

    def _dates_of_events(self) -> set[str]:
        """Installs in 2025, where `installed` is a value: by the date of the installation."""
        said = [items for c, items in self.conditions if c.column] + [items for _, items in self.measures]
        said += [self.rank[1]] if self.rank and self.all("who") else []  # who fixed the most of them in 2025
        found = {name for items in said for item in items for name in self._events_in(item)}
        return found if len(found) == 1 else set()

    def _events_in(self, item: Item) -> Iterator[str]:
        for place in range(item.first, item.last):
            for category, value in self.meanings.lexicon.find(self.words, place, place + 1):
                column = self.meanings.events.get(value) if category == "event" else None
                if column is not None:
                    yield column.name
            word = self.words[place]  # merge requests are not merged
            same = {word.lower} | ({word.stem} if is_russian(word.lower) else set())
            yield from (c.name for c in self.meanings.dates if same & {*c.verbs, *map(stem, c.verbs)})

    def _dates_called_like(self, names: Iterable[str]) -> set[str]:
        known = self.meanings.names
        said = {word for name in names for word in known.get(name, ())} - GENERIC
        return {c.name for c in self.meanings.dates if said & {*known[c.name]}}

    def _year_condition(self, when: When, item: Item) -> None:
        years = [c for c in self.meanings.table.columns if self.meanings.of[c.name] == "year"]
        period = when.period
        if len(years) != 1 or not _whole_years(when):
            raise DoesNotCompose("no dates")
        of = Column(name=years[0].name)
        span = tuple(range(period.start.year, period.end.year))
        if len(span) != 1:
            raise DoesNotCompose("several years")
        self.conditions.append((Cond(Compare(left=of, operator="=", right=Constant(value=span[0]))), (item,)))

    def _compares(self) -> bool:
        if self.all("versus", "compared", "change") or any(m.sides for m, _ in self.measures):
            return True
        first, last = self.all("period")
        return says_twice(self.text, self.words[first.first].start, self.words[last.last - 1].end)

    # comparisons of values

    def _than(self) -> None:
        """Do women stay longer than men: two values, on both sides of `than`."""
        for item in self.all("than"):
            plain = [(c, i) for c, i in self.conditions if c.is_plain]
            pairs = [
                (left, right)
                for left in plain
                for right in plain
                if left[1][0].first < item.first <= right[1][0].first and left[0].column == right[0].column
            ]
            made = self.builders.versus(pairs[0][0][0], pairs[0][1][0]) if len(pairs) == 1 else None
            if made is None:
                raise DoesNotCompose("than what?")
            both = {id(side[0]) for side in pairs[0]}
            self.conditions = [(c, i) for c, i in self.conditions if id(c) not in both]
            self.conditions.append((made, (*pairs[0][0][1], *self.take(item), *pairs[0][1][1])))
        for item in self.all("comparative"):
            self._comparative(str(item.value.value), item)  # type: ignore[attr-defined]

    def _comparative(self, kind: str, item: Item) -> None:
        """Longer, more often: by how long, by how many of them."""
        if not any(c.versus for c, _ in self.conditions):
            raise DoesNotCompose("more than what?")
        bare = [i for i in self.all("field") if i.value.meaning in NUMBERS]  # type: ignore[attr-defined]
        if kind == "often":
            happened = [(c, i) for c, i in self.conditions if not c.versus and not c.date]
            made = self.builders.condition_rate(happened[0][0]) if len(happened) == 1 else None
            if made is None or self.measures:
                raise DoesNotCompose("what happens more often?")
            self.conditions.remove(happened[0])
            self.measures.append((made, (*happened[0][1], *self.take(item))))
        elif self.measures or bare:
            self.take(item)
        else:
            raise DoesNotCompose("more of what?")

    def _compared_values(self) -> None:
        for condition, items in self.conditions:
            if condition.versus:
                self.groups.append((self._values_group(condition), items))
        if self.all("compared") and not any(c.versus for c, _ in self.conditions) and not self.groups:
            self._listed_sides()
        loose = [i for i in self.all("versus") if i not in self.used]
        if loose:
            raise DoesNotCompose("a comparison of nothing")

    def _listed_sides(self) -> None:
        """Compare the west and the east: the values are the sides."""
        for condition, items in self.conditions:
            if condition.column and len(condition.values) > 1 and not condition.negated:
                self.groups.append((Group(condition.column), items))
                return

    def _values_group(self, condition: Cond) -> Group:
        if not condition.weekday:
            return Group(condition.column or "")
        parts = condition.condition.parts if isinstance(condition.condition, AnyOf) else (condition.condition,)
        return Group("part of the week", Cases(conditions=tuple(parts), values=tuple(str(v) for v in condition.values)))

    # shares

    def _shares(self) -> None:
        shares = self.all("share")
        if not shares:
            return
        if len(shares) > 1:
            raise DoesNotCompose("two shares")
        item = shares[0]
        if not isinstance(item.value, ShareOf):
            raise DoesNotCompose("a share of nothing")
        of, by = item.value.of, item.value.by
        self.take(item)
        self.groups += [(by, (item,))] if by else []
        if self.rank is not None and self.rank[0].limit is not None:
            self._share_of_best(of, item)
            return
        after = [(c, i) for c, i in self.conditions if self._is_numerator(c, i, item)]
        if after:
            where = _all([c.condition for c, _ in after])
            if any(group.name in columns_of(where) for group, _ in self.groups):
                raise DoesNotCompose("all or nothing of each group")  # paid orders by whether they are paid
            self.conditions = [(c, i) for c, i in self.conditions if (c, i) not in after]
            known = [c.known for c, _ in after if c.known is not None]
            whole = under(of.expression, _all(known)) if known else of.expression
            ratio = Arithmetic(operator="/", left=under(of.expression, where), right=whole)
            items = (item, *(x for _, i in after for x in i))
            self.measures.insert(0, (Measure(ratio, f"share of {of.name}"), items))
        elif self.groups or self.ask:
            self.measures.insert(0, (Measure(Share(of=of.expression), f"share of {of.name}"), (item,)))
        else:
            raise NeedsClarification("a whole", self._names_of("category"), said=self.said(item).split()[0])

    def _share_of_best(self, of: Measure, item: Item) -> None:
        """The share that the ten biggest vendors have."""
        assert self.rank is not None
        rank, items = self.rank
        if rank.by is not None and not self._same_by(rank.by, of):
            raise DoesNotCompose("a share of the best")
        best = self._total_of_best(of, rank, rank.target, items)
        ratio = Arithmetic(operator="/", left=best, right=Aggregate(function="sum", of=best.of))
        self.measures.insert(0, (Measure(ratio, f"share of {of.name}"), (item, *items)))

    def _total_of_best(self, of: Measure, rank: Rank, target: Target | None, items: tuple[Item, ...]) -> Aggregate:
        """The sum of a number that each thing has, over the first of them."""
        key = self._target_group(target) if target else None
        if key is None or key.expression or key.time or rank.limit is None or self.groups or self.ask:
            raise DoesNotCompose("a number of the best together")
        column = Column(name="its number")
        each = Each(keys=(key.name,), measures=(EachMeasure(name=column.name, expression=of.expression),))
        self.each = Part("each:thing", each, items)
        self._known_only(key.name)
        self.rank = None
        best = Among(of=column, limit=rank.limit, direction=_direction(rank.direction))
        return Aggregate(function="sum", of=column, where=best)

    def _best_together(self, rank: Rank, by: Field | Measure | None, target: Target, items: tuple[Item, ...]) -> None:
        """The revenue of the top ten customers altogether: one number, which is the sum of theirs."""
        of = self._rank_measure(rank, by)
        asked = [measure.expression for measure, _ in self.measures]
        adds_up = isinstance(of.expression, Rows) or (
            isinstance(of.expression, Aggregate) and of.expression.function in ("sum", "count")
        )
        if not adds_up or not asked or any(one != of.expression for one in asked):
            raise DoesNotCompose("a number of the best together that is not ranked by")
        said = [item for _, own in self.measures for item in own]
        total = self._total_of_best(of, rank, target, items)
        self.measures = [(Measure(total, of.name), tuple(dict.fromkeys((*items, *said))))]

    def _described_by(self, item: Item, value: Field) -> int | None:
        """The place of the condition in a closed account, where columns are called account status and account type."""
        own = self.meanings.names.get(value.name, ())
        for place, (condition, items) in enumerate(self.conditions):
            other = self.meanings.names.get(condition.column or "", ())
            if items[-1].last == item.first and {*own} & {*other} and condition.column != value.name:
                return place
        return None

    def _whose_rows(self, item: Item, value: Field) -> int | None:
        """The place of the condition in profit for corporate customers, where customers have names."""
        noun = self.words[item.first]
        plural = item.length == 1 and noun.lower != noun.stem and value.whole
        if value.meaning != "name" or not plural or self.all("count"):
            return None
        return next((place for place, (_, i) in enumerate(self.conditions) if i[-1].last == item.first), None)

    def _is_numerator(self, condition: Cond, items: tuple[Item, ...], share: Item) -> bool:
        """Conditions behind the whole; a period and conditions right behind the things limit both."""
        if condition.versus or condition.date:
            return False
        if any(item.first < share.first for item in items):
            return True
        if self.meanings.shares_limit and self.groups and items[-1].last <= share.last:
            return False
        helping = self.words[share.last].lower in ("do", "does", "did") if share.last < len(self.words) else False
        if helping and any(i[0].first == share.last + 1 for _, i in self.groups):
            return False  # the share that each region has, of those rows
        between = self.words[share.last : items[0].first]
        others = [c for c, i in self.conditions if c is not condition and i[0].first > share.first and not c.date]
        describes = not any(word.lower in VERBS for word in between)
        return not (others and describes and any(word.lower in VERBS for word in self.words[items[-1].last :]))

    # phrases that say what they are only together with the rest

    def _bare(self) -> None:
        has_measure = bool(self.measures) or (self.rank is not None and self.rank[0].by is not None)
        has_measure = has_measure or (self.rank is None and bool(self.all("by_measure")))
        ranked_by = self.rank is not None and self.rank[0].by is None
        find = self.meanings.lexicon.find
        for item in self.all("field"):
            value: Field = item.value  # type: ignore[assignment]
            joined = any(self._is_joined(items[-1], item) for _, items in self.measures)
            if value.meaning in NUMBERS and self._groups_numbers(value) and not joined:
                self.groups.append((Group(value.name), self.take(item)))
                self.penalty += 0.3
            elif value.meaning in NUMBERS and self._lists_rows() and value.column is not None:
                self.show.append((value.name, self.take(item)))
            elif value.meaning in NUMBERS:
                if item.first and any(kind == "per" for kind, _ in find(self.words, item.first - 1, item.first)):
                    raise DoesNotCompose("one number for each of another, which is no number beside it")
                measure = self._also_measured(value, item) or self.builders.usual(value)
                if measure is None:
                    raise DoesNotCompose("not a measure")
                if ranked_by and self.rank is not None and not any(True for m, _ in self.measures):
                    self.rank = (replace(self.rank[0], by=value, judged=False), (*self.rank[1], *self.take(item)))
                    ranked_by, has_measure = False, True
                    continue
                before = find(self.words, item.first - 1, item.first) if item.first else ()
                if any(kind == "superlative" for kind, _ in before):
                    raise DoesNotCompose("the highest of this number, and ranked by another")
                self.measures.append((measure, self.take(item)))
                has_measure = True
        self._ranks_rows_of_list()
        for item in self.all("field"):
            value = item.value  # type: ignore[assignment]
            if item in self.used:
                continue
            if self._is_subject(item):
                raise DoesNotCompose("what it does, not what it is split by")
            if is_russian(self.words[item.first].lower) and any(i[-1].last == item.first for _, i in self.measures):
                raise DoesNotCompose("whose it is, not what it is split by")
            if item.score < SAID and any(thing.first == item.last for thing in self.all("thing")):
                raise DoesNotCompose("a word that may be short for a column, before a thing: repeat guests")
            if (place := self._described_by(item, value)) is not None:
                condition, items = self.conditions[place]
                self.conditions[place] = (condition, (*items, *self.take(item)))
                continue
            if value.meaning == "flag" and not self.all("split"):
                self.penalty += 0.4  # the dumped batches, rather than whether batches were dumped
            if self._ranks_rows() or self._lists_rows():
                self.show.append((value.name, self.take(item)))
            elif value.meaning in ("category", "flag", "year") and self.all("count") and not self.all("split"):
                raise DoesNotCompose("how many of which?")
            elif value.meaning in ("category", "flag", "year") and (
                has_measure or self.having or self.all("count", "split", "thing", "distribution", "chart")
            ):
                self.groups.append((Group(value.name), self.take(item)))
                self.penalty += 0.2 if self.all("split") else 0.6
            elif value.meaning == "date" and (self.all("over_time", "grain") or self._lines()):
                self.groups.append((Group(value.name, time=True), self.take(item)))
            elif self.groups and self.all("distribution", "split", "chart") and self.builders.names_rows(value):
                self.measures.append((self.builders.rows_counted(), self.take(item)))  # a chart of models by country
            elif self.ask is not None or self.all("list"):
                self.show.append((value.name, self.take(item)))
            elif has_measure and (place := self._whose_rows(item, value)) is not None:
                condition, items = self.conditions[place]
                self.conditions[place] = (condition, (*items, *self.take(item)))
            else:
                raise DoesNotCompose(f"what of {value.name}?")

    def _is_subject(self, item: Item) -> bool:
        """True if a thing is the subject of a verb: `what did the goods cost`."""
        before = [word.lower for word in self.words[: item.first]]
        while before and before[-1] in ARTICLES:
            before.pop()
        return bool(before) and before[-1] in AUXILIARIES

    def _ranks_rows_of_list(self) -> None:
        """The longest stay: its id and place. The row that has it, with these columns."""
        rank = self.rank[0] if self.rank else None
        ids = [i for i in self.all("field") if i.value.meaning in ("identifier", "name")]  # type: ignore[attr-defined]
        if self.rank and rank and rank.target is None and isinstance(rank.by, Field) and ids and not self.ask:
            rows = Target(Thing(self.meanings.entities[0]))
            self.rank = (replace(rank, target=rows), self.rank[1])

    def _also_measured(self, value: Field, item: Item) -> Measure | None:
        """Average price and rating: the function goes for both."""
        for measure, items in self.measures:
            made = measure.expression
            if measure.usual or not isinstance(made, Aggregate) or made.where or made.percent or measure.counts:
                continue
            if self._is_joined(items[-1], item):
                return self.builders.function_of_field(Mark("function", made.function), value)
        return None

    def _is_joined(self, left: Item, right: Item) -> bool:
        return left.last <= right.first and self._gap(left, right).strip(" ,&") in ("", "and", "и")

    def _gap(self, left: Item, right: Item) -> str:
        """The text between two phrases."""
        return self.text[self.words[left.last - 1].end : self.words[right.first].start]

    def _groups_numbers(self, value: Field) -> bool:
        """A whole number with few values, beside a measure: rooms beside the rent."""
        column = value.column
        whole = column is not None and "int" in column.type.lower() and (column.cardinality or 99) <= 12
        spread = bool(self.all("distribution")) or any(m.base != value for m, _ in self.measures)
        spread = spread or any(isinstance(item.value, Measure) for item in self.all("by_measure"))
        return whole and value.meaning == "rate" and spread

    def _rows_before(self, item: Item) -> bool:
        """Rows are asked for, and a list of columns follows."""
        things = [i for i in self.all("thing") if i.value.entity.is_rows and i.first < item.first]  # type: ignore[attr-defined]
        return bool(self.all("list") and things)

    def _lists_rows(self) -> bool:
        target = self.ask[0].target if self.ask and not self.rank else None
        return target is not None and isinstance(target.value, Thing) and target.value.entity.is_rows

    def _ranks_rows(self) -> bool:
        target = self.rank[0].target if self.rank else None
        if target is None and self.rank and self.ask:
            target = self.ask[0].target
        return target is not None and isinstance(target.value, Thing) and target.value.entity.is_rows

    def _functions(self) -> None:
        """On average, said apart from what is averaged."""
        for item in self.all("if_any"):
            self._if_any(item)
        if len(self.all("function")) > 1:
            raise DoesNotCompose("one function too many")
        for item in self.all("function"):
            value: Mark = item.value  # type: ignore[assignment]
            if (
                self.measures
                and value.value == "mean"
                and all(isinstance(m.expression, Arithmetic) for m, _ in self.measures)
            ):
                self.measures = [(measure, (*items, item)) for measure, items in self.measures]
                self.take(item)
                continue
            places = [
                place
                for place, (m, _) in enumerate(self.measures)
                if m.base is not None and (m.usual or getattr(m.expression, "function", "") == "sum")
            ]
            made = [self.builders.function_of_field(value, self.measures[p][0].base) for p in places]  # type: ignore[arg-type]
            if not places or any(measure is None for measure in made):
                raise DoesNotCompose("the average of nothing")
            for place, measure in zip(places, made, strict=True):
                self.measures[place] = (measure, (*self.measures[place][1], item))  # type: ignore[assignment]
            self.take(item)

    def _average_of_periods(self) -> None:
        """The average charge per day may be one of days or of rows; `by day` asks for one of each day."""
        cuts = [items for group, items in self.groups if group.time and group.grain and items]
        each = [items for items in cuts if EACH_PERIOD.search(self.said(*items).lower())]
        match self.measures:
            case [(Measure(expression=Aggregate(function="mean", of=Column(name=name), where=None), usual=False), _)]:
                if len(each) == 1 and self.meanings.of.get(name) in ("amount", "count"):
                    raise DoesNotCompose("an average of periods or of rows")

    def _if_any(self, item: Item) -> None:
        """The average fine where there is one."""
        bases = [m.base for m, _ in self.measures if m.base is not None and m.base.column is not None]
        if len(bases) != 1 or len(self.measures) != 1:
            raise DoesNotCompose("if there is what?")
        some = Compare(left=bases[0].expression, operator=">", right=Constant(value=0))
        self.conditions.append((Cond(some), self.take(item)))

    # rankings

    def _ranking(self) -> None:
        for item in self.all("by_measure"):
            things = [i for i in self.all("thing") if i not in self.used]
            if self.rank is None and len(things) == 1 and isinstance(item.value, Measure) and not self.groups:
                self.groups.append((self._target_group(Target(things[0].value)), self.take(*things)))  # type: ignore[arg-type]
            if self.rank is None and self.groups and not self.measures and isinstance(item.value, Measure):
                self.measures.append((item.value, self.take(item)))  # regions by total sales
                continue
            if self.rank is None or (self.rank[0].by is not None and not self._same_by(self.rank[0].by, item.value)):
                raise DoesNotCompose("by what no ranking goes")
            self.rank = (replace(self.rank[0], by=item.value, judged=False), (*self.rank[1], *self.take(item)))  # type: ignore[arg-type]
        if self.rank is None:
            self._orders()
            return
        rank, items = self.rank
        if self.ask is not None and self.ask[0].limit is not None:
            if rank.limit not in (None, 1):
                raise DoesNotCompose("two limits")
            rank = replace(rank, limit=self.ask[0].limit)
        elif rank.limit == 1 and rank.target is not None and self._names_several(items[0]):
            rank = replace(rank, limit=None)  # top stores: all of them, the best first
        target = rank.target
        if target is None and self.ask is not None:
            target, items = self.ask[0].target, (*items, *self.ask[1])
            self.ask = None
        elif self.ask is not None and target is not None:
            asked = self.ask[0].target
            if asked is None or self.ask[0].person or asked.value == target.value:
                items = (*items, *self.ask[1])
                self.ask = None
            elif isinstance(asked.value, Field):
                self.show.append((asked.value.name, self.ask[1]))
                self.ask = None
            else:
                raise DoesNotCompose("a ranking and another question")
        things = [i for i in self.all("thing") if i not in self.used and not self.all("count")]
        if target is None and things:
            target = Target(things[0].value)  # type: ignore[arg-type]
            items = (*items, *self.take(things[0]))
        by = rank.by
        if by is None and self.measures and rank.limit is not None:
            by = self.measures[0][0]
        if self._is_of_one_row(rank, target) and isinstance(by, Field) and not self.groups:
            self._told_beside(target)
            self._extreme_rows(rank, by, items)
            return
        if target is not None and self.groups and self._is_chosen_first(items[0]):
            raise DoesNotCompose("the best of them first, then split")
        if rank.limit is None:
            if rank.judged and by is None and not self.measures:
                raise NeedsClarification("by what", self._measure_names())
            if target is not None:
                self.groups.append((self._target_group(target), items))
            self._sort(replace(rank, by=by), items)
            return
        if target is None:
            self._extreme(rank, by, items)
            return
        value = target.value
        together = rank.limit > 1 and asks_together(self.words)
        if isinstance(value, Thing) and value.entity.is_rows:
            if together:
                raise DoesNotCompose("a number of the best rows together")
            self._extreme_rows(rank, by, items)
            return
        if together:
            self._best_together(rank, by, target, items)
            return
        group = self._target_group(target)
        within_groups = [g for g, _ in self.groups]
        if group in within_groups:
            within_groups.remove(group)
        else:
            self.groups.append((group, items))
            self._named_too(target, items)
            self._known_only(group.name)
        measure = self._rank_measure(rank, by)
        if not any(m.expression == measure.expression for m, _ in self.measures):
            self.measures.insert(0, (measure, () if measure.default else items))
        rank_by = None if self.measures[0][0].expression == measure.expression else measure.expression
        self.order = RankAsked(
            direction=rank.direction,
            limit=rank.limit,
            by=rank_by,
            within=tuple(g.name for g in within_groups),
        )
        self.order_items = items

    def _is_of_one_row(self, rank: Rank, target: Target | None) -> bool:
        """The highest single reading, the highest rate ever, or when it was: one row has it."""
        if rank.limit != 1 or not isinstance(rank.by, Field):
            return False
        values = {place for _, items in self.conditions for item in items for place in range(item.first, item.last)}
        said = {word.lower for place, word in enumerate(self.words) if place not in values}
        if "single" in said or (said & EVER and target is not None and rank.by.meaning == "rate"):
            return True
        if rank.target is not None or not said & {"when", "когда"}:
            return False
        if rank.by.meaning != "rate":
            raise DoesNotCompose("when the total of which days or months was the highest?")
        return True

    def _told_beside(self, target: Target | None) -> None:
        """Further columns of the row: its date, if asked for, and those that are named."""
        date_ = self.meanings.main_date
        if {word.lower for word in self.words} & {"when", "когда"}:
            if date_ is None:
                raise DoesNotCompose("no dates")
            self.show.append((date_.name, ()))
        match target.value if target else None:
            case Field(column=SchemaColumn(name=name)):
                self.show.append((name, ()))
            case Thing(entity=entity) if entity.column is not None:
                self.show.append((entity.column.name, ()))
            case None:
                pass
            case _:
                raise DoesNotCompose("more than a row has")

    def _is_chosen_first(self, item: Item) -> bool:
        """For the two best regions, with a split by something else."""
        before = [word.lower for word in self.words[: item.first] if word.lower not in ARTICLES]
        return bool(before) and before[-1] in CHOOSING

    def _names_several(self, item: Item) -> bool:
        """The noun behind top or best is a plural."""
        skipped = TOPS | self.meanings.lexicon.structure
        nouns = [w.lower for w in self.words[item.first : item.last] if w.lower not in skipped and not w.is_number]
        rows = self.meanings.entities[0].nouns
        named = [noun for noun in nouns if stem(noun) not in rows] or nouns  # the best sales channel is one
        word = named[0] if len(nouns) < item.length and named else ""
        ending = word.endswith("s") and not word.endswith("ss")
        return ending or word.endswith(("ов", "ев", "ей", "ам", "ы", "и"))

    def _same_by(self, left: Measure | Field, right: object) -> bool:
        """Best selling, by revenue: said twice."""
        made = [self.builders.measured(side) for side in (left, right)]
        return all(m is not None for m in made) and made[0].expression == made[1].expression  # type: ignore[union-attr]

    def _rank_measure(self, rank: Rank, by: Measure | Field | None) -> Measure:
        if by is None:
            if rank.judged:
                raise NeedsClarification("by what", self._measure_names())
            unclear = self.builders.amount is not None or self._says_other_deed()
            if not self._assumes("count_rows") or (unclear and not self._counts_said()):
                raise NeedsClarification("by what", self._measure_names())
            return self._rows_counted()
        if isinstance(by, Measure):
            return by
        adjective = any(item.category == "rank" for item in self.rank[1]) if self.rank else False
        if by.meaning == "date":
            function = "max" if rank.direction == "top" else "min"
            return Measure(Aggregate(function=function, of=by.expression), by.name, base=by)
        if (
            by.meaning == "rate"
            and adjective
            and rank.target is not None
            and by.column is not None
            and "price" in self.meanings.names[by.column.name]
        ):
            function = "max" if rank.direction == "top" else "min"
            return Measure(Aggregate(function=function, of=by.expression), by.name, base=by)
        measure = self.builders.usual(by)
        if measure is None:
            raise DoesNotCompose("ranked by no number")
        return measure

    def _says_other_deed(self) -> bool:
        """Who sells most, where the rows are no sales."""
        known = frozenset[str]().union(*self.meanings.lexicon.row_verbs.values())
        return any(word.stem in known and not self.meanings.is_row_verb(word) for word in self.words)

    def _counts_said(self) -> bool:
        return bool(self.all("count"))

    def _measure_names(self) -> tuple[str, ...]:
        return self._names_of(*NUMBERS)

    def _names_of(self, *kinds: str) -> tuple[str, ...]:
        return tuple(c.name for c in self.meanings.table.columns if self.meanings.of[c.name] in kinds)

    def _target_group(self, target: Target) -> Group:
        value = target.value
        match value:
            case Field(column=column) if column is not None and value.meaning not in ("date",):
                return Group(value.name)
            case Field(meaning="date"):
                return Group(value.name, time=True, grain="day")
            case Thing(entity=entity):
                if entity.column is None:
                    raise DoesNotCompose("rows are no groups")
                if entity.column.name in self.meanings.foreign:
                    raise NamesElsewhere
                return Group(entity.column.name)
            case Unit():
                made = self.builders.at_grain(value)
                if made is None:
                    raise DoesNotCompose("no dates")
                return made
            case PartOfDate():
                made = self.builders.part_group(value)
                if made is None:
                    raise DoesNotCompose("no hours")
                return made
        raise DoesNotCompose("ranks nothing")

    def _known_only(self, column: str) -> None:
        """Among the best stores there is none without a name."""
        known = self.meanings.table.find(column)
        if known is not None and known.nulls and (known.kind == "text" or self.meanings.of[column] == "identifier"):
            self._leave_out_missing(Column(name=column))

    def _leave_out_missing(self, of: Expression) -> None:
        if self._assumes("known_names"):
            self.conditions.append((Cond(Not(part=Missing(of=of)), default="known_names"), ()))

    def _assumes(self, default: Default) -> bool:
        """True unless the model file switches it off for the table."""
        return default in self.meanings.table.assume

    def _named_things(self) -> None:
        """A group by the id of a thing shows what the thing is called, too."""
        of_ids = {e.column.name: e for e in self.meanings.entities if e.column is not None}
        shown = {group.name for group, _ in self.groups}
        for group, items in tuple(self.groups):
            if group.expression is None and group.name in of_ids and self.each is None:
                names = [c.name for c in self.meanings.name_columns(of_ids[group.name]) if c.name not in shown]
                self.groups += [(Group(name), items) for name in names]

    def _named_too(self, target: Target, items: tuple[Item, ...]) -> None:
        """Things by id are shown with their names; two may be called the same."""
        if isinstance(target.value, Thing) and not target.value.entity.is_rows:
            for column in self.meanings.name_columns(target.value.entity):
                self.groups.append((Group(column.name), items))

    def _names_alone(self) -> None:
        """Where each id has a name of its own, the name tells the things apart, unless the question speaks of ids."""
        used = [m.expression for m, _ in self.measures] + [c.condition for c, _ in self.having]
        used += [self.order.by] if self.order is not None and self.order.by is not None else []
        ids = frozenset[str]().union(*map(columns_of, used))
        names = self._names_by_id([g.name for g, _ in self.groups] if self.each is None else [])
        names = {column: name for column, name in names.items() if column not in ids}
        self.groups = [(group, items) for group, items in self.groups if group.name not in names]
        if self.order is not None and names:
            within = tuple(dict.fromkeys(names.get(name, name) for name in self.order.within))
            self.order = self.order.model_copy(update={"within": within})
        if self.distinct:
            listed = self._names_by_id(self.columns)
            self.columns = tuple(name for name in self.columns if name not in listed)

    def _names_by_id(self, shown: Iterable[str]) -> dict[str, str]:
        """Of the columns shown, those that name the ids of another one to one, by that one."""
        said = {word.stem for word in self.words}
        columns = filter(None, map(self.meanings.table.find, shown))
        named = {column.one_for_each: column.name for column in columns if column.one_for_each}
        last = {column: (split_name(column) or ("",))[-1] for column in named}
        return {c: name for c, name in named.items() if last[c] not in IDENTIFYING or stem(last[c]) not in said}

    def _extreme(self, rank: Rank, by: Measure | Field | None, items: tuple[Item, ...]) -> None:
        """The highest score itself, or of the groups the one that has it; of several, the rows that have them."""
        if rank.limit != 1:
            if self.groups or self.measures:
                raise DoesNotCompose("so many of which?")
            self._extreme_rows(rank, by, items)
            return
        if isinstance(by, Field) and not self.measures:
            function = "max" if rank.direction == "top" else "min"
            self.measures.append((Measure(Aggregate(function=function, of=by.expression), by.name, base=by), items))
            self.rank = None
            return
        raise DoesNotCompose("the most of nothing")

    def _extreme_rows(self, rank: Rank, by: Measure | Field | None, items: tuple[Item, ...]) -> None:
        """The rows themselves, by the number that was said."""
        base = by if isinstance(by, Field) else by.base if isinstance(by, Measure) else None
        if base is None:
            if by is None:
                raise NeedsClarification("by what", self._measure_names())
            raise DoesNotCompose("rows have no such number")
        if (
            isinstance(by, Measure)
            and isinstance(by.expression, Aggregate)
            and not by.usual
            and by.expression.function not in ("max", "min")
        ):
            raise DoesNotCompose("rows have no averages")
        for measure, more in self.measures:  # what is said beside it is shown
            if measure.base is not None and measure.base.column is not None and measure.usual:
                self.show.append((measure.base.name, more))
            elif not isinstance(by, Measure) or measure.expression != by.expression:
                raise DoesNotCompose("rows have no such number")
        names = [c.name for c in self.meanings.name_columns(self.meanings.entities[0])]
        keys = [key[0] for key in self.meanings.table.keys if len(key) == 1]
        shown = [*names[:3]] or keys[:1]
        shown += [name for name, _ in self.show if name not in shown]
        if base.column is not None and base.name not in shown:
            shown.append(base.name)
        if not shown:
            shown = [c.name for c in self.meanings.table.columns[:12]]
        within_groups = [g.name for g, _ in self.groups]
        self.columns = tuple(dict.fromkeys([*within_groups, *shown]))
        self.columns_items = (
            *items,
            *(i for _, more in self.show for i in more),
            *(i for _, more in self.groups for i in more),
        )
        self.groups = []
        self.measures = []
        self.order = RankAsked(
            direction=rank.direction, limit=rank.limit, by=base.expression, within=tuple(within_groups)
        )
        self.order_items = items

    def _sort(self, rank: Rank, items: tuple[Item, ...]) -> None:
        measure = rank.by if isinstance(rank.by, Measure) else self.builders.usual(rank.by) if rank.by else None
        if measure is not None and not self.measures:
            self.measures.append((measure, items))
        same = measure is None or any(m.expression == measure.expression for m, _ in self.measures)
        self.order = RankAsked(
            direction=rank.direction,
            by=None if same or measure is None else measure.expression,
        )
        self.order_items = items
        self.rank = None

    whole_rows: bool = False
    order: RankAsked | None = None
    order_items: tuple[Item, ...] = ()
    columns: tuple[str, ...] = ()
    columns_items: tuple[Item, ...] = ()
    date: str | None = None

    def _orders(self) -> None:
        orders = self.all("order")
        if orders:
            rank: Rank = orders[0].value  # type: ignore[assignment]
            worst = rank.judged and any(m.bad for m, _ in self.measures)
            up = (rank.direction == "top") != worst
            self.order = RankAsked(direction="top" if up else "bottom", limit=rank.limit)
            self.order_items = self.take(*orders)
            for group, _ in self.groups if rank.limit is not None else ():
                self._known_only(group.name)

    # questions: which, who, list

    def _asked(self) -> None:
        if any(item not in self.used for item in self.all("order")):
            self._orders()
        if self.ask is None:
            return
        ask, items = self.ask
        target = ask.target
        if ask.limit is not None:
            raise DoesNotCompose("which ones?")
        assert target is not None
        value = target.value
        self._summed_conditions(target)
        if isinstance(value, Field) and value.meaning in ("category", "name", "identifier", "flag", "year"):
            if self.measures or self.having:
                self.groups.append((Group(value.name), items))
            else:
                self._list([value.name, *(name for name, _ in self.show)], items, distinct=True)
        elif isinstance(value, Thing):
            self._ask_things(value, items)
        elif isinstance(value, Unit | PartOfDate) or (isinstance(value, Field) and value.meaning == "date"):
            if not self.having and not self.measures:
                raise DoesNotCompose("which day of what")
            self.groups.append((self._target_group(target), items))
        else:
            raise DoesNotCompose("asks for nothing")

    def _ask_things(self, thing: Thing, items: tuple[Item, ...]) -> None:
        entity = thing.entity
        names = [c.name for c in self.meanings.name_columns(entity)]
        if entity.is_rows and self.groups and not self.having and not self.show and not self.measures:
            self.measures.append((self.builders.count_things(thing), items))  # show the orders by month
            return
        if entity.is_rows:
            if self.having:
                raise DoesNotCompose("rows have no groups")
            measured = [m for m, _ in self.measures]
            if measured and not all(m.usual and m.base and m.base.column for m in measured):
                raise DoesNotCompose("rows and a measure")
            dated = {condition.date for condition, _ in self.conditions}  # jobs opened here in May
            chosen = [name for name, _ in self.show if name not in dated]
            shown = [*names, *chosen, *(m.base.name for m in measured if m.base)]
            if shown == names and thing.said != "who":
                shown = []  # nothing was chosen: the whole rows
                self.whole_rows = True
            items = (*items, *(i for _, more in self.measures for i in more))
            self.measures = []
            self._list(shown or [c.name for c in self.meanings.table.columns[:20]], items, distinct=False)
            return
        assert entity.column is not None
        key = entity.column.name
        if key in self.meanings.foreign:
            raise NamesElsewhere
        if self.having or self.measures:
            self.groups.append((Group(key), items))
            self._named_too(Target(thing), items)
            if entity.column.nulls:
                self._leave_out_missing(Column(name=key))
        else:
            self._list([key, *names, *(name for name, _ in self.show)], items, distinct=True)

    def _list(self, names: list[str], items: tuple[Item, ...], *, distinct: bool) -> None:
        self.columns = tuple(dict.fromkeys(names))
        self.columns_items = (*items, *(i for _, more in self.show for i in more))
        self.distinct = distinct

    def _summed_conditions(self, target: Target) -> None:
        """Stores with sales over 10k: the sales of a store are its total."""
        if isinstance(target.value, Thing) and target.value.entity.is_rows:
            return
        for condition, items in tuple(self.conditions):
            made = condition.condition
            if condition.column is None and isinstance(made, Compare) and isinstance(made.left, Column):
                known = self.meanings.of.get(made.left.name)
                right = made.right
                if known in ("amount", "count"):
                    new = Compare(
                        left=_sum(made.left),
                        operator=made.operator,
                        right=_sum(right) if isinstance(right, Column) else right,
                    )
                    self.conditions.remove((condition, items))
                    self.having.append((Cond(new, groups=True), items))

    # counting

    def _counting(self) -> None:
        counts = [item for item in self.all("count") if item not in self.used]
        things = [item for item in self.all("thing") if item not in self.used]
        if any(self._rows_before(item) for item in counts):
            raise DoesNotCompose("rows and a count")
        if counts and (self.columns or (self.order_items and self.rank and self.rank[0].limit is not None)):
            raise DoesNotCompose("counts and lists")
        if len({t.value for t in things}) > 1:
            rows = [t for t in things if t.value.entity.is_rows]  # type: ignore[attr-defined]
            if len(rows) != len(things):
                raise DoesNotCompose("two kinds of things")
        if counts and not self.measures:
            entity = things[0].value if things else self._people() or Thing(self.meanings.entities[0], "rows")
            made = self.builders.count_things(entity)  # type: ignore[arg-type]
            if not things:
                self.penalty += 0.3
            self.measures.append((made, self.take(*counts, *things[:1])))
        elif counts:
            raise DoesNotCompose("a count of nothing")
        for item in things:
            if item in self.used:
                continue
            thing: Thing = item.value  # type: ignore[assignment]
            if self.measures and self._is_measured_too(item):
                place = sum(items[0].first < item.first for _, items in self.measures if items)
                self.measures.insert(place, (self.builders.count_things(thing), self.take(item)))
            elif self.columns or self.measures:
                counted = [m for m, _ in self.measures if m.counts == thing.entity]
                if not thing.entity.is_rows and not counted and not self._describes(thing):
                    raise DoesNotCompose("things beside a measure")
                self.take(item)
            elif self.groups or self.sides:
                made = self.builders.count_things(thing)
                self.measures.append((made, self.take(item)))
            elif self.having:
                self.ask = (Ask(Target(thing)), self.take(item))
                self._asked()
            elif self.all("list"):
                self._ask_things(thing, self.take(item))
            elif self.conditions and thing.entity.is_rows and self.words[0].lower not in ("what", "что"):
                # orders last month: how many
                self.measures.append((self.builders.count_things(thing), self.take(item)))
                self.penalty += 0.3
            else:
                raise DoesNotCompose("what of the things?")
        self._counted_values()

    def _people(self) -> Thing | None:
        """Women and men are people, whatever the rows are."""
        said = any(self._says_sex(items) for _, items in self.conditions)
        return Thing(self.meanings.person, "people") if said and self.meanings.person else None

    def _counts_by_sex(self) -> bool:
        """How many women: nothing else is counted."""
        said = [word.lower for word in self.words]
        counted = [("how", "many"), ("number", "of"), ("count", "of")]
        first = [
            place for place in range(len(said)) if tuple(said[:place][-2:]) in counted or "сколько" in said[:place][-1:]
        ]
        return any(map(self._is_sex, first))

    def _says_sex(self, items: Sequence[Item]) -> bool:
        return any(self._is_sex(place) for item in items for place in range(item.first, item.last))

    def _is_sex(self, place: int) -> bool:
        return any(category == "sex" for category, _ in self.meanings.lexicon.find(self.words, place, place + 1))

    def _counted_values(self) -> None:
        """Adoptions in 2025 and 2024: a value that is said as several things is counted."""
        if self.measures or self.columns or self.having or self.rank or self.ask or not (self.groups or self.sides):
            return
        if self._counted_value() and self._assumes("count_rows"):
            self.measures.append((self._rows_counted(), ()))
            self.penalty += 0.2

    def _rows_counted(self) -> Measure:
        counted = self.builders.count_things(Thing(self.meanings.entities[0], "number"))
        return replace(counted, default="count_rows")

    def _is_unsaid(self) -> bool:
        """True if the question groups rows but never says what to measure: `paid out, by month`."""
        chosen = [c for c, _ in self.conditions if c.column and self.meanings.of.get(c.column) != "flag"]
        named = self.all("thing", "split", "distribution", "chart", "count", "event", "over_time")
        sums = [c for c in self.meanings.table.columns if self.meanings.of[c.name] in ("amount", "count")]
        return bool(self.groups and chosen and sums) and not named

    def _counted_value(self) -> tuple[Item, ...]:
        for condition, items in self.conditions:
            word = self.words[items[-1].last - 1].lower if items else ""
            plain = condition.column and condition.values and not condition.named and not condition.negated
            written = any(str(value).lower().endswith(word[-3:]) for value in condition.values)
            if plain and word.endswith("s") and not written and not self._says_sex(items):
                return items
        return ()

    def _is_measured_too(self, thing: Item) -> bool:
        """Loans and total fines: a number of things and a measure, side by side."""
        for items in (said for _, said in self.measures if said):
            for left, right in ((thing, items[0]), (items[-1], thing)):
                if left.last <= right.first and self._gap(left, right).strip() in ("and", "&", "и"):
                    return True
        return False

    def _describes(self, thing: Thing) -> bool:
        """`average score of students`: the rows of things; their scores, not the things, are averaged."""
        defined = [metric.expression for metric in self.meanings.metrics.values()]
        return all(
            m.base.meaning in NUMBERS if m.base is not None else m.expression in defined for m, _ in self.measures
        )

    # one level of nesting

    def _nested(self) -> None:
        if not self.having or self.groups:
            return
        if len(self.measures) != 1:
            raise DoesNotCompose("a condition on groups without groups")
        measure, items = self.measures[0]
        key = None
        match measure.expression:
            case Aggregate(function="count_distinct", of=Column(name=name), where=None):
                key = name
        if key is None:
            raise DoesNotCompose("a condition on groups without groups")
        measures: list[EachMeasure] = []
        wheres: list[Part] = []
        for number, (condition, more) in enumerate(self.having):
            compare = condition.condition
            assert isinstance(compare, Compare)
            name = f"its number {number + 1}" if number else "its number"
            measures.append(EachMeasure(name=name, expression=compare.left))
            own = compare.model_copy(update={"left": Column(name=name)})
            wheres.append(Part(f"filter:{name}", Filter(condition=own), more))
        self.each = Part("each:thing", Each(keys=(key,), measures=tuple(measures)), items)
        self.parts += wheres
        self.having = []
        self.measures = [(replace(measure, expression=Rows()), items)]

    def _once_each(self) -> None:
        """The volume of a batch counts once, however many rows repeat it."""
        if self.each is not None or self.columns or not self.meanings.once or not self._assumes("once_each"):
            return
        nodes = [node for measure, _ in self.measures for node in walk(measure.expression)]
        repeated = [self._repeated(node) for node in nodes if _weighs_rows(node)]
        if not any(repeated):
            return
        if len({*repeated}) > 1:
            raise DoesNotCompose("properties of things beside those of rows")
        key = str(repeated[0])
        used = {name for measure, _ in self.measures for name in columns_of(measure.expression)}
        for group, _ in self.groups:
            used |= columns_of(group.expression) if group.expression else {group.name}
        if key in used:
            return
        if self.having or (self.order is not None and self.order.by is not None):
            raise DoesNotCompose("an order of things with several rows")
        self.each = Part("each:thing", Each(keys=(key, *sorted(used))), (), ("once_each",))

    def _repeated(self, node: Node) -> str | None:
        """The key of the thing that all columns of the expression are properties of."""
        known = [self.meanings.table.find(name) for name in columns_of(node)]
        owners = {column.same_for_each if column else None for column in known}
        return owners.pop() if len(owners) == 1 else None

    # series

    def _series(self) -> None:
        trends = self.all("over_time")
        if (
            trends
            and not any(g.time for g, _ in self.groups)
            and not any(self.meanings.of.get(g.name) == "year" for g, _ in self.groups)
        ):
            self.groups.insert(0, (self._time_axis(), tuple(trends)))
        self._event_axis()
        self._listed_values()
        changes = [item for item in self.all("change") if item not in self.used]
        priors = [item for item in self.all("over_prior") if item not in self.used]
        if (changes or priors) and not self.measures:
            raise DoesNotCompose("a change of nothing")
        if priors:
            first, items = self.measures[0]
            made = self.builders.over_prior(priors[0].value, first)  # type: ignore[arg-type]
            if made is None:
                raise DoesNotCompose("a change of a change")
            self.measures[0] = (made, (*items, *self.take(*priors, *changes)))
            changes = []
        if changes:
            first, items = self.measures[0]
            self.measures[0] = (replace(first, sides=True), (*items, *self.take(*changes)))
        if self.sides:
            if not self._side_by_side():
                self._two_sides()
            return
        made_measures = []
        for measure, items in self.measures:
            if measure.sides:
                if not any(g.time for g, _ in self.groups):
                    raise DoesNotCompose("a change without times")
                measure = replace(
                    measure,
                    expression=Change(of=measure.expression, ratio=True),
                    sides=False,
                    name=f"{measure.name} growth",
                )
            made_measures.append((measure, items))
        self.measures = made_measures
        follows = [
            m for m, _ in self.measures if any(isinstance(p, Change | Running | Moving) for p in walk(m.expression))
        ]
        if not follows:
            return
        times = [place for place, (g, _) in enumerate(self.groups) if g.time]
        ordered = [g for g, _ in self.groups if not g.time]
        if not times:
            grain = next((m.grain for m in follows if m.grain), None)
            yearly = [g for g in ordered if "year" in g.name.lower() or "год" in g.name.lower()]
            if grain == "year" and yearly:
                return
            if grain is None or self.meanings.main_date is None:
                raise DoesNotCompose("a series without a time axis")
            items = next(i for m, i in self.measures if m is follows[0])
            self.groups.insert(0, (Group(self.meanings.main_date.name, grain=grain, time=True), items))
            self._event_axis()
            times = [0]
        group, items = self.groups[times[0]]
        grain = group.grain or next((m.grain for m in follows if m.grain), None)
        if grain is None:
            raise DoesNotCompose("a series without a grain")
        self.groups[times[0]] = (replace(group, grain=grain), items)
        known = self.meanings.table.find(group.name)
        if known is not None and known.nulls and all(c.date != group.name for c, _ in self.conditions):
            without = Cond(Not(part=Missing(of=Column(name=group.name))), default="known_names")
            self.conditions.append((without, ()))  # no place in the series
        if any(isinstance(p, Moving) for m in follows for p in walk(m.expression)):
            self._filter_groups(group.name, grain, times[0])

    def _named_days(self) -> None:
        """Days of the week by their names, from Monday to Sunday."""
        names = DAYS[language_of(self.text) == "ru"]
        for place, (group, items) in enumerate(self.groups):
            day = group.expression
            if not isinstance(day, DatePart) or day.part != "weekday":
                continue
            on = [Compare(left=day, operator="=", right=Constant(value=number)) for number in range(1, 8)]
            self.groups[place] = (replace(group, expression=Cases(conditions=tuple(on), values=names[:7])), items)
            if self.order is None:
                self.order = RankAsked(direction="bottom", by=Aggregate(function="min", of=day))
                self.order_items = items

    def _event_axis(self) -> None:
        """Tickets closed in 2025, by month: by the month in which they were closed."""
        main = self.meanings.main_date.name if self.meanings.main_date else None
        told = {c.date for c, _ in self.conditions if c.date} | self.axes or {name for name, _ in self._happened()}
        told = told or self._dates_of_measures()
        if len(told) != 1 or told == {main} or main is None:
            return
        column = told.pop()
        self.groups = [
            (
                replace(
                    g,
                    name=column if g.time and g.name == main and not g.named else g.name,
                    expression=_over(g.expression, main, column) if g.expression else None,
                ),
                i,
            )
            for g, i in self.groups
        ]
        self.conditions = [
            (replace(c, condition=_over(c.condition, main, column)) if c.weekday else c, i) for c, i in self.conditions
        ]
        if self.order is not None and any(g.time and g.name == column for g, _ in self.groups):
            within = tuple(column if name == main else name for name in self.order.within)
            self.order = self.order.model_copy(update={"within": within})

    def _listed_values(self) -> None:
        """Sales of furniture, books and toys over time: a line for each."""
        grouped = {g.name for g, _ in self.groups}
        if any(g.time for g, _ in self.groups) and self.measures:
            for condition, items in self.conditions:
                listed = len(condition.values) > 1 and not condition.negated and not condition.versus
                if (
                    listed
                    and condition.column
                    and condition.column not in grouped
                    and self.meanings.table.find(condition.column)
                ):
                    self.groups.append((Group(condition.column), items))
                    grouped.add(condition.column)

    def _time_axis(self) -> Group:
        axis = self._axis()
        if axis is None:
            raise DoesNotCompose("no time axis")
        return axis

    def _axis(self) -> Group | None:
        """The main date, or the only column of years."""
        if self.meanings.main_date is not None:
            return Group(self.meanings.main_date.name, time=True)
        years = self._names_of("year")
        return Group(years[0]) if len(years) == 1 else None

    def _filter_groups(self, column: str, grain: str, place: int) -> None:
        """The first days of a moving average look back beyond the period that is shown."""
        name = grain
        made: list[tuple[Cond, tuple[Item, ...]]] = []
        for condition, items in self.conditions:
            if condition.date == column:
                condition = replace(condition, condition=_over(condition.condition, column, name))
            made.append((condition, items))
        self.conditions = made
        items = self.groups[place][1]
        self.groups[place] = (Group(name, DateCut(of=Column(name=column), grain=grain), time=False), items)

    def _side_by_side(self) -> bool:
        """Compare the revenue in 2024 and 2025: one measure in two periods, each kept by its dates."""
        compared = self.all("compared", "versus") or [item for _, item in self.sides]
        whole = all(w.period.start != date.min and w.period.end != date.max for w, _ in self.sides)
        plain = len(self.measures) == 1 and not self.measures[0][0].sides and not self.all("change", "difference")
        laid_out = self.rank or self.having or self.each or self.order or any(g.time for g, _ in self.groups)
        if not (compared and whole and plain and self.date and not laid_out):
            return False
        match self.measures[0][0].expression:
            case Rows(where=None) | Aggregate(of=Column(), where=None, percent=None):
                for when, item in self.sides:
                    self.conditions.append((Cond(within(self.date, when), date=self.date), (item,)))
                self.asked.append(Part("analysis:compare", AnalysisAsked(label="compare"), tuple(compared)))
                return True
        return False

    def _two_sides(self) -> None:
        """Each period's value, and the change from the earlier to the later."""
        if self.date is None or not self.measures:
            raise DoesNotCompose("two periods of nothing")
        (left, left_item), (right, right_item) = sorted(self.sides, key=lambda side: side[0].period.start)
        changed: list[tuple[Measure, tuple[Item, ...]]] = []
        both = (left_item, right_item)
        for measure, items in self.measures:
            base = measure.expression
            early = under(base, within(self.date, left))
            late = under(base, within(self.date, right))
            name = measure.name.removesuffix(" change").removesuffix(" ratio")
            changed.append((Measure(late, f"{name} {right.period.phrase}"), (*items, *both)))
            changed.append((Measure(early, f"{name} {left.period.phrase}"), (*items, *both)))
            growth = Arithmetic(
                operator="-", left=Arithmetic(operator="/", left=late, right=early), right=Constant(value=1)
            )
            changed.append((Measure(growth, f"{name} growth"), (*items, *both)))
        self.measures = changed

    def _differences(self) -> None:
        """The gap between two sides: both values and what lies between them."""
        for item in self.all("difference"):
            if item in self.used:
                continue
            compared = [(c, i) for c, i in self.conditions if c.versus and c.column and len(c.values) == 2]
            if self.sides:
                self.take(item)
                continue
            if len(compared) != 1 or len(self.measures) != 1:
                raise DoesNotCompose("a difference of nothing")
            (condition, items), (measure, more) = compared[0], self.measures[0]
            sides = [
                under(measure.expression, one_of(condition.column or "", (v,)).condition) for v in condition.values
            ]
            gap = Arithmetic(operator="-", left=sides[0], right=sides[1])
            self.measures = [
                (Measure(gap, f"{measure.name} difference"), (*more, *items, *self.take(item))),
                *(
                    (Measure(side, f"{measure.name} {value}"), (*more, *items))
                    for side, value in zip(sides, condition.values, strict=True)
                ),
            ]
            self.groups = [(g, i) for g, i in self.groups if g.name != condition.column]

    def _still_waiting(self) -> None:
        """Open for more than 30 days: without an end, it lasts until today."""
        unknown = {c.condition.of for c, _ in self.conditions if isinstance(c.condition, Missing)}
        for place, (condition, items) in enumerate(self.conditions):
            match condition.condition:
                case Compare(left=Elapsed(start=start, end=end, unit=unit), right=Constant(value=int(count))) as made:
                    if end in unknown and unit in ("day", "week", "month", "year") and made.operator in EARLIER:
                        since = Constant(value=shift(self.builders.today, unit, -count).isoformat())
                        kept = Compare(left=start, operator=EARLIER[made.operator], right=since)
                        self.conditions[place] = (Cond(kept), items)
        if any(isinstance(p, Elapsed) and p.end in unknown for c, _ in self.conditions for p in walk(c.condition)):
            raise DoesNotCompose("how long it took until what has not happened")

    def _until_today(self) -> None:
        """Tenure goes on for whom it has not ended, unless the question is about those who left."""
        ended = {node.name for c, _ in self.conditions for node in walk(c.condition) if isinstance(node, Column)}

        def put(node: Any) -> Any:
            match node:
                case Elapsed(end=Column(name=name) as end) if name not in ended and self.meanings.column(name).nulls:
                    today = Constant(value=self.builders.today.isoformat())
                    return node.model_copy(update={"end": Filled(of=end, otherwise=today)})
            return mapped(node, put)

        if TENURE & {word.stem for word in self.words}:
            self.measures = [(replace(m, expression=put(m.expression)), items) for m, items in self.measures]

    def _present_people(self) -> None:
        """People who left are counted only where the question speaks of a time or of leaving."""
        person = self.meanings.person
        start, end = (self.meanings.events.get(event) for event in ("start", "end"))
        if person is None or not person.is_rows or start is None or end is None or not end.nulls:
            return
        spoken: list[Any] = [
            *(m.expression for m, _ in self.measures),
            *(g.expression for g, _ in self.groups if g.expression),
        ]
        spoken += [c.condition for c, _ in (*self.conditions, *self.having)]
        named = {node.name for part in spoken for node in walk(part) if isinstance(node, Column)}
        named |= {g.name for g, _ in self.groups} | {*self.columns}
        if not named & {start.name, end.name} and not self.sides and self._assumes("present_people"):
            self.conditions.append((Cond(Missing(of=Column(name=end.name)), default="present_people"), ()))

    def _is_current(self, item: Item) -> bool:
        """Active, now: not of what was so in another month."""
        found = self.meanings.lexicon.find(self.words, item.first, item.last)
        return item.category == "condition" and any(category == "current" for category, _ in found)

    # the result

    def _values_of_named(self) -> None:
        """Anna's salary: the value of each row that is called so, not an average."""
        named = [c for c, _ in self.conditions if c.column and self.meanings.of.get(c.column) == "name"]
        alone = len(self.measures) == 1 and not self.groups and not self.having and self.order is None and not self.each
        if not (named and alone and self.meanings.person and self.meanings.person.is_rows):
            return
        measure, items = self.measures[0]
        if measure.usual and measure.base is not None and measure.base.column is not None:
            names = [c.name for c in self.meanings.name_columns(self.meanings.person)]
            self.measures = []
            self.columns = tuple(dict.fromkeys([*names, measure.base.name]))
            self.columns_items = items

    def _check(self) -> None:
        self._values_of_named()
        counts = self.words[0].lower in ("number", "count", "how", "сколько", "число", "количество")
        if self.having and counts and self.groups and all(g.time for g, _ in self.groups) and self.each is None:
            raise DoesNotCompose("how many periods, of which a list was read")
        if self.all("split", "distribution") and not self.groups:
            raise DoesNotCompose("a breakdown by nothing")
        if any(g.time for g, _ in self.groups) and any(
            self._is_current(i) for _, more in self.conditions for i in more
        ):
            raise DoesNotCompose("what is so now, in each of several periods")
        spans = [c.condition for c, _ in self.conditions] if self.meanings.joined else []
        if any(_are_apart(*pair) for pair in combinations(spans, 2)):
            raise DoesNotCompose("in one period and in another")
        if self.words[-1].lower in ("where", "где"):
            raise DoesNotCompose("where, of which column?")
        if self.distinct and any(c.negated and c.date for c, _ in self.conditions):
            raise DoesNotCompose("those without rows in a period")
        things = [m for m, _ in self.measures if m.counts is not None and not m.counts.is_rows]
        several = things or self.distinct or self.groups
        if several and any(word.lower in ("never", "always", "никогда") for word in self.words):
            raise DoesNotCompose("never, of things with several rows each")
        if self.all("who") and not (self.groups or self.columns):
            raise DoesNotCompose("who, of nobody")
        if self.order is not None and (self.order.limit or 1) > 1 and asks_together(self.words):
            raise DoesNotCompose("each of the best, and all of them together")
        people = self._people() if self._counts_by_sex() else None
        if people and not people.entity.is_rows and any(m.expression == Rows() for m, _ in self.measures):
            raise DoesNotCompose("rows, of women or men")
        for measure, _ in self.measures:
            match measure.expression:
                case Aggregate(function="count_distinct", of=Column(name=name)):
                    if any(c.column == name and len(c.values) == 1 and not c.negated for c, _ in self.conditions):
                        raise DoesNotCompose("how many different ones of one")
        if self.all("fresh") and not any(c.date for c, _ in self.conditions):
            raise DoesNotCompose("new since when?")
        if self.all("compared") and not (self.groups or self.sides or len(self.measures) > 1):
            raise DoesNotCompose("a comparison of nothing")
        left = [item for item in self.cover.items if item not in self.used]
        if left:
            raise DoesNotCompose(f"{left[0].category} has no place")
        if not self.measures and not self.columns and not (self.having and self.groups):
            compared = any(c.versus for c, _ in self.conditions)  # women vs men: their number, or what of them?
            if self._is_unsaid() or ((compared or not self.groups) and self.conditions and not self.all("thing")):
                table = self.meanings.table
                known = f"{table.name} has {', '.join(column.name for column in table.columns[:20])}"
                raise NeedsClarification(known, self._measure_names(), said=self.text, link="what")
            if self.groups and self._assumes("count_rows"):
                self.measures.append((self._rows_counted(), ()))
                self.penalty += 0.5
            else:
                raise DoesNotCompose("nothing is asked for")
        if self.columns and (self.measures or self.having):
            raise DoesNotCompose("rows and measures")
        if self.having and not self.groups and not self.each:
            raise DoesNotCompose("a condition on groups without groups")
        if self.having and not self.each and any(isinstance(i.value, ShareOf) for i in self.used):
            raise DoesNotCompose("a share of those with at least one, of which each group has one")
        for name in (*(g.name for g, _ in self.groups if not g.expression), *(self.columns if self.distinct else ())):
            self._refuse_lists(name)
        for group, _ in self.groups:
            if isinstance(group.expression, Bins):
                self._leave_out_missing(group.expression.of)
        expressions = [m.expression for m, _ in self.measures]
        if len(set(expressions)) < len(expressions):
            raise DoesNotCompose("a measure twice")
        if len(self.measures) == 1:
            self._grouped_once()
        names = [g.name for g, _ in self.groups]
        if len(set(names)) < len(names):
            raise DoesNotCompose("a group twice")
        for group, _ in self.groups:
            if any(c.column == group.name and len(c.values) == 1 and not c.negated for c, _ in self.conditions):
                self.penalty += 0.5

    def _grouped_once(self) -> None:
        """By region, colored by region: one group."""
        once: dict[Group, tuple[Item, ...]] = {}
        for group, items in self.groups:
            once[group] = (*once.get(group, ()), *items)
        self.groups = [*once.items()]

    def _write(self) -> None:
        self._share_of_groups()
        taken: dict[str, int] = {}
        for measure, items in self.measures:
            self.parts.append(self._metric(measure, items, taken))
        for group, items in self.groups:
            self.parts.append(self._grouped(group, items))
        if self.each:
            self.parts.append(self.each)
        for condition, items in (*self.conditions, *self.having):
            for value in as_filters(condition):
                self.parts.append(Part(self._free(filter_id(value)), value, items, (condition.default,)))
        self.parts += self.asked
        if self.whole_rows and self._is_plain_list():
            self.parts.append(Part("analysis:detail", AnalysisAsked(label="detail"), self.columns_items))
        elif self.columns:
            shown = ColumnsAsked(columns=self.columns, distinct=self.distinct)
            self.parts.append(Part("columns:shown", shown, self.columns_items))
        if self.order is not None:
            self.parts.append(Part(rank_id(self.order), self.order, self.order_items))
        self._outputs()

    def _share_of_groups(self) -> None:
        """The share that each region has of the revenue, beside the revenue."""
        alone = len(self.measures) == len(self.groups) == 1 and not (self.order or self.having or self.each)
        if not alone or self.groups[0][0].expression or self.groups[0][0].time:
            return
        measure, items = self.measures[0]
        match measure.expression:
            case Share(of=Rows(where=None) | Aggregate(of=Column(), where=None, percent=None) as of, within=()):
                self.measures = [(Measure(of, measure.name, usual=True), items)]
                self.asked.append(Part("analysis:share", AnalysisAsked(label="share"), items))

    def _is_plain_list(self) -> bool:
        """Whole rows that comparisons of columns with values choose."""
        short = all(value.condition is None for c, _ in self.conditions for value in as_filters(c))
        return short and self.order is None and not self.distinct

    def _metric(self, measure: Measure, items: tuple[Item, ...], taken: dict[str, int]) -> Part:
        name = measure.name
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:
            measure = replace(measure, name=f"{name} {taken[name]}")
        value = as_metric(measure, self.meanings, alone=len(self.measures) == 1 and not self.each)
        return Part(self._free(metric_id(value)), value, items, (measure.default,))

    def _free(self, id_: str) -> str:
        taken = {part.id for part in self.parts}
        return free_id(id_, taken)

    def _grouped(self, group: Group, items: tuple[Item, ...]) -> Part:
        value = as_group(group, self.meanings)
        return Part(f"{value.kind}:{group.name}", value, items)

    def _outputs(self) -> None:
        charts, tables = self.all("chart"), self.all("table")
        kinds = [item.value.value for item in charts if item.value.value != "any"]  # type: ignore[attr-defined]
        least = 2 if "heatmap" in kinds else 1
        if charts and self.measures and len(self.groups) < least:
            raise NeedsClarification("an axis", self._names_of("category"), said=self.said(*charts))
        if charts and not (self.groups and self.measures and len(self.groups) <= 2):
            raise DoesNotCompose("a chart of nothing")
        if set(kinds) & {"scatter", "box"} and not self.rank:
            raise DoesNotCompose("a chart of single values")
        kinds = ["bar" if kind == "histogram" else kind for kind in kinds]
        if charts and not tables:
            drawn = OutputAsked(label="chart", chart=kinds[0] if kinds else None)
            self.parts.append(Part("output:chart", drawn, tuple(charts)))
        if tables:
            self.parts.append(Part("output:table", OutputAsked(label="table"), (*tables, *charts)))

    def _reading(self) -> Reading:
        covered = {item for part in self.parts for item in part.items}
        loose = tuple(item for item in self.cover.items if item not in covered and self._means(item))
        if any(item.category not in LOOSE for item in loose):
            raise DoesNotCompose("words without a place in what was read")
        said = next((part for part in self.parts if part.items), None)
        if loose and said:
            said.items = (*said.items, *loose)
        requirements = tuple(self._requirement(part) for part in self.parts)
        return Reading(
            question=self.text,
            language=language_of(self.text),
            tables=(self.meanings.table.name,),
            requirements=with_implied(requirements, self.meanings.table.assume),
            intents=(Intent(name=intent_of(requirements), confidence=1.0),),
        )

    def _means(self, item: Item) -> bool:
        """Whether it has words that are more than the structure of a sentence."""
        structure = self.meanings.lexicon.structure
        return any(word.lower not in structure for word in self.words[item.first : item.last])

    def _requirement(self, part: Part) -> Requirement:
        items = sorted(part.items, key=lambda item: item.first)
        evidence = [self._evidence(*span) for span in _merged([(item.first, item.last) for item in items])]
        return Requirement.model_validate(
            {
                "id": part.id[:256],
                "value": part.value,
                "evidence": evidence[0] if evidence else None,
                "also": tuple(evidence[1:]),
                "implied": not evidence,
                "assumed": tuple(filter(None, part.assumed)),
            }
        )

    def _evidence(self, first: int, last: int) -> Evidence:
        start, end = self.words[first].start, self.words[last - 1].end
        return Evidence(text=self.text[start:end][:500], start=start)


def _is_running_value(measure: Any) -> bool:
    return isinstance(measure, Running) and isinstance(measure.of, Rows) and isinstance(measure.of.where, Compare)


EACH_PERIOD = re.compile(r"\bper\b|^(?:hourly|daily|weekly|monthly|quarterly|yearly|annual)$")
TOPS = frozenset({"top", "best", "bottom", "worst", "highest", "lowest", "топ", "лучшие", "худшие"})
ARTICLES = frozenset({"the", "a", "an", "our", "their", "its"})
TENURE = frozenset(map(stem, ("tenure", "стаж")))
DAY = re.compile(r"\d{4}-\d\d-\d\d")
EVER = frozenset({"ever", "record"})
CHOOSING = frozenset({"for", "of", "in", "from", "at", "among", "within", "для", "у", "среди"})
AUXILIARIES = frozenset({"do", "does", "did"})
VERBS = frozenset({"is", "are", "was", "were", "have", "has", "had", "that", "who", "which", "get", "got", "do", "did"})


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for first, last in sorted(set(spans)):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def _date_of(value: object) -> str | None:
    """The date that a word for the rows tells: arrivals."""
    match value:
        case Thing(date=date):
            return date
        case Measure(date=date):
            return date
        case Rank(target=Target(value=Unit(date=str() as date))) | Ask(target=Target(value=Unit(date=str() as date))):
            return date
        case Rank(by=Measure(date=date)):
            return date
    return None


def _whole_years(when: When) -> bool:
    return all((day.month, day.day) == (1, 1) for day in (when.period.start, when.period.end))


def _direction(said: str) -> Literal["top", "bottom"]:
    return "top" if said == "top" else "bottom"


def _are_apart(left: Condition, right: Condition) -> bool:
    """Two spans of one date without a day in common."""
    match left, right:
        case (
            All(parts=(Compare(left=date_, right=Constant(value=start)), Compare(right=Constant(value=end)))),
            All(parts=(Compare(left=other, right=Constant(value=begin)), Compare(right=Constant(value=stop)))),
        ):
            dated = isinstance(start, str) and DAY.match(start) is not None
            return dated and date_ == other and (str(end) <= str(begin) or str(stop) <= str(start))
    return False


def _all(conditions: list[Condition]) -> Condition:
    return conditions[0] if len(conditions) == 1 else All(parts=tuple(conditions))


def _sum(node: Expression) -> Expression:
    return Aggregate(function="sum", of=node)


def _over(node: Any, column: str, name: str) -> Any:
    if isinstance(node, Column) and node.name == column:
        return Column(name=name)
    return mapped(node, lambda part: _over(part, column, name))


def _weighs_rows(node: Node) -> bool:
    """Whether a value that rows repeat counts as often as it is repeated."""
    match node:
        case Rows():
            return True
        case Aggregate(function=function):
            return function not in ("min", "max", "count_distinct")
        case _:
            return False
