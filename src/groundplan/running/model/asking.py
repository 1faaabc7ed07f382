"""Asking within bounds: an answer that cannot be used goes back once with the reason, then the next model is asked."""

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

MOST_TOKENS = 60_000  # of prompts and answers, for all steps of a run
LONGEST_PROBLEM = 300  # characters


@dataclass
class Budget:
    """What the steps of one run have asked of models together."""

    usage: Usage = field(default_factory=Usage)

    @property
    def used_up(self) -> bool:
        return self.usage.prompt_tokens + self.usage.completion_tokens >= MOST_TOKENS


@dataclass(frozen=True)
class Asked(Generic[Into]):
    """One answer that is wanted."""

    prompt: str
    into: type[Into]
    schema: Schema
    max_tokens: int
    fault: Callable[[Into], str]  # what is wrong with an answer that fits the schema; empty where nothing is
    hint: str  # what a person can do where no model gives an answer


@dataclass
class Asking:
    """One step's way to the models."""

    step: str
    calls: Calls
    budget: Budget

    async def ask(self, asked: Asked[Into]) -> Into:
        """An answer without fault; a typed failure where the last model has none."""
        while True:
            told = await self._twice(asked)
            if not isinstance(told, Failed | str):
                return told
            if not self.calls.escalate():
                raise self._failure(told, asked.hint)

    async def _twice(self, asked: Asked[Into]) -> Into | Failed | str:
        told = await self._once(asked, asked.prompt)
        if not isinstance(told, str):
            return told
        again = load_prompt("again").fill(problem=told)
        return await self._once(asked, f"{asked.prompt}\n\n{again}")

    async def _once(self, asked: Asked[Into], prompt: str) -> Into | Failed | str:
        """What came, or in words why it cannot be used."""
        if self.budget.used_up:
            raise ToolError(
                f"step {self.step!r}: the {MOST_TOKENS:,} tokens that models have for a run are used up; "
                "give its steps fewer facts, or make several runs of it"
            )
        told = await self.calls.ask(prompt, asked.into, schema=asked.schema, max_tokens=asked.max_tokens)
        if isinstance(told, Failed):
            return told
        self.budget.usage = self.budget.usage.plus(told.usage)
        match told:
            case Reply(value=value):
                return asked.fault(value)[:LONGEST_PROBLEM] or value
            case UnusableReply(problem=problem):
                return problem[:LONGEST_PROBLEM]

    def _failure(self, told: Failed | str, hint: str) -> WorldError:
        if self.calls.left <= 0:
            return late(self.step, self.calls.seconds)
        if isinstance(told, Failed):  # it was tried three times already: see llm/wire.py
            return SourceError(f"step {self.step!r}: {told.problem}; try again later, or name another model")
        return ToolError(f"step {self.step!r}: {self.calls.model} gave no answer that can be used: {told}; {hint}")


def late(step: str, seconds: float) -> DeadlineExceeded:
    return DeadlineExceeded(
        f"step {step!r}: the model did not end within {seconds:.3g} s; raise limits.step_seconds, or ask for less"
    )
