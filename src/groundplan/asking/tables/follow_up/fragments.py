"""What a question says that goes on from the one before: its signs, and the words that are left for the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from groundplan.asking.tables.columns import Mention
from groundplan.asking.tables.conditions import compared_mentions
from groundplan.asking.tables.facets import Facets, find_facets
from groundplan.asking.tables.numbers import Comparison, find_comparisons
from groundplan.asking.tables.roles import Measure, assign, grouped_mentions
from groundplan.asking.tables.scan import Scan
from groundplan.contracts.answer import Refusal
from groundplan.text.lexicon import Cue, Phrases
from groundplan.text.stems import stem
from groundplan.text.words import Word, normalise, words_of

FILE = Path(__file__).with_name("edits.yaml")
Span = tuple[int, int]
"""From one word up to, not including, another."""

Scanner = Callable[[str], Scan | Refusal]
ALONE = frozenset({"summary", "detail"})  # analyses that need nothing else to be a question


@dataclass(frozen=True)
class EditWords:
    openings: Phrases
    inside: Phrases
    exchange: Phrases
    objects: Phrases
    always: Phrases
    polish: frozenset[str]
    asking: frozenset[str]
    said_by_chart: dict[str, str]


@cache
def load_edit_words() -> EditWords:
    raw = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return EditWords(
        openings=_phrases(raw["openings"]),
        inside=_phrases(raw["inside"]),
        exchange=_phrases({"exchange": raw["exchange"]}),
        objects=_phrases(raw["objects"]),
        always=_phrases({"always": raw["always"]}),
        polish=frozenset(map(stem, raw["polish"])),
        asking=frozenset(map(stem, raw["asking"])),
        said_by_chart=raw["said_by_chart"],
    )


def _phrases(groups: dict[str, list[str]]) -> Phrases:
    found = Phrases({})
    for label, phrases in groups.items():
        for phrase in phrases:
            found = found.knowing(tuple(word.stem for word in words_of(phrase)), label)
    return found


@dataclass(frozen=True)
class Fragment:
    """The words without the signs, held against the table; `signs` are the labels of `edits.yaml`."""

    scan: Scan
    signs: frozenset[str]
    given_up: Scan | None = None  # what stands behind `instead of`

    @cached_property
    def facets(self) -> Facets:
        return find_facets(self.scan, assign(self.scan))

    @property
    def is_marked(self) -> bool:
        return bool(self.signs) or self.given_up is not None

    @property
    def adds(self) -> bool:
        return "add" in self.signs

    @property
    def drops(self) -> bool:
        """`drop` and the like; `without` too, where it leaves no value out."""
        negated = any(self.scan.cues(self.scan.lexicon.negations)) and not self.scan.value_mentions
        return "drop" in self.signs or negated

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """Columns to compute with, not those that only a number is compared with."""
        compared = compared_mentions(self.scan)
        return tuple(m for m in self.facets.roles.measures if m.function or m.mention not in compared)

    @cached_property
    def function(self) -> Cue | None:
        """`the average instead`: a function that no column stands beside; `share of the total` has none."""
        if self.metric or any(cue.label == "share" for cue in self.analyses):
            return None
        return next((cue for cue in self.scan.functions if cue.label != "count"), None)

    @cached_property
    def metric(self) -> Span | None:
        """The words that say what to compute."""
        if self.measures:
            return min(m.said[0] for m in self.measures), max(m.said[1] for m in self.measures)
        counted = self.facets.counted
        return counted_span(self.scan, counted) if counted else None

    @property
    def groups(self) -> tuple[Mention, ...]:
        return tuple(self.facets.roles.groups)

    @cached_property
    def time(self) -> Span | None:
        """The words that ask for a time axis by name; a line chart that implies one does not."""
        spans = [(cue.first, cue.last) for cue in time_cues(self.facets)]
        named = self.facets.roles.time or self.facets.roles.ordinal
        spans += [(named.first, named.last)] if named else []
        return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        return find_comparisons(self.scan)

    @cached_property
    def rank(self) -> Cue | None:
        """With its number; `the lowest` alone too."""
        return self.facets.rank_cue or next(iter(self.scan.cues(self.scan.lexicon.rankings)), None)

    @cached_property
    def outputs(self) -> tuple[Cue, ...]:
        return (*self.facets.charts.values(), *self.facets.outputs.values())

    @cached_property
    def analyses(self) -> tuple[Cue, ...]:
        drawn = {place for cue in self.outputs for place in range(cue.first, cue.last)}
        found = (cue for label, cue in self.facets.analyses.items() if label != "trend")
        return tuple(cue for cue in found if cue.first not in drawn)

    @property
    def wanted(self) -> frozenset[str]:
        """Ids of requirements that must come of it."""
        measures = [f"metric:{measure.mention.column.name}" for measure in self.measures]
        counted = ["metric:rows"] if self.facets.counted and not measures else []
        groups = [f"group_by:{mention.column.name}" for mention in self.groups]
        analyses = [f"analysis:{cue.label}" for cue in self.analyses if cue.label != "compare"]
        return frozenset((*measures, *counted, *groups, *analyses))

    @property
    def says_something(self) -> bool:
        parts: tuple[Any, ...] = (self.metric, self.function, self.groups, self.time, self.rank, self.outputs)
        return any(parts) or any((self.analyses, self.comparisons, self.scan.value_mentions, self.scan.periods))

    @property
    def stands_alone(self) -> bool:
        """Whether it says what to compute, and how to lay it out: a question without the one before."""
        laid_out = self.groups or self.time
        return bool(self.metric and laid_out) or any(cue.label in ALONE for cue in self.analyses)

    @property
    def is_a_sentence(self) -> bool:
        """`which channels are there`, `show the channels`, `cost`: it has what it is about, with or without a sign."""
        asks = any(word.stem in load_edit_words().asking for word in self.scan.words)
        led_to = self.rank or self.drops or set(self.groups) <= grouped_mentions(self.scan)
        computes = self.metric and (self.rank is None or self.groups or self.time)  # `top 5 by cost`: five of what?
        return asks or not led_to or bool(computes) or self.stands_alone


def time_cues(facets: Facets) -> Iterator[Cue]:
    yield from facets.grains.values()
    if "trend" in facets.analyses:
        yield facets.analyses["trend"]


def counted_span(scan: Scan, counted: Cue) -> Span:
    """`how many`, with the word for the rows that follows."""
    last = counted.last
    for place in range(counted.last, min(counted.last + 3, len(scan.words))):
        if scan.words[place].stem in scan.row_nouns:
            last = place + 1
    return counted.first, last


def hear(question: str, scanned: Scanner) -> Fragment | None:
    """None where nothing but signs is left, or too much to be read at all."""
    known, text = load_edit_words(), normalise(question)
    words, signs = _opened(known.openings, words_of(text))
    exchange = next(iter(known.exchange.find(words)), None)
    given_up = words[exchange.last :] if exchange else ()
    words = words[: exchange.first] if exchange else words
    inside = known.inside.find(words)
    crossed = {place for cue in inside for place in range(cue.first, cue.last)}
    scan, dropped = scanned(_text(text, words, crossed)), scanned(_text(text, given_up, set()))
    if isinstance(scan, Refusal):
        return None
    signs |= {cue.label for cue in inside}
    return Fragment(_polite(scan), frozenset(signs), dropped if isinstance(dropped, Scan) else None)


def _opened(openings: Phrases, words: tuple[Word, ...]) -> tuple[tuple[Word, ...], set[str]]:
    """The words behind the signs that stand first, and those signs."""
    signs: set[str] = set()
    while cue := next((cue for cue in openings.find(words) if cue.first == 0), None):
        signs.add(cue.label)
        words = words[cue.last :]
    return words, signs


def _text(text: str, words: tuple[Word, ...], crossed: set[int]) -> str:
    """The words as they were written, commas included, without those crossed out."""
    pieces: list[str] = []
    for place, word in enumerate(words):
        follows = words[place + 1].start if place + 1 < len(words) else word.end
        gap = text[word.end : follows]
        pieces.append(gap if place in crossed else word.text + gap)
    return normalise("".join(pieces))


def _polite(scan: Scan) -> Scan:
    """With the words of a conversation known as such."""
    lexicon = scan.lexicon
    return replace(scan, lexicon=replace(lexicon, fillers=lexicon.fillers | load_edit_words().polish))
