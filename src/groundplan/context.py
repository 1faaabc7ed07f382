"""What the stages of one question work with, and what they leave: the world, the question, its trace and its plan."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from groundplan.asking.remote_tables import Fetching
from groundplan.asking.tasks.read import analyse
from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.parts import doable
from groundplan.catalog.search.shortlist import Retriever
from groundplan.contracts.answer import Answer, Clarification, Refusal, TraceEntry, Usage
from groundplan.contracts.conversation import Turn
from groundplan.contracts.knowledge import Conversation
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.shortlist import Shortlist
from groundplan.contracts.task import Graph, PlanResponse
from groundplan.contracts.verdict import Refused, Verdict
from groundplan.sources.interface import Source
from groundplan.state.plans import PlanStore, key_of
from groundplan.telemetry.audit import Execution
from groundplan.text.entities import Registry
from groundplan.text.similar import Nearness

if TYPE_CHECKING:
    from groundplan.llm.calls import Calls  # a model's client is heavy: only where a model is asked
    from groundplan.llm.cascade import Cascade

Asking = Literal["rules", "adapt", "direct", "compose"]
Ended = TypeVar("Ended", bound=Answer | Refusal | Clarification)
MODEL_SECONDS = 120.0  # for all that models are asked for one question


@dataclass(frozen=True)
class Asked:
    """A question, and the clock and the way it is asked with."""

    question: str
    today: date
    timezone: str = "UTC"
    strategy: Asking | None = None  # None: words and rules first, a model where they leave something open
    turns: tuple[Turn, ...] = ()  # of its conversation, the oldest first

    @property
    def context(self) -> Conversation | None:
        """What the turn before was about."""
        return self.turns[-1].about if self.turns else None


@dataclass(frozen=True)
class World:
    """What the stages work with."""

    catalog: Catalog
    sources: Mapping[str, Source]
    schemas: Mapping[str, SourceSchema]
    retriever: Retriever
    meaning: Nearness | None = None  # embeddings, where they are set up
    models: Cascade | None = None
    store: PlanStore | None = None  # checked plans that a model made
    registry: Registry | None = None  # the names of a knowledge base, or of trackers' projects

    @cached_property
    def schema(self) -> SourceSchema:
        """All that can be asked about; tables of several sources stand side by side."""
        first, *others = self.schemas.values()
        tables = tuple(table for schema in (first, *others) for table in schema.tables)
        return first.model_copy(update={"tables": tables}) if others else first

    @property
    def doable(self) -> bool:
        """Whether there are tools that act or look up for a task, as MCP servers have them."""
        return any(doable(tool) for tool in self.catalog.tools.values())

    def is_task(self, strategy: Asking | None) -> bool:
        """Whether what is asked here is something to do: there is nothing to ask about, or it is said so."""
        data = bool(self.schema.tables or self.schema.knowledge)
        return (strategy == "compose" or not data) and self.doable  # a catalog may be long: looked through last

    @property
    def query_tool(self) -> str | None:
        """The tool that answers one typed query, of the source that is asked."""
        tools = self.catalog.tools.values()
        return next((t.name for t in tools if t.output.columns == "query" and t.source == self.schema.source), None)

    def fetching(self, timezone: str) -> Fetching:
        """The tools that read tables which lie on other servers."""
        return Fetching({t.output.table: t for t in self.catalog.tools.values() if t.output.table}, timezone)

    def keep(self, plan: Plan, reading: Reading) -> None:
        """A checked plan that was hard to find, for the next time."""
        if self.store:
            self.store.keep(key_of(reading, self.schema, self.catalog.version), reading.question, reading, plan)

    def calls(self) -> Calls | None:
        """What one question may ask of models; None without one."""
        if self.models is None:
            return None
        from groundplan.llm.calls import Calls

        return Calls(self.models, MODEL_SECONDS)


@dataclass
class Trace:
    """How long each stage took, what it asked of models, and the thought behind it."""

    on_stage: Callable[[str], None] = lambda _: None
    entries: list[TraceEntry] = field(default_factory=list)
    calls: Calls | None = None
    notes: list[str] = field(default_factory=list)
    _since: float = field(default_factory=time.perf_counter)

    def stage(self, name: str, detail: str = "") -> None:
        now, tokens = time.perf_counter(), self.usage.prompt_tokens + self.usage.completion_tokens
        spent = tokens - sum(entry.tokens for entry in self.entries)
        ms = round((now - self._since) * 1000, 1)
        self.entries.append(TraceEntry(stage=name, ms=ms, tokens=spent, detail=detail))
        self._since = now
        self.on_stage(name)

    def agent(self, run: Execution) -> None:
        """One entry of the audit trail: what it was given and what it gave, by their fingerprints."""
        detail = f"{run.version} {run.status}: {run.input} to {run.output}"
        self.entries.append(TraceEntry(stage=run.agent, ms=round(run.ms, 1), tokens=0, detail=detail))

    @property
    def audited(self) -> bool:
        """Whether agents took part: then all of them are told about."""
        return any(entry.stage == "retrieval_planner" for entry in self.entries)

    @property
    def usage(self) -> Usage:
        return self.calls.usage if self.calls else Usage()

    def ended(self, outcome: Ended) -> Ended:
        """The outcome with what led to it."""
        led = {"trace": tuple(self.entries), "usage": self.usage, "notes": tuple(dict.fromkeys(self.notes))}
        return cast(Ended, outcome.model_copy(update=led))


@dataclass(frozen=True)
class Planned:
    """A question with its checked plan, or how it ended before one."""

    reading: Reading | None = None
    shortlist: Shortlist | None = None
    plan: Plan | None = None
    verdict: Verdict | None = None
    ended: Refusal | Clarification | None = None
    notes: tuple[str, ...] = ()  # what a model said that was not taken, or why it said nothing
    usage: Usage = field(default_factory=Usage)
    trace: tuple[TraceEntry, ...] = ()

    @property
    def response(self) -> PlanResponse:
        """All that is known of a plan, for those who take it further."""
        assert self.reading is not None
        assert self.plan is not None
        made = self.plan.provenance
        return PlanResponse(
            reading=self.reading,
            plan=self.plan,
            graph=Graph.of(self.plan),
            reasoning=made.reasoning or self.plan.reasons,
            analysis=analyse(self.reading),
            log=(*made.log, *self.notes),
            tokens=self.usage.prompt_tokens + self.usage.completion_tokens,
            duration_ms=round(sum(entry.ms for entry in self.trace), 1),
            confidence=self.plan.confidence,
        )

    @property
    def why(self) -> str:
        return self.ended.text if self.ended else ""


def tools_of(plan: Plan) -> str:
    return ", ".join(step.tool or step.kind for step in plan.steps)


def told(verdict: Verdict) -> str:
    return "refused" if isinstance(verdict, Refused) else "passed"
