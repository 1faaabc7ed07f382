"""Every way to read a question to a knowledge base: which name it is about, and which paths lead from there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groundplan.asking.lookup.answer_type import Wanted, find_wanted
from groundplan.asking.lookup.paths import Asked, Way, find_ways, order_marks
from groundplan.asking.lookup.scan import LookupScan
from groundplan.asking.lookup.vocabulary import Mark
from groundplan.contracts.reading import Entity

UNEXPLAINED = 0.5  # a word that nothing explains
WORSE_SPELLED = 1.0  # another entity has the very name that was written
OWN_TYPE = 0.3  # "the film X": the word before the name says what it is
MOST_NAMES = 12  # in one question; a longer list is no question about any of them
SAME = 0.04  # readings no further apart fit equally


@dataclass(frozen=True)
class Topic:
    """An entity, and the words where it stands."""

    entity: Entity
    first: int
    last: int


@dataclass(frozen=True)
class Candidate:
    topic: Topic
    marks: tuple[Mark, ...]
    ways: tuple[Way, ...]
    cost: float
    unexplained: tuple[int, ...]


def topics_of(scan: LookupScan) -> list[Topic]:
    """What the question names. Ordinary words name nothing; small letters do not while a capital stays unknown."""
    if len({(mention.first, mention.last) for mention in scan.names}) > MOST_NAMES:
        return []
    only_named = any(scan.unknown_names())
    return [Topic(m.entity, m.first, m.last) for m in scan.names if scan.is_named(m) or not only_named]


def find_candidates(scan: LookupScan, topics: Sequence[Topic]) -> list[Candidate]:
    """Best first; only those whose paths cover what the question names."""
    found = [candidate for topic in topics for candidate in _of_topic(scan, topic) if _is_understood(scan, candidate)]
    return sorted(found, key=lambda c: (c.cost, c.topic.entity.id, c.ways[0].hops))


def has_own_type(scan: LookupScan, topic: Topic) -> bool:
    """The word before the name says what it is: "the film X"."""
    return any(mark.last == topic.first and topic.entity.type in mark.types for mark in scan.all_marks)


def equals(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best, and those that fit as well."""
    return [candidate for candidate in candidates if candidate.cost - candidates[0].cost < SAME]


def _of_topic(scan: LookupScan, topic: Topic) -> Iterator[Candidate]:
    marks = scan.marks(topic.first, topic.last)
    unexplained = tuple(scan.unexplained(topic.first, topic.last, marks))
    extra = UNEXPLAINED * len(unexplained) + (1 - topic.entity.confidence)
    extra += WORSE_SPELLED * _is_spelled_worse(scan, topic) - OWN_TYPE * has_own_type(scan, topic)
    whole = find_ways(_asked(scan, topic, marks), topic.entity.type, scan.knowledge)
    for ways in (*((way,) for way in whole), _joined(scan, topic, marks)):
        if ways:
            yield Candidate(topic, marks, ways, sum(way.cost for way in ways) + extra, unexplained)


def _is_spelled_worse(scan: LookupScan, topic: Topic) -> bool:
    there = (m.confidence for m in scan.mentions if (m.first, m.last) == (topic.first, topic.last))
    return max(there, default=0.0) > topic.entity.confidence


def _is_understood(scan: LookupScan, candidate: Candidate) -> bool:
    """More of the question is explained than is not; what else it names is looked at later."""
    return len([place for place in candidate.unexplained if place not in scan.named_places]) < len(candidate.marks)


def _joined(scan: LookupScan, topic: Topic, marks: Sequence[Mark]) -> tuple[Way, ...]:
    """One path for each of the things that "and" joins, if each of them has exactly one."""
    parts = _parts(scan, topic, marks)
    if len(parts) < 2:
        return ()
    found = [find_ways(_asked(scan, topic, part), topic.entity.type, scan.knowledge) for part in parts]
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


def _asked(scan: LookupScan, topic: Topic, marks: Sequence[Mark]) -> Asked:
    wanted = find_wanted(scan, marks, topic.first, topic.last)
    return Asked(_orders(marks, topic, wanted), wanted[0], scan.shares(topic.first, topic.last))


def _orders(marks: Sequence[Mark], topic: Topic, wanted: Wanted) -> tuple[tuple[Mark, ...], ...]:
    """What is asked for comes last, wherever it stands; a bare type says no more than that."""
    noun = wanted[1]
    others = [mark for mark in marks if mark != noun]
    end = (noun,) if noun is not None and (noun.hops or noun.intents) else ()
    return tuple((*order, *end) for order in order_marks(others, topic.first, topic.last))
