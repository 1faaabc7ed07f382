"""Model calls of one step: each model is asked again with the reason, then the next model is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic

from groundplan.contracts.answer import Usage
from groundplan.errors import DeadlineExceeded, SourceError, ToolError, WorldError
from groundplan.llm.calls import Calls, Failed
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import Into, Reply, UnusableReply
from groundplan.llm.schema import Schema

LONGEST_PROBLEM = 300  # characters


@dataclass
class Budget:
    """The model usage of all steps of one run."""

    tokens: int
    usage: Usage = field(default_factory=Usage)

    @property
    def used_up(self) -> bool:
        return self.usage.tokens >= self.tokens


@dataclass(frozen=True)
class ModelRequest(Generic[Into]):
    """A prompt and the reply that it requires."""

    prompt: str
    into: type[Into]
    schema: Schema
    max_tokens: int
    fault: Callable[[Into], str]  # what is wrong with a reply that fits the schema; empty if nothing is
    hint: str  # what the user can do if no model gives a usable reply


@dataclass
class StepCalls:
    """Model access for one step, within the run's token budget."""

    step: str
    calls: Calls
    budget: Budget

    async def ask(self, request: ModelRequest[Into]) -> Into:
        """A reply without faults; raises if the last model has none either."""
        while True:
            reply = await self._in_turn(request)
            if not isinstance(reply, Failed | str):
                return reply
            if not self.calls.escalate():
                raise self._failure(reply, request.hint)

    async def _in_turn(self, request: ModelRequest[Into]) -> Into | Failed | str:
        """The reply of the current model, which is told what was wrong with the one before."""
        reply = await self._once(request, request.prompt)
        for _ in range(self.calls.limits.attempts - 1):
            if not isinstance(reply, str):
                break
            again = load_prompt("again").fill(problem=reply)
            reply = await self._once(request, f"{request.prompt}\n\n{again}")
        return reply

    async def _once(self, request: ModelRequest[Into], prompt: str) -> Into | Failed | str:
        """The reply, or a text that says why it cannot be used."""
        if self.budget.used_up:
            raise ToolError(
                f"step {self.step!r}: the run has used its {self.budget.tokens:,} model tokens; "
                "give its steps fewer facts, raise roles.write.tokens, or split it into several runs"
            )
        reply = await self.calls.ask(prompt, request.into, schema=request.schema, max_tokens=request.max_tokens)
        if isinstance(reply, Failed):
            return reply
        self.budget.usage = self.budget.usage.plus(reply.usage.by(self.calls.role))
        match reply:
            case Reply(value=value):
                return request.fault(value)[:LONGEST_PROBLEM] or value
            case UnusableReply(problem=problem):
                return problem[:LONGEST_PROBLEM]

    def _failure(self, reply: Failed | str, hint: str) -> WorldError:
        if self.calls.left <= 0:
            return late(self.step, self.calls.seconds)
        if isinstance(reply, Failed):  # llm/wire.py has already tried three times
            return SourceError(f"step {self.step!r}: {reply.problem}; try again later, or name another model")
        return ToolError(f"step {self.step!r}: {self.calls.model} gave no usable reply: {reply}; {hint}")


def late(step: str, seconds: float) -> DeadlineExceeded:
    return DeadlineExceeded(
        f"step {step!r}: the model did not finish within {seconds:.3g} s; raise limits.step_seconds, or ask for less"
    )
