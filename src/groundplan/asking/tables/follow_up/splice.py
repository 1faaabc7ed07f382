"""A question with some of its words crossed out and others put in; the reader then reads what it says."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from groundplan.asking.tables.conditions import spent_mentions
from groundplan.asking.tables.follow_up.fragments import Span
from groundplan.asking.tables.roles import grouped_mentions
from groundplan.asking.tables.scan import Scan
from groundplan.contracts.reading import Evidence
from groundplan.text.lexicon import Phrases
from groundplan.text.words import normalise

ARROW = "→"
"""Stands between a question and what was said later: words on its two sides do not belong to each other."""

JOINERS = frozenset({"and", "or", "и", "или"})


class Splice:
    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self._crossed: set[int] = set()
        self._touched: set[int] = set()
        self._before: dict[int, list[str]] = {}
        self._tail: list[str] = []

    def cross_out(self, first: int, last: int) -> None:
        """With the small words that lead there; of a list that goes on, with what joins it to the rest."""
        joiner = self._joiner_after(last)
        if joiner is not None:
            self.strike(first, joiner)
            return
        while first > 0 and first not in self._before and self._leads(first - 1):
            first -= 1
        self.strike(first, last)

    def strike(self, first: int, last: int) -> None:
        """These words and no others."""
        self._crossed |= set(range(first, last))

    def put(self, first: int, last: int, words: str) -> None:
        """In place of these words."""
        self.insert(first, words)
        self.strike(first, last)

    def insert(self, place: int, words: str) -> None:
        self._before.setdefault(place, []).append(words)

    def touch(self, first: int, last: int) -> None:
        """What these words ask for is meant to change, though they stay."""
        self._touched |= set(range(first, last))

    def add(self, words: str) -> None:
        self._tail.append(words)

    def cross_out_values(self, column: str, spans: Iterable[Span]) -> None:
        """Values with the name of their column, where it stands there only for them: `West region`."""
        for first, last in spans:
            self.cross_out(first, last)
        for mention in spent_mentions(self.scan) - grouped_mentions(self.scan):
            if mention.column.name == column:
                self.cross_out(mention.first, mention.last)

    def concerns(self, evidence: Evidence) -> bool:
        """Whether any of these words was crossed out or meant to change."""
        if evidence.start is None:
            return True
        end = evidence.start + len(evidence.text)
        changed = (self.scan.words[place] for place in self._crossed | self._touched)
        return any(word.start < end and evidence.start < word.end for word in changed)

    @property
    def text(self) -> str:
        whole = self.scan.text.rstrip(" ?.!…")
        pieces: list[str] = []
        end = 0
        for place, word in enumerate(self.scan.words):
            kept = "" if place in self._crossed else whole[word.start : word.end]
            put = "".join(f"{words} " for words in self._before.get(place, ()))
            pieces += [whole[end : word.start], put, kept]
            end = word.end
        behind = " ".join(self._before.get(len(self.scan.words), ()))
        first = f"{''.join(pieces)}{whole[end:]} {behind}"
        return normalise(f" {ARROW} ".join([first, *self._tail])).replace(" ,", ",")

    def _joiner_after(self, last: int) -> int | None:
        """Where the next of a list is named, when a comma or `and` leads there."""
        scan = self.scan
        if last >= len(scan.words):
            return None
        joined = scan.words[last].lower in JOINERS
        comma = "," in scan.text[scan.words[last - 1].end : scan.words[last].start]
        place = last + 1 if joined else last
        return place if (joined or comma) and place in self._named - self._crossed else None

    def _leads(self, place: int) -> bool:
        """Words such as `in the`, `by`, `without`: they are there for what follows."""
        if place in self._crossed or place in self._leading:
            return True
        return place not in self._asking and self.scan.words[place].stem in self.scan.lexicon.fillers

    @cached_property
    def _named(self) -> frozenset[int]:
        mentions = ((m.first, m.last) for m in self.scan.mentions)
        values = ((v.first, v.last) for v in self.scan.value_mentions)
        return frozenset(place for span in (*mentions, *values) for place in range(*span))

    @cached_property
    def _leading(self) -> frozenset[int]:
        return self._places(self.scan.lexicon.groupings, self.scan.lexicon.negations)

    @cached_property
    def _asking(self) -> frozenset[int]:
        """Words that name something, or that ask for something of their own."""
        known = self.scan.lexicon
        asking = (known.functions, known.analyses, known.rankings, known.orders, known.charts, known.outputs)
        return self._named | self.scan.dated | self._places(*asking, known.grains, known.comparisons)

    def _places(self, *phrases: Phrases) -> frozenset[int]:
        cues = (cue for known in phrases for cue in self.scan.cues(known))
        return frozenset(place for cue in cues for place in range(cue.first, cue.last))
