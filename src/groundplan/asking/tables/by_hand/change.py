"""Applies changes to a reading. What only followed from the old parts is worked out again; the gate judges the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from groundplan.asking.tables.by_hand.suggest import looks_at_values
from groundplan.asking.tables.grammar.implied import PASSING, intent_of, with_implied
from groundplan.asking.tables.grammar.requirements import filter_id, free_id, metric_id, rank_id, rows_counted_apart
from groundplan.contracts.contract import Language
from groundplan.contracts.defaults import DEFAULTS, Default
from groundplan.contracts.editing import Change, Chip
from groundplan.contracts.expression import Column, Node, Related, walk
from groundplan.contracts.meaning import is_period, measure_of
from groundplan.contracts.normal_form import of_filter
from groundplan.contracts.reading import (
    AnalysisAsked,
    ColumnsAsked,
    Each,
    Evidence,
    Filter,
    GroupBy,
    Intent,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
    Time,
    Value,
)
from groundplan.errors import UsageError
from groundplan.text.read_back import language_of, part_in_words, rows_called

FIXED = (ColumnsAsked, Each)  # shown, and changed by asking anew
CHANGED = (Metric, GroupBy, Time, Filter, Rank, AnalysisAsked, OutputAsked)


def is_about_tables(reading: Reading) -> bool:
    """Whether its parts are those of questions about tables, and not of tasks or look-ups."""
    return all(isinstance(r.value, (*CHANGED, *FIXED)) for r in reading.requirements)


def chips(reading: Reading) -> tuple[Chip, ...]:
    """The parts of a reading about tables; none for other readings."""
    shown = [r for r in reading.requirements if not (r.implied and isinstance(r.value, AnalysisAsked | OutputAsked))]
    if not is_about_tables(reading):
        return ()
    measures, rows = sum(isinstance(r.value, Metric) for r in shown), rows_called(reading)
    return tuple(
        Chip(
            requirement=r.id,
            kind=r.kind,
            label=part_in_words(r.value, language_of(reading), of_values=looks_at_values(reading), rows=rows),
            words=tuple(e for e in r.quotes if e.start is not None),
            implied=r.implied,
            removable=not isinstance(r.value, FIXED) and not (isinstance(r.value, Metric) and measures == 1),
        )
        for r in shown
    )


def changed(reading: Reading, changes: Sequence[Change], assume: Collection[Default] = DEFAULTS) -> Reading:
    """The reading with the changes made in order; `assume`: the defaults that are not switched off."""
    asked = [r for r in reading.requirements if not _follows(r, reading)]
    replaced = [*reading.replaced]
    for change in changes:
        asked, gone = _changed(asked, change, language_of(reading))
        replaced += [e for r in gone for e in r.quotes if e.start is not None]
    asked = rows_counted_apart(asked)
    if not asked:
        raise UsageError("a reading needs at least one part; change it, or ask a new question")
    said = [e for r in asked for e in r.quotes]
    return reading.model_copy(
        update={
            "requirements": with_implied(asked, assume),
            "tables": _tables(reading, asked),
            "intents": (Intent(name=intent_of(asked)),),
            "period": reading.period
            if any(isinstance(r.value, Filter) and is_period(r.value) and not r.chosen for r in asked)
            else None,
            "replaced": tuple(e for e in dict.fromkeys(replaced) if not any(one.covers(e) for one in said)),
            "read_by": (),
        }
    )


def last_changed(reading: Reading, changes: Sequence[Change]) -> str | None:
    """The part that the last change made; None if it removed one."""
    if not changes or changes[-1].to is None:
        return None
    return next((r.id for r in reversed(reading.requirements) if r.value == changes[-1].to), None)


def _follows(requirement: Requirement, reading: Reading) -> bool:
    """Whether it only followed from other parts, so that it is worked out again."""
    match requirement.value:
        case AnalysisAsked(label=label):
            ranked = any(isinstance(r.value, Rank) for r in reading.requirements)
            return requirement.implied or label in PASSING or (label == "ranking" and ranked)
        case OutputAsked():
            return requirement.implied
        case _:
            return False


def _changed(
    asked: list[Requirement], change: Change, language: Language
) -> tuple[list[Requirement], list[Requirement]]:
    """The requirements after one change, and those that are gone."""
    old = next((r for r in asked if r.id == change.requirement), None)
    if change.requirement is not None and old is None:
        raise UsageError(f"the reading has no part {change.requirement!r}")
    for value in (old.value if old else None, change.to):
        if value is not None and not isinstance(value, CHANGED):
            raise UsageError(f"a part of kind {value.kind!r} cannot be changed by hand; ask the question anew")
    if old is None and isinstance(change.to, Rank) and any(isinstance(r.value, Rank) for r in asked):
        raise UsageError("the reading has an order already; change that part")
    place = asked.index(old) if old else _place(asked, change.to)
    rest = [r for r in asked if r is not old]
    if change.to is not None:
        rest.insert(place, _chosen(change.to, rest, language))
    gone = [*([old] if old else []), *_pointless(rest, old)]
    return [_following(r, old, change.to) for r in rest if r not in gone], gone


def _pointless(rest: Sequence[Requirement], old: Requirement | None) -> list[Requirement]:
    """A ranking of groups, after the last group was removed: one number cannot be ranked."""
    grouped = any(isinstance(r.value, GroupBy | Time) for r in rest)
    if old is None or not isinstance(old.value, GroupBy | Time) or grouped:
        return []
    return [r for r in rest if isinstance(r.value, Rank)]


def _place(asked: Sequence[Requirement], value: Value | None) -> int:
    """Behind the last part of the same kind, or at the end."""
    same = [place for place, r in enumerate(asked) if value is not None and r.kind == value.kind]
    return same[-1] + 1 if same else len(asked)


def _chosen(value: Value, beside: Iterable[Requirement], language: Language) -> Requirement:
    free = free_id(_id(value)[:240], {r.id for r in beside})
    label = part_in_words(value, language)[:500]
    return Requirement(id=free, value=value, evidence=Evidence(text=label, chosen=True))


def _id(value: Value) -> str:
    match value:
        case Metric():
            return metric_id(value)
        case Filter():
            return filter_id(value)
        case Rank():
            return rank_id(value)
        case AnalysisAsked(label=label) | OutputAsked(label=label):
            return f"{value.kind}:{label}"
        case _:
            return f"{value.kind}:{getattr(value, 'column', 'new')}"


def _following(requirement: Requirement, old: Requirement | None, new: Value | None) -> Requirement:
    """A ranking goes by the new measure instead of the old one, and within the groups that are left."""
    rank = requirement.value
    if not isinstance(rank, Rank) or old is None:
        return requirement
    update: dict[str, object] = {}
    if isinstance(old.value, Metric) and rank.by == measure_of(old.value):
        update["by"] = measure_of(new) if isinstance(new, Metric) else None
    if isinstance(old.value, GroupBy | Time):
        name = getattr(new, "column", None)
        within = [name if one == old.value.column else one for one in rank.within]
        update["within"] = tuple(filter(None, within))
    return requirement.model_copy(update={"value": rank.model_copy(update=update)})


def _tables(reading: Reading, asked: Iterable[Requirement]) -> tuple[str, ...]:
    """The table of the reading, and those whose columns it still needs."""
    needed = {table for r in asked for table in _tables_of(r.value)}
    kept = [table for table in reading.tables[1:] if table in needed]
    return (*reading.tables[:1], *kept, *sorted(needed - {*reading.tables}))


def _tables_of(value: Value) -> Iterator[str]:
    yield from filter(None, [getattr(value, "table", None)])
    for root in _expressions(value):
        yield from (node.table for node in walk(root) if isinstance(node, Column | Related) and node.table)


def _expressions(value: Value) -> Iterator[Node]:
    match value:
        case Metric():
            yield measure_of(value)
        case GroupBy(expression=expression) if expression is not None:
            yield expression
        case Filter():
            yield of_filter(value)
        case Rank(by=by, then=then):
            yield from (by,) if by is not None else ()
            yield from (one.by for one in then)
        case ColumnsAsked(computed=computed):
            yield from (one.expression for one in computed)
        case Each(measures=measures):
            yield from (one.expression for one in measures)
