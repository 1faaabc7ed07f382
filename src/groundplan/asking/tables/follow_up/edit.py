"""A question that goes on from one about tables: what it says is merged into the reading of the question before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from groundplan.asking.tables.accounting import unread_words
from groundplan.asking.tables.follow_up.drop import drop, drop_kinds
from groundplan.asking.tables.follow_up.fragment import Fragment, changes_data, parse_fragment
from groundplan.asking.tables.follow_up.merge import Merge, Unclear
from groundplan.asking.tables.grammar.implied import intent_of, with_implied
from groundplan.asking.tables.refusals import LONGEST, find_refusal, unaskable
from groundplan.asking.tables.values import Values
from groundplan.contracts.answer import Clarification
from groundplan.contracts.expression import columns_of
from groundplan.contracts.normal_form import of_filter
from groundplan.contracts.reading import (
    AnalysisAsked,
    ColumnsAsked,
    Filter,
    GroupBy,
    Intent,
    Metric,
    Rank,
    Reading,
    Time,
)
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.text.words import language_of, normalise, words_of

ARROW = "→"
"""Stands between a question and what was said later."""

BETWEEN = f" {ARROW} "
THESE = "these"
"""The sign of a question about the rows of the one before: `how many of these`."""

WEAK = frozenset({"join", "go_on"})
"""Signs of going on that a whole question may begin with too."""


def edit(
    previous: Reading,
    question: str,
    schema: SourceSchema,
    values: Mapping[str, Values],
    *,
    today: date,
    timezone: str = "UTC",
) -> Reading | Clarification | None:
    """The reading of the question before as this one changes it; None for a question of its own.

    `values` must hold those that the fragment may name.
    """
    asked = (question, schema, values, today, timezone)
    if previous.also:
        return _together([_edited(ask, *asked) for ask in previous.asks])
    found = _edited(previous, *asked)
    if not isinstance(found, Clarification) or not found.candidates:
        return found
    picked = ((name, _edited(previous, *asked, place)) for place, name in enumerate(found.candidates))
    offered = {name: reading for name, reading in picked if isinstance(reading, Reading)}
    update = {"candidates": tuple(offered), "readings": tuple(offered.values())}
    return found.model_copy(update=update) if offered else found


def _together(made: Sequence[Reading | Clarification | None]) -> Reading | Clarification | None:
    """Everything that was asked for, changed alike; a question back where that is not possible for each."""
    edited = [one for one in made if isinstance(one, Reading)]
    if len(edited) == len(made):
        return edited[0].model_copy(update={"also": tuple(edited[1:])})
    if all(one is None for one in made):
        return None
    return _ask_whole("the question before asks for several things")


def _edited(
    previous: Reading,
    question: str,
    schema: SourceSchema,
    values: Mapping[str, Values],
    today: date,
    timezone: str,
    picked: int | None = None,
) -> Reading | Clarification | None:
    """`picked`: the candidate to go on with where this would otherwise be asked back."""
    text = normalise(question).replace(ARROW, "")
    table = schema.find(previous.tables[0]) if previous.tables else None
    if table is None or unaskable(text, words_of(text)) or changes_data(text):
        return None
    fragment = parse_fragment(text, table, values.get(table.name, {}), _held(previous), today=today, timezone=timezone)
    if _is_whole(fragment, previous):
        return None
    doubt = _unclear(fragment, previous, table)
    if doubt:
        return doubt
    if THESE in fragment.signs:
        if any(isinstance(r.value, Rank) and r.value.limit for r in previous.requirements):
            return _ask_whole("it may mean those in the ranking, or all of them")
        previous = _unlisted(previous, fragment)
    if fragment.stands_alone and fragment.signs <= WEAK and fragment.given_up is None:
        return _still(previous, fragment)
    whole = previous.question + BETWEEN + fragment.text
    if len(whole) > LONGEST:
        why = f"together with the questions before it has more than {LONGEST} characters"
        return _ask_whole(why)
    merge = Merge(previous, fragment, len(previous.question + BETWEEN), today, timezone, picked)
    try:
        _change(merge, fragment)
        made = _reading(previous, merge, whole)
    except Unclear as unclear:
        return unclear.clarification
    own = {word.text for word in fragment.words}
    left = [word for word in unread_words(made, schema) if word in own]
    return made if not left else _nothing_called(" ".join(left), table)


def _unlisted(previous: Reading, fragment: Fragment) -> Reading:
    """Of rows that were listed, a number: the list goes, what chose its rows stays."""
    if not (fragment.slots.measures or fragment.slots.marked("count")):
        return previous
    kept = [r for r in previous.requirements if not isinstance(r.value, ColumnsAsked | Rank)]
    kept = [r for r in kept if not (isinstance(r.value, AnalysisAsked) and r.value.label == "detail")]
    return previous.model_copy(update={"requirements": tuple(kept)})


def _held(previous: Reading) -> frozenset[str]:
    """The columns that the question before speaks of."""
    values = [requirement.value for requirement in previous.requirements]
    named = {value.column for value in values if isinstance(value, Metric | GroupBy | Time) and value.column}
    filtered = (columns_of(of_filter(value)) for value in values if isinstance(value, Filter))
    return frozenset(named).union(*filtered)


def _is_whole(fragment: Fragment, previous: Reading) -> bool:
    """Whether it needs nothing of the question before; one about a tracker's lists is not edited without a sign."""
    if not fragment.words:
        return True
    if fragment.is_marked:
        return False
    lists = any(requirement.kind == "intent" for requirement in previous.requirements)
    return lists or not fragment.fits or fragment.is_a_sentence or not fragment.says_something


def _unclear(fragment: Fragment, previous: Reading, table: Table) -> Clarification | None:
    refusal = find_refusal(fragment.text, words_of(fragment.text))
    if refusal:
        return Clarification(text=refusal.text, missing=fragment.text[:200])
    if fragment.unread:
        return _nothing_called(" ".join(fragment.unread), table)
    if not fragment.fits or not fragment.says_something:
        text = "What should change? Name a column, a value, a period or a chart, or ask the whole question."
        return Clarification(text=text, missing=fragment.text[:200])
    if any(requirement.kind in ("intent", "goal", "constraint") for requirement in previous.requirements):
        return _ask_whole("it does not compute with a table")
    return None


def _nothing_called(said: str, table: Table) -> Clarification:
    names = ", ".join(column.name for column in table.columns[:20])
    return Clarification(text=f"The data has nothing called {said!r}; it has {names}.", missing=said)


def _change(merge: Merge, fragment: Fragment) -> None:
    if fragment.kinds:
        drop_kinds(merge)
    elif fragment.drops:
        drop(merge, fragment.slots)
    else:
        if fragment.given_up is not None:
            drop(merge, fragment.given_up, exchange=True)
        merge.merge()


def _still(before: Reading, fragment: Fragment) -> Clarification | None:
    """A question that needs nothing but, perhaps, the conditions of the one before: with them or without?"""
    slots = fragment.slots
    named = {column for condition, _ in slots.conditions for column in columns_of(condition.condition)}
    named |= {column.name for column in fragment.builders.meanings.dates} if slots.periods else set()
    filters = [r for r in before.requirements if isinstance(r.value, Filter)]
    kept = [r for r in filters if isinstance(r.value, Filter) and not columns_of(of_filter(r.value)) & named]
    if not kept:
        return None
    words = " and ".join(f"{r.words!r}" for r in kept)
    return Clarification(
        text=f"Still only {words}? Please say it in the question, or ask without `and`.", missing=words
    )


def _reading(previous: Reading, merge: Merge, whole: str) -> Reading:
    if merge.all(Rank) and not merge.all(GroupBy, Time) and not any(r.kind == "columns" for r in merge.asked):
        words = merge.all(Rank)[0].words
        raise Unclear(Clarification(text=f"{words!r} of what?", missing=words))
    language = language_of(merge.fragment.text)
    periods = [when.period for when, _ in merge.slots.periods]
    still = previous.period if merge.period_filters() else None
    return previous.model_copy(
        update={
            "question": whole,
            "language": previous.language if language == "other" else language,
            "requirements": with_implied(merge.asked, merge.meanings.table.assume),
            "intents": (Intent(name=intent_of(merge.asked), confidence=1.0),),
            "period": periods[0] if periods else still,
            "follow_up": True,
            "replaced": merge.replaced(),
            "unresolved": (),
        }
    )


def _ask_whole(why: str) -> Clarification:
    text = f"This cannot be taken over from the question before: {why}. Please ask the whole question."
    return Clarification(text=text, missing="the whole question")
