"""The candidate readings of a question to a knowledge base: an entity and the paths from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groundplan.asking.lookup.answer_type import Wanted, find_wanted
from groundplan.asking.lookup.paths import CandidatePath, PathQuery, find_paths, order_marks
from groundplan.asking.lookup.scan import LookupScan
from groundplan.asking.lookup.vocabulary import Mark
from groundplan.contracts.reading import Entity

UNEXPLAINED = 0.5  # a word that nothing explains
WORSE_SPELLED = 1.0  # another entity matches the written name exactly
OWN_TYPE = 0.3  # "the film X": the word before the name is its type
MOST_NAMES = 12  # in one question; with more, it is not treated as a question about any of them
SAME = 0.04  # readings whose costs differ by less fit equally well


@dataclass(frozen=True)
class Topic:
    """An entity, and the position of its name in the question."""

    entity: Entity
    first: int
    last: int


@dataclass(frozen=True)
class Candidate:
    topic: Topic
    marks: tuple[Mark, ...]
    ways: tuple[CandidatePath, ...]
    cost: float
    unexplained: tuple[int, ...]


def topics_of(scan: LookupScan) -> list[Topic]:
    """The entities that the question names. Ordinary words do not count; nor do lower-case words if a capitalised
    name is unknown."""
    if len({(mention.first, mention.last) for mention in scan.names}) > MOST_NAMES:
        return []
    only_named = any(scan.unknown_names())
    return [Topic(m.entity, m.first, m.last) for m in scan.names if scan.is_named(m) or not only_named]


def find_candidates(scan: LookupScan, topics: Sequence[Topic]) -> list[Candidate]:
    """Candidates whose paths cover everything that the question names, best first."""
    found = [candidate for topic in topics for candidate in _of_topic(scan, topic) if _is_understood(scan, candidate)]
    return sorted(found, key=lambda c: (c.cost, c.topic.entity.id, c.ways[0].hops))


def has_own_type(scan: LookupScan, topic: Topic) -> bool:
    """Whether the word before the name is its type: "the film X"."""
    return any(mark.last == topic.first and topic.entity.type in mark.types for mark in scan.all_marks)


def equals(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best candidate, and those that fit equally well."""
    return [candidate for candidate in candidates if candidate.cost - candidates[0].cost < SAME]


def _of_topic(scan: LookupScan, topic: Topic) -> Iterator[Candidate]:
    marks = scan.marks(topic.first, topic.last)
    unexplained = tuple(scan.unexplained(topic.first, topic.last, marks))
    fitting = tuple(mark for mark in marks if _may_be_about(mark, topic.entity.type, scan))
    marks = fitting or marks
    extra = UNEXPLAINED * len(unexplained) + (1 - topic.entity.confidence)
    extra += WORSE_SPELLED * _is_spelled_worse(scan, topic) - OWN_TYPE * has_own_type(scan, topic)
    whole = find_paths(_path_query(scan, topic, marks), topic.entity.type, scan.knowledge)
    for ways in (*((way,) for way in whole), _joined(scan, topic, marks)):
        if ways:
            yield Candidate(topic, marks, ways, sum(way.cost for way in ways) + extra, unexplained)


def _may_be_about(mark: Mark, kind: str, scan: LookupScan) -> bool:
    """False for words of intents about other types alone: `tell me about` a project, said of a person's experience."""
    intents = [intent for intent in scan.knowledge.intents if intent.name in mark.intents]
    return bool(mark.hops or mark.types) or any(intent.about in (None, kind) for intent in intents)


def _is_spelled_worse(scan: LookupScan, topic: Topic) -> bool:
    there = (m.confidence for m in scan.mentions if (m.first, m.last) == (topic.first, topic.last))
    return max(there, default=0.0) > topic.entity.confidence


def _is_understood(scan: LookupScan, candidate: Candidate) -> bool:
    """Whether more words of the question are explained than not; other names are checked later."""
    return len([place for place in candidate.unexplained if place not in scan.named_places]) < len(candidate.marks)


def _joined(scan: LookupScan, topic: Topic, marks: Sequence[Mark]) -> tuple[CandidatePath, ...]:
    """One path for each part joined by "and", if each part has exactly one."""
    parts = _parts(scan, topic, marks)
    if len(parts) < 2:
        return ()
    found = [find_paths(_path_query(scan, topic, part), topic.entity.type, scan.knowledge) for part in parts]
    if any(not ways or (len(ways) > 1 and ways[1].cost - ways[0].cost < SAME) for ways in found):
        return ()
    return tuple({ways[0].hops: ways[0] for ways in found}.values())


def _parts(scan: LookupScan, topic: Topic, marks: Sequence[Mark]) -> list[tuple[Mark, ...]]:
    joints = [
        p for p, word in enumerate(scan.words) if word.lower in scan.known.joining and not topic.first <= p < topic.last
    ]
    groups: dict[int, list[Mark]] = {}
    for mark in marks:
        groups.setdefault(sum(joint < mark.first for joint in joints), []).append(mark)
    return [tuple(group) for group in groups.values()]


def _path_query(scan: LookupScan, topic: Topic, marks: Sequence[Mark]) -> PathQuery:
    wanted = find_wanted(scan, marks, topic.first, topic.last)
    return PathQuery(_orders(marks, topic, wanted), wanted[0], scan.shares(topic.first, topic.last))


def _orders(marks: Sequence[Mark], topic: Topic, wanted: Wanted) -> tuple[tuple[Mark, ...], ...]:
    """The orders of marks, with the mark for the answer type last; a bare type is dropped."""
    noun = wanted[1]
    others = [mark for mark in marks if mark != noun]
    end = (noun,) if noun is not None and (noun.hops or noun.intents) else ()
    return tuple((*order, *end) for order in order_marks(others, topic.first, topic.last))
