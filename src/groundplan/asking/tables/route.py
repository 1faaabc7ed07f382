"""Questions about tables: how well they fit, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from groundplan.asking.replies import MOST_READ, with_readings
from groundplan.asking.route import Route
from groundplan.asking.tables.accounting import not_understood
from groundplan.asking.tables.follow_up.edit import edit
from groundplan.asking.tables.grammar.doubts import no_time, unclear_period
from groundplan.asking.tables.grammar.read import Derived, decided, derive_best
from groundplan.asking.tables.grammar.vocabulary import Vocabulary
from groundplan.asking.tables.naming import Naming
from groundplan.asking.tables.phrases import Phrased, phrased_in, read_phrase
from groundplan.asking.tables.refusals import (
    aggregated_again,
    asks_for_change,
    find_refusal,
    too_long,
    unaskable,
    unfounded,
    unreadable_table,
)
from groundplan.asking.tables.several import read_several
from groundplan.asking.tables.spellings import counted_apart
from groundplan.asking.tables.unknown_words import ask_meaning
from groundplan.asking.tables.values import Values
from groundplan.budget import aside, if_affordable
from groundplan.context import Context
from groundplan.contracts.answer import Clarification, Refusal, refused
from groundplan.contracts.question import Question
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool
from groundplan.errors import TooMuch
from groundplan.text.names import split_name
from groundplan.text.periods.find import find_periods
from groundplan.text.periods.pairs import set_apart
from groundplan.text.similar import Nearness, content_stems
from groundplan.text.stems import stem
from groundplan.text.words import normalise, texts_of, words_of

if TYPE_CHECKING:
    from groundplan.asking.tables.model.read import ModelRead
    from groundplan.llm.calls import CallsByRole
    from groundplan.proposing.loop import Accepted  # imported only where a model is used

BASE_ROUTE_SCORE = 0.5  # of any question where there are tables: most questions name a few of their words
MOST_LEFT_OUT = 3  # tables that cannot be read and are named in a remark
MOST_TABLES = 12  # with more, the words cost seconds: then a second call of the model is the second opinion


class Tables(Route):
    name = "tables"

    def accepts(self, question: Question, context: Context, values: Mapping[str, Any]) -> float:
        if not context.tables.tables:
            return 0.0
        said = content_stems(question.text)
        known = said & set(_stems(context.tables, values))
        return BASE_ROUTE_SCORE + (1 - BASE_ROUTE_SCORE) * (len(known) / len(said) if said else 0.0)

    async def read(self, question: Question, context: Context) -> Reading | Clarification | Refusal:
        found = await self._read(question, context)
        if isinstance(found, Clarification):
            found = await self._with_readings(found, question, context)
            if context.calls is None and _leads_nowhere(found):
                return not_understood((found.missing,), context.tables, question.text)
        context.notes.extend(_not_looked_up(found, context.unread))
        context.notes.extend(_left_out(found, context.tables))
        return found

    async def _read(self, question: Question, context: Context) -> Reading | Clarification | Refusal:
        """A model reads where there is one; the words are its floor, and a second opinion."""
        refusal = too_long(question.text) or unreadable_table(question.text, context.tables)
        if refusal:
            return refusal
        before = context.turns[-1].reading if context.turns else None
        text = f"{before.question} {question.text}" if before else question.text
        values: Any = await context.find_values(text)
        known: tuple[Any, ...] = (context.tables, values)
        clock: dict[str, Any] = {"today": question.today, "timezone": question.timezone, "meaning": context.nearness}

        @cache
        def by_words() -> Plain:
            try:
                edited = edit(before, question.text, *known, **_clock(question)) if before else None
                tools = context.catalog.analyses.values()
                plain = Plain(edited) if edited else read_plain(question.text, *known, **clock, tools=tools)
                return replace(plain, answer=founded(plain.answer, *known, **clock))
            except TooMuch as error:  # a model may still read it
                return Plain(refused(error.code, error.problem, error.hint))

        answer: Reading | Clarification | Refusal | None = None
        if context.sent_back:
            found = await self._by_model(question, context, by_words, known)
            return found or refused("reading/unproven", "no other query was found", "ask in other words")
        if context.calls is not None and context.calls.roles.reader == "model":
            phrased = next(self._phrased(question, context), None)
            settled = (phrased or may_be_settled(question.text)) and (await aside(by_words)).settled
            settled = settled or await self._asked_before(context, by_words)
            weak = _is_weak(context.calls) and not phrased
            if not settled and not (weak and isinstance((await aside(by_words)).answer, Reading)):
                answer = await self._by_model(question, context, by_words, known)
        if answer is None:
            plain = await aside(by_words)
            answer = _floor(plain.answer, context)
            context.notes.extend(plain.notes)
        if isinstance(answer, Reading):
            context.notes.extend(counted_apart(answer, values))
        context.notes.extend(answer.notes if isinstance(answer, Clarification) else ())
        return answer

    async def _asked_before(self, context: Context, by_words: Callable[[], Plain]) -> bool:
        """True if the words read a whole question as one that was answered in this conversation: no model is needed."""
        if not context.turns or len(context.tables.tables) > MOST_TABLES:
            return False
        from groundplan.contracts.alike import alike

        words = (await aside(by_words)).answer
        if not isinstance(words, Reading) or words.follow_up:
            return False
        return any(alike(words, turn.reading) for turn in context.turns)

    async def _with_readings(self, asked: Clarification, question: Question, context: Context) -> Clarification:
        """The clarification with the reading of each candidate, by words alone."""
        before = context.turns[-1].reading if context.turns else None
        values: Any = await context.find_values(f"{before.question} {question.text}" if before else question.text)
        known: tuple[Any, ...] = (context.tables, values)
        clock: dict[str, Any] = {"today": question.today, "timezone": question.timezone, "meaning": context.nearness}

        def by_words(text: str) -> Reading | Clarification | Refusal:
            edited = edit(before, text, *known, **_clock(question)) if before else None
            return founded(edited or read_plain(text, *known, **clock).answer, *known, **clock)

        return await aside(partial(with_readings, asked, question.text, by_words))

    def _phrased(self, question: Question, context: Context) -> Iterator[Phrased]:
        return phrased_in(normalise(question.text), context.catalog.analyses.values())

    async def _by_model(
        self, question: Question, context: Context, by_words: Callable[[], Plain], known: tuple[Any, ...]
    ) -> Reading | Clarification | Refusal | None:
        """A model reads the question; of one that a tool's phrase covers, the plain question inside it."""
        phrased = next(self._phrased(question, context), None)
        if phrased is None:
            return await self._with_model(question, context, by_words, known)
        plain = question.model_copy(update={"text": phrased.part.text})
        found = await self._with_model(plain, context, by_words, known)
        return phrased.complete(found) if isinstance(found, Reading) and not found.also else found

    async def _with_model(
        self, question: Question, context: Context, by_words: Callable[[], Plain], known: tuple[Any, ...]
    ) -> Reading | Clarification | Refusal | None:
        """A model's reading, as far as it is accepted; None if no model gave a valid reply."""
        from groundplan.asking.tables.model.accept import Judge, trust_in
        from groundplan.asking.tables.model.context import asked_of
        from groundplan.asking.tables.model.read import Candidate, SqlReader

        assert context.calls is not None
        calls, roles = context.calls.of("read"), context.calls.roles
        asked = await asked_of(question, context, known[1], share_values=roles.share_values)
        reader = SqlReader(calls, context)
        found = await reader.read(asked)
        if found is None:
            return None
        trust = trust_in(calls.cascade.model.endpoint)

        async def second_opinion() -> Reading | None:
            few = len(context.tables.tables) <= MOST_TABLES
            return answer if few and isinstance(answer := (await aside(by_words)).answer, Reading) else None

        async def again() -> Accepted[ModelRead] | None:
            calls.escalate()
            return await reader.read(asked.otherwise_shown())

        judge = Judge(roles.accept, trust, second_opinion, again, context.same_rows)
        context.notes.extend(found.value.notes if isinstance(found.value, Candidate) else ())
        return await judge.decide(found, asked.text)

    def nothing_found(self, context: Context) -> Refusal | None:
        return None


def _leads_nowhere(asked: Clarification) -> bool:
    """Whether no candidate makes a question that the words can read: to choose one would end in a refusal."""
    return 0 < len(asked.candidates) <= MOST_READ and not asked.readings


def _not_looked_up(found: Reading | Clarification | Refusal, unread: Collection[str]) -> Iterator[str]:
    """Of the tables that were asked about, or of all if nothing was understood."""
    for table in sorted(unread):
        if not isinstance(found, Reading) or table in found.tables:
            yield f"the values of {table!r} could not be read in time, so words that name one were not looked up there"


def _left_out(found: Reading | Clarification | Refusal, schema: SourceSchema) -> Iterator[str]:
    """The tables that could not be read, so that nobody takes the others for all there is."""
    if isinstance(found, Refusal) and found.issues[0].code == "reading/unreadable-table":
        return
    closed = [table for table in schema.tables if table.unreadable]
    yield from (f"the table {table.name!r} cannot be read: {table.unreadable}" for table in closed[:MOST_LEFT_OUT])
    if len(closed) > MOST_LEFT_OUT:
        yield f"{len(closed) - MOST_LEFT_OUT:,} more tables cannot be read: groundplan catalog tables lists them"


@dataclass(frozen=True)
class Plain:
    """How the grammar reads a question, with remarks; `settled` where no model may change the outcome."""

    answer: Reading | Clarification | Refusal
    notes: tuple[str, ...] = ()
    settled: bool = False


def read_plain(
    question: str,
    schema: SourceSchema,
    values: Mapping[str, Values],
    *,
    today: date,
    timezone: str = "UTC",
    meaning: Nearness | None = None,
    tools: Collection[Tool] = (),
) -> Plain:
    """A question of its own about files or tables of a database; `tools` bring an analysis with them."""
    text = normalise(question)
    words = words_of(text)
    refusal = unaskable(text, words)
    if refusal:
        return Plain(refusal, settled=True)

    clock: dict[str, Any] = {"today": today, "timezone": timezone}
    vocabulary = Vocabulary()

    def derive(asked: str) -> Derived:
        return derive_best(asked, schema, values, **clock, nearness=meaning, vocabulary=vocabulary)

    def one(asked: str) -> Reading | None:
        found = decided(derive(asked), asked)
        return found if isinstance(found, Reading) else None

    def analysed(asked: str) -> Reading | None:
        return read_phrase(asked, tools, one)

    derived = derive(text)
    if (by_tool := analysed(text)) is not None:  # a column may be called as the analysis is
        others = (derived.reading, *derived.others) if derived.reading else ()
        return Plain(decided(Derived(by_tool, others=others), text) or by_tool, settled=True)
    several = read_several(text, derived.reading, lambda asked: analysed(asked) or one(asked))
    if several:
        return Plain(decided(Derived(several[0], others=several[1:]), text) or several[0])
    answer = decided(derived, text)
    notes = tuple(f"{said!r} was read as {meant!r}" for said, meant in derived.corrected) if answer else ()
    if isinstance(answer, Reading):
        return Plain(answer, notes)
    periods = set_apart(text, words, find_periods(text, today, timezone), today, timezone)
    doubt = find_refusal(text, words) or unclear_period(text, periods, schema)
    timeless = no_time(text, words, periods, schema)
    said = doubt or answer or timeless or aggregated_again(text, schema)
    said = (
        said
        or if_affordable(lambda: ask_meaning(derived.unread, text, schema, derive, meaning))
        or not_understood(derived.unread, schema, text, values)
    )
    return Plain(said, notes, settled=asks_for_change(doubt))


def founded(
    found: Reading | Clarification | Refusal,
    schema: SourceSchema,
    values: Mapping[str, Values],
    *,
    today: date,
    timezone: str,
    meaning: Nearness | None,
) -> Reading | Clarification | Refusal:
    """With what was assumed; refused if it asks for something that the words it quotes do not name."""
    if isinstance(found, Refusal):
        return found
    told = []
    for reading in found.readings if isinstance(found, Clarification) else found.asks:
        naming = Naming(reading.question, schema, values, reading.tables, today, timezone, meaning)
        told.append(naming.with_assumed(reading))
        if isinstance(found, Reading) and (lacking := naming.unfounded(reading)):
            return unfounded(lacking)
    if isinstance(found, Clarification):
        return found.model_copy(update={"readings": tuple(told)})
    return told[0].model_copy(update={"also": tuple(told[1:])}) if found.also else told[0]


def may_be_settled(question: str) -> bool:
    """True if the words may end it before a model is asked: it has none, or speaks of changing data."""
    text = normalise(question)
    words = words_of(text)
    return unaskable(text, words) is not None or asks_for_change(find_refusal(text, words))


def _is_weak(calls: CallsByRole) -> bool:
    """True if the model was measured and reads too little to be asked where the words alone read the question."""
    from groundplan.asking.tables.model.accept import trust_in

    return calls.roles.accept == "measured" and trust_in(calls.of("read").cascade.model.endpoint) == "weak"


def _floor(answer: Reading | Clarification | Refusal, context: Context) -> Reading | Clarification | Refusal:
    """By words; if a model wrote a query that could not be used, a reading of other columns is confirmed first."""
    last = context.attempts[-1] if context.attempts else None
    if last is None or not last.proposal or not last.faults:
        return answer
    problem = (
        f"the model {last.model} wrote a query that cannot be checked, so nothing was run: {last.faults[0].rstrip('.')}"
    )
    if not isinstance(answer, Refusal):
        from groundplan.asking.tables.model.accept import confirmed_instead, touches_the_same

        if isinstance(answer, Reading) and not touches_the_same(answer, last.proposal, context.tables):
            return confirmed_instead(answer, last.model, last.faults[0])
        context.notes.append(problem)
        return answer
    unproven = refused("reading/unproven", problem, "ask for a part of it, or in other words")
    told = f"{unproven.text} By the words alone: {answer.issues[0].problem if answer.issues else answer.text}."
    return unproven.model_copy(update={"text": told, "issues": (*unproven.issues, *answer.issues)})


def _clock(question: Question) -> dict[str, Any]:
    return {"today": question.today, "timezone": question.timezone}


def _stems(schema: SourceSchema, values: Mapping[str, Any]) -> Iterator[str]:
    """Of everything that the tables give a name to."""
    for table in schema.tables:
        yield from map(stem, split_name(table.name))
        for column in table.columns:
            yield from map(stem, split_name(column.name))
            yield from map(stem, column.verbs)
            yield from (stem(word) for called in column.called for text in called.words for word in texts_of(text))
        for listed in values.get(table.name, {}).values():
            yield from (stem(word) for value in listed for word in texts_of(value))
