"""Reads a question with a model where the grammar cannot decide: word by word, by a choice, or as a whole.

What a model says is judged by code. What only its word supports must be said twice: a word is explained alike with
its possible meanings in both orders, a reading is chosen in both orders; otherwise the user is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import product

from groundplan.asking.tables.grammar.lexicon import load
from groundplan.asking.tables.grammar.meanings import meanings_of
from groundplan.asking.tables.grammar.near import Told
from groundplan.asking.tables.grammar.read import Derived, senses_of
from groundplan.asking.tables.grammar.senses import Senses
from groundplan.asking.tables.values import Values
from groundplan.asking.tables.with_model.judge import Judgement, judged
from groundplan.asking.tables.with_model.proposal import (
    Flag,
    Unusable,
    WholeReading,
    choices_for,
    columns_by_name,
    reading_of,
)
from groundplan.asking.tables.with_model.written import written
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.contract import Contract
from groundplan.contracts.expression import Share
from groundplan.contracts.meaning import Meaning, has_meaning, meaning_of
from groundplan.contracts.reading import AnalysisAsked, Reading
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.llm.calls import Calls
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import Reply
from groundplan.text.names import split_name
from groundplan.text.periods.find import find_periods
from groundplan.text.read_back import told_apart
from groundplan.text.stems import stem
from groundplan.text.words import words_of

Outcome = Reading | Clarification | Refusal
NONE = "none"
IS = " is "
MOST_COLUMNS = 80  # in a prompt
MOST_VALUES = 40
MOST_WORDS = 3  # that are asked about
PARTICLES = frozenset({"back", "out", "over", "forward", "around", "ahead"})  # bring back says nothing by one word
MOST_TRIED = 100  # meanings of unknown words, together
MOST_EXAMPLES = 2
LONG_VALUE = 80  # characters
SHORT = 3  # letters: shorter beginnings name nothing
SENSE_TOKENS, CHOICE_TOKENS, PROPOSAL_TOKENS = 60, 20, 900
LONGEST_REASON = 600


class Sense(Contract):
    means: str


class Preferred(Contract):
    choice: str


@dataclass(frozen=True)
class Asked:
    """The question with everything that a prompt about it may hold."""

    text: str
    schema: SourceSchema  # the shortlist
    values: Mapping[str, Values]
    today: date
    timezone: str
    examples: tuple[Reading, ...] = ()  # that a person approved

    @property
    def found(self) -> dict[str, tuple[str, str, str]]:
        """The values that words of the question name: `column is value`, with table, column and value."""
        content = [word for word in words_of(self.text) if word.lower not in load().structure]
        said = {word.stem for word in content}
        begun = {word.lower for word in content if len(word.lower) >= SHORT and not word.is_number}
        found: dict[str, tuple[str, str, str]] = {}
        for table in self.schema.tables:
            for column, listed in self.values.get(table.name, {}).items():
                for value in listed:
                    words = words_of(value)
                    named = any(word.stem in said or any(word.lower.startswith(one) for one in begun) for word in words)
                    if named and len(value) <= LONG_VALUE and len(found) < MOST_VALUES:
                        found[f"{column}{IS}{value}"] = (table.name, column, value)
        return found

    @property
    def flags(self) -> dict[str, tuple[Flag, Flag]]:
        """How columns of yes and no write them."""
        found: dict[str, tuple[Flag, Flag]] = {}
        for table in self.schema.tables:
            meanings = meanings_of(table, self.values.get(table.name, {}))
            for column in table.columns:
                yes, no = meanings.yes_value(column), meanings.no_value(column)
                if meanings.of[column.name] == "flag" and yes is not None and no is not None:
                    found[column.name] = (yes, no)
        return found

    @property
    def dates(self) -> dict[str, str]:
        """The first day of each period and the day after its last, with the words for it."""
        periods = [one for one in find_periods(self.text, self.today, self.timezone) if one.period]
        return {
            day.isoformat(): self.text[one.start : one.end]
            for one in periods
            if one.period
            for day in (one.period.start, one.period.end)
        }


def shortlist(schema: SourceSchema, text: str) -> SourceSchema:
    """The tables whose names the question shares most words with, as far as a prompt has room for their columns."""
    said = {word.stem for word in words_of(text)}

    def shared(table: Table) -> int:
        names = (table.name, *(column.name for column in table.columns))
        return sum(stem(part) in said for name in names for part in split_name(name))

    kept: list[Table] = []
    for table in sorted((t for t in schema.tables if t.columns), key=shared, reverse=True):
        room = MOST_COLUMNS - sum(len(one.columns) for one in kept)
        if not kept or len(table.columns) <= room:
            kept.append(table.model_copy(update={"columns": table.columns[:MOST_COLUMNS]}))
    return schema.model_copy(update={"tables": tuple(kept)})


class ModelReader:
    """One question and the models that may be asked about it."""

    def __init__(
        self, calls: Calls, question: Asked, derive: Callable[[Sequence[Told]], Derived], *, whole: bool
    ) -> None:
        """`whole`: the model may read the whole question, not only explain words and choose."""
        self.calls, self.question, self._derive, self.whole = calls, question, derive, whole
        self.notes: list[str] = []

    async def read(self, derived: Derived, by_words: Outcome) -> Outcome:
        """Where the grammar does not decide: `by_words` is what it ends with otherwise."""
        if derived.others:
            return await self._chosen(derived) or by_words
        told = await self._told(self._readable(self._unknown(derived.unread)))
        again = self._derive(told) if told else Derived()
        if again.reading is not None and not again.others:
            return again.reading
        proposal = await self._proposed() if self.whole else None
        if proposal is None:
            return by_words
        reading, judgement = proposal
        explained = {one.words for one in told}
        open_words = [word for word in dict.fromkeys(judgement.open_words) if word not in explained][:MOST_WORDS]
        told = (*told, *await self._told({word: self._meanings() for word in open_words}))
        return reading if _is_confirmed(judgement, told) else self._asked(judgement.open_words, reading)

    async def check(self, by_words: Reading) -> Outcome:
        """The model reads first, and the grammar's complete reading is what it is compared with."""
        proposal = await self._proposed(by_words)
        if proposal is None:
            return by_words
        reading, _ = proposal
        if alike(reading, by_words):
            return by_words.model_copy(update={"read_by": ("words", self.calls.model)})
        return self._asked((), by_words, reading)

    def _meanings(self) -> dict[str, Told]:
        """What a word may mean: a column, or a value that the question names."""
        only = self.question.schema.tables[0].name
        columns = {
            name: Told("", column.table or only, column.name)
            for name, column in columns_by_name(self.question.schema).items()
        }
        values = {name: Told("", *found) for name, found in self.question.found.items()}
        return {**columns, **values}

    def _readable(self, unknown: Sequence[str]) -> dict[str, dict[str, Told]]:
        """For each unknown word, the meanings with which the grammar reads the question."""
        meanings = self._meanings()
        if len(meanings) ** len(unknown) > MOST_TRIED:
            return {}
        found: dict[str, dict[str, Told]] = {word: {} for word in unknown}
        for names in product(meanings, repeat=len(unknown)):
            told = [replace(meanings[name], words=word) for word, name in zip(unknown, names, strict=True)]
            if told and not any(map(self._is_counted, told)) and self._derive(told).reading is not None:
                for word, name in zip(unknown, names, strict=True):
                    found[word][name] = meanings[name]
        return found

    def _is_counted(self, told: Told) -> bool:
        """Contracts are counted, though a column `contract` has their amounts."""
        table = self.question.schema.find(told.table) if told.table else None
        column = table.find(told.column) if table and told.column else None
        if column is None or column.kind != "number" or not told.words.lower().endswith("s"):
            return False
        return stem(told.words) in map(stem, split_name(column.name))

    async def _told(self, options: Mapping[str, Mapping[str, Told]]) -> tuple[Told, ...]:
        found = {word: means[name] for word, means in options.items() if (name := await self._explained(word, means))}
        self.notes += [f"{w!r} means {_named(one)}, as {self.calls.model} says" for w, one in found.items()]
        return tuple(replace(one, words=word) for word, one in found.items())

    async def _explained(self, word: str, means: Mapping[str, Told]) -> str | None:
        """What the word means, if the model says so with its meanings in both orders, and again in other words."""
        orders = ([*means], [*means][::-1])
        said = [await self._sense("sense", word, orders[0])] if means else [NONE]
        said += [await self._sense("sense", word, orders[1])] if said[0] != NONE else []
        if said[0] == NONE or said[0] != said[1]:
            return None
        for order in orders:
            if await self._sense("sense_again", word, order) == said[0]:
                return said[0]
        return None

    async def _sense(self, prompt: str, word: str, options: Sequence[str]) -> str:
        question = self.question.text
        listed = "\n".join(f"- {name}: {question.replace(word, name, 1)}" for name in (*options, NONE))
        filled = load_prompt(prompt).fill(
            columns=", ".join(columns_by_name(self.question.schema)),
            question=question,
            word=word,
            options=listed if prompt == "sense_again" else ", ".join(options),
        )
        told = await self.calls.ask(filled, Sense, {"means": [*options, NONE]}, max_tokens=SENSE_TOKENS)
        if isinstance(told, Reply):
            return told.value.means
        self.notes.append(f"{self.calls.model} explained no word: {told.problem[:300]}")
        return NONE

    async def _chosen(self, derived: Derived) -> Reading | None:
        """The reading that the model prefers in both orders; a choice that depends on the order is none."""
        readings = (derived.reading, *derived.others[:3])
        told = told_apart(reading for reading in readings if reading is not None)
        picked: set[int] = set()
        for order in ([*range(len(told))], [*reversed(range(len(told)))]):
            listed = "\n".join(f"{number}. {told[place]}" for number, place in enumerate(order, 1))
            prompt = load_prompt("prefer").fill(question=self.question.text, readings=listed)
            numbers = [str(number) for number in range(1, len(told) + 1)]
            said = await self.calls.ask(prompt, Preferred, {"choice": numbers}, max_tokens=CHOICE_TOKENS)
            if not isinstance(said, Reply):
                self.notes.append(f"{self.calls.model} chose no reading: {said.problem[:300]}")
                return None
            picked.add(order[int(said.value.choice) - 1])
        if len(picked) > 1:
            self.notes.append(f"{self.calls.model} chose another reading when they were listed in another order")
            return None
        self.notes.append(f"of {len(told)} ways to read it, {self.calls.model} chose this one")
        return readings[picked.pop()]

    async def _proposed(self, by_words: Reading | None = None) -> tuple[Reading, Judgement] | None:
        """A reading of the whole question that the judge finds no fault with, from the first model that gives one.

        What equals `by_words` needs no judge. Each model is told what is wrong with its reading.
        """
        while True:
            refused = ""
            for _ in range(self.calls.limits.attempts):
                told = await self._propose(refused)
                if not isinstance(told, WholeReading):
                    refused = told
                    continue
                try:
                    reading = reading_of(told, self.question.text, self.question.schema, self.question.flags)
                except Unusable as unusable:
                    refused = str(unusable)
                    continue
                if by_words is not None and alike(reading, by_words):
                    return reading, Judgement()
                judgement = self.judge(reading)
                if not judgement.faults:
                    return reading, judgement
                refused = "; ".join(judgement.faults)
            self.notes.append(f"the reading of {self.calls.model} was not used: {refused[:LONGEST_REASON]}")
            if not self.calls.escalate():
                return None

    async def _propose(self, refused: str) -> WholeReading | str:
        texts = [*dict.fromkeys((*(value for _, _, value in self.question.found.values()), *self.question.dates))]
        prompt = load_prompt("propose").fill(
            tables=_tables(self.question),
            examples="\n".join(_examples(self.question)),
            found=_found(self.question),
            question=self.question.text,
            refused=f"Your last reading was refused: {refused[:LONGEST_REASON]}" if refused else "",
        )
        choices = choices_for(self.question.schema, texts)
        told = await self.calls.ask(prompt, WholeReading, choices, max_tokens=PROPOSAL_TOKENS)
        return told.value if isinstance(told, Reply) else told.problem[:300]

    def judge(self, reading: Reading) -> Judgement:
        tables = [table for table in self.question.schema.tables if table.name in reading.tables]
        return judged(reading, [*map(self._senses, tables)])

    def _senses(self, table: Table) -> Senses:
        given = self.question
        values = given.values.get(table.name, {})
        return senses_of(given.text, table, values, today=given.today, timezone=given.timezone)[0]

    def _unknown(self, unread: Sequence[str]) -> tuple[str, ...]:
        """Those of the unread words that no table gives a sense to; none if one is the particle of a verb."""
        if PARTICLES & {word.lower() for word in unread}:
            return ()
        known: set[str] = set()
        for senses in map(self._senses, self.question.schema.tables if unread else ()):
            known |= {senses.words[place].text for item in senses.items for place in range(item.first, item.last)}
        return tuple(word for word in dict.fromkeys(unread) if word not in known)

    def _asked(self, words: Sequence[str], *readings: Reading) -> Clarification:
        quoted = ", ".join(repr(word) for word in dict.fromkeys(words))
        unknown = f"I do not know {quoted}. " if words else ""
        text = (
            "This can be understood in several ways. Which one do you mean?"
            if len(readings) > 1
            else "Do you mean this?"
        )
        told = told_apart(readings)
        return Clarification(text=unknown + text, missing=self.question.text, candidates=told, readings=readings)


def alike(one: Reading, other: Reading) -> bool:
    return has_meaning(one) and has_meaning(other) and _meaning(one) == _meaning(other)


def _meaning(reading: Reading) -> Meaning:
    """With shares as measures, where the reading has them as an analysis."""
    meaning = meaning_of(reading)
    if not any(isinstance(r.value, AnalysisAsked) and r.value.label == "share" for r in reading.requirements):
        return meaning
    return replace(meaning, measures=frozenset(Share(of=measure) for measure in meaning.measures))


def _is_confirmed(judgement: Judgement, told: Sequence[Told]) -> bool:
    """Whether each unknown word was explained by itself as something that the reading has, and nothing else rests on
    the reading alone."""
    explained = {one.words for one in told if _is_held(one, judgement)}
    named = {name for one in told for name in (one.column, one.value) if name}
    return {*judgement.open_words} <= explained and {*judgement.resting} <= named


def _is_held(told: Told, judgement: Judgement) -> bool:
    if told.value is not None:
        return told.value in judgement.constants
    return told.column in judgement.columns or told.function in judgement.functions


def _named(told: Told) -> str:
    return told.function or (f"{told.column}{IS}{told.value}" if told.value is not None else told.column or "")


def _tables(question: Asked) -> str:
    """Names, what the columns hold, and their descriptions: never a value."""
    return "\n".join(f"{table.name}: {', '.join(_described(table, question))}" for table in question.schema.tables)


def _described(table: Table, question: Asked) -> Iterator[str]:
    of = meanings_of(table, question.values.get(table.name, {})).of
    prefix = "" if len(question.schema.tables) == 1 else f"{table.name}."
    for column in table.columns:
        told = f": {column.description[:80]}" if column.description else ""
        yield f"{prefix}{column.name} ({of[column.name]}{told})"


def _found(question: Asked) -> str:
    values = ", ".join(question.found)
    dates = ", ".join(f"{words!r} {day}" for day, words in question.dates.items())
    lines = (f"Values: {values}" if values else "", f"Dates: {dates}" if dates else "", f"Today: {question.today}")
    return "\n".join(filter(None, lines))


def _examples(question: Asked) -> Iterator[str]:
    """Approved readings of questions about the same tables."""
    tables = {table.name for table in question.schema.tables}
    own = [reading for reading in question.examples if {*reading.tables} <= tables]
    shown = ((reading, written(reading)) for reading in own)
    for reading, proposal in [pair for pair in shown if pair[1] is not None][:MOST_EXAMPLES]:
        yield f"Question: {reading.question}\n{proposal.model_dump_json() if proposal else ''}"
