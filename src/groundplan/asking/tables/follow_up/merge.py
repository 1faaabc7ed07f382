"""How what is said next changes the question before, slot by slot. What it does not name stays.

- What to compute: the new takes the place of the old and keeps its function; `also`, `add` and `plus` add.
- A function alone takes the place of the old one.
- Groups replace groups, a time axis replaces a time axis, and each leaves the other alone. `and by` adds;
  `instead` replaces the whole breakdown.
- A condition replaces one on the same column and leaves those on others alone. `also` widens it; a value that is left
  out is taken from those that were kept, or joins those that were left out. A period replaces the period.
- A ranking replaces the ranking; a chart or a table replaces the chart or the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from groundplan.asking.tables.follow_up.fragment import Fragment, Items, Slots
from groundplan.asking.tables.grammar.implied import PASSING
from groundplan.asking.tables.grammar.meanings import NUMBERS, Meanings
from groundplan.asking.tables.grammar.phrases import Cond, Field, Group, Item, Mark, Measure, When
from groundplan.asking.tables.grammar.requirements import (
    as_filter,
    as_filters,
    as_group,
    as_metric,
    filter_id,
    free_id,
    metric_id,
    rank_id,
    rows_counted_apart,
)
from groundplan.asking.tables.grammar.rules import within
from groundplan.asking.tables.grammar.senses import as_field
from groundplan.contracts.answer import Clarification
from groundplan.contracts.expression import Aggregate, Arithmetic, Expression, Not, Rows, Share, columns_of, level, walk
from groundplan.contracts.meaning import measure_of, says_more
from groundplan.contracts.normal_form import of_filter
from groundplan.contracts.reading import (
    AnalysisAsked,
    ChartKind,
    Evidence,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
    Time,
)
from groundplan.text.periods.find import find_periods

LOOKS = frozenset({"anomaly", "correlation", "distribution", "summary", "detail"})  # at single rows and values


class Unclear(Exception):
    """A question back to the user."""

    def __init__(self, clarification: Clarification) -> None:
        super().__init__(clarification.text)
        self.clarification = clarification


@dataclass
class Merge:
    """The requirements of the question before, in the making of those of the next. `offset`: where its words begin."""

    before: Reading
    fragment: Fragment
    offset: int
    today: date
    timezone: str
    picked: int | None = None  # the candidate to go on with at the first thing that is unclear
    asked: list[Requirement] = field(default_factory=list)
    gone: list[Requirement] = field(default_factory=list)

    def __post_init__(self) -> None:
        ranked = any(isinstance(r.value, Rank) for r in self.before.requirements)
        for requirement in self.before.requirements:
            match requirement.value:
                case AnalysisAsked(label=label) if label in PASSING or (label == "ranking" and ranked):
                    continue
                case OutputAsked() if requirement.implied:
                    continue
            self.asked.append(requirement)

    @property
    def meanings(self) -> Meanings:
        return self.fragment.builders.meanings

    @property
    def slots(self) -> Slots:
        return self.fragment.slots

    def all(self, *kinds: type) -> list[Any]:
        """The requirements whose values are of these kinds."""
        return [r for r in self.asked if isinstance(r.value, kinds)]

    def pick(self) -> int | None:
        """The candidate to go on with, once."""
        picked, self.picked = self.picked, None
        return picked

    def drop(self, gone: Iterable[Requirement]) -> None:
        ids = {r.id for r in gone}
        self.gone += [r for r in self.asked if r.id in ids]
        self.asked = [r for r in self.asked if r.id not in ids]

    def put(self, id_: str, value: Any, items: Items, *also: Requirement) -> Requirement:
        """A requirement in words of the fragment; `also`: with those of a requirement before."""
        taken = {r.id for r in self.asked}
        free = free_id(id_, taken)
        evidence = [self._evidence(items), *(e for r in also for e in r.quotes)]
        made = Requirement(id=free[:256], value=value, evidence=evidence[0], also=tuple(evidence[1:]))
        self.asked.append(made)
        return made

    def replaced(self) -> tuple[Evidence, ...]:
        """Words that ask for nothing any more, and the words of the fragment that only change something."""
        before = [e for r in self.gone for e in r.quotes]
        words = [self.fragment.words[place] for place in sorted(self.fragment.places)]
        opening = self.fragment.text[: self.fragment.start].rstrip()
        signs = [Evidence(text=opening, start=self.offset)] if opening else []
        start = self.offset + self.fragment.start
        said = [Evidence(text=word.text, start=start + word.start) for word in words]
        kept = [e for r in self.asked for e in r.quotes]
        return (
            *self.before.replaced,
            *(evidence for evidence in (*before, *signs, *said) if not any(one.covers(evidence) for one in kept)),
        )

    def put_words(self, id_: str, value: Any, first: int, last: int) -> None:
        self.put(id_, value, (Item("words", first, last, None, 0.0),))

    def exchange(self, old: Requirement, value: Any, items: Items) -> None:
        """In the place of the old one."""
        place = self.asked.index(old)
        self.drop([old])
        id_ = metric_id(value) if isinstance(value, Metric) else f"{value.kind}:{getattr(value, 'column', '') or 'new'}"
        made = self.put(id_, value, items, old)
        self.asked = [r for r in self.asked if r is not made]
        self.asked.insert(place, made)

    def _evidence(self, items: Items) -> Evidence:
        return Evidence(text=self.fragment.said(items)[:500], start=self.offset + self.fragment.place(items))

    def merge(self) -> None:
        self._fits()
        for step in (
            self._metrics,
            self._functions,
            self._groups,
            self.conditions,
            self._periods,
            self._cut,
            self._outputs,
            self._analyses,
        ):
            step()

    def _fits(self) -> None:
        """An analysis of single rows and values has no groups, shares or rankings."""
        looks = [r for r in self.all(AnalysisAsked) if r.value.label in LOOKS]
        slots = self.slots
        if slots.marked("compared", "versus") and not (slots.periods or slots.groups):
            raise _whole(f"{self.fragment.text!r} does not fit it")
        laid_out = slots.groups or slots.bare or slots.over_time
        if looks and laid_out and looks[0].value.label != "correlation":
            raise _whole(f"{looks[0].words!r} would be lost")
        if looks and (slots.cuts or slots.analyses or slots.functions):
            raise _whole(f"{self.fragment.text!r} does not fit it")

    # what to compute

    def _metrics(self) -> None:
        measures = self._said_measures()
        if not measures:
            return
        old = self.all(Metric)
        related = any(label == "correlation" for label, _ in self.slots.analyses)
        if not (self.fragment.adds or related):
            function = _common_function(old)
            self.drop(old)
            measures = [(self._in_function(measure, function), items) for measure, items in measures]
        for measure, items in measures:
            alone = len(measures) == 1 and not self.all(Metric)
            made = as_metric(measure, self.meanings, alone=alone)
            if any(r.value == made for r in self.all(Metric)):
                raise _whole(f"{self.fragment.said(items)!r} was asked for before")
            self.put(metric_id(made), made, items)
        self.asked = rows_counted_apart(self.asked)

    def _said_measures(self) -> list[tuple[Measure, Items]]:
        measures = [*self.slots.measures]
        counts = self.slots.marked("count")
        things = self.slots.marked("thing")
        if not measures and counts:
            measures.append((Measure(Rows(), "rows"), (*counts, *things)))
        elif not measures and things and not self.slots.says_something:
            measures.append((self.fragment.builders.count_things(things[0].value), things))  # type: ignore[arg-type]
        for by, items in self.slots.by if not self._ranked_apart() else ():
            made = self.fragment.builders.measured(by)
            measures += [(made, items)] if made is not None else []
        ranked = [(rank.by, items) for rank, items in self.slots.cuts if rank.by is not None]
        for by, items in ranked:
            made = self.fragment.builders.measured(by)
            measures += [(made, items)] if made is not None else []
        return measures

    def _ranked_apart(self) -> bool:
        """The ranking before goes by something else than what is shown."""
        return any(r.value.by is not None for r in self.all(Rank))

    def _in_function(self, measure: Measure, function: str | None) -> Measure:
        """The total of revenue, then of cost."""
        if function is None or not measure.usual or measure.base is None:
            return measure
        made = self.fragment.builders.function_of_field(Mark("function", function), measure.base)
        return made or measure

    def _functions(self) -> None:
        for function, items in self.slots.functions:
            old = self.all(Metric)
            made = [(r, self._recomputed(r.value, function)) for r in old]
            if not made or any(metric is None for _, metric in made):
                names = tuple(c.name for c in self.meanings.table.columns if self.meanings.of[c.name] in NUMBERS)
                words = self.fragment.said(items)
                raise _unclear(f"{words!r} of what? Please name a column.", words, names)
            for requirement, metric in made:
                self.exchange(requirement, metric, items)

    def _recomputed(self, metric: Metric, function: Mark) -> Metric | None:
        expression = metric.expression
        if isinstance(expression, Aggregate) and not expression.percent and expression.function != "count_distinct":
            changed = expression.model_copy(update={"function": function.value})
            return metric.model_copy(update={"expression": changed})
        column = self.meanings.table.find(metric.column) if metric.column else None
        if column is None:
            return None
        measure = self.fragment.builders.function_of_field(function, as_field(column, self.meanings))
        return as_metric(measure, self.meanings, alone=True) if measure is not None else None

    # groups and the time axis

    def _groups(self) -> None:
        fragment = self.fragment
        new = [*self.slots.groups, *((Group(f.name, time=f.meaning == "date"), i) for f, i in self.slots.bare)]
        if self.slots.over_time and not any(group.time for group, _ in new):
            dates = self._date()
            if dates is None:
                raise _whole("the data has no dates")
            new.append((Group(dates, time=True), self.slots.over_time))
        targets = [(self._target(rank.target), items) for rank, items in self.slots.cuts if rank.target is not None]
        new += [(group, items) for group, items in targets if group is not None]
        if not new:
            return
        new = [(self._on_axis(group), items) for group, items in _one_axis(new)]
        timed = any(_is_axis(as_group(group, self.meanings)) for group, _ in new)
        adds = fragment.adds or "join" in fragment.signs
        old = self.all(GroupBy, Time)
        if "replace" in fragment.signs:
            gone = old
        else:
            plain = any(not _is_axis(as_group(group, self.meanings)) for group, _ in new)
            gone = [r for r in old if (timed if _is_axis(r.value) else plain and not adds)]
        self._regroup(gone, new)

    def _regroup(self, gone: list[Any], new: list[tuple[Group, Items]]) -> None:
        names = {r.value.column for r in gone}
        self.drop(gone)
        for group, items in new:
            value = as_group(group, self.meanings)
            if any(r.value == value for r in self.all(GroupBy, Time)):
                continue
            self.put(f"{value.kind}:{group.name}", value, items)
        for rank in self.all(Rank):
            kept = tuple(name for name in rank.value.within if name not in names)
            place = self.asked.index(rank)
            self.asked[place] = rank.model_copy(update={"value": rank.value.model_copy(update={"within": kept})})

    def _target(self, target: Any) -> Group | None:
        value = target.value
        return self.fragment.builders.by_field(value) if isinstance(value, Field) else None

    def _on_axis(self, group: Group) -> Group:
        """By the date that the question before speaks of."""
        main = self.meanings.main_date
        known = self._date()
        return replace(group, name=known) if group.time and main and known and group.name == main.name else group

    def _date(self) -> str | None:
        held = [r.value.column for r in self.all(Time)]
        held += [column for r in self.period_filters() for column in _columns(r)]
        main = self.meanings.main_date
        return held[0] if held else main.name if main else None

    # conditions

    def conditions(self) -> None:
        for condition, items in self.slots.conditions:
            if condition.versus:
                raise _whole("two sides are compared")
            if condition.column and condition.values and not condition.groups:
                self._values(condition, items)
            else:
                self._condition(condition, items)

    def _condition(self, condition: Cond, items: Items) -> None:
        """In the place of one on the same columns."""
        named, stage = columns_of(condition.condition), level(condition.condition)
        if not self.fragment.adds:
            alike = [r for r in self.all(Filter) if _columns(r) == named and level(of_filter(r.value)) == stage]
            self.drop(alike)
        for value in as_filters(condition):
            self.put(filter_id(value), value, items)

    def _values(self, condition: Cond, items: Items) -> None:
        column = condition.column or ""
        old = [r for r in self.all(Filter) if _columns(r) == {column}]
        kept = [r for r in old if _holds(r.value)]
        left = [r for r in old if _excludes(r.value)]
        if condition.negated:
            self._leave_out(column, condition.values, kept, left, items)
            return
        values = condition.values
        also: list[Any] = []
        if self.fragment.adds and kept:
            values, also = tuple(dict.fromkeys([*kept[0].value.values, *values])), kept
        self.drop(old)
        self.put(f"filter:{column}", _among(column, values), items, *also)

    def _leave_out(self, column: str, out: tuple[Any, ...], kept: list[Any], left: list[Any], items: Items) -> None:
        """`without the East`: from those that were kept, or beside those that were left out."""
        if not kept:
            values = tuple(dict.fromkeys([*(v for r in left for v in r.value.values), *out]))
            self.drop(left)
            self.put(f"filter:{column}", _but(column, values), items, *left)
            return
        held = kept[0].value.values
        rest = tuple(value for value in held if value not in out)
        if not rest or not {*out} <= {*held}:
            named = " and ".join(map(str, held))
            raise _unclear(
                f"Only {named} was asked about before. Which {column} do you mean now?", column, tuple(map(str, rest))
            )
        self.drop(kept)
        self.put(f"filter:{column}", _among(column, rest), items, *kept)

    # time

    def period_filters(self) -> list[Any]:
        times = {column.name for column in self.meanings.dates}
        years = {name for name, meaning in self.meanings.of.items() if meaning == "year"}
        return [r for r in self.all(Filter) if (c := _columns(r)) and c <= times | years and _bounds(r.value)]

    def _periods(self) -> None:
        old, new = self.period_filters(), self.slots.periods
        if self.slots.whole_time and not new:
            if not old:
                words = self.fragment.said(self.slots.whole_time)
                raise _unclear(f"The question before has nothing like {words!r} to take out. What should go?", words)
            self.drop(old)
        if not new:
            return
        (when, items), *more = new
        words = self.fragment.said(items)
        if len(old) > 1 or more or self._compares_periods():
            text = f"The question before is about several periods. What should {words!r} stand for? Please ask anew."
            raise _unclear(text, words)
        when = self._of_year(old, when, words)
        self.slots.periods[:] = [(when, items)]
        column = next(iter(sorted(_columns(old[0]))), None) if old else self._date()
        if column is None:
            raise _whole("the data has no dates")
        if self.slots.marked("compared", "versus"):
            if not old:
                raise _unclear(f"Which period should be compared with {words!r}?", "the other period")
            if self.all(Time) or self.all(Rank):
                raise _whole("two periods side by side have no time axis and no ranking")
        else:
            self.drop(old)
        self.put(f"filter:{column}", self._in_period(column, when), items)

    def _compares_periods(self) -> bool:
        """Measures of periods of their own."""
        dates = {column.name for column in self.meanings.dates}
        parts = [node for r in self.all(Metric) if r.value.expression for node in walk(r.value.expression)]
        return any(
            isinstance(node, Rows | Aggregate) and node.where and columns_of(node.where) & dates for node in parts
        )

    def _in_period(self, column: str, when: When) -> Filter:
        if self.meanings.of.get(column) == "year":
            period = when.period
            return Filter(column=column, operator="between", values=(period.start.year, period.end.year))
        return as_filter(Cond(within(column, when), date=column))

    def _of_year(self, old: list[Requirement], when: When, words: str) -> When:
        """`in March`, right behind a question about 2024: that year's, or the latest?"""
        spans = [r.value.values for r in old if isinstance(r.value, Filter) and len(r.value.values) == 2]
        if len(spans) != 1 or not all(isinstance(value, str) for value in spans[0]):
            return when
        start, end = (date.fromisoformat(str(value)[:10]) for value in spans[0])
        found = find_periods(f"{words} {start.year}", self.today, self.timezone)
        dated = found[0].period if len(found) == 1 else None
        plain = when.period
        if (end - start).days > 366 or dated is None or (dated.start, dated.end) == (plain.start, plain.end):
            return when
        picked = self.pick()
        if picked is not None:
            return replace(when, period=(dated, plain)[picked])
        told = tuple(f"{p.start.isoformat()} up to {p.end.isoformat()}" for p in (dated, plain))
        raise _unclear(f"{words!r} could mean {' or '.join(told)}.", words, told)

    # order and form

    def _cut(self) -> None:
        for rank, items in self.slots.cuts:
            words = self.fragment.said(items)
            old = self.all(Rank)
            looks = [r for r in self.all(AnalysisAsked) if r.value.label == "ranking"]
            limit = rank.limit or (old[0].value.limit if old else None)
            groups = self.all(GroupBy, Time)
            if rank.limit and (not groups or (len(groups) > 1 and not old)):
                names = tuple(c.name for c in self.meanings.table.columns if self.meanings.of[c.name] == "category")
                raise _unclear(f"{words!r} of what?", words, names if not groups else (), "by {choice}, {missing}")
            by = self._rank_by() or (old[0].value.by if old else None)
            before = old[0].value if old else Rank()
            direction = "top" if rank.direction == "top" else "bottom"
            made = before.model_copy(update={"direction": direction, "limit": limit, "by": by})
            self.drop([*old, *looks])
            self.put(rank_id(made), made, items)

    def _rank_by(self) -> Expression | None:
        if not self._ranked_apart() or not self.slots.by:
            return None
        made = self.fragment.builders.measured(self.slots.by[0][0])
        return made.expression if made is not None else None

    def _outputs(self) -> None:
        charts, tables = self.slots.charts, self.slots.tables
        if not charts and not tables:
            return
        self.drop(self.all(OutputAsked))
        if tables:
            self.put("output:table", OutputAsked(label="table"), tables)
        for kind, items in charts[:1]:
            drawn: ChartKind | None = None if kind == "any" else kind  # type: ignore[assignment]
            if kind not in ("line", "bar", "area", "any"):
                raise _whole(f"{self.fragment.said(items)!r} does not fit it")
            if not self.all(GroupBy, Time):
                words = self.fragment.said(items)
                raise _unclear(f"{words!r} by what?", words)
            self.put("output:chart", OutputAsked(label="chart", chart=drawn), items)

    def _analyses(self) -> None:
        for label, items in self.slots.analyses:
            if label == "share" and not self.all(GroupBy, Time):
                words = self.fragment.said(items)
                names = tuple(c.name for c in self.meanings.table.columns if self.meanings.of[c.name] == "category")
                raise _unclear(f"{words!r} by what?", words, names, "{missing} by {choice}")
            if label != "share" and self.all(GroupBy, Time, Rank):
                raise _whole(f"{self.fragment.said(items)!r} does not fit it")
            if label == "share" and any(map(says_more, self.asked)):
                self._shares(items)
            elif not any(r.value.label == label for r in self.all(AnalysisAsked)):
                self.put(f"analysis:{label}", AnalysisAsked(label=label), items)

    def _shares(self, items: Items) -> None:
        for requirement in self.all(Metric):
            of = measure_of(requirement.value)
            if isinstance(of, Share | Arithmetic):
                raise _whole(f"{self.fragment.said(items)!r} does not fit it")
            name = requirement.value.name or requirement.value.column or "rows"
            self.exchange(requirement, Metric(expression=Share(of=of), name=f"share of {name}"[:120]), items)


def _common_function(old: list[Requirement]) -> str | None:
    """The function that the question before names for all that it computes."""
    functions = {r.value.function for r in old if isinstance(r.value, Metric) and r.value.column}
    said = functions - {"count", "count_distinct"}
    return next(iter(said)) if len(said) == len(functions) == 1 else None


def _one_axis(groups: list[tuple[Group, Items]]) -> list[tuple[Group, Items]]:
    """`By quarter of the order date` is one axis: the date that is named, cut as it is said."""
    named = [(g, i) for g, i in groups if g.time and g.grain is None]
    cut = [(g, i) for g, i in groups if g.time and g.grain]
    if len(named) != 1 or len(cut) != 1:
        return groups
    joined = (replace(cut[0][0], name=named[0][0].name), (*cut[0][1], *named[0][1]))
    return [joined if pair == cut[0] else pair for pair in groups if pair != named[0]]


def _is_axis(value: object) -> bool:
    return isinstance(value, Time) or (isinstance(value, GroupBy) and value.ordered)


def _columns(requirement: Requirement) -> frozenset[str]:
    assert isinstance(requirement.value, Filter)
    return frozenset(columns_of(of_filter(requirement.value)))


def _bounds(value: Filter) -> bool:
    """Limits a time, rather than asking whether there is one."""
    return not (value.operator in ("is null", "not null") or isinstance(value.condition, Not))


def _holds(value: Filter) -> bool:
    return value.operator in ("=", "in")


def _excludes(value: Filter) -> bool:
    return value.operator in ("!=", "not in")


def _among(column: str, values: tuple[Any, ...]) -> Filter:
    if len(values) == 1:
        return Filter(column=column, operator="=", values=values)
    return Filter(column=column, operator="in", values=values)


def _but(column: str, values: tuple[Any, ...]) -> Filter:
    if len(values) == 1:
        return Filter(column=column, operator="!=", values=values)
    return Filter(column=column, operator="not in", values=values)


def _unclear(text: str, missing: str, candidates: tuple[str, ...] = (), put: str = "{choice}") -> Unclear:
    return Unclear(Clarification(text=text, missing=missing, candidates=candidates, put=put))


def _whole(why: str) -> Unclear:
    text = f"This cannot be taken over from the question before: {why}. Please ask the whole question."
    return _unclear(text, "the whole question")
