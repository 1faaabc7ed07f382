"""An MCP server as a source: the tools of it that were seen, each called exactly as a checked plan says."""

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
from groundplan.errors import DeadlineExceeded, ToolError, UsageError
from groundplan.sources.interface import Call, Result
from groundplan.sources.mcp import results
from groundplan.sources.mcp.access import Access, load_access
from groundplan.sources.mcp.params import Unholdable
from groundplan.sources.mcp.pins import Change, Pins
from groundplan.sources.mcp.returns import Unfit
from groundplan.sources.mcp.tools import Offered, catalog_name, known, offer

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from groundplan.sources.mcp.connection import Asking, Connection

ENGINE = "mcp"


class OutcomeUnknown(ToolError):
    """A call that changes something was sent, and whether it did is not known; it is never sent again."""


class ToolFailed(ToolError):
    """The server says that the tool failed; `item` quotes it, as data, for a person to read."""

    def __init__(self, message: str, item: Item) -> None:
        super().__init__(message)
        self.item = item


class Mcp:
    """Opened with `Mcp.open`, which connects. The connection is one; calls wait for each other."""

    def __init__(self, name: str, access: Access, portal: Portal, connection: Connection) -> None:
        self.name = name
        self._access, self._portal, self._connection = access, portal, connection
        self._pins = Pins(name, access.mcp)
        self._read()
        self._pins.first_sight(self._told)

    @classmethod
    def open(cls, where: Access | dict[str, Any], name: str) -> Self:
        """Settings with `mcp`: a command, or an address."""
        access = load_access(name, where)
        try:
            from groundplan.sources.mcp.connection import Connection
        except ImportError as error:
            raise UsageError("MCP servers are asked by the official SDK: pip install 'groundplan[mcp]'") from error
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
        """Those that the catalog can hold and that are as they were seen."""
        return [offered.tool for offered in self._offered.values() if self._pins.holds(offered.told)]

    @property
    def notes(self) -> list[str]:
        """Which tools are left out of the catalog, and why."""
        return list(self._left_out)

    def returns(self, tool: str) -> dict[str, Any] | None:
        """The JSON schema that results of this tool are held against."""
        returns = self._get(tool).returns
        return returns.schema if returns else None

    def changes(self) -> list[Change]:
        """What differs from the tools that were seen; such a tool is in no catalog until it is accepted."""
        self._read()
        return self._pins.changes(self._told)

    def accept(self, tools: Iterable[str]) -> None:
        """Tools of `changes`, as they are now."""
        self._pins.accept(tools, self._told)

    async def describe(self) -> SourceSchema:
        return SourceSchema(source=self.name, engine=ENGINE, tables=())

    async def call(self, call: Call) -> Result:
        from groundplan.sources.mcp.connection import Asking

        offered = self._get(call.tool.name)
        if not self._portal.runs:
            raise UsageError(f"{self.name} was closed; open it again")
        arguments = thaw(call.params)
        assert isinstance(arguments, dict)
        asking = Asking(call.tool.name, offered.told, arguments, call.idempotency_key)
        answer = await self._answer(asking, min(self._access.seconds, 0.9 * call.seconds))
        return Result(await asyncio.to_thread(self._facts, call, offered, answer))

    async def close(self) -> None:
        if self._portal.runs:
            await self._portal.wait(self._connection.close())
            await asyncio.to_thread(self._portal.stop)

    def _read(self) -> None:
        """What the latest list of the server comes to; it may have changed with a new connection."""
        self._told, self._left_out = known(self._connection.listed)
        self._offered: dict[str, Offered] = {}
        for told in self._told.values():
            try:
                offered = offer(told, self.name)
            except Unholdable as error:
                self._left_out.append(f"{catalog_name(self.name, told.name)}: {error}")
            else:
                self._offered[offered.tool.name] = offered

    def _get(self, tool: str) -> Offered:
        offered = self._offered.get(tool)
        if offered is None or not self._pins.holds(offered.told):
            raise UsageError(f"{tool!r} is no tool of {self.name} that was accepted; see `groundplan catalog list`")
        return offered

    async def _answer(self, asking: Asking, seconds: float) -> CallToolResult:
        """In time, or an error that says whether something may have been changed."""
        from groundplan.sources.mcp.connection import Unanswered

        try:
            async with asyncio.timeout(seconds):
                return await self._portal.wait(self._connection.ask(asking))
        except TimeoutError:
            if asking.give_up() and not asking.told.reads:
                raise _unknown(asking.tool, "did not answer in time") from None
            raise DeadlineExceeded(f"{asking.tool} took longer than {seconds:.3g} s; allow it more `seconds`") from None
        except Unanswered as error:
            if not asking.told.reads:
                raise _unknown(asking.tool, str(error)) from None
            raise ToolError(f"{asking.tool} gave nothing: the server {error}") from None

    def _facts(self, call: Call, offered: Offered, answer: CallToolResult) -> StepFacts:
        told, tool = offered.told, call.tool.name
        said = [content.text for content in answer.content if content.type == "text"]
        others = [content.type for content in answer.content if content.type != "text"]
        if answer.is_error:
            item = Item(kind="text", title=told.title, text=results.quoted(said), source=tool)
            raise ToolFailed(f"{tool} reports that it failed; check its params", item)
        try:
            if offered.returns:
                offered.returns.check(answer.structured_content)
            if answer.structured_content is None:
                return results.text(call.step, said, others, told.title, tool)
            results.checked(answer.structured_content)
        except Unfit as error:
            if told.reads:
                raise ToolError(f"the result of {tool} {error}; it is not used") from None
            raise _unknown(tool, f"sent a result that {error}") from None
        value = answer.structured_content
        key = offered.returns.wrapping if offered.returns else results.wrapping(value)
        return results.structured(call.step, value, key, told.title, tool, call.limits)


def _unknown(tool: str, why: str) -> OutcomeUnknown:
    problem = f"whether {tool} was done is not known: the server {why}"
    return OutcomeUnknown(f"{problem}. It is not asked again; look there before you do")
