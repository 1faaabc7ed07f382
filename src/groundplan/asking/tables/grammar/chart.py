"""A chart parser: rules combine adjacent phrases, and the best phrases cover the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from groundplan.asking.tables.grammar.phrases import Item, Rule
from groundplan.budget import spend

PER_SPAN = 8  # phrases of one category over the same words
COVERS = 24  # ways to cover the words that are followed at once
UNREAD = -4.0
ADJUNCTS = ("condition", "period")
PASSING = frozenset({"measure", "share", "rank", "by_measure", "having", "ask"})
PASSED = -0.3
PIECE = -0.35  # for every phrase: fewer, longer ones are better


@dataclass(frozen=True)
class _Edge:
    rule: Rule
    done: tuple[Item, ...]
    end: int
    within: tuple[Item, ...] = ()


class Chart:
    def __init__(self, rules: Sequence[Rule], skippable: Sequence[bool], closed: Collection[int] = frozenset()) -> None:
        """`closed`: the places at which a part of the sentence begins: no phrase reaches over them."""
        self._by_first: dict[str, list[Rule]] = defaultdict(list)
        for rule in rules:
            self._by_first[rule.parts[0]].append(rule)
        self._skippable, self._closed = skippable, closed
        self._starting: dict[tuple[int, str], list[Item]] = defaultdict(list)
        self._waiting: dict[tuple[int, str], list[_Edge]] = defaultdict(list)
        self._kept: dict[tuple[str, int, int], list[Item]] = defaultdict(list)
        self._open: dict[int, list[_Edge]] = defaultdict(list)
        self._agenda: list[Item] = []

    def parse(self, senses: Sequence[Item]) -> list[Item]:
        """All phrases, the given senses among them."""
        for sense in sorted(senses, key=lambda item: -item.score):
            self._add(sense)
        bound = 6_000  # a question of ordinary length makes some hundreds
        while self._agenda and bound:
            bound -= 1
            item = self._agenda.pop()
            for rule in self._by_first.get(item.category, ()):
                self._advance(_Edge(rule, (item,), item.last))
            for start in self._reaching(item.first):
                for edge in tuple(self._waiting.get((start, item.category), ())):
                    self._advance(_Edge(edge.rule, (*edge.done, item), item.last, edge.within))
                if item.category in ADJUNCTS:
                    for edge in tuple(self._open.get(start, ())):
                        self._pass(edge, item)
        return [item for items in self._kept.values() for item in items]

    def _add(self, item: Item) -> None:
        kept = self._kept[item.category, item.first, item.last]
        if any(other.value == item.value for other in kept) or len(kept) >= PER_SPAN:
            return
        kept.append(item)
        self._starting[item.first, item.category].append(item)
        self._agenda.append(item)

    def _advance(self, edge: _Edge) -> None:
        spend()
        if len(edge.done) == len(edge.rule.parts):
            value = edge.rule.build(*(edge.done[place].value for place in edge.rule.takes))
            if value is not None:
                parts = (*edge.done, *edge.within)
                score = sum(item.score for item in parts) + edge.rule.bonus + PASSED * len(edge.within)
                within = (*edge.within, *(one for item in edge.done for one in item.within))
                self._add(Item(edge.rule.result, edge.done[0].first, edge.end, value, score, within, edge.rule, parts))
            return
        wanted = edge.rule.parts[len(edge.done)]
        self._waiting[edge.end, wanted].append(edge)
        self._open[edge.end].append(edge)
        place = edge.end
        while place not in self._closed:
            for item in tuple(self._starting.get((place, wanted), ())):
                self._advance(_Edge(edge.rule, (*edge.done, item), item.last, edge.within))
            for category in ADJUNCTS:
                for item in tuple(self._starting.get((place, category), ())):
                    self._pass(edge, item)
            if place >= len(self._skippable) or not self._skippable[place]:
                return
            place += 1

    def _pass(self, edge: _Edge, item: Item) -> None:
        """A condition or a period between the parts: `average math score`. It is kept beside what they make."""
        passing = edge.rule.result in PASSING or (edge.rule.result == "condition" and item.category == "period")
        if passing and len(edge.within) < 2 and not item.within:
            self._advance(_Edge(edge.rule, edge.done, item.last, (*edge.within, item)))

    def _reaching(self, place: int) -> list[int]:
        """The ends of phrases from which only skippable words lead here."""
        found: list[int] = []
        while place not in self._closed:
            found.append(place)
            if place == 0 or not self._skippable[place - 1]:
                break
            place -= 1
        return found


@dataclass(frozen=True)
class Cover:
    """Phrases from left to right, the words that none of them explains, and a score."""

    found: tuple[Item, ...]
    unread: tuple[int, ...]
    score: float

    @property
    def items(self) -> tuple[Item, ...]:
        """With the conditions and periods that stand within phrases."""
        return tuple(sorted((one for item in self.found for one in (item, *item.within)), key=lambda one: one.first))


def covers(items: Sequence[Item], skippable: Sequence[bool], usable: frozenset[str]) -> list[Cover]:
    """The best ways to read all words, best first."""
    starting: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        if item.category in usable:
            starting[item.first].append(item)
    size = len(skippable)
    best: list[list[Cover]] = [[] for _ in range(size + 1)]
    best[0] = [Cover((), (), 0.0)]
    for place in range(size):
        best[place] = _top(best[place])
        for cover in best[place]:
            spend(1 + len(starting[place]))
            cost = 0.0 if skippable[place] else UNREAD
            unread = cover.unread if skippable[place] else (*cover.unread, place)
            best[place + 1].append(Cover(cover.found, unread, cover.score + cost))
            for item in starting[place]:
                best[item.last].append(Cover((*cover.found, item), cover.unread, cover.score + item.score + PIECE))
    return _top(best[size])


def _top(found: list[Cover]) -> list[Cover]:
    seen: dict[tuple[tuple[str, object], ...], Cover] = {}
    for cover in sorted(found, key=lambda cover: (-cover.score, len(cover.found))):
        spend(1 + len(cover.found) // 4)  # the key is as long as what was found
        key = tuple((item.category, item.value) for item in cover.found)
        seen.setdefault(key, cover)
        if len(seen) >= COVERS:
            break
    return list(seen.values())
