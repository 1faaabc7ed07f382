"""What a thread remembers of a conversation: one turn, as it was asked and planned."""

from __future__ import annotations

from typing import Literal

from groundplan.contracts.contract import Contract
from groundplan.contracts.knowledge import Conversation
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading


class Turn(Contract):
    """A question that was answered. No rows, no facts, no text of the answer: those are read anew each time."""

    format: Literal[1]  # another one is another version's, and is passed over
    reading: Reading
    plan: Plan

    @property
    def question(self) -> str:
        return self.reading.question

    @property
    def about(self) -> Conversation:
        """What a follow-up to a knowledge base may take over."""
        intents = tuple(intent.name for intent in self.reading.intents)
        return Conversation(question=self.question, entities=self.reading.entities, intents=intents)
