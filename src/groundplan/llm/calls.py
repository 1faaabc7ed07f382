"""The model calls of one question, by role: they share a deadline, and what they cost is added up.

A failed call is returned as data, not raised: the rules can still answer the question without a model.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce

from groundplan.contracts.answer import Usage
from groundplan.contracts.roles import ROLES, Role, RoleName, Roles
from groundplan.errors import UsageError, WorldError
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import MAX_TOKENS
from groundplan.llm.reply import Into, Reply, UnusableReply
from groundplan.llm.schema import Choices, Schema
from groundplan.telemetry.observing import observed


@dataclass(frozen=True)
class Failed:
    """The call got no reply: the server is down, too slow or does not speak the protocol."""

    model: str
    problem: str


@dataclass
class Calls:
    """The models for one role in one question, smallest first, and the usage and failures so far."""

    cascade: Cascade
    seconds: float  # until the question's deadline
    role: RoleName = "read"
    limits: Role = field(default_factory=Role)
    usage: Usage = field(default_factory=Usage)
    failures: list[Failed] = field(default_factory=list)
    left_for_all: Callable[[], float] = lambda: math.inf  # tokens that the caller still allows
    _begun: float = field(default_factory=time.monotonic)

    @property
    def model(self) -> str:
        """The name of the current model."""
        return self.cascade.model.name

    @property
    def left(self) -> float:
        """Seconds until the question's deadline, or until the role's time is used up."""
        return min(self.seconds - (time.monotonic() - self._begun), self.limits.seconds - self.usage.seconds)

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
        """Call `Model.ask` with the time and the tokens that are left."""
        model, begun = self.cascade.model, time.monotonic()
        if spent := self._used_up():
            return self._failed(model.name, spent)
        room = int(min(max_tokens, self.limits.tokens - self.usage.tokens, self.left_for_all()))
        with observed("model", model=model.name, fills=into.__name__, result="failed") as told:
            try:
                reply = await model.ask(
                    prompt,
                    into,
                    choices,
                    schema=schema,
                    seconds=self.left,
                    max_tokens=room,
                    temperature=self.limits.temperature,
                )
            except WorldError as error:
                self.usage = self.usage.plus(Usage(seconds=time.monotonic() - begun, failed=1).by(self.role))
                return self._failed(model.name, str(error))
            told["result"] = "usable" if isinstance(reply, Reply) else "unusable"
            told["prompt_tokens"] = reply.usage.prompt_tokens
            told["completion_tokens"] = reply.usage.completion_tokens
        self.usage = self.usage.plus(reply.usage.by(self.role))
        return reply

    def _used_up(self) -> str:
        """What the role has no more of; empty if it may go on."""
        if self.left <= 0:
            most = min(self.seconds, self.limits.seconds)
            return f"the time for model calls in one question, {most:.3g} s, is used up; see [roles] in groundplan.toml"
        if self.usage.tokens >= self.limits.tokens:
            return f"the {self.limits.tokens:,} tokens of [roles.{self.role}] for one question are used up"
        if self.left_for_all() <= 0:
            return "the tokens that the caller allows for this question are used up"
        return ""

    def _failed(self, model: str, problem: str) -> Failed:
        failure = Failed(model, problem)
        self.failures.append(failure)
        return failure


class CallsByRole:
    """The model calls of one question, each role with its own models and limits."""

    def __init__(self, cascade: Cascade, roles: Roles | None = None, tokens: int | None = None) -> None:
        """`tokens`: at most so many for all roles together."""
        self.roles, self._tokens = roles or Roles(), math.inf if tokens is None else tokens
        self._calls = {
            name: Calls(chosen(cascade, self.roles.of(name)), self.roles.seconds, name, self.roles.of(name))
            for name in ROLES
        }
        for calls in self._calls.values():
            calls.left_for_all = lambda: self._tokens - self.usage.tokens

    def of(self, role: RoleName) -> Calls:
        return self._calls[role]

    @property
    def usage(self) -> Usage:
        return reduce(Usage.plus, (calls.usage for calls in self._calls.values()))

    @property
    def failures(self) -> tuple[Failed, ...]:
        return tuple(failure for calls in self._calls.values() for failure in calls.failures)


def chosen(cascade: Cascade, role: Role) -> Cascade:
    """The models of a role, in the order in which it names them; all if it names none."""
    if not role.model:
        return cascade
    named = {model.name: model for model in cascade.models}
    if missing := [name for name in role.model if name not in named]:
        raise UsageError(f"a role names the model {missing[0]!r}, which is not open; there are {', '.join(named)}")
    return Cascade(tuple(named[name] for name in role.model))
