"""Which reading of a model is answered at once, which is confirmed first, and what is asked back."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from groundplan.asking.tables.model.read import Candidate, Cannot, Hesitant, ModelRead
from groundplan.contracts.alike import alike
from groundplan.contracts.answer import Clarification, Refusal, refused
from groundplan.contracts.reading import Reading
from groundplan.contracts.roles import Accept
from groundplan.contracts.schema import SourceSchema
from groundplan.proposing.loop import Accepted
from groundplan.settings import Endpoint
from groundplan.state.measures import find_measure
from groundplan.text.read_back import distinct_sentences
from groundplan.text.words import language_of

MEASURED = 0.9  # right of the questions that a model was measured with: from here it is taken at its word
WORDS = "words"
Outcome = Reading | Clarification | Refusal
Trust = Literal["strong", "weak", "unmeasured"]
TEXTS = {
    "en": {
        "confirm": "Read as: {} (by {}). Run it?",
        "choose": "This can be understood in several ways. Which one do you mean?",
        "ask": "What do you mean: {}?",
        "cannot": "the model {} says that the tables cannot answer this: {}",
        "hint": "ask for something that they hold",
        "but": "The model {} says that the tables cannot answer this ({}). The words read it as: {}. Run it?",
        "instead": "The query of the model {} cannot be checked ({}). The words read it as: {}. Run it?",
    },
    "ru": {
        "confirm": "Прочитано так: {} (прочитала модель {}). Выполнить?",
        "choose": "Это можно понять по-разному. Что имеется в виду?",
        "ask": "Что имеется в виду: {}?",
        "cannot": "модель {} считает, что таблицы не могут на это ответить: {}",
        "hint": "спросите о том, что в них есть",
        "but": "Модель {} считает, что таблицы не могут на это ответить ({}). По словам это: {}. Выполнить?",
        "instead": "Запрос модели {} нельзя проверить ({}). По словам это: {}. Выполнить?",
    },
}


@dataclass(frozen=True)
class Judge:
    """How readings of this question are accepted."""

    accept: Accept
    trust: Trust
    by_words: Callable[[], Awaitable[Reading | None]]  # what the words alone read, if they read the question completely
    again: Callable[[], Awaitable[Accepted[ModelRead] | None]]  # a second, independent proposal
    same_rows: Callable[[Reading, Reading], Awaitable[bool]]

    async def decide(self, found: Accepted[ModelRead], question: str) -> Outcome:
        texts = TEXTS["ru" if language_of(question) == "ru" else "en"]
        match found.value:
            case Cannot(missing=missing):
                return await self._declined(found.model, missing, question, texts)
            case Hesitant(meant=meant, readings=readings):
                return _asked(question, readings, texts) if readings else _open(question, meant, texts)
            case Candidate(reading=reading):
                return await self._taken(reading, found.model, question, texts)

    async def _taken(self, reading: Reading, model: str, question: str, texts: dict[str, str]) -> Outcome:
        if self.accept == "first":
            return reading
        words = await self.by_words()
        if words is not None and alike(reading, words):
            return words.model_copy(update={"read_by": (WORDS, model), "assumes": reading.assumes})
        others = [words] if words is not None else []
        if self.accept == "confirmed" or (self.accept == "measured" and self.trust != "strong"):
            return _asked(question, (reading, *others), texts)
        if words is not None and await self.same_rows(reading, words):
            return reading.model_copy(update={"read_by": (WORDS, model)})
        second = await self.again()
        if second is None or not isinstance(second.value, Candidate):
            return _asked(question, (reading, *others), texts)
        if alike(reading, second.value.reading) or await self.same_rows(reading, second.value.reading):
            return reading.model_copy(update={"read_by": (model, second.model)})
        return _asked(question, (reading, second.value.reading), texts)

    async def _declined(self, model: str, missing: str, question: str, texts: dict[str, str]) -> Outcome:
        """By the model's word, and said to be so; a complete reading of the words is offered."""
        missing = missing.rstrip(".")
        words = await self.by_words()
        if words is None:
            return refused("reading/cannot", texts["cannot"].format(model, missing), texts["hint"])
        return _words_instead(words, texts["but"], model, missing)


def touches_the_same(words: Reading, reply: str, schema: SourceSchema) -> bool:
    """Whether a query that cannot be checked names what the reading by words rests on; True for a reply without one."""
    try:
        query = json.loads(reply)["sql"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return True
    told = " ".join((*words.tables, *(r.value.model_dump_json() for r in words.requirements)))
    return _named(told, schema) == _named(str(query), schema)


def _named(text: str, schema: SourceSchema) -> frozenset[str]:
    names = {name.lower() for table in schema.tables for name in (table.name, *(c.name for c in table.columns))}
    said = text.lower()
    return frozenset(name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said))


def confirmed_instead(words: Reading, model: str, fault: str) -> Clarification:
    """The model read the question, in a query that cannot be checked: nothing says that it means what the words do."""
    texts = TEXTS["ru" if language_of(words.question) == "ru" else "en"]
    return _words_instead(words, texts["instead"], model, fault.rstrip("."))


def _words_instead(words: Reading, text: str, *why: str) -> Clarification:
    (told,) = distinct_sentences((words,))
    asks = text.format(*why, told)
    return Clarification(text=asks, missing=words.question, candidates=(told,), readings=(words,))


def trust_in(endpoint: Endpoint) -> Trust:
    """How well the model reads, as far as `groundplan doctor --questions` has measured it."""
    measure = find_measure(endpoint.url, endpoint.model)
    if measure is None:
        return "unmeasured"
    return "strong" if measure.share >= MEASURED else "weak"


def _asked(question: str, readings: tuple[Reading, ...], texts: dict[str, str]) -> Clarification:
    """One reading to confirm, or several to choose from."""
    told = distinct_sentences(readings)
    kept = dict(zip(told, readings, strict=True))
    text = texts["confirm"].format(told[0], ", ".join(readings[0].read_by)) if len(kept) == 1 else texts["choose"]
    return Clarification(text=text, missing=question, candidates=tuple(kept), readings=tuple(kept.values()))


def _open(question: str, meant: tuple[str, ...], texts: dict[str, str]) -> Clarification:
    """The model's own question; any short reply completes the question."""
    text = meant[0] if len(meant) == 1 else texts["ask"].format("; ".join(meant))
    return Clarification(text=text, missing="", candidates=meant if len(meant) > 1 else (), open=len(meant) == 1)
