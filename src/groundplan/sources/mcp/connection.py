"""The connection to one MCP server, used by one call at a time.

A misbehaving server is isolated: its calls reach their limit without affecting other servers.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from mcp.client import Client, ClientSession
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    InputRequiredResult,
    PaginatedRequestParams,
)
from pydantic import TypeAdapter

from groundplan.errors import SourceError, ToolError
from groundplan.sources.mcp.access import Access
from groundplan.sources.mcp.bounds import LIST_BYTES, STOPPED, TOO_MUCH, Bounds
from groundplan.sources.mcp.stdio import process_streams
from groundplan.sources.mcp.tools import MOST_TOOLS, ToolDefinition
from groundplan.sources.mcp.web import http_streams
from mcp import MCPError

MOST_PAGES = 1_000
LIST_SECONDS = 10.0
LEAVE_SECONDS = 2.0
NEVER_RUN = (METHOD_NOT_FOUND, INVALID_PARAMS)  # error codes that mean the tool did not start
RESULT: TypeAdapter[Any] = TypeAdapter(CallToolResult | InputRequiredResult)


class Unanswered(Exception):
    """A request was sent, and no readable answer came back."""

    def __init__(self, reason: str, *, lost: bool = False) -> None:
        super().__init__(reason)
        self.lost = lost  # the connection was lost: a retry on a new one may succeed


@dataclass
class ToolCall:
    """One call, shared by two threads: they agree whether it was sent before it was given up."""

    tool: str  # its name in the catalog
    definition: ToolDefinition
    arguments: Mapping[str, Any]
    key: str
    _sent: bool = field(default=False, init=False)
    _given_up: bool = field(default=False, init=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, init=False)

    def begin(self) -> None:
        """Mark the call as sent: from now on it may have taken effect."""
        with self._guard:
            if self._given_up:
                raise asyncio.CancelledError
            self._sent = True

    def give_up(self) -> bool:
        """Give up the call. Returns whether it was already sent."""
        with self._guard:
            self._given_up = True
            return self._sent


class Connection:
    """Lives in one event loop; `connect` and `ask` are awaited there."""

    def __init__(self, name: str, access: Access) -> None:
        self._name, self._access = name, access
        self._turn = asyncio.Lock()
        self._bounds = Bounds.of(access.bytes)
        self._session: ClientSession | None = None
        self._holder: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self.listed: list[ToolDefinition] = []
        # The SDK logs what servers write; without a configured logger that reaches the terminal.
        for logger in ("mcp", "client"):
            logging.getLogger(logger).setLevel(logging.CRITICAL)

    @property
    def place(self) -> str:
        """The address, or the program without its arguments, which may contain secrets."""
        return self._access.address or self._access.command[0]

    async def connect(self) -> None:
        """Connect and list the server's tools. Raises SourceError."""
        try:
            async with asyncio.timeout(self._access.seconds):
                self._session = await self._open_any()
            self.listed = await self._list(self._session)
        except TimeoutError:
            await self._kill("did not answer in time")
            raise self._unreachable(self._bounds) from None
        except BaseException:
            await self._kill("was given up")
            raise

    async def ask(self, tool_call: ToolCall) -> CallToolResult:
        """The server's answer to one call. A tool that only reads is called again if the connection was lost."""
        async with self._turn:
            try:
                return await self._ask(tool_call)
            except asyncio.CancelledError:
                self._end("did not answer in time")
                raise

    async def close(self) -> None:
        """Close within a time limit, even if the server does not cooperate."""
        self._leave.set()
        if self._holder:
            await asyncio.wait([self._holder], timeout=LEAVE_SECONDS if self._session else 0)
            self._holder.cancel()
            await asyncio.wait([self._holder], timeout=LEAVE_SECONDS)
        self._session = None

    def _end(self, why: str) -> None:
        """End the connection: the server is killed, and the next call connects again."""
        self._bounds.end(why)
        self._leave.set()

    async def _kill(self, why: str) -> None:
        self._end(why)
        await self.close()

    async def _open_any(self) -> ClientSession:
        """Old servers may exit when they do not know the handshake: they get the legacy one."""
        try:
            return await self._open("auto")
        except SourceError:
            if self._access.address or self._bounds.broken != STOPPED:
                raise
        return await self._open("legacy")

    async def _open(self, mode: str) -> ClientSession:
        await self.close()
        self._bounds, self._leave = Bounds.of(self._access.bytes), asyncio.Event()
        opened: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        client = Client(self._transport(), mode=mode, cache=None, client_info=_client_info())
        self._holder = asyncio.create_task(self._hold(client, opened, self._bounds, self._leave))
        return await opened

    async def _hold(
        self, client: Client, opened: asyncio.Future[ClientSession], bounds: Bounds, leave: asyncio.Event
    ) -> None:
        """The SDK's client must be entered and left in the same task."""
        why = STOPPED
        try:
            async with client:
                opened.set_result(client.session)
                await leave.wait()
        except Exception as error:  # noqa: BLE001 - bad input from the server may break the SDK in any way
            why = _error_type(error)
        finally:
            bounds.end(why)
            if not opened.done():
                opened.set_exception(self._unreachable(bounds))

    def _transport(self) -> AbstractAsyncContextManager[Any]:
        access = self._access
        if access.address:
            return http_streams(access.address, access.headers(), access.seconds, self._bounds)
        return process_streams(access.command, access.environment(), self._bounds)

    async def _ask(self, tool_call: ToolCall) -> CallToolResult:
        await self._ready(tool_call)
        try:
            return await self._send(tool_call)
        except Unanswered as error:
            if not (error.lost and tool_call.definition.reads):
                raise
        await self._ready(tool_call)
        return await self._send(tool_call)

    async def _ready(self, tool_call: ToolCall) -> None:
        """Connect if needed, and check that the tool is unchanged. Before a write, the tools are listed again."""
        definition = tool_call.definition
        if self._session is None or self._bounds.broken:
            await self.connect()
        elif not definition.reads:
            try:
                self.listed = await self._list(self._session)
            except SourceError:
                await self.connect()
        now = [other.digest for other in self.listed if other.name == definition.name]
        if now != [definition.digest]:
            raise ToolError(
                f"{tool_call.tool} has changed since it was accepted; review the changes of {self._name} and accept it"
            )

    async def _list(self, session: ClientSession) -> list[ToolDefinition]:
        """The tools on all pages, up to a limit; raises SourceError."""
        found: list[ToolDefinition] = []
        cursors: set[str | None] = set()
        cursor: str | None = None
        try:
            async with asyncio.timeout(LIST_SECONDS):
                while cursor not in cursors and len(cursors) < MOST_PAGES:
                    cursors.add(cursor)
                    self._bounds.expect(LIST_BYTES)
                    page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
                    found += map(ToolDefinition.of, page.tools)
                    cursor = page.next_cursor
                    if cursor is None or len(found) > MOST_TOOLS:
                        return found
        except (MCPError, TimeoutError, ValueError, RuntimeError) as error:
            late = " in time" if isinstance(error, TimeoutError) else ""
            reason = self._bounds.broken or f"sent no list of tools{late}"
        else:
            reason = "lists tools on too many pages"
        self._end(reason)
        raise SourceError(f"{self._name}: {self.place} {reason}; check the server")

    async def _send(self, tool_call: ToolCall) -> CallToolResult:
        assert self._session
        self._bounds.expect(self._access.bytes)
        params = CallToolRequestParams(
            name=tool_call.definition.name, arguments=dict(tool_call.arguments), _meta={"idempotencyKey": tool_call.key}
        )
        tool_call.begin()
        try:
            result = await self._session.send_request(CallToolRequest(params=params), RESULT)
        except MCPError as error:
            raise self._error_for(error, tool_call) from None
        except (ValueError, TypeError, LookupError, RuntimeError):
            raise Unanswered("did not send a valid MCP result; check it") from None
        if not isinstance(result, CallToolResult):
            raise ToolError(f"{tool_call.tool} asks for more input, which a plan cannot give; leave it out")
        return result

    def _error_for(self, error: MCPError, tool_call: ToolCall) -> Exception:
        """The message does not quote the server, which may have written anything."""
        if self._bounds.broken == TOO_MUCH:
            return Unanswered(f"sent more than {self._access.bytes:,} bytes; ask for less, or raise `bytes`")
        if self._bounds.broken:
            return Unanswered(f"{self._bounds.broken}; check it", lost=True)
        if self._access.address and error.code in (CONNECTION_CLOSED, INVALID_REQUEST):
            self._end(STOPPED)
            return Unanswered(f"{STOPPED}; check it", lost=True)
        refused = f"refused the call (code {error.code}); check its params"
        if tool_call.definition.reads or error.code in NEVER_RUN:
            return ToolError(f"{tool_call.tool}: the server {refused}")
        return Unanswered(refused)

    def _unreachable(self, bounds: Bounds) -> SourceError:
        why = bounds.broken
        if self._access.address:
            return SourceError(f"{self._name}: {self.place} cannot be reached ({why}); is the server running there?")
        return SourceError(
            f"{self._name}: {self.place!r} does not run as an MCP server ({why}); start it by hand to see why"
        )


def _client_info() -> Implementation:
    return Implementation(name="groundplan", version=version("groundplan"))


def _error_type(error: BaseException) -> str:
    """The type of the first error, without its text, which may contain anything."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"failed: {type(error).__name__}"
