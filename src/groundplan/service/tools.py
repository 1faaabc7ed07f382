"""The tools of an MCP server: ask, plan, check, run, explain, verify_sql. Over stdio and over HTTP they are the same.

No tool takes an approval: it would come from the client's model. A person approves, elsewhere or by elicitation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from typing import Annotated, Any, Protocol

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import InputRequiredResult, ToolAnnotations
from pydantic import BaseModel, Field

from groundplan import __version__
from groundplan.asking.replies import yes_or_no
from groundplan.contracts.answer import Answer, Clarification, Outcome, ShownTable
from groundplan.contracts.explanation import Reason as Why
from groundplan.contracts.explanation import WordFate
from groundplan.contracts.feedback import Feedback, Thumb
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Strategy
from groundplan.contracts.verdict import Passed, Verdict
from groundplan.contracts.verification import Finding, Verification
from groundplan.errors import Crashed, GroundplanError
from groundplan.result import Planned

ROWS = 100  # of a table in a reply
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
MAY_CHANGE = ToolAnnotations(read_only_hint=False, open_world_hint=False)
KEEPS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
INSTRUCTIONS = (
    "Answers questions about the user's data. Ask in plain words, one question at a time; the text of an answer is "
    "verified, so repeat its numbers as they are. If the outcome is a clarification, ask the user and send the number "
    "of the candidate, or the user's words, as the next question of the same thread. "
    "If you wrote SQL yourself, call verify_sql before you show a number. "
    "If the user says that an answer is good or bad, call feedback with its run."
)

Question = Annotated[str, Field(max_length=20_000, description="The question in plain words, in English or Russian.")]
Proposed = Annotated[dict[str, Any], Field(description="The `proposal` that the tool `plan` returned, or one like it.")]
Today = Annotated[date | None, Field(description="The date to which relative periods refer; by default today.")]
Planner = Annotated[
    Strategy | None, Field(description="The planner to try first, such as rules; by default the usual order.")
]
RunOf = Annotated[str, Field(max_length=64, description="The `run` of the answer.")]
Reason = Annotated[str, Field(max_length=2_000, description="Why, in the user's words.")]
Sql = Annotated[str, Field(max_length=20_000, description="One SELECT in DuckDB's dialect over the user's tables.")]
Thread = Annotated[
    str | None, Field(max_length=200, description="A conversation: follow-ups refer to its last question.")
]


class Told(BaseModel):
    """An outcome: an answer, a refusal or a clarification. Of a run that goes on: `running`."""

    kind: str
    text: str
    read_as: str = ""
    tables: tuple[ShownTable, ...] = ()
    candidates: tuple[str, ...] = ()  # of a clarification
    issues: tuple[Issue, ...] = ()  # of a refusal
    approve_with: str | None = Field(None, description="The command with which a person approves the plan.")
    run: str | None = Field(None, description="The id of the run, for the tool `feedback`.")
    link: str | None = Field(None, description="The page of the run, where a person replies or approves.")


class PlanTold(BaseModel):
    read_as: str
    proposal: dict[str, Any] | None = Field(description="For the tools `check` and `run`; none if there is no plan.")
    issues: tuple[Issue, ...]
    why: str = Field(description="Why there is no plan.")


class CheckTold(BaseModel):
    passed: bool
    issues: tuple[Issue, ...]


class ExplanationTold(BaseModel):
    read_as: str
    reasons: tuple[Why, ...]
    words: tuple[WordFate, ...]
    why: str


class VerificationTold(BaseModel):
    result: str = Field(description="sound, faulty, or unverified: not all of the query could be read.")
    read_as: str = Field(description="What the query asks, in words.")
    findings: tuple[Finding, ...]
    unverified: tuple[str, ...] = Field(description="What could not be read.")
    notes: tuple[str, ...]


class FeedbackTold(BaseModel):
    run: str
    thumb: Thumb


class Verbs(Protocol):
    """How a server does what its tools offer."""

    async def ask(
        self, ctx: Context[Any], question: str, thread: str | None, today: date | None, strategy: str | None
    ) -> Told | InputRequiredResult: ...

    async def run(self, ctx: Context[Any], proposal: dict[str, Any]) -> Told | InputRequiredResult: ...

    async def plan(self, ctx: Context[Any], question: str, today: date | None, strategy: str | None) -> Planned: ...

    async def check(self, ctx: Context[Any], proposal: dict[str, Any]) -> Verdict: ...

    async def verify(self, ctx: Context[Any], question: str, sql: str, today: date | None) -> Verification: ...

    async def feedback(self, ctx: Context[Any], run: str, given: Feedback) -> None: ...


def create_server(verbs: Verbs, acts: ToolAnnotations, **options: Any) -> MCPServer[Any]:
    """`acts` says whether `ask` and `run` may change something; `options` are those of `MCPServer`."""
    server: MCPServer[Any] = MCPServer(
        "groundplan", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING", **options
    )

    @server.tool(annotations=acts)
    async def ask(
        question: Question, ctx: Context[Any], thread: Thread = None, today: Today = None, strategy: Planner = None
    ) -> Told | InputRequiredResult:
        """Answer a question about the data. Every number in the text traces back to a fact."""
        if yes_or_no(question):
            raise ToolError("a change is approved by a person, not by a tool call; reply to a choice with its number")
        async with _typed():
            return await verbs.ask(ctx, question, thread, today, strategy)

    @server.tool(annotations=READS)
    async def plan(question: Question, ctx: Context[Any], today: Today = None, strategy: Planner = None) -> PlanTold:
        """Plan a question and check the plan, without running it."""
        async with _typed():
            found = await verbs.plan(ctx, question, today, strategy)
        proposal = None
        if found.plan and found.reading and not found.ended:
            proposal = {"reading": found.reading.model_dump(mode="json"), "plan": found.plan.model_dump(mode="json")}
        issues = found.verdict.issues if found.verdict else ()
        return PlanTold(read_as=found.read_as, proposal=proposal, issues=issues, why=found.why)

    @server.tool(annotations=READS)
    async def check(proposal: Proposed, ctx: Context[Any]) -> CheckTold:
        """Check whether a plan may run: it must do what its reading asks for, and nothing more."""
        async with _typed():
            verdict = await verbs.check(ctx, proposal)
        return CheckTold(passed=isinstance(verdict, Passed), issues=verdict.issues)

    @server.tool(annotations=acts)
    async def run(proposal: Proposed, ctx: Context[Any]) -> Told | InputRequiredResult:
        """Check a plan and run it. A plan that changes something is refused until a person approves it."""
        async with _typed():
            return await verbs.run(ctx, proposal)

    @server.tool(annotations=READS)
    async def explain(
        question: Question, ctx: Context[Any], today: Today = None, strategy: Planner = None
    ) -> ExplanationTold:
        """Why these steps: each requirement with the words that ask for it, and what became of every word."""
        async with _typed():
            found = await verbs.plan(ctx, question, today, strategy)
        return ExplanationTold(read_as=found.read_as, reasons=found.reasons, words=found.words, why=found.why)

    @server.tool(annotations=READS)
    async def verify_sql(question: Question, sql: Sql, ctx: Context[Any], today: Today = None) -> VerificationTold:
        """Before you show a number from your own SQL: what the query asks, and what is wrong with it. Runs nothing."""
        async with _typed():
            found = await verbs.verify(ctx, question, sql, today)
        return VerificationTold(**found.model_dump(exclude={"kind", "reading"}))

    @server.tool(annotations=KEEPS)
    async def feedback(run: RunOf, thumb: Thumb, ctx: Context[Any], reason: Reason = "") -> FeedbackTold:
        """Keep what the user said of an answer: good or bad, and why. Only what the user said, never your own view."""
        async with _typed():
            await verbs.feedback(ctx, run, Feedback(thumb=thumb, reason=reason))
        return FeedbackTold(run=run, thumb=thumb)

    return server


@asynccontextmanager
async def _typed() -> AsyncIterator[None]:
    """Errors as errors of the tool, in one line that quotes no data."""
    try:
        yield
    except (ToolError, MCPError):
        raise
    except GroundplanError as error:
        raise ToolError(str(error)) from error
    except Exception as error:
        raise ToolError(str(Crashed.by(error))) from error


def told(outcome: Outcome) -> Told:
    if isinstance(outcome, Answer):
        tables = tuple(table.model_copy(update={"rows": table.rows[:ROWS]}) for table in outcome.tables)
        return Told(kind=outcome.kind, text=outcome.text, read_as=outcome.read_as, tables=tables)
    if isinstance(outcome, Clarification):
        return Told(kind=outcome.kind, text=outcome.text, candidates=outcome.candidates)
    return Told(kind=outcome.kind, text=outcome.text, issues=outcome.issues)
