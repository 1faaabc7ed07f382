"""Wrong proposals made of right ones: each differs from the right one in meaning, by one fault that models make."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from groundplan.asking.tables.with_model.proposal import Group, Number, RowTest, Value, WholeReading
from groundplan.contracts.schema import Table

Mutation = Callable[[WholeReading, Table, random.Random], WholeReading | None]
FUNCTIONS = ("sum", "mean", "median", "min", "max", "std", "count", "distinct")
OPPOSITE = {"=": "!=", "!=": "=", "missing": "present", "present": "missing"}


def _put(proposal: WholeReading, name: str, place: int, **changes: Any) -> WholeReading:
    parts = list(getattr(proposal, name))
    parts[place] = parts[place].model_copy(update=changes)
    return proposal.model_copy(update={name: tuple(parts)})


def _without(proposal: WholeReading, name: str, place: int) -> WholeReading:
    parts = getattr(proposal, name)
    return proposal.model_copy(update={name: (*parts[:place], *parts[place + 1 :])})


def _conditions(proposal: WholeReading) -> list[tuple[str, int, int | None]]:
    """Where the conditions are: in filters, on groups, and in measures."""
    found: list[tuple[str, int, int | None]] = [("filters", i, None) for i in range(len(proposal.filters))]
    found += [("having", i, None) for i in range(len(proposal.having))]
    found += [("measures", i, j) for i, m in enumerate(proposal.measures) for j in range(len(m.number.where))]
    return found


def filter_dropped(proposal: WholeReading, table: Table, chance: random.Random) -> WholeReading | None:
    places = _conditions(proposal)
    if not places:
        return None
    name, place, inner = chance.choice(places)
    if inner is None:
        return _without(proposal, name, place)
    number = proposal.measures[place].number
    kept = number.model_copy(update={"where": (*number.where[:inner], *number.where[inner + 1 :])})
    return _put(proposal, name, place, number=kept)


def column_swapped(proposal: WholeReading, table: Table, chance: random.Random) -> WholeReading | None:
    """For another one of the same kind, anywhere in the proposal."""
    values = [
        *(("measures", i) for i, m in enumerate(proposal.measures) if m.number.of),
        *(("groups", i) for i in range(len(proposal.groups))),
        *(("filters", i) for i in range(len(proposal.filters))),
    ]
    if not values:
        return None
    name, place = chance.choice(values)
    part = getattr(proposal, name)[place]
    value: Value = part.number.of if name == "measures" else part.of
    old = table.find(value.column)
    others = [c.name for c in table.columns if old and c.kind == old.kind and c.name != old.name]
    if not others:
        return None
    new = value.model_copy(update={"column": chance.choice(others)})
    return _put(
        proposal,
        name,
        place,
        **({"number": part.number.model_copy(update={"of": new})} if name == "measures" else {"of": new}),
    )


def function_changed(proposal: WholeReading, table: Table, chance: random.Random) -> WholeReading | None:
    if not proposal.measures:
        return None
    place = chance.randrange(len(proposal.measures))
    number = proposal.measures[place].number
    numbers = [c.name for c in table.columns if c.kind == "number"]
    if number.function == "rows":
        if not numbers:
            return None
        new = Number(
            function=chance.choice(("sum", "mean")), of=Value(column=chance.choice(numbers)), where=number.where
        )
    elif number.function == "distinct":
        new = chance.choice(
            [number.model_copy(update={"function": "count"}), Number(function="rows", where=number.where)]
        )
    else:
        new = number.model_copy(
            update={"function": chance.choice([f for f in FUNCTIONS if f != number.function]), "percent": None}
        )
    return _put(proposal, "measures", place, number=new)


def group_added(proposal: WholeReading, table: Table, chance: random.Random) -> WholeReading | None:
    taken = {group.of.column for group in proposal.groups}
    free = [c.name for c in table.columns if c.name not in taken and c.kind in ("text", "boolean")]
    if not free or not proposal.measures or len(proposal.groups) > 3:
        return None
    words = proposal.measures[0].words
    return proposal.model_copy(
        update={"groups": (*proposal.groups, Group(words=words, of=Value(column=chance.choice(free))))}
    )


def group_dropped(proposal: WholeReading, table: Table, chance: random.Random) -> WholeReading | None:
    if not proposal.groups or not proposal.measures:
        return None
    return _without(proposal, "groups", chance.randrange(len(proposal.groups)))


def order_reversed(proposal: WholeReading, table: Table, chance: random.Random) -> WholeReading | None:
    if proposal.order is None:
        return None
    other = "bottom" if proposal.order.direction == "top" else "top"
    return proposal.model_copy(update={"order": proposal.order.model_copy(update={"direction": other})})


def limit_changed(proposal: WholeReading, table: Table, chance: random.Random) -> WholeReading | None:
    if proposal.order is None or proposal.order.limit is None:
        return None
    limit = chance.choice([n for n in (1, 3, 5, 10, 20, None) if n != proposal.order.limit])
    return proposal.model_copy(update={"order": proposal.order.model_copy(update={"limit": limit})})


def negation_lost(proposal: WholeReading, table: Table, chance: random.Random) -> WholeReading | None:
    """Or added, where there is none."""
    places = [i for i, test in enumerate(proposal.filters) if test.check in OPPOSITE]
    if not places:
        return None
    place = chance.choice(places)
    return _put(proposal, "filters", place, check=OPPOSITE[proposal.filters[place].check])


def comparison_turned(proposal: WholeReading, table: Table, chance: random.Random) -> WholeReading | None:
    turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    places = [(n, i) for n in ("filters", "having") for i, t in enumerate(getattr(proposal, n)) if t.check in turned]
    if not places:
        return None
    name, place = chance.choice(places)
    return _put(proposal, name, place, check=turned[getattr(proposal, name)[place].check])


def number_changed(proposal: WholeReading, table: Table, chance: random.Random) -> WholeReading | None:
    places = [
        i
        for i, t in enumerate(proposal.filters)
        if t.to and isinstance(t.to[0], int | float) and not isinstance(t.to[0], bool)
    ]
    if places:
        place = chance.choice(places)
        return _put(proposal, "filters", place, to=(proposal.filters[place].to[0] + 1,))
    places = [i for i, t in enumerate(proposal.having) if t.to is not None]
    if not places:
        return None
    place = chance.choice(places)
    return _put(proposal, "having", place, to=(proposal.having[place].to or 0) * 10)


def filter_added(proposal: WholeReading, table: Table, chance: random.Random) -> WholeReading | None:
    """Only rows that have a value in some column."""
    if len(proposal.filters) > 7:
        return None
    words = (
        (*proposal.measures, *proposal.groups, *proposal.filters)[0].words
        if proposal.measures or proposal.groups
        else ""
    )
    column = chance.choice(table.columns).name
    added = RowTest(words=words, of=Value(column=column), check="present")
    return proposal.model_copy(update={"filters": (*proposal.filters, added)}) if words else None


MUTATIONS: Mapping[str, Mutation] = {
    made.__name__: made
    for made in (
        filter_dropped,
        column_swapped,
        function_changed,
        group_added,
        group_dropped,
        order_reversed,
        limit_changed,
        negation_lost,
        comparison_turned,
        number_changed,
        filter_added,
    )
}


def mutated(proposal: WholeReading, table: Table, chance: random.Random) -> Iterator[tuple[str, WholeReading]]:
    """One of each kind that the proposal has a place for."""
    for name, mutate in MUTATIONS.items():
        made = mutate(proposal, table, chance)
        if made is not None and made != proposal:
            yield name, made
