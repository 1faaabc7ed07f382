"""Reads look-ups with a model: if the rules cannot decide, it chooses among a closed set of intents.

1. A reading by rules stands. The model is called only if the rules would search the documents or found several paths;
   it then chooses one of those paths. Questions with many unknown words are not given to the model.
2. The entities found by rules stand, if the intent is about their type, whatever the model says.
3. An intent must be about a named entity, and its path must end at the type that the model says is asked for: small
   models choose some intent for any question, but name a type only if there is one. If exactly one intent ends at that
   type, it is used. One intent is used, and one more for each "and" or comma in the question.
4. An entity that is only similar, or one of several with the same name, leads to a clarification. A name that is
   similar to nothing leads to a document search.
5. After low confidence or a misfit, the model is asked once more with the reason; then the reading by rules stands.
6. A model that plans every look-up (`whole`) is asked even if the rules decide. If it chooses other look-ups, the
   rules stand; its style and limits are used as `query_plan.py` says.

Names are data: they are quoted in the prompt and enumerated in the schema, so they can be chosen and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from typing import Any

from groundplan.asking.lookup.candidates import Topic, topics_of
from groundplan.asking.lookup.continuing import find_continuation
from groundplan.asking.lookup.query_plan import LookupHeard, QueryPlan, in_manner_of
from groundplan.asking.lookup.read import GENERAL, Read, look_up, read_lookup, scan_lookup
from groundplan.asking.lookup.scan import LookupScan
from groundplan.budget import aside
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.knowledge import Conversation, KnowledgeSchema, LookupIntent
from groundplan.contracts.reading import Entity, Intent, IntentAsked, Reading, Requirement
from groundplan.llm.calls import Calls, Failed
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import Reply
from groundplan.text.entities import Registry
from groundplan.text.words import language_of, normalise, words_of

OTHER = "other"  # a type that no intent returns
NO_NAME = "none"
SAID = 0.7  # the confidence of a model's choice, which is lower than that of rules
MOST_NAMES, MOST_OPEN = 12, 4  # names to choose from; unexplained words
LONGEST_NAME, MOST_PHRASES, SHORTEST_ALIKE = 80, 4, 4  # letters; phrases that describe an intent; letters
THRESHOLD = 0.5  # the confidence of a model that is believed, unless the settings say another
MAX_TOKENS = 160
MOST_ATTEMPTS = 2  # one repair, then the words decide
Heard = LookupHeard | QueryPlan


@dataclass(frozen=True)
class UnfitReply:
    """Why a reply cannot be used, in words for the model."""

    problem: str


@dataclass(frozen=True)
class LookupOptions:
    """A question, and the entities and intents from which a model may choose."""

    scan: LookupScan
    topics: tuple[Topic, ...]  # entities that the words name
    alike: tuple[Entity, ...]  # entities that the words may misspell
    intents: tuple[LookupIntent, ...]
    follow_up: bool = False

    @cached_property
    def names(self) -> dict[str, Entity]:
        """The entities by label; labels that are not unique include the id."""
        entities = {e.id: e for e in (*(topic.entity for topic in self.topics), *self.alike)}
        called = [_called(entity) for entity in entities.values()]
        labels = (
            label if called.count(label) == 1 else f"{label} {entity.id}"
            for label, entity in zip(called, entities.values(), strict=True)
        )
        return dict(list(zip(labels, entities.values(), strict=True))[:MOST_NAMES])

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The type that each intent returns, by name."""
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
    whole: bool = False,
    threshold: float = THRESHOLD,
) -> tuple[Read, tuple[str, ...]]:
    """The reading, and notes on the model's reply.

    `always` calls the model even if the rules decide; with `whole`, it also plans how the answer is shown.
    """
    clock: dict[str, Any] = {"today": today, "timezone": timezone}
    by_words = await aside(partial(read_lookup, question, knowledge, registry, **clock, context=context))
    if isinstance(by_words, Refusal) or not (always or whole or is_open(by_words)):
        return by_words, ()
    scan = await aside(partial(scan_lookup, question, knowledge, registry, **clock))
    options = None if find_continuation(scan, context) else options_for(scan, by_words)
    if options is None:
        return by_words, ()
    heard = await _hear(calls, options, QueryPlan if whole else LookupHeard, threshold)
    if isinstance(heard, str):
        return by_words, (heard,)
    decided, reply = heard
    if not is_open(by_words):
        if not (isinstance(by_words, Reading) and isinstance(reply, QueryPlan) and _is_same(decided, by_words)):
            return by_words, (f"{calls.model} suggests {_summary(decided)}; the rules decide",)
        decided = by_words.model_copy(update={"read_by": ("words", calls.model)})
    if isinstance(reply, QueryPlan) and isinstance(decided, Reading):
        decided = in_manner_of(reply, decided, scan)
    return decided, (f"{calls.model} reads the question as {_summary(decided)}",)


def _is_same(decided: Reading | Clarification, by_words: Reading) -> bool:
    """Whether both look up the same."""
    return isinstance(decided, Reading) and {*_look_ups(decided)} == {*_look_ups(by_words)}


def _look_ups(reading: Reading) -> Iterator[tuple[str, str | None]]:
    values = (requirement.value for requirement in reading.requirements)
    return ((value.intent, value.entity) for value in values if isinstance(value, IntentAsked))


def is_open(by_words: Reading | Clarification) -> bool:
    """Whether the rules leave the intent open."""
    if isinstance(by_words, Clarification):
        return by_words.missing == "path"
    return all(intent.name == GENERAL for intent in by_words.intents)


def options_for(scan: LookupScan, by_words: Reading | Clarification) -> LookupOptions | None:
    """What a model may choose from; None if no choice could be used."""
    follow_up = isinstance(by_words, Reading) and by_words.follow_up
    topics = _taken_over(by_words) if follow_up else topics_of(scan)
    unknown = [name for name in scan.unknown_names() if not name.isdecimal()]
    alike = () if topics and not unknown else _alike(scan, unknown)
    open_words = [p for p in scan.unexplained(0, 0, scan.all_marks) if p not in scan.named_places]
    if len(open_words) > MOST_OPEN or (unknown and not alike):
        return None
    types = {entity.type for entity in alike or [topic.entity for topic in topics]}
    intents = [i for i in scan.knowledge.intents if _may_be_asked(i, by_words, types, free=not (topics or unknown))]
    return LookupOptions(scan, tuple(topics), alike, tuple(intents), follow_up) if intents else None


def decide(
    options: LookupOptions, reply: Heard, threshold: float = THRESHOLD
) -> Reading | Clarification | UnfitReply | None:
    """The reading or clarification for a reply; None if only a document search can answer."""
    if reply.asks_for == OTHER or {*reply.intents} == {GENERAL}:
        return None
    if reply.sure < threshold:
        return UnfitReply(f"the confidence was low; say {OTHER} and {GENERAL} unless an intent answers the question")
    intents = _fitting(options, reply)
    if not intents:
        return UnfitReply(f"none of those intents gives {reply.asks_for}")
    if options.alike and any(intent.about for intent in intents):
        return _did_you_mean(options, reply, intents)
    pairs = [(intent, topic) for intent in intents for topic in options.topics if topic.entity.type == intent.about]
    return _shared(options, intents, pairs) or _reading(options, intents, pairs)


def prompt_for(options: LookupOptions, into: type[Heard]) -> str:
    language = language_of(options.scan.text)
    return load_prompt("lookup" if into is LookupHeard else "query_plan").fill(
        intents="; ".join(_described(intent, options.kinds[intent.name], language) for intent in options.intents),
        names=", ".join(json.dumps(name, ensure_ascii=False) for name in options.choices["entities"]),
        question=options.scan.text,
    )


async def _hear(
    calls: Calls, options: LookupOptions, into: type[Heard], threshold: float
) -> tuple[Reading | Clarification, Heard] | str:
    """The model's first usable reply with the decision on it, or a note on why there is none."""
    prompt, problem = prompt_for(options, into), ""
    for _ in range(min(MOST_ATTEMPTS, calls.limits.attempts)):
        asked = f"{prompt}\nYour last answer could not be used: {problem[:300]}" if problem else prompt
        answer = await calls.ask(asked, into, options.choices, max_tokens=MAX_TOKENS)
        if isinstance(answer, Failed):
            problem = answer.problem
            break
        if not isinstance(answer, Reply):
            problem = answer.problem
            continue
        decided = decide(options, answer.value, threshold)
        if decided is None:
            return f"{calls.model} finds no intent that answers the question; it is read without the model"
        if not isinstance(decided, UnfitReply):
            return decided, answer.value
        problem = decided.problem
    return f"{calls.model} gave no reading: {problem[:300]}; the question was read without it"


def _taken_over(by_words: Reading | Clarification) -> list[Topic]:
    """The entities taken over from the previous turn, each at an empty position."""
    entities = by_words.entities if isinstance(by_words, Reading) else ()
    return [Topic(entity, place, place) for place, entity in enumerate(entities)]


def _alike(scan: LookupScan, unknown: Sequence[str]) -> tuple[Entity, ...]:
    """Entities with a name similar to a written name, or to any long word if no name is written."""
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


def _fitting(options: LookupOptions, reply: Heard) -> list[LookupIntent]:
    """Rule 3: the intents that return the requested type come first."""
    giving = [intent for intent in options.intents if options.kinds[intent.name] == reply.asks_for]
    chosen = [intent for name in reply.intents for intent in options.intents if intent.name == name]
    first = [intent for intent in chosen if intent in giving] or (giving if len(giving) == 1 else [])
    if not first:
        return []
    others = [intent for intent in chosen if intent not in first]
    unique = {intent.name: intent for intent in (*first, *others)}
    return list(unique.values())[: 1 + _joints(options.scan)]


def _joints(scan: LookupScan) -> int:
    return scan.text.count(",") + sum(word.lower in scan.known.joining for word in scan.words[1:])


def _did_you_mean(options: LookupOptions, reply: Heard, intents: Sequence[LookupIntent]) -> Clarification | UnfitReply:
    types = {intent.about for intent in intents}
    chosen = {label: options.names[label] for label in reply.entities if label in options.names}
    offered: dict[str, Reading | UnfitReply] = {}
    for label, entity in chosen.items():
        if entity in options.alike and entity.type in types:
            pairs = [(intent, Topic(entity, 0, 0)) for intent in intents if intent.about == entity.type]
            name = label if entity.name in offered else entity.name
            offered[name] = _reading(options, intents, pairs)
    text = f"There is no such name here; did you mean {' or '.join(offered)}?"
    return _offer(text, offered) or UnfitReply("no name was chosen that such an intent is about")


def _shared(
    options: LookupOptions, intents: Sequence[LookupIntent], pairs: Sequence[tuple[LookupIntent, Topic]]
) -> Clarification | None:
    """A clarification if the same words name several entities that fit."""
    for _, topic in pairs:
        same = {t.entity.id: t.entity for _, t in pairs if (t.first, t.last) == (topic.first, topic.last)}
        if len(same) > 1:
            offered = {}
            for id_, entity in same.items():
                kept = [(intent, t) for intent, t in pairs if t.entity.id == id_ or t.entity.id not in same]
                label = _called(entity)
                offered[f"{label} {id_}" if label in offered else label] = _reading(options, intents, kept)
            return _offer(f"Several fit; which is meant: {' or '.join(offered)}?", offered)
    return None


def _offer(text: str, offered: Mapping[str, Reading | UnfitReply]) -> Clarification | None:
    """The question which entity is meant, with the reading for each."""
    read = {name: found for name, found in offered.items() if isinstance(found, Reading)}
    if not read:
        return None
    return Clarification(text=text, missing="entity", candidates=tuple(read), readings=tuple(read.values()))


def _reading(
    options: LookupOptions, intents: Sequence[LookupIntent], pairs: Sequence[tuple[LookupIntent, Topic]]
) -> Reading | UnfitReply:
    free = [_required(options.scan, intent, None) for intent in intents if intent.about is None]
    asked = [*free, *(_required(options.scan, intent, topic.entity) for intent, topic in pairs)]
    if not asked:
        return UnfitReply("those intents are about nothing that the question names")
    named = {topic.entity.id: topic.entity for _, topic in pairs}
    return Reading(
        question=options.scan.text,
        language=options.scan.manner.language or language_of(options.scan.text),
        requirements=tuple({requirement.id: requirement for requirement in asked}.values()),
        intents=tuple(Intent(name=intent.name, confidence=SAID) for intent in intents),
        entities=tuple(named.values()),
        period=next((found.period for found in options.scan.periods if found.period), None),
        follow_up=options.follow_up,
    )


def _required(scan: LookupScan, intent: LookupIntent, entity: Entity | None) -> Requirement:
    """A requirement with the whole question as evidence, because no single word asks for it."""
    return look_up(scan, intent.name, entity, intent.path, scan.whole())


def _kind(intent: LookupIntent, knowledge: KnowledgeSchema) -> str:
    ends = knowledge.ends(intent.path[-1]) if intent.path else None
    return ends[1] if ends else intent.about or intent.name


def _described(intent: LookupIntent, kind: str, language: str) -> str:
    phrases = intent.words.get(language) or next(iter(intent.words.values()), ())
    words = f" ({', '.join(phrases[:MOST_PHRASES])})" if phrases else ""
    return f"{intent.name} gives {kind}{words}"


def _called(entity: Entity) -> str:
    return f"{normalise(entity.name or entity.id)[:LONGEST_NAME]} ({entity.type})"


def _summary(decided: Reading | Clarification) -> str:
    if isinstance(decided, Clarification):
        return f"a clarification: {', '.join(decided.candidates)}"
    intents = " and ".join(intent.name for intent in decided.intents)
    names = " and ".join(entity.name for entity in decided.entities)
    return f"{intents} of {names}" if names else intents
