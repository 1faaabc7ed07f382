"""Which entity of the graph a model means by a name, and how certain that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from groundplan.asking.lookup.query_plan import PlannedEntity
from groundplan.asking.lookup.scan import LookupScan
from groundplan.contracts.knowledge import Conversation, LookupIntent
from groundplan.contracts.reading import Entity
from groundplan.text.entities import Registry
from groundplan.text.words import normalise, words_of

MOST_OPEN, SHORTEST_ALIKE = 4, 4  # unexplained words that are compared with names; their letters


@dataclass(frozen=True)
class Chosen:
    """The entities that a name may mean; none for an intent that is about none."""

    entities: tuple[Entity, ...] = ()
    fault: str = ""  # why there is none, worded for the model
    is_doubtful: bool = False  # the question has a word that only resembles the name
    is_assumed: bool = False  # the question does not name it


@dataclass(frozen=True)
class NameChoice:
    scan: LookupScan
    before: Conversation | None

    def of(self, said: PlannedEntity) -> Chosen:
        """The entities of this name, of its type if there are any."""
        name = normalise(said.name)
        found = [entity for entity in self._before() if entity.name == name] or [*_called_so(name, self.scan.registry)]
        typed = [entity for entity in found if entity.type == said.type] or found
        if typed:
            return Chosen(tuple(typed))
        near = ", ".join(map(repr, self.scan.registry.suggest(name)))
        hint = f"; there are {near}" if near else "; plan general if the question is about nothing that is listed"
        return Chosen(fault=f"there is no {name!r} here{hint}")

    def of_call(self, name: str | None, intent: LookupIntent, chosen: Sequence[Chosen]) -> Chosen:
        """The entities that a call may be about, with others that the same words of the question name."""
        if name is None:
            only = self._only(intent.about or "")
            return Chosen((only,)) if only else Chosen(fault=f"{intent.name!r} needs an entity: a {intent.about}")
        said = self.of(PlannedEntity(name=name))
        if said.fault:
            return said
        of_type = [entity for entity in said.entities if entity.type == intent.about]
        if not of_type:
            return Chosen(fault=f"{intent.name!r} is about a {intent.about}; {name!r} is a {said.entities[0].type}")
        listed = [entity for one in chosen for entity in one.entities if entity in of_type and len(one.entities) == 1]
        return self._judged(listed[:1] or of_type, intent)

    def unlooked(self, entities: Sequence[Entity]) -> str:
        """A fault if the question writes a name that is not here, and no such entity resembles it."""
        for name in self._unknown():
            near = {*self._alike([name])}
            if not near.intersection(entity.id for entity in entities):
                return f"the question names {name!r}, which is not here: plan general with document_search"
        return ""

    def _judged(self, entities: Sequence[Entity], intent: LookupIntent) -> Chosen:
        ids = {entity.id for entity in entities}
        named = [mention for mention in self.scan.mentions if mention.entity.id in ids]
        if named:
            place = (named[0].first, named[0].last)
            there = [m for m in self.scan.mentions if (m.first, m.last) == place and m.entity.type == intent.about]
            best = max(mention.confidence for mention in there)
            return Chosen(tuple(mention.entity for mention in there if mention.confidence == best))
        if len(entities) == 1 and entities[0].id in {entity.id for entity in self._before()}:
            return Chosen(tuple(entities))
        if ids & {*self._alike(self._unknown() or self._open_words())}:
            return Chosen(tuple(entities), is_doubtful=True)
        return Chosen(tuple(entities), is_assumed=len(self.scan.registry.of_type(intent.about or "", 2)) > 1)

    def _before(self) -> Iterator[Entity]:
        """What the turn before was about and found; only what the graph still has."""
        told = (*self.before.entities, *self.before.found) if self.before else ()
        known = {row[0]: row for row in self.scan.registry.rows} if told else {}
        for entity in told:
            if entity.id in known:
                yield self.scan.registry.entity(known[entity.id])

    def _only(self, kind: str) -> Entity | None:
        names = self.scan.registry.of_type(kind, 2)
        found = [*_called_so(names[0], self.scan.registry)] if len(names) == 1 else []
        return next((entity for entity in found if entity.type == kind), None)

    def _unknown(self) -> list[str]:
        return [name for name in self.scan.unknown_names() if not name.isdecimal()]

    def _open_words(self) -> list[str]:
        open_words = (self.scan.words[place].text for place in self.scan.unexplained(0, 0, self.scan.all_marks))
        return [text for text in open_words if len(text) >= SHORTEST_ALIKE]

    def _alike(self, phrases: Sequence[str]) -> Iterable[str]:
        """The ids of entities whose names resemble one of the phrases."""
        near = (name for phrase in phrases[:MOST_OPEN] for name in self.scan.registry.suggest(phrase))
        return (entity.id for name in near for entity in _called_so(name, self.scan.registry))


def _called_so(name: str, registry: Registry) -> Iterator[Entity]:
    """The entities of exactly this name, or of an alias or a form of it if there are none."""
    text = normalise(name)
    words = words_of(text)
    whole = [m for m in registry.find(text, words) if (m.first, m.last) == (0, len(words))]
    best = max((mention.confidence for mention in whole), default=0.0)
    return (mention.entity for mention in whole if mention.confidence == best)
