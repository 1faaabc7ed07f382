"""Whether a question goes on from the one before, or comes near one. In doubt it is a new one."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.contracts.conversation import Turn
from groundplan.contracts.knowledge import Conversation
from groundplan.reading.lexicon import load_lexicon
from groundplan.reading.lookup_scan import LookupScan
from groundplan.reading.marks import Mark
from groundplan.reading.meaning import Meaning
from groundplan.reading.words import normalise, words_of

SHORT = 6  # words: a longer question that only begins with "and" may well be about something else

Place = tuple[int, int]


def find_follow_up(scan: LookupScan, context: Conversation | None) -> Place | None:
    """Where the entity of the turn before would stand in the question; None for a new question.

    It takes something asked for, no name of its own, and one of: a pronoun; "there" in a question that begins with
    "and"; "this project", when a project was spoken of; or nothing but "and" and what is asked for.
    """
    words, marks, known = scan.words, scan.all_marks, scan.known
    names_its_own = bool(scan.names) or any(scan.unknown_names())
    if context is None or not context.entities or names_its_own or not scan.is_understood:
        return None
    goes_on = words[0].plain in known.continuing
    for place, word in enumerate(words):
        points = word.plain in known.pointing and _is_one_of(marks, place + 1, context)
        if word.plain in known.pronouns or points or (goes_on and word.plain in known.places):
            return place, place + 1
    return (len(words), len(words)) if goes_on and len(words) <= SHORT else None


def _is_one_of(marks: Sequence[Mark], place: int, context: Conversation) -> bool:
    spoken_of = {entity.type for entity in context.entities}
    return any(mark.first == place and not mark.types.isdisjoint(spoken_of) for mark in marks)


def similar(question: str, turns: Sequence[Turn], meaning: Meaning | None, threshold: float = 0.8) -> Turn | None:
    """The turn whose question comes nearest, the latest of equals; None where none comes near enough.

    Near is the cosine of the two questions where embeddings are set up. Without them it is the share of the words that
    name something which both have (Dice: twice the common stems by all stems). Either way it only finds what may be
    reused: the caller holds the requirements of both against each other and has the gate check what it adapts.
    """
    if not turns:
        return None
    questions = [turn.question for turn in turns]
    nearness = meaning(question, questions) if meaning else [_shared(question, other) for other in questions]
    near, place = max((near, place) for place, near in enumerate(nearness))
    return turns[place] if near >= threshold else None


def _shared(one: str, other: str) -> float:
    left, right = telling_stems(one), telling_stems(other)
    return 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0


def telling_stems(text: str) -> set[str]:
    """Stems, without the words that only ask, point or polish."""
    fillers = load_lexicon().fillers
    return {word.stem for word in words_of(normalise(text)) if word.stem not in fillers}
