"""What `drop`, `remove`, `without` and `instead of` take out of the question before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from groundplan.asking.tables.follow_up.fragment import Items, Slots
from groundplan.asking.tables.follow_up.merge import Merge, Unclear
from groundplan.asking.tables.grammar.phrases import Cond
from groundplan.contracts.answer import Clarification
from groundplan.contracts.expression import Not, columns_of
from groundplan.contracts.normal_form import of_filter
from groundplan.contracts.reading import (
    AnalysisAsked,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Time,
)

ALL = frozenset({"all", "every", "все", "всех"})
PLURAL = ("s", "ы", "ия")
Removal = tuple[str, Callable[[], object]]
"""What would be taken out, as a person says it, and the taking out."""


def drop(merge: Merge, slots: Slots, *, exchange: bool = False) -> None:
    """Takes out what the slots name. A value that no condition names is left out, unless it is exchanged."""
    fragment = merge.fragment
    named = [(field.name, items) for field, items in slots.bare]
    named += [(group.name, items) for group, items in slots.groups]
    named += [(m.base.name if m.base else m.name, items) for m, items in slots.measures]
    for column, items in named:
        _drop_one(merge, fragment.said(items), [*_of_column(merge, column)])
    for condition, items in slots.conditions:
        _drop_values(merge, condition, items, exchange=exchange)
    if slots.periods or slots.whole_time:
        _drop_one(merge, "the period", [*_of_kind(merge, "period")])
    if slots.charts or slots.tables:
        _drop_one(merge, "the chart", [*_of_kind(merge, "output")])


def drop_kinds(merge: Merge) -> None:
    """By the word for what it is: the filter, the period, the ranking."""
    fragment = merge.fragment
    said = [word.lower for word in fragment.words]
    removals = [r for kind in dict.fromkeys(cue.label for cue in fragment.kinds) for r in _of_kind(merge, kind)]
    several = any(word in ALL for word in said) or any(said[cue.last - 1].endswith(PLURAL) for cue in fragment.kinds)
    if not several or not removals:
        _drop_one(merge, fragment.text, removals)
        return
    for _, take_out in removals:
        take_out()


def _drop_one(merge: Merge, name: str, removals: list[Removal]) -> None:
    """Takes out the only one, or the one of several that was picked."""
    place = 0 if len(removals) == 1 else merge.pick() if removals else None
    if place is None:
        raise _which(name, removals)
    removals[place][1]()


def _drop_values(merge: Merge, condition: Cond, items: Items, *, exchange: bool) -> None:
    column = condition.column
    held = [r for r in merge.all(Filter) if column and columns_of(of_filter(r.value)) == {column}]
    kept = [r for r in held if {*condition.values} & {*r.value.values}]
    if not kept and exchange:
        raise _which(merge.fragment.said(items), [])
    if not kept:
        out = replace(condition, condition=Not(part=condition.condition), negated=True)
        merge.fragment.slots.conditions[:] = [(out, items)]
        merge.conditions()
        return
    for requirement in kept:
        value: Filter = requirement.value
        rest = tuple(one for one in value.values if one not in condition.values)
        if rest:
            place = merge.asked.index(requirement)
            merge.asked[place] = requirement.model_copy(update={"value": value.model_copy(update={"values": rest})})
        else:
            merge.drop([requirement])


def _of_column(merge: Merge, column: str) -> Iterator[Removal]:
    for requirement in merge.all(GroupBy, Time):
        if requirement.value.column == column:
            what = "axis of" if isinstance(requirement.value, Time) else "groups by"
            yield f"the {what} {column}", partial(merge.drop, [requirement])
    for requirement in merge.all(Filter):
        if columns_of(of_filter(requirement.value)) == {column}:
            yield requirement.words, partial(merge.drop, [requirement])
    metrics = merge.all(Metric)
    for requirement in metrics if len(metrics) > 1 else ():
        if column in (requirement.value.column, requirement.value.name):
            yield column, partial(merge.drop, [requirement])


def _of_kind(merge: Merge, kind: str) -> Iterator[Removal]:
    if kind == "filter":
        for requirement in merge.all(Filter):
            yield requirement.words, partial(merge.drop, [requirement])
    elif kind == "period":
        found = merge.period_filters()
        if found:
            yield "the period", partial(merge.drop, found)
    elif kind == "time":
        found = [r for r in merge.all(Time, GroupBy) if isinstance(r.value, Time) or r.value.ordered]
        if found:
            yield "the time axis", partial(merge.drop, found)
    elif kind == "rank":
        found = merge.all(Rank) + [r for r in merge.all(AnalysisAsked) if r.value.label == "ranking"]
        if found:
            yield "the ranking", partial(merge.drop, found)
    elif kind == "output":
        yield "the chart", partial(_show_a_table, merge)
    elif kind == "groups" and merge.all(GroupBy, Time):
        yield "the groups", partial(merge.drop, merge.all(GroupBy, Time))


def _show_a_table(merge: Merge) -> None:
    """The word that takes the chart out asks for the table."""
    fragment = merge.fragment
    cues = [(cue.first, cue.last) for cue in fragment.kinds] or [(0, len(fragment.words))]
    merge.drop(merge.all(OutputAsked))
    merge.put_words("output:table", OutputAsked(label="table"), *cues[0])


def _which(words: str, removals: list[Removal]) -> Unclear:
    candidates = tuple(name for name, _ in removals)
    if candidates:
        text = f"{words!r} could be {' or '.join(candidates)}. Which one should go?"
        return Unclear(Clarification(text=text, missing=words, candidates=candidates))
    text = f"The question before has nothing like {words!r} to take out. What should go?"
    return Unclear(Clarification(text=text, missing=words))
