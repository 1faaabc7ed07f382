"""Reads a question to a knowledge base with a model: it plans the look-ups, and code checks the plan.

1. The plan of the model decides which intents are looked up about which entities, and how the answer is shown. Names
   that the words of the question match are hints. A clear follow-up comes with a summary of the turn before.
2. Code resolves every name against the graph. An intent must be about the type of its entity, and a name that the
   question writes must be one of those that are looked up. Faults, and low confidence, go back once.
3. Where the words of the question name several entities alike, or one only resembles it, the question is asked back.
   A look-up cannot exclude anything and relations have no dates: such questions are refused.
4. An entity that the question does not name is told as an assumption, unless it is the only one of its type.
5. Without a plan that passes, the documents are searched. If no model replies, the words read the question.

Names are data: they are quoted in the prompt and can be chosen, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from typing import Any

from groundplan.asking.lookup.choosing import Chosen, NameChoice
from groundplan.asking.lookup.continuing import find_continuation
from groundplan.asking.lookup.follow_up import is_clear_follow_up
from groundplan.asking.lookup.prompting import prompt_for
from groundplan.asking.lookup.query_plan import LANGUAGES, QueryPlan, shown_as_planned
from groundplan.asking.lookup.read import GENERAL, UNSURE, Read, look_up, made, read_lookup, scan_lookup, unexpressed
from groundplan.asking.lookup.saying import called, say
from groundplan.asking.lookup.scan import LookupScan
from groundplan.budget import aside
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.knowledge import Conversation, KnowledgeSchema, LookupIntent
from groundplan.contracts.proposing import ModelAttempt
from groundplan.contracts.reading import Entity, Intent, IntentAsked, Reading, Requirement
from groundplan.llm.calls import Calls
from groundplan.proposing.loop import Faults, propose
from groundplan.text.entities import Registry
from groundplan.text.words import language_of

MAX_TOKENS = 700
ATTEMPTS = 2  # one repair, then the emergency plan
UNREADABLE = ("reading/empty", "reading/too-long", "reading/no-list")
THRESHOLD = 0.5  # the confidence of a model that is believed, unless the settings say another


async def read_lookup_with(
    calls: Calls,
    question: str,
    knowledge: KnowledgeSchema,
    registry: Registry,
    *,
    log: list[ModelAttempt],
    today: date,
    timezone: str,
    context: Conversation | None = None,
    threshold: float = THRESHOLD,
) -> tuple[Read, tuple[str, ...]]:
    """The reading, and notes on how it came to be. How a list goes on is read without the model."""
    given: dict[str, Any] = {"today": today, "timezone": timezone}
    by_words = await aside(partial(read_lookup, question, knowledge, registry, **given, context=context))
    if isinstance(by_words, Refusal) and by_words.issues[0].code in UNREADABLE:
        return by_words, ()
    scan = await aside(partial(scan_lookup, question, knowledge, registry, **given))
    if find_continuation(scan, context):
        return by_words, ()
    before = context if is_clear_follow_up(scan, context) else None
    planning = Planning(scan, before, calls.model, threshold)
    begun = len(log)
    choices = {"intents": [*planning.intents, GENERAL], "tool_calls.args.intent": [*planning.intents, GENERAL]}
    prompt = prompt_for(scan, before)
    found = await propose(
        calls, prompt, QueryPlan, planning.check, log, max_tokens=MAX_TOKENS, attempts=ATTEMPTS, choices=choices
    )
    if found is None:
        faults = "; ".join(fault for attempt in log[-1:] for fault in attempt.faults)[:300]
        if not any(attempt.proposal for attempt in log[begun:]):
            return by_words, (f"{calls.model} gave no plan: {faults}; the question was read by its words",)
        return _emergency(scan), (f"{calls.model} gave no plan that can be used: {faults}; the documents are searched",)
    read = found.value
    assert isinstance(read, Reading | Clarification | Refusal)
    if isinstance(read, Reading) and isinstance(by_words, Reading) and _look_ups(read) == _look_ups(by_words):
        read = read.model_copy(update={"read_by": ("words", *read.read_by)})
    return read, (f"{found.model} reads the question as {_summary(read)}",)


@dataclass(frozen=True)
class Planning:
    """Checks the query plans of one question, and makes readings of them."""

    scan: LookupScan
    before: Conversation | None  # the turn before, if the question goes on from it
    model: str
    threshold: float

    @cached_property
    def intents(self) -> dict[str, LookupIntent]:
        return {intent.name: intent for intent in self.scan.knowledge.intents}

    async def check(self, plan: QueryPlan) -> Read | Faults:
        """The reading of the plan, a question back or a refusal; or what is wrong with it."""
        choice = NameChoice(self.scan, self.before)
        chosen = [choice.of(named) for named in plan.entities]
        faults = [*self._faults(plan), *(found.fault for found in chosen if found.fault)]
        if faults:
            return Faults(tuple(faults))
        calls = [call for call in plan.tool_calls if call.tool == "graph_query"]
        if not calls:
            named = [found.entities[0] for found in chosen if len(found.entities) == 1]
            return self._made(plan, [_search(self.scan, named)], named, ())
        pairs: list[tuple[LookupIntent, Chosen]] = []
        for call in calls:
            intent = self.intents[call.args.intent or ""]
            found = choice.of_call(call.args.entity, intent, chosen) if intent.about else Chosen()
            if found.fault:
                return Faults((found.fault,))
            pairs.append((intent, found))
        unlooked = choice.unlooked([entity for _, found in pairs for entity in found.entities])
        if unlooked:
            return Faults((unlooked,))
        return unexpressed(self.scan) or self._decided(plan, pairs)

    def _faults(self, plan: QueryPlan) -> Iterator[str]:
        known, called = {*self.intents, GENERAL}, {call.args.intent for call in plan.tool_calls}
        if plan.confidence < self.threshold:
            yield f"the confidence was low; plan {GENERAL} with document_search unless an intent answers the question"
        for name in (*plan.intents, *filter(None, called)):
            if name not in known:
                yield f"there is no intent {name!r}; there are {', '.join(sorted(known))}"
        yield from (f"no tool call looks up {name!r}" for name in plan.intents if name not in {*called, GENERAL})
        if any(call.tool == "graph_query" and call.args.intent in (None, GENERAL) for call in plan.tool_calls):
            yield f"graph_query needs an intent of the list; {GENERAL} needs document_search"
        most = self.scan.knowledge.limits.tool_calls
        if len(plan.tool_calls) + 1 > most:
            yield f"{len(plan.tool_calls)} tool calls are too many; at most {most - 1}"

    def _decided(self, plan: QueryPlan, pairs: Sequence[tuple[LookupIntent, Chosen]]) -> Reading | Clarification:
        """The reading; a question back with a reading for each if a name can mean several entities."""
        unclear = next((found for _, found in pairs if len(found.entities) > 1 or found.is_doubtful), None)
        if unclear is None:
            return self._of(plan, pairs)
        offered = {}
        for entity in unclear.entities:
            meant = Chosen((entity,))
            label = called(self.scan, entity, unclear.entities)
            offered[label] = self._of(plan, [(i, meant if found is unclear else found) for i, found in pairs])
        text = say(self.scan, "did_you_mean" if unclear.is_doubtful else "which", [*offered])
        return Clarification(text=text, missing="entity", candidates=tuple(offered), readings=tuple(offered.values()))

    def _of(self, plan: QueryPlan, pairs: Sequence[tuple[LookupIntent, Chosen]]) -> Reading:
        asked = [
            look_up(self.scan, intent.name, entity, intent.path, self.scan.whole())
            for intent, found in pairs
            for entity in found.entities or (None,)
        ]
        entities = {entity.id: entity for _, found in pairs for entity in found.entities}
        assumed = [entity for _, found in pairs if found.is_assumed for entity in found.entities]
        return self._made(plan, asked, [*entities.values()], [say(self.scan, "assumed", e.name) for e in assumed])

    def _made(
        self, plan: QueryPlan, asked: Sequence[Requirement], entities: Sequence[Entity], assumes: Sequence[str]
    ) -> Reading:
        shown = (
            one.model_copy(update={"value": shown_as_planned(one.value, plan, self.scan)})
            for one in asked
            if isinstance(one.value, IntentAsked)
        )
        said = self.scan.manner.language or language_of(self.scan.text)
        names = dict.fromkeys(one.value.intent for one in asked if isinstance(one.value, IntentAsked))
        return Reading(
            question=self.scan.text,
            language=LANGUAGES[plan.answer_style] if said == "other" else said,
            requirements=tuple({one.id: one for one in shown}.values()),
            intents=tuple(Intent(name=name, confidence=plan.confidence) for name in names),
            entities=tuple(entities),
            period=next((found.period for found in self.scan.periods if found.period), None),
            follow_up=self.before is not None,
            read_by=(self.model,),
            assumes=tuple(dict.fromkeys(assumes))[:8],
        )


def _search(scan: LookupScan, named: Sequence[Entity]) -> Requirement:
    """A search of the documents, about the one entity that is named."""
    return look_up(scan, GENERAL, named[0] if len(named) == 1 else None, (), scan.whole())


def _emergency(scan: LookupScan) -> Reading:
    """The reading if no plan can be used: the documents are searched for the question."""
    return made(scan, [_search(scan, ())], (), [Intent(name=GENERAL, confidence=UNSURE)])


def _look_ups(reading: Reading) -> set[tuple[str, str | None]]:
    values = (requirement.value for requirement in reading.requirements)
    return {(value.intent, value.entity) for value in values if isinstance(value, IntentAsked)}


def _summary(read: Read) -> str:
    if isinstance(read, Refusal):
        return "a question that no look-up can answer"
    if isinstance(read, Clarification):
        return f"a clarification: {', '.join(read.candidates)}"
    intents = " and ".join(intent.name for intent in read.intents)
    names = " and ".join(entity.name for entity in read.entities)
    return f"{intents} of {names}" if names else intents
