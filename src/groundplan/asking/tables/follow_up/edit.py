"""A question that goes on from one about tables: the fragment is written into the question before, and that is read.

The words of the question before are crossed out or kept, those of the fragment are put in (`merging`, `dropping`), and
the same reader reads the result, so that an edited question means what the whole question would. Three checks stand
around it: the question before, read again, must still ask for the same; nothing may go that no word takes out; nothing
may come that no word of the fragment asks for. Where one fails, the whole question is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from groundplan.asking.tables.clarify import find_doubt
from groundplan.asking.tables.facets import Facets, find_facets, time_columns
from groundplan.asking.tables.follow_up.base_question import Ground
from groundplan.asking.tables.follow_up.difference import difference, find_surprise
from groundplan.asking.tables.follow_up.drop import drop, drop_period
from groundplan.asking.tables.follow_up.fragments import Fragment, hear, load_edit_words
from groundplan.asking.tables.follow_up.merge import merge
from groundplan.asking.tables.follow_up.splice import ARROW, Splice
from groundplan.asking.tables.read import LONGEST, read_scan
from groundplan.asking.tables.roles import assign
from groundplan.asking.tables.scan import Scan
from groundplan.asking.tables.values import Values
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.reading import Filter, Reading, Requirement
from groundplan.contracts.schema import SourceSchema
from groundplan.text.lexicon import load_lexicon
from groundplan.text.similar import Nearness
from groundplan.text.words import language_of, normalise, words_of

BETWEEN = f" {ARROW} "
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
    meaning: Nearness | None = None,
) -> Reading | Clarification | None:
    """The reading of the question before as this one edits it; None for a question of its own.

    `values` must hold those that either question may name.
    """
    ground = Ground(previous, schema, values, today, timezone, meaning)
    fragment = hear(question, ground.scan) if ground.tables else None
    if fragment is None or _is_whole(fragment, previous) or _changes_data(question):
        return None
    doubt = _unclear(fragment, question)
    if doubt:
        return doubt
    before = _replay(previous, ground)
    if before is None:
        return _ask_whole("what the question before asked for reads differently now")
    if fragment.stands_alone and fragment.signs <= WEAK and fragment.given_up is None:
        return _still(before[1], fragment)
    return _edited(previous, question, fragment, before, ground)


def _edited(
    previous: Reading, question: str, fragment: Fragment, before: tuple[Facets, Reading], ground: Ground
) -> Reading | Clarification:
    splice = _spliced(before[0], fragment, ground.today)
    if isinstance(splice, Clarification):
        return splice
    scan = ground.scan(splice.text)
    after = scan if isinstance(scan, Refusal) else read_scan(scan)
    if isinstance(after, Clarification):
        return after
    if isinstance(after, Refusal):
        return Clarification(text=after.text, missing=question[:200])
    surprise = find_surprise(before[1], after, splice, fragment)
    if surprise:
        return _ask_whole(surprise)
    whole = previous.question + BETWEEN + normalise(question).replace(ARROW, "")
    if len(whole) > LONGEST:
        return _ask_whole(f"together with the questions before it has more than {LONGEST} characters")
    return _as_follow_up(previous, after, whole, normalise(question))


def _is_whole(fragment: Fragment, previous: Reading) -> bool:
    """Whether it needs nothing of the question before; one about a tracker's lists is not edited without a sign."""
    if fragment.is_marked:
        return False
    lists = any(requirement.kind == "intent" for requirement in previous.requirements)
    return lists or fragment.is_a_sentence or bool(_unknown(fragment)) or not _says_something(fragment)


def _changes_data(question: str) -> bool:
    """`drop table sales`: the reader refuses that by name."""
    return bool(load_lexicon().changes.find(words_of(normalise(question))))


def _unclear(fragment: Fragment, question: str) -> Clarification | None:
    doubt = None if fragment.drops else find_doubt(fragment.facets)
    if isinstance(doubt, Refusal):
        return Clarification(text=doubt.text, missing=question[:200])
    unknown = _unknown(fragment)
    if unknown:
        names = ", ".join(column.name for column in fragment.scan.table.columns[:20])
        return Clarification(text=f"The data has nothing called {unknown!r}; it has {names}.", missing=unknown)
    if not _says_something(fragment):
        text = "What should change? Name a column, a value, a period or a chart, or ask the whole question."
        return Clarification(text=text, missing=question[:200])
    return None


def _unknown(fragment: Fragment) -> str:
    known, words = load_edit_words(), fragment.scan.words
    cues = (*known.always.find(words), *(known.objects.find(words) if fragment.drops else ()))
    explained = {place for cue in cues for place in range(cue.first, cue.last)}
    return " ".join(words[place].text for place in fragment.scan.unexplained if place not in explained)


def _says_something(fragment: Fragment) -> bool:
    always = load_edit_words().always.find(fragment.scan.words)
    return fragment.says_something or fragment.drops or bool(always) or fragment.given_up is not None


def _replay(previous: Reading, ground: Ground) -> tuple[Facets, Reading] | None:
    """The question before, edits and all, read again; None where that does not give what it asked for."""
    first, *edits = previous.question.split(BETWEEN) if previous.follow_up else [previous.question]
    text = first
    for said in edits:
        base, fragment = ground.scan(text), hear(said, ground.scan)
        if isinstance(base, Refusal) or fragment is None:
            return None
        splice = _spliced(_facets(base), fragment, ground.today)
        if isinstance(splice, Clarification):
            return None
        text = splice.text
    scan = ground.scan(text)
    reading = None if isinstance(scan, Refusal) else read_scan(scan)
    if not isinstance(reading, Reading) or isinstance(scan, Refusal) or difference(previous, reading):
        return None
    return _facets(scan), reading


def _facets(scan: Scan) -> Facets:
    return find_facets(scan, assign(scan))


def _spliced(base: Facets, fragment: Fragment, today: date) -> Splice | Clarification:
    splice = Splice(base.scan)
    doubt: Clarification | None = None
    if load_edit_words().always.find(fragment.scan.words):
        doubt = drop_period(base, splice)
    elif fragment.drops:
        doubt = drop(base, fragment.scan, splice)
    else:
        doubt = drop(base, fragment.given_up, splice, exchange=True) if fragment.given_up else None
        doubt = doubt or merge(base, fragment, splice, today)
    return doubt or splice


def _still(before: Reading, fragment: Fragment) -> Clarification | None:
    """A question that needs nothing but, perhaps, the conditions of the one before: with them or without?"""
    named = {value.column for value in fragment.scan.value_mentions}
    named |= {comparison.mention.column.name for comparison in fragment.comparisons if comparison.mention}
    named |= {column.name for column in time_columns(fragment.scan.table)} if fragment.scan.periods else set()
    kept = [r for r in before.requirements if isinstance(r.value, Filter) and r.value.column not in named]
    if not kept:
        return None
    words = " and ".join(f"{r.evidence.text!r}" for r in kept)
    return Clarification(
        text=f"Still only {words}? Please say it in the question, or ask without `and`.", missing=words
    )


def _as_follow_up(previous: Reading, after: Reading, whole: str, said: str) -> Reading:
    language = language_of(said)
    return after.model_copy(
        update={
            "question": whole,
            "language": previous.language if language == "other" else language,
            "requirements": tuple(_in_words(r, previous, whole) for r in after.requirements),
            "follow_up": True,
        }
    )


def _in_words(requirement: Requirement, previous: Reading, whole: str) -> Requirement:
    """With evidence that was said: the reader's own where both questions have it, else that of the question before."""
    text = requirement.evidence.text
    if text not in whole:
        said = next((r.evidence for r in previous.requirements if r.id == requirement.id), None)
        text = said.text if said and not requirement.implied else text
    start = whole.find(text) if whole.count(text) == 1 else None
    return requirement.model_copy(
        update={"evidence": requirement.evidence.model_copy(update={"text": text, "start": start})}
    )


def _ask_whole(why: str) -> Clarification:
    text = f"This cannot be taken over from the question before: {why}. Please ask the whole question."
    return Clarification(text=text, missing="the whole question")
