"""The model calls of one question: they share a deadline, and their token usage is added up.

A failed call is returned as data, not raised: the rules can still answer the question without a model.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from groundplan.contracts.answer import Usage
from groundplan.errors import WorldError
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import MAX_TOKENS
from groundplan.llm.reply import Into, Reply, UnusableReply
from groundplan.llm.schema import Choices, Schema


@dataclass(frozen=True)
class Failed:
    """The call got no reply: the server is down, too slow or does not speak the protocol."""

    model: str
    problem: str


@dataclass
class Calls:
    """The models available to one question, smallest first, and the usage and failures so far."""

    cascade: Cascade
    seconds: float  # for all calls of the question
    usage: Usage = field(default_factory=Usage)
    failures: list[Failed] = field(default_factory=list)
    _begun: float = field(default_factory=time.monotonic)

    @property
    def model(self) -> str:
        """The name of the current model."""
        return self.cascade.model.name

    @property
    def left(self) -> float:
        """Seconds until the question's deadline."""
        return self.seconds - (time.monotonic() - self._begun)

    def escalate(self) -> bool:
        """Switch to the next larger model. Returns False if there is none."""
        following = self.cascade.next()
        if following is None:
            return False
        self.cascade = following
        return True

    async def ask(
        self,
        prompt: str,
        into: type[Into],
        choices: Choices | None = None,
        *,
        schema: Schema | None = None,
        max_tokens: int = MAX_TOKENS,
    ) -> Reply[Into] | UnusableReply | Failed:
        """Call `Model.ask` with the time left until the question's deadline."""
        model = self.cascade.model
        if self.left <= 0:
            return self._failed(
                model.name, f"the time for model calls in one question, {self.seconds:.3g} s, is used up"
            )
        try:
            reply = await model.ask(prompt, into, choices, schema=schema, seconds=self.left, max_tokens=max_tokens)
        except WorldError as error:
            return self._failed(model.name, str(error))
        self.usage = self.usage.plus(reply.usage)
        return reply

    def _failed(self, model: str, problem: str) -> Failed:
        failure = Failed(model, problem)
        self.failures.append(failure)
        return failure
