"""Shared by the sources of lists: settings, a server, the tables of each run, and the schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from groundplan.contracts.answer import ShownTable
from groundplan.contracts.facts import TableRef
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import UsageError
from groundplan.sources.http.listing import Columns, RunTables, Wording, described
from groundplan.sources.http.tracker import Tracker, load_tracker

if TYPE_CHECKING:
    from groundplan.sources.http.client import Server


class ListSource:
    """Opened with `open`; no request is sent before a tool is called."""

    name: ClassVar[str]
    header: ClassVar[tuple[str, str]]  # the header for the token, and the prefix before it
    tables: ClassVar[Mapping[str, Columns]]
    wording: ClassVar[Wording]
    read_by: ClassVar[str]  # the tool that reads the lists, for messages

    def __init__(self, tracker: Tracker, server: Server) -> None:
        self._tracker, self._server = tracker, server
        self._run_tables = RunTables(self.name)

    @classmethod
    def open(cls, where: Tracker | dict[str, Any], name: str = "") -> Self:
        """The settings have url, projects (optionally by the name that people use) and where the token is kept."""
        from groundplan.sources.http.client import Server

        tracker = load_tracker(where, cls.name)
        return cls(tracker, Server(tracker, tracker.token_header(*cls.header)))

    async def describe(self) -> SourceSchema:
        return described(self.name, self.tables, {**self.wording, "project": self._tracker.called})

    def table(self, name: str) -> NoReturn:
        raise UsageError(f"{self.name}: {name!r} is not a stored table; read it in a step with {self.read_by}")

    def restore(self, ref: TableRef, run: str) -> object:
        return self._run_tables.handle(ref, run)

    async def fetch(self, ref: TableRef, run: str, rows: int, seconds: float) -> ShownTable:
        return self._run_tables.show(ref, run, rows)

    async def values(self, question: str) -> dict[str, dict[str, tuple[str, ...]]]:
        return {}  # the schema already lists the words for projects and statuses

    async def close(self) -> None:
        self._run_tables.clear()
        await self._server.close()
