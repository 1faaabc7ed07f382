"""One turn of a conversation, as a thread remembers it."""

from __future__ import annotations

from pydantic import ValidationError

from groundplan.contracts.contract import Contract
from groundplan.contracts.knowledge import Conversation
from groundplan.contracts.plan import Plan, Provenance
from groundplan.contracts.reading import Reading


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
        intents = tuple(intent.name for intent in self.reading.intents)
        return Conversation(question=self.question, entities=self.reading.entities, intents=intents)
