"""Which relations a question walks, from the entity it names to what it asks for.

The words around the entity are laid along every short path that its types allow, nearest first; the path that leaves
the least unexplained is the one asked for. Types decide what words leave open: a film is directed by a person, so
whether "directed" goes there or back depends on where one stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import inf

from groundplan.asking.lookup.vocabulary import Mark
from groundplan.contracts.knowledge import LONGEST_PATH, KnowledgeSchema

SKIPPED, SKIPPED_TYPE = 2.0, 0.6  # a relation or a type was named, and the path does not go there
TURNED = 0.2  # the word is more often said in the other direction
REPEATED = 0.4  # two words for one hop
RETURNED, ONLY_ONE, ONE_OF_SEVERAL = 0.5, 0.3, 1.2  # a hop without a word: back again; between two types that are said
LEFT = 0.1  # more than that when the word stands on the way back, not on the way there
UNSHARED, UNRETURNED = 0.45, 0.3  # there and back again without a word such as "same" or "also"; that word without it
LENGTH = 0.05
MOST_MARKS, MOST_PATHS = 16, 2_000  # beyond these nobody could say what is meant


@dataclass(frozen=True)
class Asked:
    """What stands around the entity, nearest first in each of some orders, and the types an answer may have."""

    orders: tuple[tuple[Mark, ...], ...]
    answer: frozenset[str] = frozenset()
    shares: bool = False


@dataclass(frozen=True)
class Way:
    """A path from the entity, and how badly the words fit it."""

    hops: tuple[str, ...]
    cost: float
    intent: str | None = None

    @property
    def is_covered(self) -> bool:
        """Every relation and intent that the question names is on it."""
        return self.cost < SKIPPED


def find_ways(asked: Asked, kind: str, knowledge: KnowledgeSchema) -> list[Way]:
    """Those that cover what the words name, best first."""
    if not asked.orders or len(asked.orders[0]) > MOST_MARKS:
        return []
    ways = [*_named(asked, kind, knowledge), *_walked(asked, kind, knowledge)]
    best: dict[tuple[str, ...], Way] = {}
    for way in sorted(ways, key=lambda way: (way.cost, way.intent is None, way.hops)):
        best.setdefault(way.hops, way)
    return [way for way in best.values() if way.is_covered]


def order_marks(marks: Sequence[Mark], first: int, last: int) -> tuple[tuple[Mark, ...], ...]:
    """Outwards from the entity at `first` to `last`: to the left, then to the right; or what follows at once, first."""
    left = [mark for mark in reversed(marks) if mark.last <= first]
    right = [mark for mark in marks if mark.first >= last]
    attached: list[Mark] = []
    for mark in right:
        if mark.first == (attached[-1].last if attached else last):
            attached.append(mark)
    orders = [(*left, *right), (*attached, *left, *right[len(attached) :])]
    return tuple(dict.fromkeys(orders))


def _named(asked: Asked, kind: str, knowledge: KnowledgeSchema) -> Iterator[Way]:
    """Intents whose own words are there."""
    said = {name for mark in asked.orders[0] for name in mark.intents}
    for intent in knowledge.intents:
        if intent.name in said and intent.about == kind:
            cost = min(_Laid(intent.path, kind, asked, knowledge, intent.name).cost(order) for order in asked.orders)
            yield Way(intent.path, cost, intent.name)


def _walked(asked: Asked, kind: str, knowledge: KnowledgeSchema) -> Iterator[Way]:
    """Paths that the words for relations and types make."""
    for hops in _paths(asked, kind, knowledge):
        laid = _Laid(hops, kind, asked, knowledge)
        if not asked.answer or laid.types[-1] in asked.answer:
            yield Way(hops, min(laid.cost(order) for order in asked.orders))


def _paths(asked: Asked, kind: str, knowledge: KnowledgeSchema) -> Iterator[tuple[str, ...]]:
    """All that stay on relations which a word names, or that lead to a type which it names."""
    said = {relation for mark in asked.orders[0] for relation in mark.relations}
    typed = asked.answer.union(*(mark.types for mark in asked.orders[0]))
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


class _Laid:
    """Marks laid along one path. Place 2i is the node after i hops, place 2i - 1 the hop that leads to it."""

    def __init__(
        self, hops: tuple[str, ...], kind: str, asked: Asked, knowledge: KnowledgeSchema, intent: str | None = None
    ) -> None:
        self.hops, self.asked, self.intent = hops, asked, intent
        ends = [knowledge.ends(hop) for hop in hops]
        self.types = (kind, *(end[1] for end in ends if end))
        self.is_only_one = [_only_one(*pair, knowledge) for pair in pairwise(self.types)]

    def cost(self, order: Sequence[Mark]) -> float:
        """The least that remains unexplained when the marks keep their order."""

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
        if returns == self.asked.shares:
            return 0.0
        return UNSHARED if returns else UNRETURNED

    def _places(self, mark: Mark, place: int, reached: frozenset[int]) -> Iterator[tuple[int, float]]:
        """Where a mark may lie, not before what lies already, and its price there."""
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
        """What the hops cost that no word names."""
        if self.intent is not None:
            return 0.0
        return sum(
            self._price(number, reached) for number in range(1, len(self.hops) + 1) if 2 * number - 1 not in reached
        )

    def _price(self, number: int, reached: frozenset[int]) -> float:
        for other, more in ((number - 1, 0.0), (number + 1, LEFT)):
            if 2 * other - 1 in reached and _are_inverse(self.hops[number - 1], self.hops[other - 1]):
                return RETURNED + more
        is_last = number == len(self.hops) and self.types[number] in self.asked.answer
        if 2 * number not in reached and not is_last:
            return inf
        return ONLY_ONE if self.is_only_one[number - 1] else ONE_OF_SEVERAL


def _price_of_skipping(mark: Mark) -> float:
    return SKIPPED if mark.hops or mark.intents else SKIPPED_TYPE


def _are_inverse(one: str, other: str) -> bool:
    return one == f"^{other}" or other == f"^{one}"
