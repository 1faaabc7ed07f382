"""What a thread remembers of a conversation: one turn, as it was asked and planned."""

from __future__ import annotations

from pydantic import ValidationError

from groundplan.contracts.contract import Contract
from groundplan.contracts.knowledge import Conversation
from groundplan.contracts.plan import Plan, Provenance
from groundplan.contracts.reading import Reading


class Turn(Contract):
    """A question that was answered. No rows, no facts, no text of the answer: those are read anew each time."""

    reading: Reading
    plan: Plan

    @classmethod
    def of(cls, reading: Reading, plan: Plan) -> Turn:
        """Without what a model thought, and without the text of an answer."""
        kept = plan.model_copy(update={"answer": "", "provenance": Provenance(template=plan.provenance.template)})
        return cls(reading=reading, plan=kept)

    @classmethod
    def read(cls, raw: object) -> Turn | None:
        """None if another version wrote it."""
        try:
            return cls.model_validate(raw)
        except ValidationError:
            return None

    @property
    def question(self) -> str:
        return self.reading.question

    @property
    def about(self) -> Conversation:
        """What a follow-up to a knowledge base may take over."""
        intents = tuple(intent.name for intent in self.reading.intents)
        return Conversation(question=self.question, entities=self.reading.entities, intents=intents)
