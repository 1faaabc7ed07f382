"""The interface of sources, built-in and plug-in alike (entry point `groundplan.sources`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pydantic import JsonValue

from groundplan.contracts.answer import ShownTable, Usage
from groundplan.contracts.contract import Language, thaw
from groundplan.contracts.facts import StepFacts, TableRef
from groundplan.contracts.plan import Limits
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool


@dataclass(frozen=True)
class Call:
    """One step, ready to run. Everything in it was checked by the gate."""

    run: str
    step: str
    tool: Tool
    params: Mapping[str, JsonValue]
    inputs: Mapping[str, object]  # a handle for each port: a `Result.handle`, or one from `restore`
    limits: Limits
    seconds: float  # the time limit of the step; after that the source cancels its own work
    output: Path | None = None  # the folder where files may be written; None forbids it
    language: Language = "en"  # of titles and labels
    plan: str = ""  # the fingerprint of the checked plan
    keep: int = 0  # items of a list to return as `StepFacts.listed`, because a later step runs for each of them
    item: int | None = None  # the position of the item, in a step that runs for each item of a list

    @property
    def idempotency_key(self) -> str:
        """Equal for the same step and item of the same run, called for the same plan with the same params."""
        work = json.dumps([self.plan, self.tool.name, thaw(self.params)], sort_keys=True)
        place = self.step if self.item is None else f"{self.step}.{self.item}"
        return f"{self.run}/{place}/{hashlib.sha256(work.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Result:
    """The result of a step: plain facts for the state, and a live handle for later steps."""

    facts: StepFacts
    handle: object = None


class Source(Protocol):
    """A source of facts. Methods raise errors from `groundplan.errors`; a `TransientError` is retried.

    A source offers more by implementing the capabilities below. Its class is registered under the entry point
    `groundplan.sources` and follows `SourceType`.
    """

    name: str

    async def describe(self) -> SourceSchema:
        """Names, kinds, keys and relationships; never rows."""
        ...

    async def call(self, call: Call) -> Result:
        """Run one tool. Cancelling the task stops the work."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class TableSource(Source, Protocol):
    """A source whose steps pass tables on by reference."""

    def table(self, name: str) -> object:
        """A handle to one of its own tables."""
        ...

    def restore(self, ref: TableRef, run: str) -> object:
        """A handle to a table that an earlier process of this run referenced."""
        ...

    async def fetch(self, ref: TableRef, run: str, rows: int, seconds: float) -> ShownTable:
        """Up to this many rows of a referenced table, as this run computed them."""
        ...

    async def values(self, question: str) -> Mapping[str, Mapping[str, tuple[str, ...] | None]]:
        """Values of its text columns, by table and column, that the question may name; None: not read in time."""
        ...


@runtime_checkable
class EstimatingSource(Source, Protocol):
    """A source that knows about how many rows a step would read."""

    async def estimate(self, call: Call, *, is_last: bool) -> tuple[Mapping[str, int], object]:
        """The rows by query, and a handle for later steps unless a query must run first. The last step is shown."""
        ...


@runtime_checkable
class SearchedSource(Source, Protocol):
    """A source with so many tables that not all of them are described in full."""

    async def about(self, text: str) -> SourceSchema:
        """The tables that the text may be about, described in full."""
        ...


@runtime_checkable
class QueriedSource(Source, Protocol):
    """A source that answers one query at a time in a language of its own, as Tableau does."""

    async def compiled(self, params: Mapping[str, JsonValue]) -> str:
        """The query for a step with these params; raises `ToolError` that names what one query cannot say."""
        ...


@runtime_checkable
class EntitySource(Source, Protocol):
    """A source of named entities that questions ask about."""

    def entities(self) -> Iterable[tuple[str, str, str, tuple[str, ...]]]:
        """Id, type, name and aliases of each entity. Readers find names with them; planners never see them."""
        ...


@runtime_checkable
class ToolLister(Source, Protocol):
    """A source that describes its own tools once it is open, as an MCP server does."""

    def catalog_tools(self) -> Sequence[Tool]: ...


@runtime_checkable
class ComputingSource(Source, Protocol):
    """A source that runs functions over rows: the tools of a project's own."""

    def add_functions(self, functions: Mapping[str, Any]) -> None:
        """Functions from an Arrow table and params to an Arrow table, by the names of their tools."""
        ...


@runtime_checkable
class MeteredSource(Source, Protocol):
    """A source whose tools call language models."""

    @property
    def usage(self) -> Usage:
        """Model usage of the run so far."""
        ...


class SourceType(Protocol):
    """The class of a source, registered under the entry point `groundplan.sources`.

    Settings select it (`[sources.NAME]`), and so does a file: a folder with NAME.yaml is opened by the source NAME.
    """

    @staticmethod
    def tools() -> Sequence[Path]:
        """The YAML files that describe its tools; empty for a `ToolLister`."""
        ...

    @classmethod
    def open(cls, where: Any, name: str) -> Source:
        """Open it from its settings, a table `[sources.NAME]`, or from data that was passed directly."""
        ...
