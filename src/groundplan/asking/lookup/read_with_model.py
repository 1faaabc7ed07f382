"""Look-ups read with a model: where the words decide nothing, it says which of the closed intents is meant. The rules:

1. What the words decide stays. A model is asked only where they leave the documents, or several paths to choose from;
   of those paths it takes one, and no other. A question with many unknown words asks more than an intent answers.
2. The words' own entity stays: every entity that they name and the intent is about, whatever the model says of it.
3. An intent must be about an entity that is named, and its path must end at the kind of thing that the model says is
   asked for: a small model finds an intent for everything, and a kind only where there is one. Where one intent alone
   ends there, that is the one. One intent is taken, and one more for each "and" or comma of the question.
4. An entity that is only alike, or one of several that share their words, is asked back and never bound. A written name
   that nothing here is like leaves the question to the documents.
5. Low confidence, or nothing that fits, is asked again once with the reason; then the reading of the words stands.

Names are data: quoted in the prompt and enumerated by the schema, they can be chosen and do nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from groundplan.asking.lookup.candidates import Topic, topics_of
from groundplan.asking.lookup.read import GENERAL, Read, read_lookup, scan_lookup
from groundplan.asking.lookup.scan import LookupScan
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.contract import Contract
from groundplan.contracts.knowledge import Conversation, KnowledgeSchema, LookupIntent
from groundplan.contracts.reading import Entity, Intent, IntentAsked, Reading, Requirement
from groundplan.llm.calls import Calls, Failed
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import Reply
from groundplan.text.entities import Registry
from groundplan.text.words import language_of, normalise, words_of

OTHER = "other"  # a kind of thing that no intent gives
NO_NAME = "none"
SAID = 0.7  # the confidence of what a model says; words are surer
MOST_NAMES, MOST_OPEN = 12, 4  # names to choose from, and words that nothing explains
LONGEST_NAME, MOST_PHRASES, SHORTEST_ALIKE = 80, 4, 4  # letters; words that describe an intent; letters
MAX_TOKENS = 160


class LookupHeard(Contract):
    """The kind of thing that is asked for comes first: what follows is chosen in its light."""

    asks_for: str
    intents: Annotated[tuple[str, ...], Field(min_length=1, max_length=3)]
    entities: Annotated[tuple[str, ...], Field(max_length=2)]
    confidence: Literal["low", "high"]


@dataclass(frozen=True)
class Unfit:
    """Why what a model said cannot be taken, written so that it can go back to it."""

    problem: str


@dataclass(frozen=True)
class Offer:
    """One question, and all that a model may say about it."""

    scan: LookupScan
    topics: tuple[Topic, ...]  # what the words name
    alike: tuple[Entity, ...]  # what they may misspell
    intents: tuple[LookupIntent, ...]
    follow_up: bool = False

    @cached_property
    def names(self) -> dict[str, Entity]:
        """Each once, by what it is called; an id beside it where two are called the same."""
        entities = {e.id: e for e in (*(topic.entity for topic in self.topics), *self.alike)}
        called = [_called(entity) for entity in entities.values()]
        labels = (
            label if called.count(label) == 1 else f"{label} {entity.id}"
            for label, entity in zip(called, entities.values(), strict=True)
        )
        return dict(list(zip(labels, entities.values(), strict=True))[:MOST_NAMES])

    @cached_property
    def kinds(self) -> dict[str, str]:
        """What each intent gives, by its name."""
        return {intent.name: _kind(intent, self.scan.knowledge) for intent in self.intents}

    @property
    def choices(self) -> Mapping[str, list[str]]:
        return {
            "asks_for": [*dict.fromkeys(self.kinds.values()), OTHER],
            "intents": [*self.kinds, GENERAL],
            "entities": [*self.names] or [NO_NAME],
        }


async def read_lookup_with(
    calls: Calls,
    question: str,
    knowledge: KnowledgeSchema,
    registry: Registry,
    *,
    today: date,
    timezone: str,
    context: Conversation | None = None,
    always: bool = False,
) -> tuple[Read, tuple[str, ...]]:
    """The reading, and a note on what a model said. `always` asks it though the words decide; they still do."""
    by_words = read_lookup(question, knowledge, registry, today=today, timezone=timezone, context=context)
    if isinstance(by_words, Refusal) or not (always or is_open(by_words)):
        return by_words, ()
    scan = scan_lookup(question, knowledge, registry, today=today, timezone=timezone)
    offer = offer_for(scan, by_words)
    if offer is None:
        return by_words, ()
    decided = await _hear(calls, offer)
    if isinstance(decided, str):
        return by_words, (decided,)
    if not is_open(by_words):
        return by_words, (f"{calls.model} hears {_told(decided)}; the words decide",)
    return decided, (f"the question is read as {_told(decided)}, as {calls.model} says",)


def is_open(by_words: Reading | Clarification) -> bool:
    """Whether the words leave the intent to somebody else."""
    if isinstance(by_words, Clarification):
        return by_words.missing == "path"
    return all(intent.name == GENERAL for intent in by_words.intents)


def offer_for(scan: LookupScan, by_words: Reading | Clarification) -> Offer | None:
    """None where nothing that a model could say would be taken."""
    follow_up = isinstance(by_words, Reading) and by_words.follow_up
    topics = _taken_over(by_words) if follow_up else topics_of(scan)
    unknown = [*scan.unknown_names()]
    alike = () if topics and not unknown else _alike(scan, unknown)
    open_words = [p for p in scan.unexplained(0, 0, scan.all_marks) if p not in scan.named_places]
    if len(open_words) > MOST_OPEN or (unknown and not alike):
        return None
    types = {entity.type for entity in alike or [topic.entity for topic in topics]}
    intents = [i for i in scan.knowledge.intents if _may_be_asked(i, by_words, types, free=not (topics or unknown))]
    return Offer(scan, tuple(topics), alike, tuple(intents), follow_up) if intents else None


def decide(offer: Offer, heard: LookupHeard) -> Reading | Clarification | Unfit | None:
    """What becomes of it; None when nothing but the documents can answer."""
    if heard.asks_for == OTHER or {*heard.intents} == {GENERAL}:
        return None
    if heard.confidence == "low":
        return Unfit(f"the confidence was low; say {OTHER} and {GENERAL} unless an intent answers the question")
    intents = _fitting(offer, heard)
    if not intents:
        return Unfit(f"none of those intents gives {heard.asks_for}")
    if offer.alike and any(intent.about for intent in intents):
        return _did_you_mean(offer, heard, intents)
    pairs = [(intent, topic) for intent in intents for topic in offer.topics if topic.entity.type == intent.about]
    return _shared([topic for _, topic in pairs]) or _reading(offer, intents, pairs)


def prompt_for(offer: Offer) -> str:
    language = language_of(offer.scan.text)
    return load_prompt("lookup").fill(
        intents="; ".join(_described(intent, offer.kinds[intent.name], language) for intent in offer.intents),
        names=", ".join(json.dumps(name, ensure_ascii=False) for name in offer.choices["entities"]),
        question=offer.scan.text,
    )


async def _hear(calls: Calls, offer: Offer) -> Reading | Clarification | str:
    """What is made of the model's answer, or of its second one; else a note on why nothing is."""
    prompt, problem = prompt_for(offer), ""
    for _ in range(2):
        asked = f"{prompt}\nYour last answer could not be used: {problem[:300]}" if problem else prompt
        told = await calls.ask(asked, LookupHeard, offer.choices, max_tokens=MAX_TOKENS)
        if isinstance(told, Failed):
            problem = told.problem
            break
        decided = decide(offer, told.value) if isinstance(told, Reply) else Unfit(told.problem)
        if decided is None:
            return f"{calls.model} hears nothing that an intent answers; the question is read without it"
        if not isinstance(decided, Unfit):
            return decided
        problem = decided.problem
    return f"{calls.model} gave no reading: {problem[:300]}; the question was read without it"


def _taken_over(by_words: Reading | Clarification) -> list[Topic]:
    """The entities of the turn before, each at a place of its own behind nothing."""
    entities = by_words.entities if isinstance(by_words, Reading) else ()
    return [Topic(entity, place, place) for place, entity in enumerate(entities)]


def _alike(scan: LookupScan, unknown: Sequence[str]) -> tuple[Entity, ...]:
    """Entities whose names look like what is written as a name, or like any long word where nothing is."""
    open_words = (scan.words[place].text for place in scan.unexplained(0, 0, scan.all_marks))
    phrases = unknown or [text for text in open_words if len(text) >= SHORTEST_ALIKE]
    near = (name for phrase in phrases[:MOST_OPEN] for name in scan.registry.suggest(phrase))
    found = {entity.id: entity for name in near for entity in _called_so(name, scan.registry)}
    return tuple(found.values())[:MOST_NAMES]


def _called_so(name: str, registry: Registry) -> Iterator[Entity]:
    text = normalise(name)
    words = words_of(text)
    whole = [m for m in registry.find(text, words) if (m.first, m.last) == (0, len(words))]
    best = max((mention.confidence for mention in whole), default=0.0)
    return (mention.entity for mention in whole if mention.confidence == best)


def _may_be_asked(intent: LookupIntent, by_words: Reading | Clarification, types: set[str], *, free: bool) -> bool:
    if isinstance(by_words, Clarification) and by_words.missing == "path":
        return intent.about in types and " / ".join(intent.path) in by_words.candidates
    return intent.about in types if intent.about else free


def _fitting(offer: Offer, heard: LookupHeard) -> list[LookupIntent]:
    """Rule 3; what gives the kind that is asked for comes first."""
    giving = [intent for intent in offer.intents if offer.kinds[intent.name] == heard.asks_for]
    chosen = [intent for name in heard.intents for intent in offer.intents if intent.name == name]
    first = [intent for intent in chosen if intent in giving] or (giving if len(giving) == 1 else [])
    if not first:
        return []
    others = [intent for intent in chosen if intent not in first]
    unique = {intent.name: intent for intent in (*first, *others)}
    return list(unique.values())[: 1 + _joints(offer.scan)]


def _joints(scan: LookupScan) -> int:
    return scan.text.count(",") + sum(word.lower in scan.known.joining for word in scan.words[1:])


def _did_you_mean(offer: Offer, heard: LookupHeard, intents: Sequence[LookupIntent]) -> Clarification | Unfit:
    types = {intent.about for intent in intents}
    chosen = [offer.names[name] for name in heard.entities if name in offer.names]
    names = tuple(entity.name for entity in chosen if entity in offer.alike and entity.type in types)
    if not names:
        return Unfit("no name was chosen that such an intent is about")
    text = f"There is no such name here; did you mean {' or '.join(names)}?"
    return Clarification(text=text, missing="entity", candidates=names)


def _shared(topics: Sequence[Topic]) -> Clarification | None:
    """Entities that the same words name, when each of them fits."""
    for topic in topics:
        same = {t.entity.id: t.entity for t in topics if (t.first, t.last) == (topic.first, topic.last)}
        if len(same) > 1:
            names = tuple(map(_called, same.values()))
            text = f"Several fit; which is meant: {' or '.join(names)}?"
            return Clarification(text=text, missing="entity", candidates=names)
    return None


def _reading(
    offer: Offer, intents: Sequence[LookupIntent], pairs: Sequence[tuple[LookupIntent, Topic]]
) -> Reading | Unfit:
    free = [_requirement(offer.scan, intent, None) for intent in intents if intent.about is None]
    asked = [*free, *(_requirement(offer.scan, intent, topic.entity) for intent, topic in pairs)]
    if not asked:
        return Unfit("those intents are about nothing that the question names")
    named = {topic.entity.id: topic.entity for _, topic in pairs}
    return Reading(
        question=offer.scan.text,
        language=language_of(offer.scan.text),
        requirements=tuple({requirement.id: requirement for requirement in asked}.values()),
        intents=tuple(Intent(name=intent.name, confidence=SAID) for intent in intents),
        entities=tuple(named.values()),
        period=next((found.period for found in offer.scan.periods if found.period), None),
        follow_up=offer.follow_up,
    )


def _requirement(scan: LookupScan, intent: LookupIntent, entity: Entity | None) -> Requirement:
    """Its evidence is the whole question: no word of it asks for this by itself."""
    id_ = (f"intent:{intent.name}" + (f"@{entity.id}" if entity else ""))[:256]
    value = IntentAsked(intent=intent.name, entity=entity.id if entity else None, path=intent.path)
    return Requirement(id=id_, value=value, evidence=scan.spoken(0, len(scan.words)))


def _kind(intent: LookupIntent, knowledge: KnowledgeSchema) -> str:
    ends = knowledge.ends(intent.path[-1]) if intent.path else None
    return ends[1] if ends else intent.about or intent.name


def _described(intent: LookupIntent, kind: str, language: str) -> str:
    phrases = intent.words.get(language) or next(iter(intent.words.values()), ())
    words = f" ({', '.join(phrases[:MOST_PHRASES])})" if phrases else ""
    return f"{intent.name} gives {kind}{words}"


def _called(entity: Entity) -> str:
    return f"{normalise(entity.name or entity.id)[:LONGEST_NAME]} ({entity.type})"


def _told(decided: Reading | Clarification) -> str:
    if isinstance(decided, Clarification):
        return f"a name to ask back: {', '.join(decided.candidates)}"
    intents = " and ".join(intent.name for intent in decided.intents)
    names = " and ".join(entity.name for entity in decided.entities)
    return f"{intents} of {names}" if names else intents
