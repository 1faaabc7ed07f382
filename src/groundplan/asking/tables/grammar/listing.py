"""What is ranked, listed or asked for: groups with their names, rows, and questions with which, who and list."""

from __future__ import annotations

from collections.abc import Iterable

from groundplan.asking.tables.grammar.meanings import IDENTIFYING
from groundplan.asking.tables.grammar.phrases import (
    Cond,
    Field,
    Group,
    Item,
    Measure,
    PartOfDate,
    Rank,
    Target,
    Thing,
    Unit,
)
from groundplan.asking.tables.grammar.state import DoesNotCompose, NamesElsewhere, State
from groundplan.contracts.expression import Aggregate, Column, Compare, Expression, columns_of
from groundplan.contracts.reading import Rank as RankAsked
from groundplan.text.names import split_name
from groundplan.text.stems import stem


def same_by(state: State, left: Measure | Field, right: object) -> bool:
    """Best selling, by revenue: said twice."""
    made = [state.builders.measured(side) for side in (left, right)]
    return all(m is not None for m in made) and made[0].expression == made[1].expression  # type: ignore[union-attr]


def target_group(state: State, target: Target) -> Group:
    value = target.value
    match value:
        case Field(column=column) if column is not None and value.meaning not in ("date",):
            return Group(value.name)
        case Field(meaning="date"):
            return Group(value.name, time=True, grain="day")
        case Thing(entity=entity):
            if entity.column is None:
                raise DoesNotCompose("rows are no groups")
            if entity.column.name in state.meanings.foreign:
                raise NamesElsewhere
            return Group(entity.column.name)
        case Unit():
            made = state.builders.at_grain(value)
            if made is None:
                raise DoesNotCompose("no dates")
            return made
        case PartOfDate():
            made = state.builders.part_group(value)
            if made is None:
                raise DoesNotCompose("no hours")
            return made
    raise DoesNotCompose("ranks nothing")


def known_only(state: State, column: str) -> None:
    """Among the best stores there is none without a name."""
    known = state.meanings.table.find(column)
    if known is not None and known.nulls and (known.kind == "text" or state.meanings.of[column] == "identifier"):
        state.leave_out_missing(Column(name=column))


def named_things(state: State) -> None:
    """A group by the id of a thing shows what the thing is called, too."""
    of_ids = {e.column.name: e for e in state.meanings.entities if e.column is not None}
    shown = {group.name for group, _ in state.groups}
    for group, items in tuple(state.groups):
        if group.expression is None and group.name in of_ids and state.each is None:
            names = [c.name for c in state.meanings.name_columns(of_ids[group.name]) if c.name not in shown]
            state.groups += [(Group(name), items) for name in names]


def named_too(state: State, target: Target, items: tuple[Item, ...]) -> None:
    """Things by id are shown with their names; two may be called the same."""
    if isinstance(target.value, Thing) and not target.value.entity.is_rows:
        for column in state.meanings.name_columns(target.value.entity):
            state.groups.append((Group(column.name), items))


def put_in_order(state: State) -> None:
    orders = state.all("order")
    if orders:
        rank: Rank = orders[0].value  # type: ignore[assignment]
        worst = rank.judged and any(m.bad for m, _ in state.measures)
        up = (rank.direction == "top") != worst
        state.order = RankAsked(direction="top" if up else "bottom", limit=rank.limit)
        state.order_items = state.take(*orders)
        for group, _ in state.groups if rank.limit is not None else ():
            known_only(state, group.name)


def read_asked(state: State) -> None:
    if any(item not in state.used for item in state.all("order")):
        put_in_order(state)
    if state.ask is None:
        return
    ask, items = state.ask
    target = ask.target
    if ask.limit is not None:
        raise DoesNotCompose("which ones?")
    assert target is not None
    value = target.value
    _summed_conditions(state, target)
    if isinstance(value, Field) and value.meaning in ("category", "name", "identifier", "flag", "year"):
        if state.measures or state.having:
            state.groups.append((Group(value.name), items))
        else:
            _show_columns(state, [value.name, *(name for name, _ in state.show)], items, distinct=True)
    elif isinstance(value, Thing):
        ask_things(state, value, items)
    elif isinstance(value, Unit | PartOfDate) or (isinstance(value, Field) and value.meaning == "date"):
        if not state.having and not state.measures:
            raise DoesNotCompose("which day of what")
        state.groups.append((target_group(state, target), items))
    else:
        raise DoesNotCompose("asks for nothing")


def ask_things(state: State, thing: Thing, items: tuple[Item, ...]) -> None:
    entity = thing.entity
    names = [c.name for c in state.meanings.name_columns(entity)]
    if entity.is_rows and state.groups and not state.having and not state.show and not state.measures:
        state.measures.append((state.builders.count_things(thing), items))  # show the orders by month
        return
    if entity.is_rows:
        if state.having:
            raise DoesNotCompose("rows have no groups")
        measured = [m for m, _ in state.measures]
        if measured and not all(m.usual and m.base and m.base.column for m in measured):
            raise DoesNotCompose("rows and a measure")
        dated = {condition.date for condition, _ in state.conditions}  # jobs opened here in May
        chosen = [name for name, said in state.show if name not in dated or any(_is_enumerated(state, i) for i in said)]
        shown = [*names, *chosen, *(m.base.name for m in measured if m.base)]
        if shown == names and thing.said != "who":
            shown = []  # nothing was chosen: the whole rows
            state.whole_rows = True
        items = (*items, *(i for _, more in state.measures for i in more))
        state.measures = []
        own = [c.name for c in state.meanings.table.columns if c.name not in state.meanings.joined]
        _show_columns(state, shown or own[:20], items, distinct=False)
        return
    assert entity.column is not None
    key = entity.column.name
    if key in state.meanings.foreign:
        raise NamesElsewhere
    if state.having or state.measures:
        state.groups.append((Group(key), items))
        named_too(state, Target(thing), items)
        if entity.column.nulls:
            state.leave_out_missing(Column(name=key))
    else:
        _show_columns(state, [key, *names, *(name for name, _ in state.show)], items, distinct=True)


def _is_enumerated(state: State, item: Item) -> bool:
    """Beside a comma: `the jobs of May: job no, opened at, site`."""
    beside = (place for place in (item.first - 1, item.last - 1) if 0 <= place < len(state.words) - 1)
    return any("," in state.between(place) for place in beside)


def show_thing(state: State, thing: Thing, items: tuple[Item, ...]) -> None:
    """The things that a list names beside its rows: `the late hires, with the customer`."""
    column = thing.entity.column
    if column is None or state.distinct:
        raise DoesNotCompose("things beside a list of others")
    if column.name in state.meanings.foreign:
        raise NamesElsewhere
    names = [named.name for named in state.meanings.name_columns(thing.entity)]
    state.whole_rows = False
    _show_columns(state, [*state.columns, column.name, *names], (*state.columns_items, *items), distinct=False)


def _show_columns(state: State, names: list[str], items: tuple[Item, ...], *, distinct: bool) -> None:
    state.columns = tuple(dict.fromkeys(names))
    state.columns_items = (*items, *(i for _, more in state.show for i in more))
    state.distinct = distinct


def _summed_conditions(state: State, target: Target) -> None:
    """Stores with sales over 10k: the sales of a store are its total."""
    if isinstance(target.value, Thing) and target.value.entity.is_rows:
        return
    for condition, items in tuple(state.conditions):
        made = condition.condition
        if condition.column is None and isinstance(made, Compare) and isinstance(made.left, Column):
            known = state.meanings.of.get(made.left.name)
            right = made.right
            if known in ("amount", "count"):
                new = Compare(
                    left=_sum(made.left),
                    operator=made.operator,
                    right=_sum(right) if isinstance(right, Column) else right,
                )
                state.conditions.remove((condition, items))
                state.having.append((Cond(new, groups=True), items))


def _sum(node: Expression) -> Expression:
    return Aggregate(function="sum", of=node)


def names_alone(state: State) -> None:
    """Where each id has a name of its own, the name tells the things apart, unless the question speaks of ids."""
    used = [m.expression for m, _ in state.measures] + [c.condition for c, _ in state.having]
    used += [state.order.by] if state.order is not None and state.order.by is not None else []
    ids = frozenset[str]().union(*map(columns_of, used))
    names = _names_by_id(state, [g.name for g, _ in state.groups] if state.each is None else [])
    names = {column: name for column, name in names.items() if column not in ids}
    state.groups = [(group, items) for group, items in state.groups if group.name not in names]
    if state.order is not None and names:
        within = tuple(dict.fromkeys(names.get(name, name) for name in state.order.within))
        state.order = state.order.model_copy(update={"within": within})
    if state.distinct:
        listed = _names_by_id(state, state.columns)
        state.columns = tuple(name for name in state.columns if name not in listed)


def _names_by_id(state: State, shown: Iterable[str]) -> dict[str, str]:
    """Of the columns shown, those that name the ids of another one to one, by that one."""
    said = {word.stem for word in state.words}
    columns = filter(None, map(state.meanings.table.find, shown))
    named = {column.one_for_each: column.name for column in columns if column.one_for_each}
    last = {column: (split_name(column) or ("",))[-1] for column in named}
    return {c: name for c, name in named.items() if last[c] not in IDENTIFYING or stem(last[c]) not in said}
