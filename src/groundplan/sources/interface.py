"""What a source is: the same for the built-in ones and for anyone's plug-in (entry point `groundplan.sources`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol

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


class Tableless(ABC):
    """What a source without tables has in common: whoever asks for one is told by `table` what to do instead."""

    @abstractmethod
    def table(self, name: str) -> NoReturn: ...

    def restore(self, ref: TableRef) -> NoReturn:
        self.table(ref.query)

    async def fetch(self, ref: TableRef, rows: int, seconds: float) -> ShownTable:
        self.table(ref.query)

    async def values(self, question: str) -> dict[str, dict[str, tuple[str, ...]]]:
        return {}


class Source(Protocol):
    """A place facts come from. Methods raise from `groundplan.errors`, `TransientError` when worth a retry."""

    name: str

    @staticmethod
    def tools() -> Sequence[Path]:
        """The YAML files that describe its tools."""
        ...

    async def describe(self) -> SourceSchema:
        """Names, kinds, keys and relationships; never rows."""
        ...

    async def call(self, call: Call) -> Result:
        """Run one tool."""
        ...

    def table(self, name: str) -> object:
        """A handle on one of its own tables."""
        ...

    def restore(self, ref: TableRef) -> object:
        """A handle on a table that an earlier process left by reference."""
        ...

    async def fetch(self, ref: TableRef, rows: int, seconds: float) -> ShownTable:
        """At most so many rows of a referenced table, for a person to see."""
        ...

    async def values(self, question: str) -> dict[str, dict[str, tuple[str, ...]]]:
        """Values of its text columns, by table and column, that the question may name."""
        ...

    async def close(self) -> None: ...
