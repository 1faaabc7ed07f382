"""The schema of a knowledge base: types, relations and intents with their words, but no node text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from groundplan.contracts.contract import Contract, Name, Text
from groundplan.contracts.reading import Entity, IntentAsked, Reading, RenderStyle

Language = Annotated[str, Field(pattern=r"^[a-z]{2}$")]
Phrase = Annotated[str, Field(min_length=1, max_length=80)]
Hop = Annotated[str, Field(pattern=r"^\^?[^\s^/]+$", max_length=40)]
"""One relation of a path; `^name` goes backwards. Short, because intent names are built from paths."""

Words = dict[Language, tuple[Phrase, ...]]
LONGEST_PATH = 3


class DirectedWords(Contract):
    """Words that ask for a relation's target (`forward`) or for its origin (`backward`)."""

    forward: tuple[Phrase, ...] = ()
    backward: tuple[Phrase, ...] = ()


class NodeType(Contract):
    name: Name
    words: Words = {}


class Relation(Contract):
    model_config = ConfigDict(validate_by_name=True)

    name: Annotated[str, Field(pattern=r"^[^\s^/]+$", max_length=39)]
    origin: Annotated[Name, Field(alias="from")]
    target: Annotated[Name, Field(alias="to")]
    words: dict[Language, DirectedWords] = {}


class LookupIntent(Contract):
    """A named path. Without `about` it starts from no entity; without a path it returns the node itself."""

    name: Name
    about: Name | None = None
    path: Annotated[tuple[Hop, ...], Field(max_length=LONGEST_PATH)] = ()
    words: Words = {}
    title: dict[Language, Phrase] = {}  # the heading if a question has several intents; else the first of the words
    render: RenderStyle = "BULLETS"
    limit: Annotated[int, Field(ge=1, le=1_000)] = 10


class LookupLimits(Contract):
    """What a question may ask for at most."""

    items: Annotated[int, Field(ge=1, le=1_000)] = 50  # of one list at a time, whatever number a question names
    tool_calls: Annotated[int, Field(ge=2, le=100)] = 5  # look-ups and searches in one plan


class KnowledgeSchema(Contract):
    """A knowledge base as described by `knowledge.yaml`."""

    source: Name
    title: Text = ""
    types: tuple[NodeType, ...]
    relations: tuple[Relation, ...] = ()
    intents: tuple[LookupIntent, ...] = ()
    limits: LookupLimits = LookupLimits()

    @model_validator(mode="after")
    def _names_exist_and_paths_connect(self) -> KnowledgeSchema:
        faults = [*self._unknown_types(), *self._broken_paths()]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def ends(self, hop: str) -> tuple[str, str] | None:
        """The start and end types of a hop; None if the relation does not exist."""
        backwards, name = hop.startswith("^"), hop.removeprefix("^")
        found = next((relation for relation in self.relations if relation.name == name), None)
        if found is None:
            return None
        return (found.target, found.origin) if backwards else (found.origin, found.target)

    def intent(self, name: str) -> LookupIntent | None:
        return next((intent for intent in self.intents if intent.name == name), None)

    def _unknown_types(self) -> Iterator[str]:
        types = {kind.name for kind in self.types}
        for relation in self.relations:
            for end in sorted({relation.origin, relation.target} - types):
                yield f"relation {relation.name!r} names the type {end!r}, which is not among the types"
        for intent in self.intents:
            if intent.about is not None and intent.about not in types:
                yield f"intent {intent.name!r} is about {intent.about!r}, which is not among the types"

    def _broken_paths(self) -> Iterator[str]:
        for intent in self.intents:
            place = intent.about
            for hop in intent.path:
                ends = self.ends(hop)
                if ends is None:
                    yield f"intent {intent.name!r} goes over {hop!r}, which is not among the relations"
                    break
                if place is not None and ends[0] != place:
                    yield f"intent {intent.name!r}: {hop!r} starts at {ends[0]!r}, not at {place!r}"
                    break
                place = ends[1]


class ShownList(Contract):
    """A look-up of the previous turn, and how many of its items the answer could show."""

    asked: IntentAsked
    items: Annotated[int, Field(ge=1)]


class Conversation(Contract):
    """What the previous turn was about; a follow-up may reuse only this."""

    question: Text
    entities: tuple[Entity, ...] = ()
    lists: tuple[ShownList, ...] = ()
    found: tuple[Entity, ...] = ()  # what its answer listed


def words_asked_with(reading: Reading, knowledge: KnowledgeSchema) -> Iterator[str]:
    """The knowledge base's own words for what a reading asks for: its intents, and the types on their paths."""
    for asked in (requirement.value for requirement in reading.requirements):
        if not isinstance(asked, IntentAsked):
            continue
        intent = knowledge.intent(asked.intent)
        ends = [knowledge.ends(hop) for hop in asked.path]
        types = {intent.about if intent else None, *(kind for pair in ends if pair for kind in pair)}
        named: list[Words] = [intent.words] if intent else []
        named += [kind.words for kind in knowledge.types if kind.name in types]
        phrases = [phrase for words in named for listed in words.values() for phrase in listed]
        phrases += intent.title.values() if intent else ()
        yield from (word for phrase in phrases for word in phrase.split())
