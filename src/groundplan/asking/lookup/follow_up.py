"""Detects follow-up questions. In doubt, a question is a new one."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.asking.lookup.scan import LookupScan
from groundplan.asking.lookup.vocabulary import Mark
from groundplan.contracts.knowledge import Conversation

SHORT = 6  # words; a longer question that begins with "and" may be about something else

Place = tuple[int, int]


def find_follow_up(scan: LookupScan, context: Conversation | None) -> Place | None:
    """The position where the previous turn's entity belongs in the question; None for a new question.

    A follow-up asks for something, names no entity, and has one of: a pronoun; "there" in a question that begins with
    "and"; "this project" if the previous turn was about a project; or nothing but "and" and what it asks for.
    """
    if context is None or not context.entities or not scan.is_understood:
        return None
    return _place(scan, context)


def is_clear_follow_up(scan: LookupScan, context: Conversation | None) -> bool:
    """True if the question goes on from the turn before, whether or not its words are understood."""
    return context is not None and bool(context.entities or context.found) and _place(scan, context) is not None


def _place(scan: LookupScan, context: Conversation) -> Place | None:
    words, marks, known = scan.words, scan.all_marks, scan.known
    if scan.names or any(scan.unknown_names()) or not words:
        return None
    goes_on = words[0].plain in known.continuing
    for place, word in enumerate(words):
        points = word.plain in known.pointing and _is_one_of(marks, place + 1, context)
        if word.plain in known.pronouns or points or (goes_on and word.plain in known.places):
            return place, place + 1
    return (len(words), len(words)) if goes_on and len(words) <= SHORT else None


def _is_one_of(marks: Sequence[Mark], place: int, context: Conversation) -> bool:
    spoken_of = {entity.type for entity in (*context.entities, *context.found)}
    return any(mark.first == place and not mark.types.isdisjoint(spoken_of) for mark in marks)
