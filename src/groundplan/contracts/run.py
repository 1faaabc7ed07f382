"""Runs of the service: what was requested, how far it is, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, model_validator

from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.contracts.bounds import NO_BOUNDS, Bounds
from groundplan.contracts.contract import Contract, JsonObject, Scalar, StepId, thaw
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Strategy
from groundplan.contracts.rollout import RunSide

State = Literal[
    "queued", "running", "waiting_approval", "waiting_answer", "succeeded", "partial", "refused", "failed", "cancelled"
]
ENDED: tuple[State, ...] = ("succeeded", "partial", "refused", "failed", "cancelled")
WAITING: tuple[State, ...] = ("waiting_approval", "waiting_answer")

EventKind = Literal[
    "run.queued",
    "run.started",
    "run.ended",
    "stage",
    "reading",
    "plan",
    "approval.required",
    "question",
    "step",
    "outcome",
]


def storable(text: str) -> str:
    """Databases hold no null characters, and half a surrogate pair is no text."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("null characters and lone surrogates are not allowed")
    return text


Said = Annotated[str, Field(min_length=1, max_length=20_000), AfterValidator(storable)]
"""Text that somebody sent."""


def _texts(value: object) -> Iterator[str]:
    """Every key and text in a JSON value."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one


class RunRequest(Contract):
    """A question to answer, or a plan to check and run."""

    question: Said | None = None
    plan: JsonObject | None = Field(None, description="A reading and a plan, as /v1/plans returns them.")
    title: Said | None = Field(None, description="What the run of a plan is called; by default how it was changed.")
    thread: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(storable)] | None = None
    strategy: Strategy | None = Field(None, description="A planner by name, as in `groundplan ask --strategy`.")
    today: date | None = None
    timezone: Annotated[str, AfterValidator(storable)] | None = Field(
        None, max_length=64, description="Of today; by default that of groundplan.toml."
    )
    bounds: Bounds = Field(NO_BOUNDS, description="What the caller allows: tools, steps, items, seconds, tokens.")

    inputs: dict[StepId, Scalar] = Field({}, description="Values for a task or a plan that takes some, by name.")

    @model_validator(mode="after")
    def _is_one_of_them(self) -> RunRequest:
        if (self.question is None) == (self.plan is None):
            raise ValueError("give a question or a plan, and not both")
        for text in (*_texts(self.inputs), *(_texts(thaw(self.plan)) if self.plan is not None else ())):
            storable(text)
        return self


class RunReply(Contract):
    """The reply that a waiting run continues with."""

    answer: str | None = None
    to: str | None = None  # the text of the clarification
    approved: str | None = None  # the fingerprint of the plan and the values


class Run(Contract):
    id: str
    state: State
    request: RunRequest
    attempt: int  # how often a worker took it up
    created: datetime
    updated: datetime
    waiting: Refusal | Clarification | None = None  # what it waits for
    approve: str | None = Field(None, description="The fingerprint of the plan and the values that wait for approval.")
    outcome: Answer | Refusal | Clarification | None = None
    problem: Issue | None = None  # why it failed
    rollout: RunSide | None = Field(None, description="Which variant answered, if another was on trial.")

    @property
    def ended(self) -> bool:
        return self.state in ENDED


class RunEvent(Contract):
    """One event. Numbers begin at 1 within each run and have no gaps."""

    number: int
    kind: EventKind
    at: datetime
    data: dict[str, JsonValue]
