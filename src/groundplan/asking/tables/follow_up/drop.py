"""What `drop`, `remove`, `without` and `instead of` take out of the question before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from groundplan.asking.tables.facets import Facets
from groundplan.asking.tables.follow_up.fragments import load_edit_words
from groundplan.asking.tables.follow_up.merge import (
    by_column,
    cross_out_comparisons,
    cross_out_outputs,
    cross_out_periods,
    cross_out_time,
    measured,
)
from groundplan.asking.tables.follow_up.splice import Splice
from groundplan.asking.tables.numbers import find_comparisons
from groundplan.asking.tables.scan import Scan
from groundplan.contracts.answer import Clarification

ALL = frozenset({"all", "every", "все", "всех"})
PLURAL = ("s", "ы", "ия")
Removal = tuple[str, Callable[[], object]]
"""What would be taken out, as a person says it, and the taking out."""


def drop(base: Facets, named: Scan, splice: Splice, *, exchange: bool = False) -> Clarification | None:
    """Crosses out what the words name. A value that no condition names is left out, unless it is exchanged."""
    columns = dict.fromkeys(mention.column.name for mention in named.mentions)
    for column in columns:
        doubt = _drop_one(column, [*_of_column(base, column, splice)])
        if doubt:
            return doubt
    for value in named.value_mentions:
        held = [v for v in by_column(base.scan).get(value.column, ()) if v.value == value.value]
        if held:
            splice.cross_out_values(value.column, ((v.first, v.last) for v in held))
        elif exchange:
            return _which(value.value, [])
        else:
            splice.add(f"except {value.value}")
    return None if columns or named.value_mentions else _drop_kinds(base, named, splice)


def drop_period(base: Facets, splice: Splice) -> Clarification | None:
    return _drop_one("the period", [*_of_kind(base, "period", splice)])


def _drop_kinds(base: Facets, named: Scan, splice: Splice) -> Clarification | None:
    """By the word for what it is: the filter, the period, the ranking."""
    cues = load_edit_words().objects.find(named.words)
    kinds = [cue.label for cue in cues] or (["period"] if named.periods else [])
    removals = [removal for kind in dict.fromkeys(kinds) for removal in _of_kind(base, kind, splice)]
    said = [word.lower for word in named.words]
    several = any(word in ALL for word in said) or any(said[cue.last - 1].endswith(PLURAL) for cue in cues)
    if len(removals) > 1 and not several:
        return _which(named.text, removals)
    for _, take_out in removals:
        take_out()
    return None if removals else _which(named.text, [])


def _drop_one(name: str, removals: list[Removal]) -> Clarification | None:
    if len(removals) != 1:
        return _which(name, removals)
    removals[0][1]()
    return None


def _of_column(base: Facets, column: str, splice: Splice) -> Iterator[Removal]:
    for mention in base.roles.groups:
        if mention.column.name == column:
            yield f"the groups by {column}", partial(splice.cross_out, mention.first, mention.last)
    if base.time_said and base.time_column and base.time_column.name == column:
        yield f"the axis of {column}", partial(cross_out_time, base, splice)
    yield from (removal for name, removal in _filters(base, splice) if name == column)
    measures = measured(base)
    for measure in measures if len(measures) > 1 else ():
        if measure.mention.column.name == column:
            yield column, partial(splice.cross_out, measure.mention.first, measure.mention.last)


def _filters(base: Facets, splice: Splice) -> Iterator[tuple[str, Removal]]:
    """Each condition by its column."""
    for column, values in by_column(base.scan).items():
        words = base.scan.spoken(values[0].first, values[-1].last)[0]
        spans = [(value.first, value.last) for value in values]
        yield column, (words, partial(splice.cross_out_values, column, spans))
    for column in dict.fromkeys(c.mention.column.name for c in find_comparisons(base.scan) if c.mention):
        yield column, (f"the condition on {column}", partial(cross_out_comparisons, base, column, splice))
    if base.scan.periods:
        words = base.scan.text[base.scan.periods[0].start : base.scan.periods[-1].end]
        yield base.time_column.name if base.time_column else "", (words, partial(cross_out_periods, base, splice))


def _of_kind(base: Facets, kind: str, splice: Splice) -> Iterator[Removal]:
    if kind == "filter":
        yield from (removal for _, removal in _filters(base, splice))
    elif kind == "period" and base.scan.periods:
        yield "the period", partial(cross_out_periods, base, splice)
    elif kind == "time" and base.time_said:
        yield "the time axis", partial(cross_out_time, base, splice)
    elif kind == "rank" and base.rank_cue:
        yield "the ranking", partial(splice.cross_out, base.rank_cue.first, base.rank_cue.last)
    elif kind == "output":
        yield "the chart", partial(_show_a_table, base, splice)
    elif kind == "groups" and (base.roles.groups or base.time_said):
        yield "the groups", partial(_cross_out_breakdown, base, splice)


def _cross_out_breakdown(base: Facets, splice: Splice) -> None:
    cross_out_time(base, splice)
    for mention in base.roles.groups:
        splice.cross_out(mention.first, mention.last)


def _show_a_table(base: Facets, splice: Splice) -> None:
    cross_out_outputs(base, splice)
    splice.add("table")


def _which(words: str, removals: list[Removal]) -> Clarification:
    candidates = tuple(name for name, _ in removals)
    if candidates:
        return Clarification(
            text=f"{words!r} could be {' or '.join(candidates)}. Which one should go?",
            missing=words,
            candidates=candidates,
        )
    return Clarification(
        text=f"The question before has nothing like {words!r} to take out. What should go?", missing=words
    )
