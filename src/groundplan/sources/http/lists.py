"""What sources of lists share: settings, a server, a shelf for the rows, and names that stand in the schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from groundplan.contracts.answer import ShownTable
from groundplan.contracts.facts import TableRef
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import UsageError
from groundplan.sources.http.listing import Columns, Shelf, Wording, described
from groundplan.sources.http.tracker import Tracker, load_tracker

if TYPE_CHECKING:
    from groundplan.sources.http.client import Server


class Lists:
    """Opened with `open`; nothing is sent before a tool is called."""

    name: ClassVar[str]
    header: ClassVar[tuple[str, str]]  # where the token goes, and what stands before it
    tables: ClassVar[Mapping[str, Columns]]
    wording: ClassVar[Wording]
    read_by: ClassVar[str]  # what reads them, for people

    def __init__(self, tracker: Tracker, server: Server) -> None:
        self._tracker, self._server = tracker, server
        self._shelf = Shelf(self.name)

    @classmethod
    def open(cls, where: Tracker | dict[str, Any], name: str = "") -> Self:
        """Settings with url, projects (by name where people call them otherwise) and the token's place."""
        from groundplan.sources.http.client import Server

        tracker = load_tracker(where, cls.name)
        return cls(tracker, Server(tracker, tracker.token_header(*cls.header)))

    async def describe(self) -> SourceSchema:
        return described(self.name, self.tables, {**self.wording, "project": self._tracker.called})

    def table(self, name: str) -> NoReturn:
        raise UsageError(f"{self.name}: {name!r} does not lie ready; a step with {self.read_by} reads it")

    def restore(self, ref: TableRef, run: str) -> object:
        return self._shelf.handle(ref, run)

    async def fetch(self, ref: TableRef, run: str, rows: int, seconds: float) -> ShownTable:
        return self._shelf.show(ref, run, rows)

    async def values(self, question: str) -> dict[str, dict[str, tuple[str, ...]]]:
        return {}  # what projects and statuses are called stands in the schema

    async def close(self) -> None:
        self._shelf.clear()
        await self._server.close()
