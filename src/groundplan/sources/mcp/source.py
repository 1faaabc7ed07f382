"""An MCP server as a source: its accepted tools, called exactly as a checked plan says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from groundplan.blocking import Portal
from groundplan.contracts.contract import thaw
from groundplan.contracts.facts import Item, StepFacts
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool
from groundplan.errors import DeadlineExceeded, OutcomeUnknown, ToolError, UsageError
from groundplan.sources.interface import Call, Result
from groundplan.sources.mcp import results
from groundplan.sources.mcp.access import Access, load_access
from groundplan.sources.mcp.params import UnsupportedSchema
from groundplan.sources.mcp.pins import Change, Pins
from groundplan.sources.mcp.returns import InvalidResult
from groundplan.sources.mcp.tools import CatalogEntry, catalog_entry, catalog_name, usable

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from groundplan.sources.mcp.connection import Connection, ToolCall

ENGINE = "mcp"


class ToolFailed(ToolError):
    """The server reports that the tool failed; `item` quotes its message as data, for a person to read."""

    def __init__(self, message: str, item: Item) -> None:
        super().__init__(message)
        self.item = item


class Mcp:
    """Opened with `Mcp.open`, which connects. There is one connection, and calls take turns."""

    def __init__(self, name: str, access: Access, portal: Portal, connection: Connection) -> None:
        self.name = name
        self._access, self._portal, self._connection = access, portal, connection
        self._pins = Pins(name, access.mcp)
        self._read()
        self._pins.trust_first(self._definitions)

    @classmethod
    def open(cls, where: Access | dict[str, Any], name: str) -> Self:
        """The settings have the key `mcp`: a command or an address."""
        access = load_access(name, where)
        try:
            from groundplan.sources.mcp.connection import Connection
        except ImportError as error:
            raise UsageError("MCP servers need the official SDK: pip install 'groundplan[mcp]'") from error
        portal = Portal(f"groundplan-{name}")
        connection = Connection(name, access)
        try:
            portal.call(connection.connect())
            return cls(name, access, portal, connection)
        except BaseException:
            portal.call(connection.close())
            portal.stop()
            raise

    @staticmethod
    def tools() -> Sequence[Path]:
        return []  # no file describes them: see `catalog_tools`

    def catalog_tools(self) -> list[Tool]:
        """The tools that the catalog supports and that have not changed since they were accepted."""
        return [entry.tool for entry in self._entries.values() if self._pins.holds(entry.definition)]

    @property
    def notes(self) -> list[str]:
        """Which tools are left out of the catalog, and why."""
        return list(self._left_out)

    def returns(self, tool: str) -> dict[str, Any] | None:
        """The JSON schema that results of this tool are checked against."""
        returns = self._get(tool).returns
        return returns.schema if returns else None

    def changes(self) -> list[Change]:
        """Differences from the accepted tools; a changed tool is not in the catalog until it is accepted."""
        self._read()
        return self._pins.changes(self._definitions)

    def accept(self, tools: Iterable[str]) -> None:
        """Accept tools of `changes` in their current form."""
        self._pins.accept(tools, self._definitions)

    async def describe(self) -> SourceSchema:
        return SourceSchema(source=self.name, engine=ENGINE, tables=())

    async def call(self, call: Call) -> Result:
        from groundplan.sources.mcp.connection import ToolCall

        entry = self._get(call.tool.name)
        if not self._portal.runs:
            raise UsageError(f"{self.name} was closed; open it again")
        arguments = thaw(call.params)
        assert isinstance(arguments, dict)
        tool_call = ToolCall(call.tool.name, entry.definition, arguments, call.idempotency_key)
        answer = await self._answer(tool_call, min(self._access.seconds, 0.9 * call.seconds))
        return Result(await asyncio.to_thread(self._facts, call, entry, answer))

    async def close(self) -> None:
        if self._portal.runs:
            await self._portal.wait(self._connection.close())
            await asyncio.to_thread(self._portal.stop)

    def _read(self) -> None:
        """Read the server's latest tool list; a new connection may have changed it."""
        self._definitions, self._left_out = usable(self._connection.listed)
        self._entries: dict[str, CatalogEntry] = {}
        for definition in self._definitions.values():
            try:
                entry = catalog_entry(definition, self.name)
            except UnsupportedSchema as error:
                self._left_out.append(f"{catalog_name(self.name, definition.name)}: {error}")
            else:
                self._entries[entry.tool.name] = entry

    def _get(self, tool: str) -> CatalogEntry:
        entry = self._entries.get(tool)
        if entry is None or not self._pins.holds(entry.definition):
            raise UsageError(f"{self.name} has no accepted tool {tool!r}; see `groundplan catalog list`")
        return entry

    async def _answer(self, tool_call: ToolCall, seconds: float) -> CallToolResult:
        """The answer, or an error that says whether the call may have taken effect."""
        from groundplan.sources.mcp.connection import Unanswered

        try:
            async with asyncio.timeout(seconds):
                return await self._portal.wait(self._connection.ask(tool_call))
        except TimeoutError:
            if tool_call.give_up() and not tool_call.definition.reads:
                raise _unknown(tool_call.tool, "did not answer in time") from None
            raise DeadlineExceeded(
                f"{tool_call.tool} took longer than {seconds:.3g} s; allow it more `seconds`"
            ) from None
        except Unanswered as error:
            if not tool_call.definition.reads:
                raise _unknown(tool_call.tool, str(error)) from None
            raise ToolError(f"{tool_call.tool} returned nothing: the server {error}") from None

    def _facts(self, call: Call, entry: CatalogEntry, answer: CallToolResult) -> StepFacts:
        definition, tool = entry.definition, call.tool.name
        texts = [content.text for content in answer.content if content.type == "text"]
        others = [content.type for content in answer.content if content.type != "text"]
        if answer.is_error:
            item = Item(kind="text", title=definition.title, text=results.quoted(texts), source=tool)
            raise ToolFailed(f"{tool} reports that it failed; check its params", item)
        try:
            if entry.returns:
                entry.returns.check(answer.structured_content)
            if answer.structured_content is None:
                return results.text(call.step, texts, others, definition.title, tool)
            results.check_values(answer.structured_content)
        except InvalidResult as error:
            if definition.reads:
                raise ToolError(f"the result of {tool} {error}; it is not used") from None
            raise _unknown(tool, f"sent a result that {error}") from None
        value = answer.structured_content
        key = entry.returns.wrapping if entry.returns else results.wrapping(value)
        return results.structured(call.step, value, key, definition.title, tool, call.limits, call.keep)


def _unknown(tool: str, why: str) -> OutcomeUnknown:
    problem = f"it is not known whether {tool} took effect: the server {why}"
    return OutcomeUnknown(f"{problem}. It will not be called again; check the server before you retry")
