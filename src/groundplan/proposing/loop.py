"""A model proposes, code checks, and what is wrong goes back by name: a few times, then to the next model.

A caller gives a prompt, the contract of a reply, a check, and has a floor of its own for when no proposal is accepted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from groundplan.contracts.proposing import LONGEST_PROPOSAL, ModelAttempt
from groundplan.llm.calls import Calls, Failed
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import Into, Reply, UnusableReply
from groundplan.llm.schema import Choices

T = TypeVar("T")
LONGEST_FAULT = 600  # characters
MOST_FAULTS = 8  # sent back at once
MOST_ATTEMPTS = 10  # of one model, whatever the settings say
UNUSABLE = {
    "length": "the reply was cut off",
    "refused": "the reply was refused",
    "not_json": "the reply is no JSON object",
    "wrong_shape": "the reply has the wrong shape",
}


@dataclass(frozen=True)
class Faults:
    """Why a proposal is not accepted, worded to be sent back to the model."""

    problems: tuple[str, ...]


@dataclass(frozen=True)
class Accepted(Generic[T]):
    """What the check made of the accepted proposal, and the model that proposed it."""

    value: T
    model: str


async def propose(
    calls: Calls,
    prompt: str,
    into: type[Into],
    check: Callable[[Into], Awaitable[T | Faults]],
    log: list[ModelAttempt],
    *,
    max_tokens: int,
    attempts: int = MOST_ATTEMPTS,
    choices: Choices | None = None,
    before: Sequence[ModelAttempt] = (),
) -> Accepted[T] | None:
    """The first proposal that passes the check; None if no model of the cascade has one: then the floor decides.

    `attempts` bounds those of the role; `choices` are the names that fields of the reply may have; `before` are
    attempts for the same question that turned out to be faulty later: they count.
    """
    while True:
        found = await _ask_one_model(calls, prompt, into, check, log, max_tokens, attempts, choices, before)
        before = ()
        if found is not None or not calls.escalate():
            return found


async def _ask_one_model(
    calls: Calls,
    prompt: str,
    into: type[Into],
    check: Callable[[Into], Awaitable[T | Faults]],
    log: list[ModelAttempt],
    max_tokens: int,
    attempts: int,
    choices: Choices | None,
    earlier: Sequence[ModelAttempt],
) -> Accepted[T] | None:
    """Ask until a proposal is accepted, the attempts are used up, or the model repeats a faulty proposal."""
    before = [*earlier]
    most = min(attempts, calls.limits.attempts)
    for number in range(max((one.number for one in before), default=0) + 1, most + 1):
        spent, model = calls.usage, calls.model
        sent = _sent_back(prompt, before[-1], number, most) if before else prompt
        reply = await calls.ask(sent, into, choices, max_tokens=max_tokens)
        proposal, found = await _checked(reply, check)
        tokens, seconds = calls.usage.tokens - spent.tokens, round(calls.usage.seconds - spent.seconds, 3)
        cost = {"tokens": tokens, "seconds": seconds}
        faults = _bounded(found.problems) if isinstance(found, Faults) else ()
        attempt = ModelAttempt(
            role=calls.role, model=model, number=number, proposal=proposal[:LONGEST_PROPOSAL], faults=faults, **cost
        )
        log.append(attempt)
        if not isinstance(found, Faults):
            return Accepted(found, model)
        if isinstance(reply, Failed) or (attempt.proposal, faults) in {(one.proposal, one.faults) for one in before}:
            return None
        before.append(attempt)
    return None


async def _checked(
    reply: Reply[Into] | UnusableReply | Failed, check: Callable[[Into], Awaitable[T | Faults]]
) -> tuple[str, T | Faults]:
    """The proposal as text, and what the check makes of it."""
    match reply:
        case Failed(problem=problem):
            return "", Faults((problem,))
        case UnusableReply(reason=reason, problem=problem, text=text):
            return text, Faults((f"{UNUSABLE[reason]}: {problem}",))
        case Reply(value=value):
            return value.model_dump_json(exclude_defaults=True), await check(value)


def _sent_back(prompt: str, last: ModelAttempt, number: int, most: int) -> str:
    """The prompt, followed by the last proposal and its faults."""
    faults = "\n".join(f"- {fault}" for fault in last.faults)
    again = load_prompt("sent_back").fill(
        proposal=last.proposal or "(nothing)", faults=faults, attempt=str(number), attempts=str(most)
    )
    return f"{prompt}\n\n{again}"


def _bounded(problems: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(problem[:LONGEST_FAULT] for problem in problems[:MOST_FAULTS])
