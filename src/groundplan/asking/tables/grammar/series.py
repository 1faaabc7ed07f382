"""Changes, running totals and averages along time; two periods or two values side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from groundplan.asking.tables.grammar.dating import event_axis
from groundplan.asking.tables.grammar.phrases import Cond, Group, Item, Measure
from groundplan.asking.tables.grammar.rules import under, within
from groundplan.asking.tables.grammar.state import DoesNotCompose, Part, State, _over
from groundplan.contracts.expression import (
    Aggregate,
    AnyOf,
    Arithmetic,
    Cases,
    Change,
    Column,
    Constant,
    DateCut,
    Missing,
    Moving,
    Not,
    Rows,
    Running,
    walk,
)
from groundplan.contracts.reading import AnalysisAsked


def read_series(state: State) -> None:
    trends = state.all("over_time")
    timed = any(g.time or state.meanings.of.get(g.name) == "year" for g, _ in state.groups)
    if trends and not timed:
        state.groups.insert(0, (state.time_axis(), tuple(trends)))
    event_axis(state)
    _listed_values(state)
    _changes_apart(state)
    if state.sides:
        if not _side_by_side(state):
            _two_sides(state)
        return
    if any(m.sides for m, _ in state.measures) and not any(g.time for g, _ in state.groups):
        raise DoesNotCompose("a change without times")
    state.measures = [(_growth(measure) if measure.sides else measure, items) for measure, items in state.measures]
    if follows := [(m, items) for m, items in state.measures if _follows(m, Change, Running, Moving)]:
        _along_time(state, follows)


def _changes_apart(state: State) -> None:
    """Growth, said apart from what grows."""
    changes = [item for item in state.all("change") if item not in state.used]
    priors = [item for item in state.all("over_prior") if item not in state.used]
    if not (changes or priors):
        return
    if not state.measures:
        raise DoesNotCompose("a change of nothing")
    first, items = state.measures[0]
    made = state.builders.over_prior(priors[0].value, first) if priors else replace(first, sides=True)  # type: ignore[arg-type]
    if made is None:
        raise DoesNotCompose("a change of a change")
    state.measures[0] = (made, (*items, *state.take(*priors, *changes)))


def _growth(measure: Measure) -> Measure:
    change = Change(of=measure.expression, ratio=True)
    return replace(measure, expression=change, sides=False, name=f"{measure.name} growth")


def _follows(measure: Measure, *kinds: type) -> bool:
    """True if a group's value depends on those before it."""
    return any(isinstance(part, kinds) for part in walk(measure.expression))


def _along_time(state: State, follows: Sequence[tuple[Measure, tuple[Item, ...]]]) -> None:
    """The time axis of a series, and its grain."""
    told = next((m.grain for m, _ in follows if m.grain), None)
    if not any(g.time for g, _ in state.groups):
        names = [g.name.lower() for g, _ in state.groups]
        if told == "year" and any("year" in name or "год" in name for name in names):
            return
        if told is None or state.meanings.main_date is None:
            raise DoesNotCompose("a series without a time axis")
        state.groups.insert(0, (Group(state.meanings.main_date.name, grain=told, time=True), follows[0][1]))
        event_axis(state)
    place = next(place for place, (g, _) in enumerate(state.groups) if g.time)
    group, items = state.groups[place]
    grain = group.grain or told
    if grain is None:
        raise DoesNotCompose("a series without a grain")
    state.groups[place] = (replace(group, grain=grain), items)
    known = state.meanings.table.find(group.name)
    if known is not None and known.nulls and all(c.date != group.name for c, _ in state.conditions):
        without = Cond(Not(part=Missing(of=Column(name=group.name))), default="known_names")
        state.conditions.append((without, ()))  # no place in the series
    if any(_follows(m, Moving) for m, _ in follows):
        _filter_groups(state, group.name, grain, place)


def _listed_values(state: State) -> None:
    """Sales of furniture, books and toys over time: a line for each."""
    grouped = {g.name for g, _ in state.groups}
    if any(g.time for g, _ in state.groups) and state.measures:
        for condition, items in state.conditions:
            listed = len(condition.values) > 1 and not condition.negated and not condition.versus
            if (
                listed
                and condition.column
                and condition.column not in grouped
                and state.meanings.table.find(condition.column)
            ):
                state.groups.append((Group(condition.column), items))
                grouped.add(condition.column)


def _filter_groups(state: State, column: str, grain: str, place: int) -> None:
    """The first days of a moving average look back beyond the period that is shown."""
    name = grain
    made: list[tuple[Cond, tuple[Item, ...]]] = []
    for condition, items in state.conditions:
        if condition.date == column:
            condition = replace(condition, condition=_over(condition.condition, column, name))
        made.append((condition, items))
    state.conditions = made
    items = state.groups[place][1]
    state.groups[place] = (Group(name, DateCut(of=Column(name=column), grain=grain), time=False), items)


def _side_by_side(state: State) -> bool:
    """Compare the revenue in 2024 and 2025: one measure in two periods, each kept by its dates."""
    compared = state.all("compared", "versus") or [item for _, item in state.sides]
    whole = all(w.period.start != date.min and w.period.end != date.max for w, _ in state.sides)
    plain = len(state.measures) == 1 and not state.measures[0][0].sides and not state.all("change", "difference")
    laid_out = state.rank or state.having or state.each or state.order or any(g.time for g, _ in state.groups)
    if not (compared and whole and plain and state.date and not laid_out):
        return False
    match state.measures[0][0].expression:
        case Rows(where=None) | Aggregate(of=Column(), where=None, percent=None):
            for when, item in state.sides:
                state.conditions.append((Cond(within(state.date, when), date=state.date), (item,)))
            state.asked.append(Part("analysis:compare", AnalysisAsked(label="compare"), tuple(compared)))
            return True
    return False


def _two_sides(state: State) -> None:
    """Each period's value, and the change from the earlier to the later."""
    if state.date is None or not state.measures:
        raise DoesNotCompose("two periods of nothing")
    (left, left_item), (right, right_item) = sorted(state.sides, key=lambda side: side[0].period.start)
    changed: list[tuple[Measure, tuple[Item, ...]]] = []
    both = (left_item, right_item)
    for measure, items in state.measures:
        base = measure.expression
        early = under(base, within(state.date, left))
        late = under(base, within(state.date, right))
        name = measure.name.removesuffix(" change").removesuffix(" ratio")
        changed.append((Measure(late, f"{name} {right.period.phrase}"), (*items, *both)))
        changed.append((Measure(early, f"{name} {left.period.phrase}"), (*items, *both)))
        growth = Arithmetic(
            operator="-", left=Arithmetic(operator="/", left=late, right=early), right=Constant(value=1)
        )
        changed.append((Measure(growth, f"{name} growth"), (*items, *both)))
    state.measures = changed


def compared_values(state: State) -> None:
    for condition, items in state.conditions:
        if condition.versus:
            state.groups.append((_values_group(condition), items))
    if state.all("compared") and not any(c.versus for c, _ in state.conditions) and not state.groups:
        _listed_sides(state)
    loose = [i for i in state.all("versus") if i not in state.used]
    if loose:
        raise DoesNotCompose("a comparison of nothing")


def _values_group(condition: Cond) -> Group:
    if not condition.weekday:
        return Group(condition.column or "")
    parts = condition.condition.parts if isinstance(condition.condition, AnyOf) else (condition.condition,)
    return Group("part of the week", Cases(conditions=tuple(parts), values=tuple(str(v) for v in condition.values)))


def _listed_sides(state: State) -> None:
    """Compare the west and the east: the values are the sides."""
    for condition, items in state.conditions:
        if condition.column and len(condition.values) > 1 and not condition.negated:
            state.groups.append((Group(condition.column), items))
            return
