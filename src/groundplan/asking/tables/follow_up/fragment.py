"""What is said after a question: read by the same grammar, into the slots of a question that it fills."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from groundplan.asking.tables.grammar.chart import Chart, Cover, covers
from groundplan.asking.tables.grammar.meanings import NUMBERS
from groundplan.asking.tables.grammar.phrases import (
    Ask,
    Cond,
    Field,
    Group,
    Item,
    Mark,
    Measure,
    Number,
    Rank,
    Rule,
    Thing,
)
from groundplan.asking.tables.grammar.phrases import When as When
from groundplan.asking.tables.grammar.read import senses_of
from groundplan.asking.tables.grammar.rules import Builders, rules_for
from groundplan.asking.tables.grammar.senses import Senses
from groundplan.asking.tables.grammar.state import USABLE
from groundplan.contracts.schema import Table
from groundplan.text.lexicon import Cue, Phrases, load_lexicon
from groundplan.text.plain_yaml import load_yaml
from groundplan.text.stems import stem
from groundplan.text.words import Word, words_of

FILE = Path(__file__).with_name("edits.yaml")
PARTS = (USABLE - {"event", "than", "comparative", "difference", "fresh", "if_any"}) | frozenset(
    {"cut", "share_word", "correlation", "distribution", "anomaly"}
)
MARKS = frozenset({"compared", "versus", "split", "list", "who", "what", "thing", "count"})
Items = tuple[Item, ...]


@dataclass(frozen=True)
class EditWords:
    openings: Phrases
    inside: Phrases
    exchange: Phrases
    objects: Phrases
    polish: frozenset[str]
    asking: frozenset[str]


@cache
def load_edit_words() -> EditWords:
    raw = load_yaml(FILE.read_text(encoding="utf-8"))
    return EditWords(
        openings=_phrases(raw["openings"]),
        inside=_phrases(raw["inside"]),
        exchange=_phrases({"exchange": raw["exchange"]}),
        objects=_phrases(raw["objects"]),
        polish=frozenset(map(stem, raw["polish"])),
        asking=frozenset(map(stem, raw["asking"])),
    )


def _phrases(groups: dict[str, list[str]]) -> Phrases:
    found = Phrases({})
    for label, phrases in groups.items():
        for phrase in phrases:
            found = found.knowing(tuple(word.stem for word in words_of(phrase)), label)
    return found


class UnfitFragment(Exception):
    """These phrases make no part of a question."""


@dataclass
class Slots:
    """Meanings of the phrases, each with its words. `bare`: columns that nothing leads to, such as `the channels`."""

    measures: list[tuple[Measure, Items]] = field(default_factory=list)
    groups: list[tuple[Group, Items]] = field(default_factory=list)
    bare: list[tuple[Field, Items]] = field(default_factory=list)
    conditions: list[tuple[Cond, Items]] = field(default_factory=list)
    periods: list[tuple[When, Items]] = field(default_factory=list)
    functions: list[tuple[Mark, Items]] = field(default_factory=list)
    cuts: list[tuple[Rank, Items]] = field(default_factory=list)
    by: list[tuple[Measure | Field, Items]] = field(default_factory=list)
    charts: list[tuple[str, Items]] = field(default_factory=list)
    analyses: list[tuple[str, Items]] = field(default_factory=list)
    tables: Items = ()
    over_time: Items = ()
    whole_time: Items = ()
    marks: Items = ()  # words that say how the others are meant: compare, which, list

    @property
    def says_something(self) -> bool:
        parts: tuple[Any, ...] = (self.measures, self.groups, self.bare, self.conditions, self.periods, self.functions)
        more = (self.cuts, self.by, self.charts, self.analyses, self.tables, self.over_time, self.whole_time)
        return any(parts) or any(more)

    def marked(self, *categories: str) -> Items:
        return tuple(item for item in self.marks if item.category in categories)


@dataclass(frozen=True)
class Fragment:
    """`signs` are the labels of `edits.yaml`; `given_up` stands behind `instead of`; `kinds` say what to drop."""

    text: str
    start: int  # of what stands behind the signs
    words: tuple[Word, ...]  # their places count from there
    slots: Slots
    signs: frozenset[str]
    builders: Builders
    given_up: Slots | None = None
    kinds: tuple[Cue, ...] = ()
    unread: tuple[str, ...] = ()  # words that nothing explains
    fits: bool = True  # its words make parts of a question
    places: frozenset[int] = frozenset()  # of the words in phrases and signs

    @property
    def is_marked(self) -> bool:
        return bool(self.signs) or self.given_up is not None

    @property
    def adds(self) -> bool:
        return "add" in self.signs

    @property
    def drops(self) -> bool:
        return "drop" in self.signs

    @property
    def says_something(self) -> bool:
        return self.slots.says_something or bool(self.slots.marks or self.kinds) or self.given_up is not None

    @property
    def stands_alone(self) -> bool:
        """It says what to compute and how to lay it out: a question without the one before."""
        slots = self.slots
        return bool((slots.measures or slots.marked("count")) and (slots.groups or slots.over_time))

    @property
    def is_a_sentence(self) -> bool:
        """`which channels are there`, `show the channels`, `cost`: it has what it is about."""
        slots = self.slots
        asks = any(word.stem in load_edit_words().asking for word in self.words)
        computes = slots.measures or slots.marked("count", "thing")
        targets = any(rank.target is not None for rank, _ in slots.cuts)
        timed = any(group.time for group, _ in slots.groups)
        bare = [field for field, _ in slots.bare if not (timed and field.meaning == "date")]
        return bool(asks or computes or targets or (bare and not self.drops) or slots.marked("list", "who", "what"))

    def said(self, items: Iterable[Item]) -> str:
        """The words of these phrases, as they are written."""
        spans = [(item.first, item.last) for item in items]
        first, last = min(first for first, _ in spans), max(last for _, last in spans)
        return self.text[self.start + self.words[first].start : self.start + self.words[last - 1].end]

    def place(self, items: Iterable[Item]) -> int:
        """Where the words of these phrases begin in the text."""
        return self.start + self.words[min(item.first for item in items)].start


def parse_fragment(
    question: str,
    table: Table,
    values: Mapping[str, tuple[str, ...]],
    held: frozenset[str],
    *,
    today: date,
    timezone: str,
) -> Fragment:
    """The signs and the slots of what is said. `held` are the columns of the question before."""
    known = load_edit_words()
    start, signs = _opened(known.openings, words_of(question))
    senses, builders = senses_of(question[start:], table, values, today=today, timezone=timezone)
    words = senses.words
    exchange = next(iter(known.exchange.find(words)), None)
    end = exchange.first if exchange else len(words)
    inside = [cue for cue in known.inside.find(words) if cue.first < end]
    signs.update(cue.label for cue in inside)
    crossed = _places(inside)
    parser = _Parser(senses, builders)
    leads = {*_without(senses, end)}
    if leads and "drop" not in signs and _takes_out(parser.parse({*crossed, *leads}, 0, end), held):
        signs, crossed = {*signs, "drop"}, {*crossed, *leads}
    said = parser.parse(crossed, 0, end)
    loose = "drop" in signs and (not said.fits or not said.slots.says_something or _only_units(said.slots))
    kinds = tuple(cue for cue in known.objects.find(words) if cue.last <= end) if loose else ()
    if kinds:
        said = _Parsed(Slots(), tuple(Item("kind", cue.first, cue.last, None, 0.0) for cue in kinds))
    given_up = parser.parse(set(), exchange.last, len(words)) if exchange else None
    parsed = [said, given_up] if given_up else [said]
    signed = crossed | _places([exchange] if exchange else [])
    return Fragment(
        text=question,
        start=start,
        words=words,
        slots=said.slots,
        signs=frozenset(signs),
        builders=builders,
        given_up=given_up.slots if given_up else None,
        kinds=kinds,
        unread=tuple(word for one in parsed for word in one.unread),
        fits=all(one.fits for one in parsed),
        places=frozenset(signed.union(*(_places(one.items) for one in parsed))),
    )


def _places(found: Iterable[Cue | Item]) -> set[int]:
    return {place for one in found for place in range(one.first, one.last)}


def _takes_out(parsed: _Parsed, held: frozenset[str]) -> bool:
    """`without the channel`, where there are groups by channel."""
    named = {field.name for field, _ in parsed.slots.bare}
    return parsed.fits and bool(named) and named <= held and len(parsed.slots.bare) == _size(parsed.slots)


def _size(slots: Slots) -> int:
    lists: tuple[list[Any], ...] = (slots.measures, slots.groups, slots.bare, slots.conditions, slots.periods)
    return sum(map(len, (*lists, slots.functions, slots.cuts, slots.charts)))


def _only_units(slots: Slots) -> bool:
    """`drop the month` names no column."""
    return _size(slots) == len(slots.charts) + len(slots.groups) and all(group.time for group, _ in slots.groups)


def _opened(openings: Phrases, words: tuple[Word, ...]) -> tuple[int, set[str]]:
    """Where the text behind the signs begins that stand first, and those signs."""
    signs: set[str] = set()
    while cue := next((cue for cue in openings.find(words) if cue.first == 0), None):
        signs.add(cue.label)
        start, words = words[cue.last - 1].end, words[cue.last :]
    return words[0].start if words else start if signs else 0, signs


def _without(senses: Senses, end: int) -> range:
    """The places of `without` and the like, where the fragment begins with it."""
    found = (item.last for item in senses.items if item.category == "negation" and item.first == 0)
    return range(max((last for last in found if last <= end), default=0))


@dataclass(frozen=True)
class _Parsed:
    slots: Slots
    items: Items = ()
    unread: tuple[str, ...] = ()
    fits: bool = True


@dataclass(frozen=True)
class _Parser:
    senses: Senses
    builders: Builders

    def parse(self, crossed: set[int], first: int, last: int) -> _Parsed:
        """The meanings of the words from `first` to `last`, without those crossed out."""
        polish, words = load_edit_words().polish, self.senses.words
        outside = {*crossed, *range(first), *range(last, len(words))}
        items = [item for item in self.senses.items if not outside & {*range(item.first, item.last)}]
        plain = self.senses.skippable()
        skippable = [plain[i] or i in outside or word.stem in polish for i, word in enumerate(words)]
        found = covers(Chart(self._rules(), skippable).parse(items), skippable, PARTS)
        for cover in (cover for cover in found if not cover.unread):
            try:
                return _Parsed(self._collected(cover), cover.items)
            except UnfitFragment:
                continue
        known = {place for item in items for place in range(item.first, item.last)}
        unread = [place for place in found[0].unread if place not in known]
        return _Parsed(Slots(), unread=tuple(words[place].text for place in unread), fits=False)

    def _rules(self) -> list[Rule]:
        cut = self._cut
        marks = ("superlative", "judged")
        more = [Rule("cut", (mark, "number"), cut, (0, 1), 0.4) for mark in marks]
        more += [Rule("cut", ("number", mark), cut, (1, 0), 0.4) for mark in marks]
        return [*rules_for(self.builders), *more, *(Rule("cut", (mark,), cut, (0,), 0.0) for mark in marks)]

    def _cut(self, mark: Mark, number: Number | None = None) -> Rank | None:
        """`top 5`, `the lowest`: of what the question before says."""
        if number is not None and not 1 <= number.value <= 10_000:
            return None
        return Rank(mark.value, int(number.value) if number else None)

    def _collected(self, cover: Cover) -> Slots:
        slots = Slots()
        for item in cover.items:
            self._collect(item, slots)
        if slots.by and not slots.cuts:
            raise UnfitFragment("by what no ranking goes")
        if len(slots.cuts) > 1 or len(slots.functions) > 1:
            raise UnfitFragment("said twice")
        return slots

    def _collect(self, item: Item, slots: Slots) -> None:
        value: Any = item.value
        match item.category:
            case "measure":
                slots.measures.append((value, (item,)))
            case "field":
                self._field(value, item, slots)
            case "group":
                slots.groups.append((value, (item,)))
            case "groups":
                slots.groups += [(group, (item,)) for group in value]
            case "condition" | "having":
                slots.conditions.append((value, (item,)))
            case "period":
                slots.periods.append((value, (item,)))
            case "function":
                slots.functions.append((value, (item,)))
            case "cut" | "rank":
                slots.cuts.append((value, (item,)))
            case "order":
                slots.cuts.append((Rank(value.direction, None), (item,)))
            case "by_measure":
                slots.by.append((value, (item,)))
            case "chart":
                slots.charts.append((value.value, (item,)))
            case "share_word" | "in_percent":
                slots.analyses.append(("share", (item,)))
            case "share":
                slots.measures.append((value.of, (item,)))
                slots.analyses.append(("share", (item,)))
            case "distribution" | "correlation" | "anomaly":
                slots.analyses.append((item.category, (item,)))
            case "table":
                slots.tables += (item,)
            case "over_time":
                slots.over_time += (item,)
            case "whole_time":
                slots.whole_time += (item,)
            case "ask":
                self._asked(value, item, slots)
            case category if category in MARKS:
                slots.marks += (item,)
            case _:
                raise UnfitFragment(item.category)

    def _field(self, value: Field, item: Item, slots: Slots) -> None:
        measure = self.builders.usual(value) if value.meaning in NUMBERS else None
        if measure is not None:
            slots.measures.append((measure, (item,)))
        elif value.column is not None:
            slots.bare.append((value, (item,)))
        else:
            raise UnfitFragment("no column")

    def _asked(self, value: Ask, item: Item, slots: Slots) -> None:
        """`also show the cost`; a whole question where nothing goes on."""
        target = value.target.value if value.target and value.limit is None else None
        slots.marks += (Item("list", item.first, item.last, Mark("list"), 0.0),)
        if isinstance(target, Field):
            self._field(target, item, slots)
        elif not isinstance(target, Thing):
            raise UnfitFragment("asks for nothing")


def changes_data(question: str) -> bool:
    """`drop table sales`: the reader refuses that by name."""
    return bool(load_lexicon().changes.find(words_of(question)))
