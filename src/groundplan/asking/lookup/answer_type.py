"""The type of thing that a question to a knowledge base asks for, by its question word and the noun after it."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.asking.lookup.scan import LookupScan
from groundplan.asking.lookup.vocabulary import Mark
from groundplan.contracts.knowledge import KnowledgeSchema
from groundplan.text.stems import keys_of

FARTHEST = 4  # words between a question word and its noun

Wanted = tuple[frozenset[str], Mark | None]
"""The possible types of the answer (empty if the question does not say), and the mark that names them."""


def find_wanted(scan: LookupScan, marks: Sequence[Mark], first: int, last: int) -> Wanted:
    """The answer type by the first question word, looking ahead to the entity or an unexplained word."""
    barred = [*scan.unexplained(first, last, scan.marks(first, last)), first, len(scan.words)]
    for place, word in enumerate(scan.words):
        if first <= place < last or any(mark.speaks_of(place) and mark.intents for mark in marks):
            continue
        label = next((label for label, forms in scan.known.asking.items() if word.plain in forms), None)
        if label is None:
            continue
        if label in scan.known.answers:
            found: Wanted = (_answering(scan.known.answers[label], scan.knowledge), None)
        else:
            until = min([place + 2 + FARTHEST, *(bar for bar in barred if bar > place)])
            found = _noun(marks, place + 1, until, scan.knowledge)
        if found[0]:
            return found
    return frozenset(), None


def _noun(marks: Sequence[Mark], first: int, until: int, knowledge: KnowledgeSchema) -> Wanted:
    """Of adjacent nouns the last decides: a film genre is a genre, a release date is a date."""
    run: list[Mark] = []
    for mark in marks:
        if mark.first < first or mark.first >= until:
            continue
        if run and (mark.first != run[-1].last or (run[-1].types and not mark.types)):
            break
        run.append(mark)
    if not run:
        return frozenset(), None
    if run[-1].types:
        return run[-1].types, run[-1]
    ends = (knowledge.ends(hop) for hop in run[0].hops)
    return frozenset(end[1] for end in ends if end), run[0]


def _answering(keys: frozenset[str], knowledge: KnowledgeSchema) -> frozenset[str]:
    """The types that a bare "who" or "when" asks for: those whose words mean person or time."""
    return frozenset(
        kind.name
        for kind in knowledge.types
        for phrases in kind.words.values()
        for phrase in phrases
        if not keys_of(phrase).isdisjoint(keys)
    )
