"""Finds the path of relations from the entity in a question to what it asks for.

The words around the entity, nearest first, are aligned with every short path that the types allow; the path with the
lowest alignment cost wins. Types resolve what words leave open: a film is directed by a person, so whether "directed"
is followed forwards or backwards depends on the type of the entity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import inf

from groundplan.asking.lookup.vocabulary import Mark
from groundplan.contracts.knowledge import LONGEST_PATH, KnowledgeSchema

SKIPPED, SKIPPED_TYPE = 2.0, 0.6  # a named relation or type is not on the path
TURNED = 0.2  # the word usually means the other direction
REPEATED = 0.4  # two words for one hop
RETURNED, ONLY_ONE, ONE_OF_SEVERAL = 0.5, 0.3, 1.2  # a hop without a word: a return hop, or between two named types
LEFT = 0.1  # added if a word matches the return hop rather than the outward hop
UNSHARED, UNRETURNED = 0.45, 0.3  # a return without a word such as "same" or "also"; such a word without a return
LENGTH = 0.05
MOST_MARKS, MOST_PATHS = 16, 2_000  # limits on the search


@dataclass(frozen=True)
class PathQuery:
    """The marks around the entity in several possible orders, and the possible types of the answer."""

    orders: tuple[tuple[Mark, ...], ...]
    answer: frozenset[str] = frozenset()
    shares: bool = False


@dataclass(frozen=True)
class CandidatePath:
    """A path from the entity, and its alignment cost."""

    hops: tuple[str, ...]
    cost: float
    intent: str | None = None

    @property
    def is_covered(self) -> bool:
        """Whether every relation and intent that the question names is on the path."""
        return self.cost < SKIPPED


def find_paths(query: PathQuery, kind: str, knowledge: KnowledgeSchema) -> list[CandidatePath]:
    """The paths that cover everything the words name, best first."""
    if not query.orders or len(query.orders[0]) > MOST_MARKS:
        return []
    ways = [*_named(query, kind, knowledge), *_walked(query, kind, knowledge)]
    best: dict[tuple[str, ...], CandidatePath] = {}
    for way in sorted(ways, key=lambda way: (way.cost, way.intent is None, way.hops)):
        best.setdefault(way.hops, way)
    return [way for way in best.values() if way.is_covered]


def order_marks(marks: Sequence[Mark], first: int, last: int) -> tuple[tuple[Mark, ...], ...]:
    """Orders of the marks outwards from the entity: left then right, or with the mark directly after it first."""
    left = [mark for mark in reversed(marks) if mark.last <= first]
    right = [mark for mark in marks if mark.first >= last]
    attached: list[Mark] = []
    for mark in right:
        if mark.first == (attached[-1].last if attached else last):
            attached.append(mark)
    orders = [(*left, *right), (*attached, *left, *right[len(attached) :])]
    return tuple(dict.fromkeys(orders))


def _named(query: PathQuery, kind: str, knowledge: KnowledgeSchema) -> Iterator[CandidatePath]:
    """Paths of the intents whose words occur."""
    said = {name for mark in query.orders[0] for name in mark.intents}
    for intent in knowledge.intents:
        if intent.name in said and intent.about == kind:
            cost = min(
                _Alignment(intent.path, kind, query, knowledge, intent.name).cost(order) for order in query.orders
            )
            yield CandidatePath(intent.path, cost, intent.name)


def _walked(query: PathQuery, kind: str, knowledge: KnowledgeSchema) -> Iterator[CandidatePath]:
    """Paths built from the words for relations and types."""
    for hops in _paths(query, kind, knowledge):
        alignment = _Alignment(hops, kind, query, knowledge)
        if not query.answer or alignment.types[-1] in query.answer:
            yield CandidatePath(hops, min(alignment.cost(order) for order in query.orders))


def _paths(query: PathQuery, kind: str, knowledge: KnowledgeSchema) -> Iterator[tuple[str, ...]]:
    """All paths over relations that a word names, or to a type that a word names."""
    said = {relation for mark in query.orders[0] for relation in mark.relations}
    typed = query.answer.union(*(mark.types for mark in query.orders[0]))
    grown: list[tuple[tuple[str, ...], str]] = [((), kind)]
    for _ in range(LONGEST_PATH):
        grown = [
            ((*hops, hop), after)
            for hops, place in grown
            for hop, after in _leaving(place, knowledge)
            if hop.removeprefix("^") in said or after in typed
        ]
        if len(grown) > MOST_PATHS:
            return
        yield from (hops for hops, _ in grown)


def _leaving(place: str, knowledge: KnowledgeSchema) -> Iterator[tuple[str, str]]:
    for relation in knowledge.relations:
        if relation.origin == place:
            yield relation.name, relation.target
        if relation.target == place:
            yield f"^{relation.name}", relation.origin


def _only_one(place: str, after: str, knowledge: KnowledgeSchema) -> bool:
    return sum(end == after for _, end in _leaving(place, knowledge)) == 1


class _Alignment:
    """The alignment of marks with one path. Position 2i is the node after i hops, 2i - 1 the hop that leads to it."""

    def __init__(
        self, hops: tuple[str, ...], kind: str, query: PathQuery, knowledge: KnowledgeSchema, intent: str | None = None
    ) -> None:
        self.hops, self.query, self.intent = hops, query, intent
        ends = [knowledge.ends(hop) for hop in hops]
        self.types = (kind, *(end[1] for end in ends if end))
        self.is_only_one = [_only_one(*pair, knowledge) for pair in pairwise(self.types)]

    def cost(self, order: Sequence[Mark]) -> float:
        """The lowest alignment cost that keeps the marks in order."""

        @cache
        def rest(mark: int, place: int, reached: frozenset[int]) -> float:
            if mark == len(order):
                return self._unsaid(reached)
            placed = (
                price + rest(mark + 1, at, reached | {at}) for at, price in self._places(order[mark], place, reached)
            )
            return min([_price_of_skipping(order[mark]) + rest(mark + 1, place, reached), *placed])

        return rest(0, 0, frozenset()) + LENGTH * len(self.hops) + self._returning()

    def _returning(self) -> float:
        returns = any(_are_inverse(*pair) for pair in pairwise(self.hops))
        if returns == self.query.shares:
            return 0.0
        return UNSHARED if returns else UNRETURNED

    def _places(self, mark: Mark, place: int, reached: frozenset[int]) -> Iterator[tuple[int, float]]:
        """The positions at which a mark can be aligned, from `place` on, with their costs."""
        if self.intent in mark.intents:
            yield place, 0.0
        for number, hop in enumerate(self.hops, 1):
            at = 2 * number - 1
            if at >= place and hop.removeprefix("^") in mark.relations:
                yield at, TURNED * (hop not in mark.hops) + REPEATED * (at in reached)
        for number, kind in enumerate(self.types):
            if 2 * number >= place and kind in mark.types:
                yield 2 * number, 0.0

    def _unsaid(self, reached: frozenset[int]) -> float:
        """The cost of the hops that no word names."""
        if self.intent is not None:
            return 0.0
        return sum(
            self._price(number, reached) for number in range(1, len(self.hops) + 1) if 2 * number - 1 not in reached
        )

    def _price(self, number: int, reached: frozenset[int]) -> float:
        for other, more in ((number - 1, 0.0), (number + 1, LEFT)):
            if 2 * other - 1 in reached and _are_inverse(self.hops[number - 1], self.hops[other - 1]):
                return RETURNED + more
        is_last = number == len(self.hops) and self.types[number] in self.query.answer
        if 2 * number not in reached and not is_last:
            return inf
        return ONLY_ONE if self.is_only_one[number - 1] else ONE_OF_SEVERAL


def _price_of_skipping(mark: Mark) -> float:
    return SKIPPED if mark.hops or mark.intents else SKIPPED_TYPE


def _are_inverse(one: str, other: str) -> bool:
    return one == f"^{other}" or other == f"^{one}"
