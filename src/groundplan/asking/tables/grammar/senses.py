"""The possible meanings of each span of words: columns, values, things, numbers, periods and phrases of the lexicon."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import pairwise
from math import isfinite

from rapidfuzz.distance import OSA

from groundplan.asking.tables.grammar.contained import contained
from groundplan.asking.tables.grammar.lexicon import Key
from groundplan.asking.tables.grammar.meanings import (
    DATING,
    IDENTIFYING,
    NAMING,
    NUMBERS,
    PREPOSITIONS,
    Entity,
    Meanings,
)
from groundplan.asking.tables.grammar.names import FULL, GENERIC, JOINED, PART, SAID, SHORT, WEAK, Names
from groundplan.asking.tables.grammar.phrases import (
    Cond,
    Event,
    Field,
    Item,
    Mark,
    Measure,
    Number,
    PartOfDate,
    Span,
    Thing,
    Unit,
    When,
)
from groundplan.asking.tables.grammar.said_values import LONGEST, spoken
from groundplan.budget import spend
from groundplan.contracts.columns import Meaning
from groundplan.contracts.expression import (
    Aggregate,
    All,
    Arithmetic,
    Compare,
    Condition,
    Constant,
    Contains,
    DatePart,
    Elapsed,
    Expression,
    Missing,
    Not,
    OneOf,
    columns_of,
)
from groundplan.contracts.expression import Column as ColumnOf
from groundplan.contracts.schema import Column
from groundplan.text.names import is_short_for, split_name
from groundplan.text.periods.calendar import shift
from groundplan.text.periods.find import Found
from groundplan.text.stems import is_russian, lower, stem
from groundplan.text.words import Word, words_of

CALLED, VALUE, GUESSED = 1.15, 0.95, 0.55  # values by the words that their source has for them; by their own; by a part
SIBLING_BONUS = 0.2  # another word of the column's name is elsewhere in the question
CALLED_SO = 0.1  # an event whose date has the same word in its name
WRITTEN_OUT = 0.2  # a name of three words or more is no formula: hours until done
STEPS_PER_SPAN = 1  # of words
SPELT_PER_STEP = 100
METRIC = 1.3  # a person defined it: before columns of that name
ADJUNCTS = frozenset({"sales", "sports", "goods", "savings", "claims"})  # plurals that stand before another noun
LACKING = ("missing", "lacking")
COUNTING = ("moved", "list", "count", "much", "compare", "share_word", *LACKING, "superlative", "comparative")
COMPOUND = frozenset({"category", "name", *NUMBERS})
PAST = frozenset(map(stem, ("last", "latest", "first")))  # last inspection: when it was inspected
UNTOLD = frozenset(map(stem, DATING)) | PREPOSITIONS  # words that names of dates have in common
NAMED = frozenset(map(stem, NAMING))
DATED = frozenset(map(stem, ("дата", "date")))
OPERATORS = frozenset({"negation", *LACKING, "left_out", "out", "compare", "than", "sign", "undone"})
COSTS = frozenset(
    map(stem, ("cost", "expense", "spend", "spent", "discount", "tax", "refund", "затраты", "расход", "скидка"))
)
SUBJECTS = frozenset({"who", "that", "which"})
OBJECTS = frozenset({"the", "a", "an", "most", "fewest", "least", "more", "fewer", "their", "his", "her", "our"})
BEING = frozenset({"is", "are", "was", "were", "be", "been", "not", "isn't", "aren't", "wasn't", "weren't"})
HELPING = frozenset({"do", "does", "did", "have", "has", "had", "can", "should", "would"})
CURRENCY = frozenset(
    word
    for line in (
        "usd eur gbp dollars dollar euros euro pounds bucks points percent %",
        "рублей руб рубля р процентов процента",
    )
    for word in line.split()
)
DAYS = (
    ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "weekend", "weekdays"),
    ("понедельник", "вторник", "среда", "четверг", "пятница", "суббота", "воскресенье", "выходные", "будни"),
)
CODED = ("language", "lang", "country", "nation", "nationality", "market", "язык", "страна")
NAMES = frozenset({"thing", "field", "weak_field", "generic", "event", "moment"})
ARTICLES = frozenset({"the", "a", "an", "our", "your", "their", "each", "every"})
DAY_KEYS = ("1", "2", "3", "4", "5", "6", "7", "67", "12345")


def as_field(column: Column, meanings: Meanings) -> Field:
    return Field(ColumnOf(name=column.name), column.name, meanings.of[column.name], column)


@dataclass
class Senses:
    """The senses of one question over one table."""

    text: str
    words: tuple[Word, ...]
    meanings: Meanings
    names: Names
    periods: tuple[Found, ...]
    items: list[Item] = field(default_factory=list)
    corrected: dict[int, str] = field(default_factory=dict)  # misspelt words: what they were read as

    def find(self) -> list[Item]:
        self._correct()
        self._periods()
        self._numbers()
        for first in range(len(self.words)):
            for last in range(first + 1, min(first + LONGEST, len(self.words)) + 1):
                spend(STEPS_PER_SPAN)
                self._columns(first, last)
                self._phrases(first, last)
                self._metrics(first, last)
            self._things(first)
            self._keys(first)
            self._verbs(first)
            self._coded(first)
            self._unmarked(first)
            self._moments(first)
        self._values()
        self._priors()
        self._shifted()
        self._years_apart()
        self._counting_numbers()
        self._dated_units()
        self._dates_of_events()
        self._values_before_things()
        self._adjectives_are_no_names()
        self.items = [item for item in self.items if not self._is_of_two_parts(item)]
        self.items += [*contained(self.text, self.words, self.items, self.meanings.lexicon)]
        return self.items

    def parts_begin(self) -> frozenset[int]:
        """The places of the words behind a colon or a semicolon."""
        return frozenset(place for place in range(1, len(self.words)) if {*self._before(place)} & {*":;"})

    def _before(self, place: int) -> str:
        """What stands between a word and the one before it."""
        return self.text[self.words[place - 1].end : self.words[place].start]

    def _is_of_two_parts(self, item: Item) -> bool:
        """`job id, date` is no date of a job."""
        between = "".join(map(self._before, range(item.first + 1, item.last)))
        return item.category in NAMES and bool({*between} & {*",:;()"})

    def _spans(self) -> Iterator[tuple[int, int]]:
        size = len(self.words)
        return ((first, last) for first in range(size) for last in range(first + 1, min(first + LONGEST, size) + 1))

    def _values_before_things(self) -> None:
        """Merged, where it is a state, is no word for merge requests."""
        held = {(i.first, i.last) for i in self.items if i.category == "condition" and i.score >= VALUE}
        self.items = [
            item
            for item in self.items
            if item.category != "thing"
            or (item.first, item.last) not in held
            or not self.words[item.last - 1].lower.endswith("ed")
        ]

    def _adjectives_are_no_names(self) -> None:
        """The most expensive job is not the one with the highest expenses."""
        said = [item for item in self.items if item.category == "adjective"]
        inside = {place for item in said if item.length > 1 for place in range(item.first, item.last)}
        fields = ("field", "weak_field", "generic")
        self.items = [i for i in self.items if i.category not in fields or i.score >= FULL or i.first not in inside]

    def _dated_units(self) -> None:
        """Order month: the month of the order date."""
        for item in [i for i in self.items if i.category == "unit" and i.first]:
            if self.words[item.last - 1].stem in DATED:
                continue
            said = self.words[item.first - 1].stem
            dates = [c for c in self.meanings.dates if said in {*self.meanings.names[c.name]} - UNTOLD]
            if len(dates) == 1 and isinstance(item.value, Unit):
                self._add("unit", item.first - 1, item.last, replace(item.value, date=dates[0].name), 1.1)

    def _dates_of_events(self) -> None:
        """Дата отгрузки, where the date of the shipment is called `ship_date`."""
        for place, (word, following) in enumerate(pairwise(self.words)):
            if word.stem in DATED:
                events = self.meanings.lexicon.values["event_names"].items()
                for event in (event for event, names in events if following.lower in names):
                    if (column := self.meanings.events.get(event)) is not None:
                        self._add("field", place, place + 2, replace(as_field(column, self.meanings), whole=True), FULL)

    def _counting_numbers(self) -> None:
        """At least ten rooms: the number is one of rooms, whatever is named before it."""
        for place, item in enumerate(self.items):
            if isinstance(item.value, Number):
                nouns = [next_.value for next_ in self.items if next_.first == item.last]
                named = {value.name for value in nouns if isinstance(value, Field) and value.meaning in NUMBERS}
                named |= {value.entity.called for value in nouns if isinstance(value, Thing)}
                self.items[place] = replace(item, value=replace(item.value, counts=frozenset(named)))

    def said(self, item: Item) -> str:
        """The words of a phrase, as they are written."""
        return self.text[self.words[item.first].start : self.words[item.last - 1].end]

    def _words_in(self, start: int, end: int) -> list[int]:
        """The places of the words in a part of the text."""
        return [place for place, word in enumerate(self.words) if start <= word.start and word.end <= end]

    def _shifted(self) -> None:
        """December against December the year before."""
        whole = [found for found in self.periods if found.period]
        for said in BEFORE.finditer(self.text.lower()):
            earlier = [found.period for found in whole if found.end <= said.start() and found.period]
            inside = self._words_in(said.start(), said.end())
            if len(earlier) != 1 or not inside or (earlier[0].end - earlier[0].start).days > AT_MOST[said[1]]:
                continue  # of a year by month, each month is compared
            start, end = (shift(day, said[1], -1) for day in (earlier[0].start, earlier[0].end))  # type: ignore[arg-type]
            moved = earlier[0].model_copy(update={"start": start, "end": end, "phrase": said[0]})
            self._add("period", inside[0], inside[-1] + 1, When(moved), 1.6)

    def _years_apart(self) -> None:
        """2025 over 2024."""
        for said in YEARS_APART.finditer(self.text):
            over, last = (self._words_in(*said.span(part)) for part in ("over", "last"))
            first = [found.period for found in self.periods if found.start == said.start("first") and found.period]
            if over and last and first:
                year = date(int(said["last"]), 1, 1)
                told = {"start": year, "end": year.replace(year=year.year + 1), "phrase": said["last"]}
                self._add("versus", over[0], over[0] + 1, Mark("versus", "versus"), 0.9)
                self._add("period", last[0], last[0] + 1, When(first[0].model_copy(update=told)), 1.5)

    def _priors(self) -> None:
        """Compared with the month before."""
        for found in PRIOR.finditer(self.text.lower()):
            inside = self._words_in(found.start(), found.end())
            if inside:
                unit = found[1] or found[2]
                self._add("over_prior", inside[0], inside[-1] + 1, Mark("over_prior", unit), 1.0)

    def compounds(self) -> Iterator[Item]:
        """Sales channels are channels, car models are models, the order quantity is a quantity."""
        kinds = [i for i in self.items if i.category == "field" and i.value.meaning in COMPOUND]  # type: ignore[attr-defined]
        for thing in (item for item in self.items if item.category == "thing"):
            noun = self.words[thing.last - 1].lower
            if is_russian(noun) or (noun.endswith("s") and noun not in ADJUNCTS):
                continue  # how many loans branches made
            for kind in (kind for kind in kinds if kind.first == thing.last):
                between = self.text[self.words[thing.last - 1].end : self.words[kind.first].start]
                fits = kind.value.meaning in NUMBERS or thing.value.entity.is_rows  # type: ignore[attr-defined]
                if fits and not between.strip():
                    made = Item("compound", thing.first, kind.last, kind.value, thing.score + kind.score)
                    if made not in self.items:
                        yield made

    def skippable(self) -> list[bool]:
        """Words that may stand anywhere and mean nothing by themselves."""
        filler, counted = (
            {place for item in self.items if item.category in of for place in range(item.first, item.last)}
            for of in (("filler",), COUNTING)
        )
        events = {item.first for item in self.items if isinstance(item.value, Event) and item.value.column.nulls}
        return [
            place in filler or (not (place in events and self._tells_when(place)) and self._is_empty(place, counted))
            for place in range(len(self.words))
        ]

    def _tells_when(self, place: int) -> bool:
        """Let, where some rows have no such date; not in let me see."""
        after = self.words[place + 1].lower if place + 1 < len(self.words) else ""
        return after not in ("me", "us")

    def _is_empty(self, place: int, counted: set[int]) -> bool:
        word, structure, rows = self.words[place], self.meanings.lexicon.structure, self.meanings.entities[0].nouns
        noun = (word.stem in rows and word.lower.endswith("s")) or word.lower.endswith("ings")  # takings are not taken
        if self.meanings.is_row_verb(word) and not noun:
            return True
        shortened = word.plain in structure and "'" in word.lower and not word.lower.endswith("n't")
        return place not in counted and not self._is_noun_for_value(place) and (word.lower in structure or shortened)

    def _is_noun_for_value(self, place: int) -> bool:
        """The shop, where a department is called so; in `who can work` it is a verb."""
        word, before = self.words[place], self.words[place - 1].lower if place else ""
        held = self.names.said.whole.get((word.stem,), {}) if before in ARTICLES and len(word.lower) > 3 else {}
        return any(lower(value) == word.lower for values in held.values() for value in values)

    def _add(self, category: str, first: int, last: int, value: object, score: float) -> None:
        weight = (last - first) ** 0.9 if last - first > 1 else 1.0
        self.items.append(Item(category, first, last, value, score * weight))

    def _correct(self) -> None:
        """A word that nothing knows is read as the only known one that is a slip or two away."""
        known, stems = self.names.known, self.names.known_stems
        fixed = list(self.words)
        for place, word in enumerate(self.words):
            text = word.lower
            meant = self.meanings.lexicon.misspelt.get(text)
            if meant is not None and word.stem not in stems and text not in known:
                fixed[place] = Word(word.text, meant, stem(meant), word.start, word.end)
                self.corrected[place] = meant
                continue
            if len(text) < 5 or not text.isalpha() or word.stem in stems or text in known:
                continue
            allowed = 2 if len(text) >= 9 else 1
            plural = text.endswith("s") and len(text) > 6 and word.text == text  # a name is no plural
            written = (text, text[:-1]) if plural else (text,)
            shortest = len(written[-1])
            spelt = self.names.spelt.get(text[0], {})
            spend(1 + len(spelt) // SPELT_PER_STEP)
            alike = [w for w in spelt if shortest - 2 < len(w) < len(text) + 2]
            slips = {
                w: min(OSA.distance(way, w, score_cutoff=allowed if way == text else 1) for way in written)
                for w in alike
            }
            near = sorted((count, w) for w, count in slips.items() if count <= allowed)
            if near and len({spelt[w] for count, w in near if count == near[0][0]}) == 1:
                meant = near[0][1]
                fixed[place] = Word(word.text, word.lower, spelt[meant], word.start, word.end)
                self.corrected[place] = meant
        self.words = tuple(fixed)

    def _periods(self) -> None:
        for found in self.periods:
            inside = self._words_in(found.start, found.end)
            if inside and found.period:
                self._add("period", inside[0], inside[-1] + 1, When(found.period), 1.5)
            elif inside:
                self._add(
                    "unclear", inside[0], inside[-1] + 1, Mark("unclear", self.text[found.start : found.end]), 0.9
                )

    def _numbers(self) -> None:
        times, spelt = self.meanings.lexicon.multiples, self.meanings.lexicon.spelt_numbers
        for place, word in enumerate(self.words):
            following = self.words[place + 1] if place + 1 < len(self.words) else None
            if word.is_number:
                value, last = _plain(word.text), place + 1
                if value is None:
                    continue
                if following and following.lower in times and (following.start == word.end or len(following.lower) > 1):
                    value, last = value * times[following.lower], place + 2
                percent = False
                after = self.words[last] if last < len(self.words) else None
                if after and after.lower in CURRENCY:
                    percent = after.lower in ("%", "percent", "процентов", "процента")
                    self._add("number", place, last + 1, Number(value, percent, word.text), 0.95)
                touching = (
                    after is not None
                    and after.start == self.words[last - 1].end
                    and after.lower in ("th", "st", "nd", "rd", "s")
                )
                if touching:
                    self._add("number", place, last + 1, Number(value, False, word.text), 0.9)
                if self.text[self.words[last - 1].end : self.words[last - 1].end + 1] == "+":
                    self._add("at_least", place, last, Number(value, False, word.text), 0.9)
                self._add("number", place, last, Number(value, percent, word.text), 0.9)
            elif word.lower == "p" and following and following.is_number and following.start == word.end:
                self._add("percentile_of", place, place + 2, Number(_plain(following.text) or 0), 0.9)
            elif word.lower in spelt:
                self._add("number", place, place + 1, Number(spelt[word.lower], False, word.text), 0.7)

    def _columns(self, first: int, last: int) -> None:
        for score, column in self._with_sibling_words(first, last):
            if last - first == 1 and self._is_guess(first, score, column):
                continue
            kind = "field" if score >= WEAK else "weak_field"
            whole = score >= JOINED or stem(split_name(column.name)[-1]) in {w.stem for w in self.words[first:last]}
            whole = whole or len(split_name(column.name)) == 1 or self._is_name_of(column, first, last)
            named = replace(as_field(column, self.meanings), whole=whole, meaning=self._meaning(column, first, last))
            score += WRITTEN_OUT if score >= FULL and last - first > 2 else 0
            self._add(kind, first, last, named, score)
            said = self.words[first].lower
            if last - first == 1 and said.endswith(("ed", "paid")) and said not in split_name(column.name):
                self._add("participle", first, last, named, score)
            if whole and self.meanings.of[column.name] == "date":  # days between the order date and the delivery date
                self._add("moment", first, last, named, score)

    def _is_guess(self, place: int, score: float, column: Column) -> bool:
        """Repeat guests, where a flag is called `seat_rep`, and no seat is spoken of."""
        parts, text = split_name(column.name), self.words[place].lower
        short = {stem(part) for part in parts if is_short_for(part, text)}
        rest = {*self.meanings.names[column.name]} - short
        flag = self.meanings.of[column.name] == "flag" and len(parts) > 1
        return flag and bool(short) and score < SHORT and rest.isdisjoint(word.stem for word in self.words)

    def _meaning(self, column: Column, first: int, last: int) -> Meaning:
        """The column's own; where its name tells none, as `stndst_h`, that of the words for it: hours of standstill."""
        meaning, numbers = self.meanings.of[column.name], self.meanings.lexicon.numbers
        if meaning != "rate" or {*self.meanings.names[column.name]} & self.meanings.lexicon.kinds:
            return meaning
        said = {word.stem for word in self.words[first:last]}
        return "count" if said & numbers["count"] else "amount" if said & numbers["amount"] else meaning

    def _is_name_of(self, column: Column, first: int, last: int) -> bool:
        """Products, where their names are in `product_name`."""
        rest = {stem(word) for word in split_name(column.name)} - {word.stem for word in self.words[first:last]}
        return self.meanings.of[column.name] == "name" and rest <= NAMED

    def _with_sibling_words(self, first: int, last: int) -> list[tuple[float, Column]]:
        """Intakes by type: of two types, the one whose other word is said too."""
        named = self._named(self.words[first:last])
        if len(named) < 2:
            return named
        own = {word.stem for word in self.words[first:last]} | GENERIC
        said = {word.stem for word in (*self.words[:first], *self.words[last:])}
        told = [bool(({*self.meanings.names[column.name]} - own) & said) for _, column in named]
        return [(score + SIBLING_BONUS * more, column) for (score, column), more in zip(named, told, strict=True)]

    def _metrics(self, first: int, last: int) -> None:
        """Measures that a model file defines."""
        metric = self.meanings.metrics.get(tuple(word.stem for word in self.words[first:last]))
        if metric is not None:
            self._add("measure", first, last, Measure(metric.expression, metric.name), METRIC)

    def _named(self, words: tuple[Word, ...]) -> list[tuple[float, Column]]:
        """Ordinary words are names only where a column is called exactly so."""
        named = self.names.find(words)
        structure = self.meanings.lexicon.structure
        said = self.meanings.lexicon.said
        if all(word.lower in structure for word in words) and tuple(word.stem for word in words) not in said:
            named = [(score, c) for score, c in named if lower(c.name) == " ".join(word.lower for word in words)]
        return named

    def _keys(self, first: int) -> None:
        """Id, ref, number: the column that identifies a row, where rows are listed."""
        word = self.words[first]
        if word.lower == "no" and self.text[word.end : word.end + 1] in (" ", "-"):
            return  # no shows, no-shows
        if word.lower in IDENTIFYING or word.lower in ("nr", "ids", "numbers"):
            for column in self.meanings.table.columns:
                if self.meanings.of[column.name] == "identifier" and self.meanings.is_key(column):
                    self._add("field", first, first + 1, as_field(column, self.meanings), 0.4)

    def _verbs(self, first: int) -> None:
        """Most borrowed, where the rows are loans."""
        if self.meanings.is_row_verb(self.words[first]):
            self._add("row_verb", first, first + 1, Mark("row_verb"), 0.5)
        for column in self.names.by_verb.get(self.words[first].stem, ()) if first not in self._own_name else ():
            self._add("event", first, first + 1, Event(column), 0.9)

    def _coded(self, first: int) -> None:
        """German for DE, in a column of languages or countries."""
        codes = self.meanings.lexicon.codes.get(self.words[first].stem, frozenset())
        for column in self.meanings.table.columns if codes else ():
            if self.meanings.holds_codes(column) or {*self.meanings.names[column.name]} & {*map(stem, CODED)}:
                for value in self.meanings.values.get(column.name, ()):
                    if lower(value) in codes:
                        self._add("condition", first, first + 1, one_of(column.name, (value,)), 0.85)

    def _unmarked(self, first: int) -> None:
        """Unpaid, where there is a flag for paid."""
        text = self.words[first].lower
        rest = stem(text.removeprefix("un").removeprefix("non").lstrip("-"))
        if not text.startswith(("un", "non")) or len(rest) < 3:
            return
        for column in self.meanings.table.columns:
            value = self.meanings.no_value(column) if self.meanings.of[column.name] == "flag" else None
            if value is not None and rest in self.meanings.names[column.name]:
                self._add("condition", first, first + 1, one_of(column.name, (value,)), 0.8)

    def _moments(self, first: int) -> None:
        """The words of a date's name, beside those that every date has: pickup of pickup_date."""
        for column in self.meanings.dates:
            own = self._own_words[column.name]
            if self.words[first].stem in (own or self.meanings.names[column.name]):
                self._add("moment", first, first + 1, as_field(column, self.meanings), 0.7)
                if not column.nulls and self.words[first].lower.endswith("s"):
                    thing = Thing(self.meanings.entities[0], self.words[first].lower, column.name)
                    self._add("thing", first, first + 1, thing, 0.5)
                if len(own - PAST) == 1 and column not in self.meanings.events.values():
                    self._add("event", first, first + 1, Event(column), 0.6)  # of a date called like it

    @cached_property
    def _own_words(self) -> Mapping[str, set[str]]:
        """Of each date, the words of its name beside those that every date has, and particles."""
        general = {*map(stem, DATING), *PREPOSITIONS}
        return {date.name: {*self.meanings.names[date.name]} - general for date in self.meanings.dates}

    def _things(self, place: int) -> None:
        self._joined_things(place)
        self._shortened_things(place)
        word = self.words[place]
        named = self.names.of_key((word.stem,))
        told = [score for score, c in named if self.meanings.of[c.name] in ("category", "name")]
        if FULL in told:
            return  # a column is called exactly so
        dated = any(date.nulls and word.stem in self._own_words[date.name] for date in self.meanings.dates)
        happens = dated and word.lower not in split_name(self.meanings.table.name)
        written = [c for score, c in named if score == FULL and split_name(c.name) == (word.lower,)]
        added_up = any(self.meanings.of[column.name] in ("count", "amount") for column in written)
        for entity in self.meanings.entities:
            if entity.is_rows and (happens or added_up):
                continue  # let, where some lettings have no such date yet; visits, where a column says how many
            if word.stem in entity.nouns:
                own = word.stem in self._own_nouns(entity)
                described = max(told, default=0) >= SAID and not entity.is_rows
                self._add(
                    "thing", place, place + 1, Thing(entity, word.lower), 0.95 if own else 0.55 if described else 0.75
                )

    def _joined_things(self, place: int) -> None:
        """Check-ins, log ins: one noun, written as two words. Work orders, where the key is called `WO no`."""
        joined = stem("".join(word.lower for word in self.words[place : place + 2]))
        for entity in self.meanings.entities:
            if place + 1 < len(self.words) and joined in entity.nouns:
                self._add("thing", place, place + 2, Thing(entity, joined), 0.8)
        both = self.words[place : place + 2]
        letters = "".join(word.lower[0] for word in both).upper()
        if len(both) == 2 and letters in self._in_keys:
            said = " ".join(word.lower for word in both)
            self._add("thing", place, place + 2, Thing(self.meanings.entities[0], said), 0.8)

    def _shortened_things(self, place: int) -> None:
        """Crossings, where the key is called `cro_id`; members of `mmb_ref`."""
        word, lexicon = self.words[place], self.meanings.lexicon
        known = any(True for _ in lexicon.find(self.words, place, place + 1))
        if known or not word.lower.endswith("s") or self.names.of_key((word.stem,)):
            return
        for entity in self.meanings.entities:
            shorts = entity.nouns - {"key"} - lexicon.structure - IDENTIFYING
            if any(is_short_for(short, word.stem) for short in shorts):
                self._add("thing", place, place + 1, Thing(entity, word.lower), 0.6)
                self.corrected[place] = "rows" if entity.is_rows else entity.called

    @cached_property
    def _in_keys(self) -> frozenset[str]:
        """The parts of the names of keys, as they are written."""
        keys = [column.name for column in self.meanings.table.columns if self.meanings.is_key(column)]
        return frozenset(part for name in keys for part in re.split(r"[\W_]+", name))

    def _own_nouns(self, entity: Entity) -> frozenset[str]:
        name = self.meanings.table.name if entity.column is None else entity.column.name
        return frozenset(stem(word) for word in split_name(name))

    def _phrases(self, first: int, last: int) -> None:
        named = self._is_named(first, last)
        for category, value in self.meanings.lexicon.find(self.words, first, last):
            if named and category in OPERATORS:
                continue  # pupil no, where a column is called so
            if category == "superlative" and first and self.words[first - 1].lower == "at":
                continue  # at least, at most
            if category == "share_word" and first and self.words[first - 1].is_number:
                continue
            make = getattr(self, f"_{category}", None)
            if make is not None:
                for kind, made, score in make(value, first, last):
                    self._add(kind, first, last, made, score)
            else:
                self._add(category, first, last, Mark(category, value), 0.9)

    def _is_named(self, first: int, last: int) -> bool:
        """True for a part of a column's whole name, said as it is written."""
        return any(begin <= first and last <= end and last - first < end - begin for begin, end in self._whole_names)

    @cached_property
    def _whole_names(self) -> tuple[tuple[int, int], ...]:
        said, names = [word.lower for word in self.words], {split_name(c.name) for c in self.meanings.table.columns}
        spans = ((at, at + size) for at in range(len(said)) for size in range(2, LONGEST + 1))
        return tuple(span for span in spans if tuple(said[slice(*span)]) in names)

    def _unit(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        if not self._is_display_unit(first):
            yield "unit", Unit(value), 0.85  # type: ignore[arg-type]

    def _current(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        """Right now says nothing where rows have no end; where they may have one, it has to be found."""
        yield "current", Mark("current", value), 0.9
        if not any(date.nulls for date in self.meanings.dates) or self._says_undone():
            yield "filler", Mark("filler"), 0.9

    def _says_undone(self) -> bool:
        """Still in transit right now: it is said in what state they are."""
        find = self.meanings.lexicon.find
        return any(one in ("undone", "lateness") for span in self._spans() for one, _ in find(self.words, *span))

    def _grain(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        if not self._is_display_unit(first):
            yield "grain", Unit(value), 0.9  # type: ignore[arg-type]

    def _is_display_unit(self, place: int) -> bool:
        """`in months` is a unit, not a grouping."""
        return place > 0 and self.words[place - 1].lower == "in" and self.words[place].lower.endswith("s")

    def _superlative(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        said = " ".join(word.lower for word in self.words[first:last])
        yield "superlative", Mark("superlative", value, (said,)), 0.9

    def _date_part(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        yield "date_part", PartOfDate(value), 0.95

    def _days_of_week(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        date = self.meanings.main_date
        if date is not None:
            weekday = DatePart(of=ColumnOf(name=date.name), part="weekday")
            days = tuple(int(digit) for digit in value)
            made = (
                Compare(left=weekday, operator="=", right=Constant(value=days[0]))
                if len(days) == 1
                else OneOf(of=weekday, values=days)
            )
            russian = is_russian(self.words[first].lower)
            name = DAYS[russian][DAY_KEYS.index(value)]
            yield "condition", Cond(made, values=(name,), weekday=True), 0.9

    def _people(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        if self.meanings.person:
            yield "thing", Thing(self.meanings.person, "people"), 0.85

    def _rows(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        yield "thing", Thing(self.meanings.entities[0], "rows"), 0.85

    def _event(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        column = self.meanings.events.get(value)
        if column is not None:
            yield "event", Event(column), 0.85 + CALLED_SO * self._is_called_so(column, first, last)
            yield "moment", as_field(column, self.meanings), 0.7
            if self.words[last - 1].lower.endswith("s"):
                named = Thing(self.meanings.entities[0], self.words[first].lower, column.name)
                if column.nulls:  # cancellations: the rows that have such a date
                    held = Cond(Not(part=Missing(of=ColumnOf(name=column.name))))
                    yield "condition", held, 0.6
                else:
                    yield "thing", named, 0.6

    def _is_called_so(self, column: Column, first: int, last: int) -> bool:
        """Left, of `left_on`, rather than of `end_date`."""
        names = [part for part in split_name(column.name) if len(part) > 3]
        return any(word.lower[:4] == part[:4] for word in self.words[first:last] for part in names)

    def _rows_loosely(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        """Units, unless another table counts units in a column."""
        if self.words[first].stem not in self.meanings.elsewhere:
            yield "thing", Thing(self.meanings.entities[0], self.words[first].lower), 0.45

    def _span(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        yield "span", Span(value), 0.8  # type: ignore[arg-type]

    def _which(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        """True if a number is asked for: `what did we sell`, but not `which stores did`."""
        following = self.words[last].lower if last < len(self.words) else ""
        yield ("what" if following in HELPING else "which"), Mark("which"), 0.9

    def _duration(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        events = self.meanings.events
        pairs = [value.split()] if value != "any" else [["start", "end"], ["check_in", "check_out"], ["open", "close"]]
        for start, end in pairs:
            left = events.get(start, self.meanings.main_date if start in ("open", "order") else None)
            right = events.get(end)
            if value == "any" and left != self.meanings.main_date:
                continue
            if left is not None and right is not None and left != right:
                name = " ".join(word.lower for word in self.words[first:last])
                made = Elapsed(start=ColumnOf(name=left.name), end=ColumnOf(name=right.name), unit="day")
                yield "field", Field(made, name, "rate"), 0.9 if value != "any" else 0.6
                return

    def _sex(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        for column, held in self.meanings.sexes.items():
            for spelt in (one for one, sex in held.items() if sex == value):
                yield "condition", one_of(column, (spelt,)), 0.9

    def _formula(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        key = tuple(word.stem for word in self.words[first:last])
        joined = self.meanings.joined
        if any(score >= SAID - 0.1 for score, column in self.names.of_key(key) if column.name not in joined):
            return
        if any({*key} & entity.nouns for entity in self.meanings.entities if not entity.is_rows):
            return
        kind, _, formula = value.partition(":")
        name = " ".join(word.lower for word in self.words[first:last])
        if kind == "sum":
            made = self.amount(formula)
            if made is not None:
                yield "field", Field(made, name, "amount"), 0.85
            return
        above, below = (self.amount(part) for part in formula.split("/"))
        if above is not None and below is not None:
            whole = Aggregate(function="sum", of=below, where=self._both_known(above, below))
            ratio = Arithmetic(operator="/", left=Aggregate(function="sum", of=above), right=whole)
            yield "measure", Measure(ratio, name), 0.9 if last - first == 1 else 1.0  # profit margin is no profit

    def _both_known(self, above: Expression, below: Expression) -> Condition | None:
        """Where the cost is missing so is the profit: the margin is of the rows that have both."""
        found = (set(columns_of(above)) - set(columns_of(below))) if isinstance(above, Arithmetic) else set()
        missing = [name for name in sorted(found) if self.meanings.column(name).nulls]
        parts = tuple(Not(part=Missing(of=ColumnOf(name=name))) for name in missing)
        return (parts[0] if len(parts) == 1 else All(parts=parts)) if parts else None

    def amount(self, name: str) -> Expression | None:
        """A column of that name, or the calculation that stands for it."""
        for form in self.meanings.lexicon.formula_parts.get(name, (name,)):
            made = self._calculated(form) if any(sign in form for sign in "*-") else self._amount_column(form)
            if made is not None:
                return made
        return None

    def _calculated(self, form: str) -> Expression | None:
        head, _, less = form.partition("-")
        factors = [
            self._amount_column(part) if part not in ("revenue", "sales") else self.amount("revenue")
            for part in head.split("*")
        ]
        if any(part is None for part in factors):
            return None
        made: Expression = factors[0]  # type: ignore[assignment]
        for part in factors[1:]:
            made = Arithmetic(operator="*", left=made, right=part)
        if form == "quantity*price":
            made = self._less_percent(made)
        if less:
            right = self._amount_column(less)
            if isinstance(right, ColumnOf) and "unit" in self.meanings.names[right.name][:-1]:  # the cost of one
                number = self._amount_column("quantity")
                right = Arithmetic(operator="*", left=number, right=right) if number is not None else None
            if right is None:
                return None
            made = Arithmetic(operator="-", left=made, right=right)
        return made

    def _less_percent(self, made: Expression) -> Expression:
        """The amount after the discount, if a column has the discount's percentage."""
        stems = {stem("discount"), stem("percent")}
        found = [c.name for c in self.meanings.table.columns if stems <= {*self._long_name(c)}]
        if len(found) != 1 or found[0] in self.meanings.joined:
            return made
        part = Arithmetic(operator="/", left=ColumnOf(name=found[0]), right=Constant(value=100))
        return Arithmetic(operator="*", left=made, right=Arithmetic(operator="-", left=Constant(value=1), right=part))

    def _long_name(self, column: Column) -> Iterator[str]:
        for word in split_name(column.name):
            yield from map(stem, (word, *self.meanings.lexicon.written_out(word)))

    def _amount_column(self, word: str) -> Expression | None:
        found = [
            (score, column)
            for score, column in self.names.of_key((stem(word),))
            if column.kind == "number" and self.meanings.of[column.name] in ("amount", "count", "rate")
        ]
        if word == "discount":  # an amount of money, not a percentage
            found = [
                (s, c)
                for s, c in found
                if "amount" in self.meanings.names[c.name] or self.meanings.of[c.name] == "amount"
            ]
        if word in ("value", "bill"):  # a fee is charged, and no revenue
            found = [(s, c) for s, c in found if "convers" in self.meanings.names[c.name] or s >= PART]
            sums = [name for name, meaning in self.meanings.of.items() if meaning == "amount"]
            amounts = [name for name in sums if not {*self.meanings.names[name]} & COSTS]
            found = (
                found if len(amounts) == 1 else [(s, c) for s, c in found if stem(word) in self.meanings.names[c.name]]
            )
        if word == "quantity":  # a unit cost is none
            found = [(s, c) for s, c in found if "unit" not in self.meanings.names[c.name][:-1]]
        own = [(s, c) for s, c in found if c.name not in self.meanings.joined]
        best = max((score for score, _ in own or found), default=0)
        columns = [column for score, column in own or found if score == best]
        return ColumnOf(name=columns[0].name) if len(columns) == 1 else None

    def _values(self) -> None:
        for column in self.meanings.table.columns:
            if column.name in self.meanings.lists:
                self._values_in_lists(column)
        known, parts, called = self.names.said.whole, self.names.said.parts, self.names.said.called
        for first, last in self._spans():
            if self._own_name.issuperset(range(first, last)):
                continue
            key = tuple(word.stem for word in self.words[first:last])
            if key not in known and last - first == 1:  # directly, DVDs
                key = (stem(self.words[first].lower.removesuffix("ly").removesuffix("s")),)
            for column_name, values in self._nearest(known.get(key, {})):
                if self._is_noun_elsewhere(first, last, column_name, values):
                    continue
                if any(self._may_be_value(first, last, value) for value in values) or self._follows(first, column_name):
                    kind = "flag_value" if self.meanings.of[column_name] == "flag" else "condition"
                    score = CALLED if (column_name, key) in called else VALUE
                    self._add(kind, first, last, one_of(column_name, tuple(dict.fromkeys(values))), score)
            held = parts.get(key, {})
            if key in known or sum(map(len, held.values())) > 3 or not self._may_be_part(first, last, key):
                continue
            for column_name, values in held.items():
                for value in dict.fromkeys(values):
                    self._add("condition", first, last, one_of(column_name, (value,)), GUESSED)

    def _is_noun_elsewhere(self, first: int, last: int, column: str, values: Sequence[str]) -> bool:
        """Clinics are the rows of another table, unless the column where a cell says `Clinic` is named too."""
        if last - first > 1 or self.words[first].stem not in self.meanings.elsewhere:
            return False
        is_named = any(word.stem in self.meanings.names[column] for word in self.words)
        return self.words[first].text not in values and not is_named

    def _values_in_lists(self, column: Column) -> None:
        """Rush, where a cell holds `paint;rush`: the cells that have it among others."""
        single = self.meanings.lists[column.name]
        keys = {key: value for value in single for key in spoken(value)}
        for first, last in self._spans():
            value = keys.get(tuple(word.stem for word in self.words[first:last]))
            alike = [other for other in single if value and lower(value) in lower(other)]
            if value and len(alike) == 1 and self._may_be_value(first, last, value):
                held = Cond(Contains(of=ColumnOf(name=column.name), text=value), column.name)
                self._add("condition", first, last, held, 0.95)

    @cached_property
    def _own_name(self) -> frozenset[int]:
        """Where the table is called by a name of several words: merge requests were not all merged."""
        name = [stem(word) for word in split_name(self.meanings.table.name)]
        stems = [word.stem for word in self.words]
        starts = [place for place in range(len(stems)) if len(name) > 1 and stems[place : place + len(name)] == name]
        return frozenset(place + step for place in starts for step in range(len(name)))

    def _nearest(self, holding: Mapping[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
        """Of a column and one whose name says more, such as a port and a home port, the plain one is meant."""
        for column, values in holding.items():
            own = {*self.meanings.names[column]}
            if not any({*self.meanings.names[other]} < own for other in holding):
                yield column, values

    def _may_be_value(self, first: int, last: int, value: str) -> bool:
        """Ordinary words are values only where they are written as the value is."""
        span = self.words[first:last]
        if all(word.is_number for word in span):
            return False
        if last - first == 1 and self._is_deed(first, value):
            return False
        if last - first == 1 and self._is_noun_for_value(first):
            return True
        plain = all(word.lower in self.meanings.lexicon.structure for word in span)
        following = self.words[last].lower if last < len(self.words) else ""
        if plain and following in ("you", "i", "we", "u", "someone", "anyone"):
            return False  # can you tell me, where beer is sold in cans
        before = self.words[first - 1].lower if first else ""
        if plain and {"vs", "versus", "vs."} & {before, following}:
            return True  # keg vs can
        if plain and last - first == 1 and span[0].lower == lower(value) and self._is_state(first):
            return True
        return not (plain or self._is_short(first, last)) or (
            self.text[span[0].start : span[-1].end] == value and any(c.isupper() for c in value)
        )

    def _follows(self, first: int, column: str) -> bool:
        """Room x, grade a: the column is named before its value, however common the word is."""
        return first > 0 and self.words[first - 1].stem in self.meanings.names[column]

    def _is_state(self, place: int) -> bool:
        """Done jobs, jobs that were done: a participle that stands before what it describes, or behind `be`."""
        before = self.words[place - 1].lower if place else ""
        described = any(item.first == place + 1 and item.category == "thing" for item in self.items)
        return before in BEING or (described and before not in SUBJECTS)

    def _is_short(self, first: int, last: int) -> bool:
        """A letter, or two that mean something else as well: `gp` is read however it is written, `no` is not."""
        said = self.words[first].lower
        if last - first > 1 or len(said) > 2:
            return False
        return len(said) == 1 or said in self.names.short or any(self.meanings.lexicon.find(self.words, first, last))

    def _is_deed(self, place: int, value: str) -> bool:
        """Who opens the most tickets: a verb, where a state is called `open`."""
        word, written = self.words[place].lower, {part.lower for part in words_of(value)}
        if word in written or not word.endswith("s") or not any(word.startswith(part) for part in written):
            return False
        before, after = (self.words[at].lower if 0 <= at < len(self.words) else "" for at in (place - 1, place + 1))
        subject = before in SUBJECTS or (bool(before) and before not in self.meanings.lexicon.structure)
        return subject and after in OBJECTS

    def _may_be_part(self, first: int, last: int, key: Key) -> bool:
        lexicon = self.meanings.lexicon
        words = self.words[first:last]
        if all(word.lower in lexicon.structure or word.is_number or len(word.lower) < 4 for word in words):
            return False
        if last - first == 1 and (words[0].stem in GENERIC or any(True for _ in lexicon.find(self.words, first, last))):
            return False
        return not self.names.of_key(key)


_UNIT = "(day|week|month|quarter|year)"
PRIOR = re.compile(
    r"\b(?:vs\.?|versus|compared (?:to|with)|against|over|from|relative to|on|than|to)"
    rf" (?:the )?(?:(?:previous|prior|preceding) {_UNIT}|{_UNIT} (?:before|prior|earlier))\b"
)
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
AT_MOST = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}  # days
BEFORE = re.compile(rf"(?:(?:{_MONTHS}) )?(?:of |in )?the {_UNIT} before\b")
YEARS_APART = re.compile(r"\b(?P<first>(?:19|20)\d\d)\s+(?P<over>over|on)\s+(?P<last>(?:19|20)\d\d)\b")


def one_of(column: str, values: tuple[str | float | int | bool, ...]) -> Cond:
    of = ColumnOf(name=column)
    made = (
        Compare(left=of, operator="=", right=Constant(value=values[0]))
        if len(values) == 1
        else OneOf(of=of, values=values)
    )
    return Cond(made, column, values)


def _plain(text: str) -> float | None:
    plain = text.replace(",", "") if "," in text and len(text.split(",")[-1]) == 3 else text.replace(",", ".")
    try:
        value = float(plain)
    except ValueError:
        return None
    if not isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 1e15 else value
