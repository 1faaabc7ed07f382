"""A model's whole plan for a look-up (`reader = "model"`), and what of its style and limits may be used.

The words say first. Where they are silent, the model's style counts if the question has words that nothing else
explains, or if it only adds or drops groups; its limit, if the question has that number; its language, if the question
is in neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from groundplan.asking.lookup.continuing import means
from groundplan.asking.lookup.manner import load_manner_words
from groundplan.asking.lookup.scan import LookupScan
from groundplan.contracts.contract import Contract, Language
from groundplan.contracts.knowledge import KnowledgeSchema
from groundplan.contracts.reading import Evidence, IntentAsked, Reading, RenderStyle, Requirement
from groundplan.text.words import Word, language_of

LISTS: frozenset[RenderStyle] = frozenset({"BULLETS", "GROUPED_BULLETS"})  # the same items, with or without groups
LANGUAGES: dict[str, Language] = {"NATURAL_EN": "en", "NATURAL_RU": "ru"}


class LookupChoice(Contract):
    """The look-ups that a model chooses. The type that is asked for comes first: it guides the other choices."""

    asks_for: str
    intents: Annotated[tuple[str, ...], Field(min_length=1, max_length=3)]
    entities: Annotated[tuple[str, ...], Field(max_length=2)]


class LookupHeard(LookupChoice):
    """The reply if the words leave only the look-up open: short, for small models."""

    confidence: Literal["low", "high"]

    @property
    def sure(self) -> float:
        return 1.0 if self.confidence == "high" else 0.0


class QueryPlan(LookupChoice):
    """The reply of a model that plans every look-up."""

    render_style: RenderStyle
    max_items: Annotated[int, Field(ge=1, le=1_000)] | None
    answer_style: Literal["NATURAL_EN", "NATURAL_RU"]
    confidence: Annotated[float, Field(ge=0, le=1)]

    @property
    def sure(self) -> float:
        return self.confidence


def in_manner_of(plan: QueryPlan, reading: Reading, scan: LookupScan) -> Reading:
    """The reading in the style, number and language of the plan, as far as they may be used."""
    asked = tuple(_in_manner(requirement, plan, scan) for requirement in reading.requirements)
    open_language = scan.manner.language is None and language_of(scan.text) == "other"
    language = LANGUAGES[plan.answer_style] if open_language else reading.language
    return reading.model_copy(update={"requirements": asked, "language": language})


def _in_manner(requirement: Requirement, plan: QueryPlan, scan: LookupScan) -> Requirement:
    asked = requirement.value
    if not isinstance(asked, IntentAsked):
        return requirement
    unread = _unread(asked, scan)
    number = next((word for word in _numbers(scan) if load_manner_words().number(word) == plan.max_items), None)
    changes: dict[str, object] = {}
    also = requirement.also
    if asked.style is None and (unread or _is_harmless(asked, plan.render_style, scan.knowledge)):
        changes["style"] = plan.render_style
        also += tuple(map(_evidence, unread))
    if asked.limit is None and number is not None and plan.max_items is not None:
        changes["limit"] = min(plan.max_items, scan.knowledge.limits.items)
        also += (_evidence(number),)
    return requirement.model_copy(update={"value": asked.model_copy(update=changes), "also": also})


def _is_harmless(asked: IntentAsked, style: RenderStyle, knowledge: KnowledgeSchema) -> bool:
    named = knowledge.intent(asked.intent)
    return {style, named.render if named else "BULLETS"} <= LISTS


def _unread(asked: IntentAsked, scan: LookupScan) -> list[Word]:
    """The words that nothing explains, if others ask for the look-up; numbers are read by themselves."""
    if not any(means(mark, asked, scan.knowledge) for mark in scan.all_marks):
        return []
    places = [place for place in scan.unexplained(0, 0, scan.all_marks) if place not in scan.named_places]
    return [scan.words[place] for place in places if scan.words[place] not in [*_numbers(scan)]]


def _numbers(scan: LookupScan) -> Iterator[Word]:
    """The numbers in the question, outside of names."""
    told = load_manner_words()
    return (w for place, w in enumerate(scan.words) if told.number(w) and place not in scan.named_places)


def _evidence(word: Word) -> Evidence:
    return Evidence(text=word.text, start=word.start)
