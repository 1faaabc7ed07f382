"""How a run ends: an answer, a refusal or a question back."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from groundplan.contracts.contract import Contract, JsonObject, Scalar
from groundplan.contracts.facts import Facts
from groundplan.contracts.issue import Issue, Repair
from groundplan.contracts.plan import Coverage, Plan
from groundplan.contracts.reading import Reading


class ShownTable(Contract):
    """The rows a person sees."""

    title: str = ""
    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]
    row_count: int


class TraceEntry(Contract):
    """One stage, or one agent of a stage, in the order they ran."""

    stage: str
    at: datetime  # when it ended
    ms: float
    tokens: int = 0
    thought: str = ""  # why it did what it did
    action: str = ""  # what it did


class Usage(Contract):
    """What models were asked for one question; all of it nothing without a model."""

    models: tuple[str, ...] = ()  # those that were called
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def plus(self, other: Usage) -> Usage:
        return Usage(
            models=tuple(dict.fromkeys((*self.models, *other.models))),
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


class Citation(Contract):
    """A number, name or date of the text, and the fact that carries it."""

    text: str
    fact: str
    value: Scalar


class Answer(Contract):
    kind: Literal["answer"] = "answer"
    text: str
    tables: tuple[ShownTable, ...] = ()
    charts: tuple[JsonObject, ...] = ()  # Vega-Lite, data included
    files: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    reading: Reading | None = None
    plan: Plan
    coverage: tuple[Coverage, ...] = ()
    repairs: tuple[Repair, ...] = ()
    issues: tuple[Issue, ...] = ()
    facts: Facts
    trace: tuple[TraceEntry, ...] = ()
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()  # how words were read by a model, what was not taken, why one said nothing


class Attempt(Contract):
    """A plan that did not lead to an answer."""

    strategy: str
    number: int
    tools: tuple[str, ...]
    failed_in: Literal["check", "run"]
    problem: str


class Refusal(Contract):
    kind: Literal["refusal"] = "refusal"
    text: str
    issues: tuple[Issue, ...]
    reading: Reading | None = None
    plan: Plan | None = None
    facts: Facts | None = None
    tried: tuple[Attempt, ...] = ()  # plans that the gate refused or that failed when they ran
    trace: tuple[TraceEntry, ...] = ()
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()  # how words were read by a model, what was not taken, why one said nothing


def refused(code: str, problem: str, hint: str) -> Refusal:
    """A refusal for one reason."""
    text = f"{problem[:1].upper()}{problem[1:]}; {hint}."
    return Refusal(text=text, issues=(Issue(code=code, problem=problem, hint=hint),))


class Clarification(Contract):
    """A question back. A reply (a candidate, its number, or its words) completes the question that was asked."""

    kind: Literal["clarification"] = "clarification"
    text: str
    missing: str
    candidates: tuple[str, ...] = ()
    put: str = "{choice}"  # what takes the place of `missing` in the question: `{choice} {missing}` adds to it
    open: bool = False  # without candidates: a reply in any words completes the question
    trace: tuple[TraceEntry, ...] = ()
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()  # how words were read by a model, what was not taken, why one said nothing


Outcome = Answer | Refusal | Clarification
