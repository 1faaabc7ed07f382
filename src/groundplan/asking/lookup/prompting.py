"""The prompt in which a model is asked for a query plan."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from groundplan.asking.lookup.scan import LookupScan
from groundplan.contracts.knowledge import Conversation, KnowledgeSchema, LookupIntent
from groundplan.contracts.reading import Entity
from groundplan.llm.prompt import load_prompt
from groundplan.text.stems import keys_of
from groundplan.text.words import language_of, normalise, words_of

MOST_NAMES, MOST_OTHERS, LONGEST_NAME, MOST_PHRASES = 12, 60, 80, 4
NOTHING = "nothing"


def prompt_for(scan: LookupScan, before: Conversation | None) -> str:
    """`before` is the turn that the question goes on from."""
    language, named = language_of(scan.text), {mention.entity.id: mention.entity for mention in scan.mentions}
    return load_prompt("query_plan").fill(
        intents="; ".join(_described(intent, scan.knowledge, language) for intent in scan.knowledge.intents),
        names=_listed([*named.values()][:MOST_NAMES]),
        others=", ".join(_others(scan, {*named})) or NOTHING,
        before=_summary(before) if before else "",
        question=scan.text,
    )


def _summary(before: Conversation) -> str:
    return load_prompt("query_plan_before").fill(
        question=before.question, about=_listed(before.entities), found=_listed(before.found)
    )


def _listed(entities: Sequence[Entity]) -> str:
    return ", ".join(_called(entity.name or entity.id, entity.type) for entity in entities) or NOTHING


def _others(scan: LookupScan, named: set[str]) -> Iterator[str]:
    """Names that an intent may be about, those that share a word with the question first."""
    types = {intent.about for intent in scan.knowledge.intents}
    said = {key for word in scan.words for key in keys_of(word.text)}
    rows = [row for row in scan.registry.rows if row[1] in types and row[0] not in named]
    near = sorted(rows, key=lambda row: not any(not keys_of(w.text).isdisjoint(said) for w in words_of(row[2])))
    return (_called(row[2], row[1]) for row in near[:MOST_OTHERS])


def _called(name: str, kind: str) -> str:
    return f"{json.dumps(normalise(name)[:LONGEST_NAME], ensure_ascii=False)} ({kind})"


def _described(intent: LookupIntent, knowledge: KnowledgeSchema, language: str) -> str:
    phrases = intent.words.get(language) or next(iter(intent.words.values()), ())
    words = f" ({', '.join(phrases[:MOST_PHRASES])})" if phrases else ""
    ends = knowledge.ends(intent.path[-1]) if intent.path else None
    gives = ends[1] if ends else f"the {intent.about} itself" if intent.about else intent.name
    return f"{intent.name}{f' of a {intent.about}' if intent.about else ''} gives {gives}{words}"
