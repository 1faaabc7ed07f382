"""The phrases of a cover, sorted into the slots of a reading; values of one column are joined."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from groundplan.asking.tables.grammar.dating import events_in
from groundplan.asking.tables.grammar.phrases import Ask, Cond, Field, Group, Item, Measure, Rank, Target, Thing, Unit
from groundplan.asking.tables.grammar.senses import one_of
from groundplan.asking.tables.grammar.state import LOOSE, DoesNotCompose, State, Unsound
from groundplan.contracts.expression import (
    Aggregate,
    AnyOf,
    Column,
    Compare,
    Elapsed,
    Expression,
    Missing,
    Not,
    Rows,
    Running,
    walk,
)
from groundplan.contracts.normal_form import mapped
from groundplan.text.stems import stem

TAKEN = (LOOSE | {"chart", "condition", "having"}) - {"thing", "event", "versus", "count"}
EXCLUDING = frozenset(
    stem(word)
    for line in ("except excluding exclude without leaving leave ignoring ignore", "кроме без исключая")
    for word in line.split()
)
LISTING = ("", "and", "or", "и", "или")  # what may stand between the parts of a list


def collect(state: State) -> None:
    for item in state.cover.items:
        _put(state, item, item.value)
    said = [(c.column, c.values) for c, _ in state.conditions if c.column and not c.negated]
    if len({*said}) < len(said):
        raise DoesNotCompose("a condition twice")
    spread = [state.words[item.first - 1].lower for item in state.all("distribution") if item.first]
    if {*spread} & {"its", "their", "ее", "их"}:
        raise DoesNotCompose("a breakdown, and how it spreads")
    state.axes.update(d for i in state.cover.items if (d := _date_of(i.value)))
    _join_values(state)
    for unit in state.all("in_unit"):
        _in_unit(state, str(unit.value.value), unit)  # type: ignore[attr-defined]


def _put(state: State, item: Item, value: Any) -> None:
    """The phrase into its slot."""
    match item.category:
        case "measure":
            if state.has_rows_before(item):
                raise DoesNotCompose("rows and a measure")
            if _is_running_value(value.expression) and any(events_in(state, item)):
                raise DoesNotCompose("what happened, not what it is now")
            _refuse_unsound(state, value.expression)
            state.measures.append((value, state.take(item)))
        case "group":
            if item.length == 1 and _is_of_people(state, value):
                raise DoesNotCompose("a yearly salary is no group of years")
            state.groups.append((value, state.take(item)))
        case "groups":
            state.groups += [(group, state.take(item)) for group in value]
        case "ask" if state.ask is not None:
            if value.person or state.ask[0].person:
                raise DoesNotCompose("two questions")
            _also_shown(state, value, item)
        case "ask":
            state.ask = (value, state.take(item))
        case "rank":
            if state.rank is not None:
                raise DoesNotCompose("two rankings")
            state.rank = (value, state.take(item))
        case category if category in TAKEN:
            state.take(item)


def _refuse_unsound(state: State, measure: Expression) -> None:
    """Identifiers are neither added up nor averaged, and percents are not added up."""
    for node in walk(measure):
        match node:
            case Aggregate(function="sum" | "mean" | "median" | "std" as function, of=Column(name=name)):
                known = state.meanings.table.find(name)
                if state.meanings.of.get(name) == "identifier":
                    hint = f"ask how many different {name} there are, or name a column that measures something"
                    raise Unsound(f"{name} says which one it is: it is not added up or averaged", hint)
                if function == "sum" and known is not None and state.meanings.is_percent(known):
                    raise Unsound(f"{name} is in percent, and percents are not added up", f"ask for the average {name}")
            case Aggregate(function="count_distinct", of=Column(name=name)):
                state.refuse_lists(name)


def _join_values(state: State) -> None:
    """Values of one column, one behind the other: any of them. With other words between, they are no list."""
    joined: list[tuple[Cond, tuple[Item, ...]]] = []
    for condition, items in sorted(state.conditions, key=lambda pair: pair[1][0].first):
        before = joined[-1] if joined else None
        condition = _left_out_too(state, before, condition, items) if before else condition
        plain = condition.column and condition.values and not condition.versus
        same = [c for c, _ in joined if plain and c.column == condition.column]
        if not same:
            joined.append((condition, items))
            continue
        if before is None or before[0].column != condition.column:
            raise DoesNotCompose("conditions that exclude each other")
        if before[0].negated != condition.negated:
            joined[-1] = (_without(state, before[0], condition), (*before[1], *items))
            continue
        if state.gap(before[1][-1], items[0]).strip(" ,/;&") not in LISTING:
            raise DoesNotCompose("values that are no list")
        both = one_of(condition.column or "", (*before[0].values, *condition.values))
        if condition.negated:
            both = replace(both, condition=Not(part=both.condition), negated=True)
        joined[-1] = (both, (*before[1], *items))
    state.conditions = joined


def _left_out_too(
    state: State, before: tuple[Cond, tuple[Item, ...]], condition: Cond, items: tuple[Item, ...]
) -> Cond:
    """Leaving out cancellations and no shows: both."""
    last = before[1][-1]
    excludes = state.words[last.first].stem in EXCLUDING and not condition.date
    if not excludes or state.gap(last, items[0]).strip(" ,&") not in LISTING:
        return condition
    return state.builders.not_condition(condition) or condition


def keep_empty(state: State) -> None:
    """Excluding a value leaves out nothing else: rows without any stay."""
    for place, (condition, items) in enumerate(state.conditions):
        column = state.meanings.table.find(condition.column or "")
        said = {word.stem for item in items for word in state.words[item.first : item.last]}
        if condition.negated and column is not None and column.nulls and said & EXCLUDING:
            of = Column(name=column.name)
            kept = Cond(AnyOf(parts=(Missing(of=of), condition.condition)), negated=True)
            state.conditions[place] = (kept, items)


def _without(state: State, left: Cond, right: Cond) -> Cond:
    """In the west but not the east: in the west."""
    kept, out = (left, right) if right.negated else (right, left)
    values = tuple(value for value in kept.values if value not in out.values)
    if not values:
        raise DoesNotCompose("conditions that exclude each other")
    return one_of(kept.column or "", values)


def _is_of_people(state: State, group: Group) -> bool:
    start = state.meanings.events.get("start")
    person = state.meanings.person
    return group.time and start is not None and group.name == start.name and person is not None and person.is_rows


def _also_shown(state: State, ask: Ask, item: Item) -> None:
    target = ask.target.value if ask.target else None
    if not isinstance(target, Field) or target.column is None:
        raise DoesNotCompose("two questions")
    state.show.append((target.name, state.take(item)))


def _in_unit(state: State, unit: str, item: Item) -> None:
    changed = False

    def put(node: Any) -> Any:
        nonlocal changed
        if isinstance(node, Elapsed):
            changed = True
            return node.model_copy(update={"unit": unit})
        return mapped(node, put)

    state.measures = [(replace(m, expression=put(m.expression)), (*items, item)) for m, items in state.measures]
    told = [m.base.column for m, _ in state.measures if m.base and m.base.column]
    if not changed and not any(state.builders.unit_of(column) == unit for column in told):
        raise DoesNotCompose("a unit of nothing")
    state.take(item)


def _is_running_value(measure: Any) -> bool:
    return isinstance(measure, Running) and isinstance(measure.of, Rows) and isinstance(measure.of.where, Compare)


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
