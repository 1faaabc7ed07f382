"""One turn of a conversation, as a thread remembers it."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from groundplan.contracts.contract import Contract
from groundplan.contracts.facts import Facts, Item
from groundplan.contracts.knowledge import Conversation, ShownList
from groundplan.contracts.plan import Plan, Provenance, Step
from groundplan.contracts.reading import Entity, IntentAsked, Reading

MOST_FOUND, LONGEST_NAME = 12, 128  # of what a look-up found; letters


class Turn(Contract):
    """An answered question: its reading, its plan and what a look-up listed. Rows and answer text are not kept."""

    reading: Reading
    plan: Plan
    found: tuple[Entity, ...] = ()  # by name only

    @classmethod
    def of(cls, reading: Reading, plan: Plan, facts: Facts | None = None) -> Turn:
        """A turn without model reasoning and answer text."""
        kept = plan.model_copy(update={"answer": "", "provenance": Provenance(template=plan.provenance.template)})
        asks = any(isinstance(requirement.value, IntentAsked) for requirement in reading.requirements)
        return cls(reading=reading, plan=kept, found=_listed(facts) if facts and asks else ())

    @classmethod
    def read(cls, raw: object) -> Turn | None:
        """Parse a stored turn; None if another version wrote it in a different format."""
        try:
            return cls.model_validate(raw)
        except ValidationError:
            return None

    @property
    def question(self) -> str:
        return self.reading.question

    @property
    def about(self) -> Conversation:
        """What a follow-up question to a knowledge base may reuse."""
        asked = {"question": self.question, "entities": self.reading.entities}
        return Conversation(**asked, lists=tuple(self._lists()), found=self.found)

    def _lists(self) -> Iterator[ShownList]:
        for requirement in self.reading.requirements:
            steps = (step for step in self.plan.steps if requirement.id in step.satisfies and _is_look_up(step))
            step = next(steps, None)
            if step is not None and isinstance(requirement.value, IntentAsked):
                yield ShownList(asked=requirement.value, items=self.plan.most_items(step))


def _is_look_up(step: Step) -> bool:
    return not {"intent", "path"}.isdisjoint(step.params)


def _listed(facts: Facts) -> tuple[Entity, ...]:
    """The listed items by id, each once."""
    items: list[Item] = [*facts.items, *(item for group in facts.groups for item in group.items)]
    named = {item.source: item for item in items if item.source and len(item.source) <= LONGEST_NAME}
    entities = (Entity(id=id_, type=item.kind, name=item.title) for id_, item in named.items())
    return tuple(entity for entity in entities if entity.name)[:MOST_FOUND]
