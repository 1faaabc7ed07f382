"""One turn of a conversation, as a thread remembers it."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from groundplan.contracts.contract import Contract
from groundplan.contracts.knowledge import Conversation, ShownList
from groundplan.contracts.plan import Plan, Provenance, Step
from groundplan.contracts.reading import IntentAsked, Reading


class Turn(Contract):
    """An answered question: its reading and its plan. Rows, facts and answer text are not kept."""

    reading: Reading
    plan: Plan

    @classmethod
    def of(cls, reading: Reading, plan: Plan) -> Turn:
        """A turn without model reasoning and answer text."""
        kept = plan.model_copy(update={"answer": "", "provenance": Provenance(template=plan.provenance.template)})
        return cls(reading=reading, plan=kept)

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
        return Conversation(question=self.question, entities=self.reading.entities, lists=tuple(self._lists()))

    def _lists(self) -> Iterator[ShownList]:
        for requirement in self.reading.requirements:
            steps = (step for step in self.plan.steps if requirement.id in step.satisfies and _is_look_up(step))
            step = next(steps, None)
            if step is not None and isinstance(requirement.value, IntentAsked):
                yield ShownList(asked=requirement.value, items=self.plan.most_items(step))


def _is_look_up(step: Step) -> bool:
    return not {"intent", "path"}.isdisjoint(step.params)
