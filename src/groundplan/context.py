"""What readers and planners may use for one question: names and values, but no sources and no rows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.answer import MeantColumn
from groundplan.contracts.contract import JsonObject
from groundplan.contracts.conversation import Turn
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import ROWS_WITHOUT_APPROVAL, Plan
from groundplan.contracts.proposing import ModelAttempt
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.state.plans import PlanStore, key_of
from groundplan.telemetry.audit import Execution
from groundplan.text.entities import Registry
from groundplan.text.similar import Nearness

if TYPE_CHECKING:
    from groundplan.catalog.search.shortlist import Retriever
    from groundplan.llm.calls import CallsByRole  # imported only where a model is used

Values = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Values that a question may name, by table and column."""


Compiler = Callable[[JsonObject], Awaitable[str]]
"""A step's params as a query in a source's own language; raises `ToolError` for what that cannot say."""


async def _no_values(text: str) -> Values:
    return {}


async def _no_issues(reading: Reading) -> tuple[Issue, ...]:
    return ()


async def _no_faults(plan: Plan, reading: Reading) -> tuple[Issue, ...]:
    return ()


async def _not_kept(column: MeantColumn, word: str) -> str:
    return ""


async def _unknown_rows(one: Reading, other: Reading) -> bool:
    return False


@dataclass(frozen=True)
class Context:
    catalog: Catalog
    schemas: Mapping[str, SourceSchema]
    retriever: Retriever
    find_values: Callable[[str], Awaitable[Values]] = _no_values
    unread: set[str] = field(default_factory=set)  # tables of which some values could not be read in time
    compilers: Mapping[str, Compiler] = field(default_factory=dict)  # of sources that take only queries, by name
    nearness: Nearness | None = None  # similarity by embeddings, if installed
    registry: Registry | None = None  # entity names in a knowledge base
    remember: Callable[[MeantColumn, str], Awaitable[str]] = _not_kept  # gives a column a name; a remark on it
    plans: PlanStore | None = None  # checked plans that a model made earlier
    keeps_plans: bool = True  # whether a new one is stored
    turns: tuple[Turn, ...] = ()  # earlier turns of the conversation, oldest first
    calls: CallsByRole | None = None  # model calls for this question
    rows_without_approval: int = ROWS_WITHOUT_APPROVAL  # that a plan may read, as engines estimate them
    notes: list[str] = field(default_factory=list)  # remarks for the user on how the question was read and planned
    trail: list[Execution] = field(default_factory=list)  # audit records of the agents that ran
    attempts: list[ModelAttempt] = field(default_factory=list)  # what models proposed, and what was wrong with it
    sent_back: tuple[ModelAttempt, ...] = ()  # proposals of a reader whose query failed: it reads the question again
    find_issues: Callable[[Reading], Awaitable[tuple[Issue, ...]]] = _no_issues  # why the gate refuses the rules' plan
    check_plan: Callable[[Plan, Reading], Awaitable[tuple[Issue, ...]]] = _no_faults  # the errors that the gate finds
    same_rows: Callable[[Reading, Reading], Awaitable[bool]] = _unknown_rows  # True if both give the same result

    @cached_property
    def tables(self) -> SourceSchema:
        """One schema with the tables of all sources, ordered by source name."""
        schemas = [self.schemas[name] for name in sorted(self.schemas)]
        first = next((schema for schema in schemas if schema.tables), schemas[0])
        tables = tuple(table for schema in schemas for table in schema.tables)
        metrics = tuple(metric for schema in schemas for metric in schema.metrics)
        links = tuple(link for schema in schemas for link in schema.relationships)
        return first.model_copy(
            update={"tables": tables, "relationships": links, "metrics": metrics, "knowledge": None}
        )

    def schema_of(self, reading: Reading) -> SourceSchema:
        """A schema with all tables, attributed to the source that holds the reading's first table."""
        about = reading.tables[0] if reading.tables else ""
        holding = [schema for _, schema in sorted(self.schemas.items()) if schema.find(about)]
        knowledge = [schema for schema in self.schemas.values() if schema.knowledge]
        if not holding:
            return knowledge[0] if knowledge and not reading.tables else self.tables
        return holding[0].model_copy(update={"tables": self.tables.tables})

    @cached_property
    def has_actions(self) -> bool:
        """Whether the catalog has action tools, such as those of MCP servers."""
        return any(tool.is_action for tool in self.catalog.tools.values())

    def plan_key(self, reading: Reading) -> str:
        return key_of(reading, self.schema_of(reading), self.catalog.version)

    async def keep(self, plan: Plan, reading: Reading, *, approved: bool = False) -> None:
        """Store a checked plan that a model made, or whose reading a person confirmed."""
        if self.plans and self.keeps_plans:
            await self.plans.keep(self.plan_key(reading), reading.question, reading, plan, approved=approved)
