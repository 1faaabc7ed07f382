"""Tables of a server with files beside them, as one source. A step reads either the server or the files."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from groundplan.contracts.answer import ShownTable
from groundplan.contracts.facts import TableRef
from groundplan.contracts.schema import SourceSchema
from groundplan.sources.interface import Call, Result
from groundplan.sources.tables.engine.handle import Handle

if TYPE_CHECKING:
    from groundplan.sources.tables.source import Tables

FILES = "duckdb"  # the engine of the files, which is not the server's


class FilesBeside:
    """No step can join a table of the server with one of a file."""

    name = "tables"

    def __init__(self, server: Tables, files: Tables) -> None:
        self._server, self._files = server, files
        server.keep_made_rows_in(files)

    async def describe(self) -> SourceSchema:
        return _together(await self._server.describe(), await self._files.describe())

    async def about(self, text: str) -> SourceSchema:
        return _together(await self._server.about(text), await self._files.about(text))

    def add_functions(self, functions: Mapping[str, Any]) -> None:
        self._server.add_functions(functions)
        self._files.add_functions(functions)

    async def call(self, call: Call) -> Result:
        return await (self._files if any(map(self._is_file, call.inputs.values())) else self._server).call(call)

    async def estimate(self, call: Call, *, is_last: bool) -> tuple[Mapping[str, int], object]:
        of = self._files if any(map(self._is_file, call.inputs.values())) else self._server
        return await of.estimate(call, is_last=is_last)

    def table(self, name: str) -> Handle:
        return (self._server if name in self._server.names else self._files).table(name)

    def restore(self, ref: TableRef, run: str = "") -> Handle:
        return self._of(ref).restore(ref, run)

    async def fetch(self, ref: TableRef, run: str, rows: int, seconds: float) -> ShownTable:
        return await self._of(ref).fetch(ref, run, rows, seconds)

    async def values(self, question: str) -> dict[str, dict[str, tuple[str, ...] | None]]:
        return {**await self._files.values(question), **await self._server.values(question)}

    async def close(self) -> None:
        await asyncio.gather(self._server.close(), self._files.close())

    def _of(self, ref: TableRef) -> Tables:
        return self._files if ref.engine == FILES else self._server

    def _is_file(self, given: object) -> bool:
        return isinstance(given, Handle) and given.table.get_backend().name == FILES


def _together(server: SourceSchema, files: SourceSchema) -> SourceSchema:
    """The server's schema with the tables of the files. A name that both have is the server's."""
    added = tuple(table for table in files.tables if server.find(table.name) is None)
    links = (*server.relationships, *files.relationships)
    tables = (*server.tables, *added)
    return server.model_copy(update={"tables": tables, "relationships": links, "lacks": ()})  # the files lack nothing
