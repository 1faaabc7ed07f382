"""What one question asks of models: within one deadline, counted, and never the end of the question.

A model that fails leaves the question to the words and the rules: that is why a failure is data here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from groundplan.contracts.answer import Usage
from groundplan.errors import WorldError
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import MAX_TOKENS
from groundplan.llm.reply import Into, Told, Untold
from groundplan.llm.schema import Choices, Schema


@dataclass(frozen=True)
class Failed:
    """No answer came: the server is gone, too slow or speaks another protocol."""

    model: str
    problem: str


@dataclass
class Calls:
    """The models of one question, smallest first, and what they were asked so far."""

    cascade: Cascade
    seconds: float  # for all calls of the question
    usage: Usage = field(default_factory=Usage)
    failures: list[Failed] = field(default_factory=list)
    _begun: float = field(default_factory=time.monotonic)

    @property
    def model(self) -> str:
        """The name of the one whose turn it is."""
        return self.cascade.model.name

    @property
    def left(self) -> float:
        """Seconds until the question's deadline."""
        return self.seconds - (time.monotonic() - self._begun)

    def escalate(self) -> bool:
        """On to the next model, where there is one."""
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
    ) -> Told[Into] | Untold | Failed:
        """As `Model.ask`, with what is left of the question's time."""
        model = self.cascade.model
        if self.left <= 0:
            return self._failed(model.name, f"the {self.seconds:.3g} s that models have for a question are over")
        try:
            told = await model.ask(prompt, into, choices, schema=schema, seconds=self.left, max_tokens=max_tokens)
        except WorldError as error:
            return self._failed(model.name, str(error))
        self.usage = self.usage.plus(told.usage)
        return told

    def _failed(self, model: str, problem: str) -> Failed:
        failure = Failed(model, problem)
        self.failures.append(failure)
        return failure
