"""The outcome of a question: an answer, a refusal or a clarification."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import model_validator

from groundplan.contracts.approval import EffectCall, fingerprint_of
from groundplan.contracts.contract import Contract, JsonObject, Scalar
from groundplan.contracts.facts import Facts
from groundplan.contracts.issue import Issue, Repair
from groundplan.contracts.plan import Coverage, Plan
from groundplan.contracts.proposing import ModelAttempt
from groundplan.contracts.reading import Reading
from groundplan.contracts.roles import RoleName


class ShownTable(Contract):
    """A table with the rows that the user sees."""

    step: str = ""  # the step that made it
    title: str = ""
    columns: tuple[str, ...]
    headings: Mapping[str, str] = {}  # of columns whose name says less: the period that `current` is
    rows: tuple[tuple[Scalar, ...], ...]
    row_count: int


class TraceEntry(Contract):
    """One stage, or one agent of a stage, in the order they ran."""

    stage: str
    at: datetime  # when it ended
    ms: float
    tokens: int = 0
    thought: str = ""  # the reason
    action: str = ""  # the result


class Spent(Contract):
    """Model calls, their tokens and their time; all zero without a model."""

    models: tuple[str, ...] = ()  # the models called
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0  # waited for replies, those that did not come included
    failed: int = 0  # calls to which no reply came

    def added(self, other: Spent) -> Spent:
        return Spent(
            models=tuple(dict.fromkeys((*self.models, *other.models))),
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            seconds=round(self.seconds + other.seconds, 3),
            failed=self.failed + other.failed,
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class Usage(Spent):
    """What models cost one question: the total, and by role."""

    roles: dict[RoleName, Spent] = {}

    def plus(self, other: Usage) -> Usage:
        names = dict.fromkeys((*self.roles, *other.roles))
        roles = {name: self.roles.get(name, Spent()).added(other.roles.get(name, Spent())) for name in names}
        return Usage(**self.added(other).model_dump(), roles=roles)

    def by(self, role: RoleName) -> Usage:
        """The same usage, all of it for this role."""
        spent = self.model_dump(exclude={"roles"})
        return Usage(**spent, roles={role: Spent(**spent)})


class CitedCell(Contract):
    step: str
    row: int
    column: str


class Citation(Contract):
    """A number, name or date in the text, and the fact it comes from."""

    text: str
    fact: str
    value: Scalar
    start: int | None = None  # where it stands in the text
    cells: tuple[CitedCell, ...] = ()  # of the shown tables: the first of those that it is read or computed from


class Answer(Contract):
    kind: Literal["answer"] = "answer"
    text: str
    read_as: str = ""  # how the question was understood, in one line; empty if it was not about tables
    sql: str = ""  # the same as one SELECT over the tables, to read and not run; empty if no single SELECT says it
    tables: tuple[ShownTable, ...] = ()
    charts: tuple[JsonObject, ...] = ()  # Vega-Lite, data included
    files: tuple[str, ...] = ()
    partial: bool = False  # a change, or a step for some of its items, failed; `resume` tries what is left
    citations: tuple[Citation, ...] = ()
    reading: Reading | None = None
    plan: Plan
    coverage: tuple[Coverage, ...] = ()
    repairs: tuple[Repair, ...] = ()
    issues: tuple[Issue, ...] = ()
    facts: Facts
    trace: tuple[TraceEntry, ...] = ()
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()  # how a model read words, and which model replies were not used and why
    proposals: tuple[ModelAttempt, ...] = ()  # what models proposed, and what was wrong with it

    @property
    def queries(self) -> dict[str, str]:
        """By step: what a server was sent, and the query behind each shown table. Neither has values of settings."""
        return {**self.facts.sent, **{step: table.query for step, table in self.facts.tables.items()}}


class Attempt(Contract):
    """A plan that did not lead to an answer."""

    strategy: str
    number: int
    tools: tuple[str, ...]
    failed_in: Literal["check", "run"]
    problem: str


class UnknownWord(Contract):
    """A word that the settings of a column would teach."""

    word: str
    setting: str  # the part of the refusal's text that names the setting; a page says its own way instead


class Refusal(Contract):
    kind: Literal["refusal"] = "refusal"
    text: str
    issues: tuple[Issue, ...]
    unknown: UnknownWord | None = None
    reading: Reading | None = None
    plan: Plan | None = None
    effects: tuple[EffectCall, ...] = ()  # the calls that wait for approval, with their values
    facts: Facts | None = None
    tried: tuple[Attempt, ...] = ()  # plans that the gate refused or that failed when they ran
    trace: tuple[TraceEntry, ...] = ()
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()  # as in Answer
    proposals: tuple[ModelAttempt, ...] = ()  # as in Answer

    @property
    def to_approve(self) -> str | None:
        """The fingerprint of the plan and the values that wait for approval."""
        return fingerprint_of(self.plan, self.effects) if self.plan else None


def refused(code: str, problem: str, hint: str) -> Refusal:
    """Build a refusal with a single issue."""
    text = f"{problem[:1].upper()}{problem[1:]}; {hint}."
    return Refusal(text=text, issues=(Issue(code=code, problem=problem, hint=hint),))


class MeantColumn(Contract):
    """The column that a candidate names."""

    table: str
    column: str


class Clarification(Contract):
    """A question to the user. The reply is a candidate, its number, or its words.

    A candidate with a reading is planned as that reading; without one, its words complete the original question.
    One candidate with a reading is a confirmation: yes plans it, no ends the question.
    Where `means` names the column of a candidate, a reply that ends in `remember` makes `missing` another name of it.
    """

    kind: Literal["clarification"] = "clarification"
    text: str
    missing: str
    candidates: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()  # of each candidate, in the same order; or none
    means: tuple[MeantColumn | None, ...] = ()  # of each candidate, if `missing` is a word that may name a column
    question: str = ""  # the one that was asked
    route: str | None = None  # what kind of question it was read as
    put: str = "{choice}"  # what replaces `missing` in the question; `{choice} {missing}` keeps it
    open: bool = False  # there are no candidates: any reply completes the question
    trace: tuple[TraceEntry, ...] = ()
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()  # as in Answer
    proposals: tuple[ModelAttempt, ...] = ()  # as in Answer

    @model_validator(mode="after")
    def _readings_match_candidates(self) -> Clarification:
        if self.readings and len(self.readings) != len(self.candidates):
            raise ValueError(f"{len(self.candidates)} candidates have {len(self.readings)} readings; give each one")
        if self.means and len(self.means) != len(self.candidates):
            raise ValueError(f"{len(self.candidates)} candidates mean {len(self.means)} columns; give each one or None")
        return self

    @property
    def confirms(self) -> bool:
        """True if the reply is yes or no: one reading is offered."""
        return len(self.readings) == 1


Outcome = Answer | Refusal | Clarification
