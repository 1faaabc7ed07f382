"""What is counted: things, people, values that are said as things; once each, and by how many each has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groundplan.asking.tables.grammar.listing import ask_things, read_asked, show_thing
from groundplan.asking.tables.grammar.meanings import NUMBERS
from groundplan.asking.tables.grammar.phrases import Ask, Item, Measure, Target, Thing
from groundplan.asking.tables.grammar.state import DoesNotCompose, Part, State
from groundplan.contracts.expression import Aggregate, Column, Compare, Node, Rows, columns_of, walk
from groundplan.contracts.reading import Each, EachMeasure, Filter


def count_things_said(state: State) -> None:
    counts = [item for item in state.all("count") if item not in state.used]
    things = [item for item in state.all("thing") if item not in state.used]
    if any(state.has_rows_before(item) for item in counts):
        raise DoesNotCompose("rows and a count")
    if counts and (state.columns or (state.order_items and state.rank and state.rank[0].limit is not None)):
        raise DoesNotCompose("counts and lists")
    if len({t.value for t in things}) > 1:
        rows = [t for t in things if t.value.entity.is_rows]  # type: ignore[attr-defined]
        if len(rows) != len(things):
            raise DoesNotCompose("two kinds of things")
    if counts and not state.measures:
        entity = things[0].value if things else people_meant(state) or Thing(state.meanings.entities[0], "rows")
        made = state.builders.count_things(entity)  # type: ignore[arg-type]
        if not things:
            state.penalty += 0.3
        state.measures.append((made, state.take(*counts, *things[:1])))
    elif counts:
        raise DoesNotCompose("a count of nothing")
    for item in things:
        if item not in state.used:
            _place_thing(state, item, item.value)  # type: ignore[arg-type]
    _counted_values(state)


def _place_thing(state: State, item: Item, thing: Thing) -> None:
    """Things are counted, listed, or only say what the rows are."""
    if state.measures and _is_measured_too(state, item):
        place = sum(items[0].first < item.first for _, items in state.measures if items)
        state.measures.insert(place, (state.builders.count_things(thing), state.take(item)))
    elif state.columns and not thing.entity.is_rows:
        show_thing(state, thing, state.take(item))
    elif state.columns or state.measures:
        counted = [m for m, _ in state.measures if m.counts == thing.entity]
        if not thing.entity.is_rows and not counted and not _describes(state, thing):
            raise DoesNotCompose("things beside a measure")
        state.take(item)
    elif state.groups or state.sides:
        state.measures.append((state.builders.count_things(thing), state.take(item)))
    elif state.having:
        state.ask = (Ask(Target(thing)), state.take(item))
        read_asked(state)
    elif state.all("list"):
        ask_things(state, thing, state.take(item))
    elif state.conditions and thing.entity.is_rows and state.words[0].lower not in ("what", "что"):
        state.measures.append((state.builders.count_things(thing), state.take(item)))  # orders last month: how many
        state.penalty += 0.3
    else:
        raise DoesNotCompose("what of the things?")


def people_meant(state: State) -> Thing | None:
    """Women and men are people, whatever the rows are."""
    said = any(_says_sex(state, items) for _, items in state.conditions)
    return Thing(state.meanings.person, "people") if said and state.meanings.person else None


def counts_by_sex(state: State) -> bool:
    """How many women: nothing else is counted."""
    said = [word.lower for word in state.words]
    counted = [("how", "many"), ("number", "of"), ("count", "of")]
    first = [
        place for place in range(len(said)) if tuple(said[:place][-2:]) in counted or "сколько" in said[:place][-1:]
    ]
    return any(_is_sex(state, place) for place in first)


def _says_sex(state: State, items: Sequence[Item]) -> bool:
    return any(_is_sex(state, place) for item in items for place in range(item.first, item.last))


def _is_sex(state: State, place: int) -> bool:
    return any(category == "sex" for category, _ in state.meanings.lexicon.find(state.words, place, place + 1))


def _counted_values(state: State) -> None:
    """Adoptions in 2025 and 2024: a value that is said as several things is counted."""
    if state.measures or state.columns or state.having or state.rank or state.ask or not (state.groups or state.sides):
        return
    if _counted_value(state) and state.assumes("count_rows"):
        state.measures.append((state.rows_counted(), ()))
        state.penalty += 0.2


def is_unsaid(state: State) -> bool:
    """True if the question groups rows but never says what to measure: `paid out, by month`."""
    chosen = [c for c, _ in state.conditions if c.column and state.meanings.of.get(c.column) != "flag"]
    named = state.all("thing", "split", "distribution", "chart", "count", "event", "over_time")
    sums = [c for c in state.meanings.table.columns if state.meanings.of[c.name] in ("amount", "count")]
    return bool(state.groups and chosen and sums) and not named


def _counted_value(state: State) -> tuple[Item, ...]:
    for condition, items in state.conditions:
        word = state.words[items[-1].last - 1].lower if items else ""
        plain = condition.column and condition.values and not condition.named and not condition.negated
        written = any(str(value).lower().endswith(word[-3:]) for value in condition.values)
        if plain and word.endswith("s") and not written and not _says_sex(state, items):
            return items
    return ()


def _is_measured_too(state: State, thing: Item) -> bool:
    """Loans and total fines: a number of things and a measure, side by side."""
    for items in (said for _, said in state.measures if said):
        for left, right in ((thing, items[0]), (items[-1], thing)):
            if left.last <= right.first and state.gap(left, right).strip() in ("and", "&", "и"):
                return True
    return False


def _describes(state: State, thing: Thing) -> bool:
    """`average score of students`: the rows of things; their scores, not the things, are averaged."""
    defined = [metric.expression for metric in state.meanings.metrics.values()]
    return all(m.base.meaning in NUMBERS if m.base is not None else m.expression in defined for m, _ in state.measures)


def nest_conditions(state: State) -> None:
    """How many stores have more than ten sales: each store with its number, and how many have enough."""
    if not state.having or state.groups:
        return
    match state.measures:
        case [
            (Measure(expression=Aggregate(function="count_distinct", of=Column(name=key), where=None)) as made, items)
        ]:
            pass
        case _:
            raise DoesNotCompose("a condition on groups without groups")
    measures: list[EachMeasure] = []
    for number, (condition, more) in enumerate(state.having):
        compare = condition.condition
        assert isinstance(compare, Compare)
        name = f"its number {number + 1}" if number else "its number"
        measures.append(EachMeasure(name=name, expression=compare.left))
        own = compare.model_copy(update={"left": Column(name=name)})
        state.parts.append(Part(f"filter:{name}", Filter(condition=own), more))
    state.each = Part("each:thing", Each(keys=(key,), measures=tuple(measures)), items)
    state.having = []
    state.measures = [(replace(made, expression=Rows()), items)]


def count_once_each(state: State) -> None:
    """The volume of a batch counts once, however many rows repeat it."""
    if state.each is not None or state.columns or not state.meanings.once or not state.assumes("once_each"):
        return
    nodes = [node for measure, _ in state.measures for node in walk(measure.expression)]
    repeated = [_repeated(state, node) for node in nodes if _weighs_rows(node)]
    if not any(repeated):
        return
    if len({*repeated}) > 1:
        raise DoesNotCompose("properties of things beside those of rows")
    key = str(repeated[0])
    used = {name for measure, _ in state.measures for name in columns_of(measure.expression)}
    for group, _ in state.groups:
        used |= columns_of(group.expression) if group.expression else {group.name}
    if key in used:
        return
    if state.having or (state.order is not None and state.order.by is not None):
        raise DoesNotCompose("an order of things with several rows")
    state.each = Part("each:thing", Each(keys=(key, *sorted(used))), (), ("once_each",))


def _repeated(state: State, node: Node) -> str | None:
    """The key of the thing that all columns of the expression are properties of."""
    known = [state.meanings.table.find(name) for name in columns_of(node)]
    owners = {column.same_for_each if column else None for column in known}
    return owners.pop() if len(owners) == 1 else None


def _weighs_rows(node: Node) -> bool:
    """Whether a value that rows repeat counts as often as it is repeated."""
    match node:
        case Rows():
            return True
        case Aggregate(function=function):
            return function not in ("min", "max", "count_distinct")
        case _:
            return False
