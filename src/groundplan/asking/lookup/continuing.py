"""Goes on with the list of the turn before: `show the rest`, `next 5`, `ещё`; or shows it again in another manner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from groundplan.asking.lookup.manner import load_manner_words, phrases_in
from groundplan.asking.lookup.scan import LookupScan
from groundplan.asking.lookup.vocabulary import Mark
from groundplan.contracts.answer import Refusal, refused
from groundplan.contracts.knowledge import Conversation, KnowledgeSchema, ShownList
from groundplan.contracts.reading import IntentAsked

Part = Literal["rest", "more", "again"]


@dataclass(frozen=True)
class Continuation:
    """The look-ups that a question goes on with, with the items that it asks for."""

    asked: tuple[IntentAsked, ...]


def find_continuation(scan: LookupScan, context: Conversation | None) -> Continuation | Refusal | None:
    """None if the question asks for something else. A refusal if there is no list to go on with."""
    part, number = (None, None) if scan.names else _part(scan)
    if part is None:
        return None
    lists = [one for one in (context.lists if context else ()) if _is_meant(scan, one)]
    if lists:
        return Continuation(tuple(_next(one, part, number, scan) for one in lists))
    if scan.all_marks:
        return None
    return refused("reading/no-list", "there is no list to go on with", "ask for one first, in the same conversation")


def _part(scan: LookupScan) -> tuple[Part | None, int | None]:
    """Which part of a list is asked for, and how many; None if any word says something else."""
    told = load_manner_words()
    rest, more = (list(phrases_in(scan.words, phrases)) for phrases in (told.rest, told.more))
    cues = {place for _, (first, last) in (*rest, *more) for place in range(first, last)}
    numbers = {place: n for place, word in enumerate(scan.words) if (n := told.number(word))}
    for place, word in enumerate(scan.words):
        if place not in cues | numbers.keys() and word.lower not in told.beside and not scan.is_plain(place):
            return None, None
    number = scan.manner.limit or next(iter(numbers.values()), None)
    if rest or more:
        return ("more" if number or not rest else "rest"), number
    return ("again" if scan.manner.evidence and not scan.all_marks else None), number


def _is_meant(scan: LookupScan, shown: ShownList) -> bool:
    """Whether the list is what the question calls it, if it calls it something."""
    return all(means(mark, shown.asked, scan.knowledge) for mark in scan.all_marks)


def means(mark: Mark, asked: IntentAsked, knowledge: KnowledgeSchema) -> bool:
    """Whether the words of the mark ask for this look-up."""
    return (
        asked.intent in mark.intents
        or not mark.types.isdisjoint(_end(asked, knowledge))
        or (bool(asked.path) and asked.path[-1].removeprefix("^") in mark.relations)
    )


def _end(asked: IntentAsked, knowledge: KnowledgeSchema) -> Iterator[str]:
    """The type of the listed things."""
    ends = knowledge.ends(asked.path[-1]) if asked.path else None
    if ends:
        yield ends[1]


def _next(shown: ShownList, part: Part, number: int | None, scan: LookupScan) -> IntentAsked:
    most = scan.knowledge.limits.items
    limits = {"rest": most, "more": shown.items, "again": shown.asked.limit}
    limit = min(number, most) if number else limits[part]
    offset = shown.asked.offset + (0 if part == "again" else shown.items)
    style = scan.manner.style or shown.asked.style
    return shown.asked.model_copy(update={"limit": limit, "offset": offset, "style": style})
