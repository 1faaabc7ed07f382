"""What a source is: the same for the built-in ones and for anyone's plug-in (entry point `groundplan.sources`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pydantic import JsonValue

from groundplan.contracts.answer import ShownTable
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
    inputs: Mapping[str, object]  # port name to a handle: a `Result.handle`, or what `restore` gave
    limits: Limits
    seconds: float  # how long the step may take; past that the source cancels its own work
    output: Path | None = None  # where files may be written, if anywhere

    @property
    def idempotency_key(self) -> str:
        return f"{self.run}/{self.step}"


@dataclass(frozen=True)
class Result:
    """What a step leaves: plain facts for the state, and a live handle for the steps that need it."""

    facts: StepFacts
    handle: object = None


class Source(Protocol):
    """A place facts come from. Methods raise from `groundplan.errors`, `TransientError` when worth a retry.

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
        """A handle on one of its own tables."""
        ...

    def restore(self, ref: TableRef, run: str) -> object:
        """A handle on a table that an earlier process of this run left by reference."""
        ...

    async def fetch(self, ref: TableRef, run: str, rows: int, seconds: float) -> ShownTable:
        """At most this many rows of a referenced table, as this run computed them."""
        ...

    async def values(self, question: str) -> dict[str, dict[str, tuple[str, ...]]]:
        """Values of its text columns, by table and column, that the question may name."""
        ...


@runtime_checkable
class EntitySource(Source, Protocol):
    """A source with named things that questions ask about."""

    def entities(self) -> Iterable[tuple[str, str, str, tuple[str, ...]]]:
        """Id, type, name and aliases of each thing. Readers find names by them; planners never see them."""
        ...


@runtime_checkable
class ToolLister(Source, Protocol):
    """A source that describes its own tools once it is open, as an MCP server does."""

    def catalog_tools(self) -> Sequence[Tool]: ...


class SourceType(Protocol):
    """What the entry point `groundplan.sources` names: the class of a source.

    Settings name it (`[sources.NAME]`), and so does a file: a folder that holds NAME.yaml is opened by the source NAME.
    """

    @staticmethod
    def tools() -> Sequence[Path]:
        """The YAML files that describe its tools; empty for a `ToolLister`."""
        ...

    @classmethod
    def open(cls, where: Any, name: str) -> Source:
        """Open it from its settings: a table `[sources.NAME]`, or data that was given directly."""
        ...
