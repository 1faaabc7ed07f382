"""A connection with one MCP server, used by one call at a time: who hangs or floods it is known, and harms no other."""

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
from groundplan.sources.mcp.bounds import OF_A_LIST, STOPPED, TOO_MUCH, Bounds
from groundplan.sources.mcp.stdio import started
from groundplan.sources.mcp.tools import MOST_TOOLS, Told
from groundplan.sources.mcp.web import reached
from mcp import MCPError

MOST_PAGES = 1_000
LIST_SECONDS = 10.0
LEAVE_SECONDS = 2.0
NEVER_RUN = (METHOD_NOT_FOUND, INVALID_PARAMS)  # the server says that it did not even begin
RESULT: TypeAdapter[Any] = TypeAdapter(CallToolResult | InputRequiredResult)


class Unanswered(Exception):
    """A request was sent, and no answer that can be read came back."""

    def __init__(self, reason: str, *, lost: bool = False) -> None:
        super().__init__(reason)
        self.lost = lost  # the connection is gone: on a new one the same request may be answered


@dataclass
class Asking:
    """One call, watched from two threads: it is either sent or given up first, and both sides know which."""

    tool: str  # as the catalog calls it
    told: Told
    arguments: Mapping[str, Any]
    key: str
    _sent: bool = field(default=False, init=False)
    _given_up: bool = field(default=False, init=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, init=False)

    def begin(self) -> None:
        """From here on the server may have done it."""
        with self._guard:
            if self._given_up:
                raise asyncio.CancelledError
            self._sent = True

    def give_up(self) -> bool:
        """Whether it was sent before."""
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
        self.listed: list[Told] = []
        # The SDK logs what servers write, and without a log of one's own that reaches the terminal.
        for logger in ("mcp", "client"):
            logging.getLogger(logger).setLevel(logging.CRITICAL)

    @property
    def place(self) -> str:
        """The address, or the program alone: its arguments may hold anything."""
        return self._access.address or self._access.command[0]

    async def connect(self) -> None:
        """A new connection, and the tools that the server lists on it. Raises SourceError."""
        try:
            async with asyncio.timeout(self._access.seconds):
                self._session = await self._greeted()
            self.listed = await self._list(self._session)
        except TimeoutError:
            await self._kill("did not answer in time")
            raise self._unreachable(self._bounds) from None
        except BaseException:
            await self._kill("was given up")
            raise

    async def ask(self, asking: Asking) -> CallToolResult:
        """The server's answer to one call. What reads is asked a second time where the connection was lost."""
        async with self._turn:
            try:
                return await self._asked(asking)
            except asyncio.CancelledError:
                self._end("did not answer in time")
                raise

    async def close(self) -> None:
        """Bounded: a server that does not let go is let go of."""
        self._leave.set()
        if self._holder:
            await asyncio.wait([self._holder], timeout=LEAVE_SECONDS if self._session else 0)
            self._holder.cancel()
            await asyncio.wait([self._holder], timeout=LEAVE_SECONDS)
        self._session = None

    def _end(self, why: str) -> None:
        """The server is killed, and the next call connects anew."""
        self._bounds.end(why)
        self._leave.set()

    async def _kill(self, why: str) -> None:
        self._end(why)
        await self.close()

    async def _greeted(self) -> ClientSession:
        """A server of the first generation may leave at a greeting that it does not know; it gets its own."""
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
        client = Client(self._transport(), mode=mode, cache=None, client_info=_ourselves())
        self._holder = asyncio.create_task(self._hold(client, opened, self._bounds, self._leave))
        return await opened

    async def _hold(
        self, client: Client, opened: asyncio.Future[ClientSession], bounds: Bounds, leave: asyncio.Event
    ) -> None:
        """Enters and leaves the SDK's client in one task, as it must be."""
        why = STOPPED
        try:
            async with client:
                opened.set_result(client.session)
                await leave.wait()
        except Exception as error:  # noqa: BLE001 - a stranger feeds the SDK: whatever breaks in it ends typed
            why = _kind(error)
        finally:
            bounds.end(why)
            if not opened.done():
                opened.set_exception(self._unreachable(bounds))

    def _transport(self) -> AbstractAsyncContextManager[Any]:
        access = self._access
        if access.address:
            return reached(access.address, access.headers(), access.seconds, self._bounds)
        return started(access.command, access.environment(), self._bounds)

    async def _asked(self, asking: Asking) -> CallToolResult:
        await self._ready(asking)
        try:
            return await self._send(asking)
        except Unanswered as error:
            if not (error.lost and asking.told.reads):
                raise
        await self._ready(asking)
        return await self._send(asking)

    async def _ready(self, asking: Asking) -> None:
        """Connected, with the tool as it was seen. Before a change is made the list is read again."""
        told = asking.told
        if self._session is None or self._bounds.broken:
            await self.connect()
        elif not told.reads:
            try:
                self.listed = await self._list(self._session)
            except SourceError:
                await self.connect()
        now = [other.digest for other in self.listed if other.name == told.name]
        if now != [told.digest]:
            raise ToolError(
                f"{asking.tool} is no longer what it was when it was accepted; "
                f"look at the changes of {self._name} and accept them first"
            )

    async def _list(self, session: ClientSession) -> list[Told]:
        """All pages, up to a bound; raises SourceError."""
        found: list[Told] = []
        cursors: set[str | None] = set()
        cursor: str | None = None
        try:
            async with asyncio.timeout(LIST_SECONDS):
                while cursor not in cursors and len(cursors) < MOST_PAGES:
                    cursors.add(cursor)
                    self._bounds.expect(OF_A_LIST)
                    page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
                    found += map(Told.of, page.tools)
                    cursor = page.next_cursor
                    if cursor is None or len(found) > MOST_TOOLS:
                        return found
        except (MCPError, TimeoutError, ValueError, RuntimeError) as error:
            late = " in time" if isinstance(error, TimeoutError) else ""
            reason = self._bounds.broken or f"sent no list of tools{late}"
        else:
            reason = "sends pages of tools without end"
        self._end(reason)
        raise SourceError(f"{self._name}: {self.place} {reason}; check the server")

    async def _send(self, asking: Asking) -> CallToolResult:
        assert self._session
        self._bounds.expect(self._access.bytes)
        params = CallToolRequestParams(
            name=asking.told.name, arguments=dict(asking.arguments), _meta={"idempotencyKey": asking.key}
        )
        asking.begin()
        try:
            result = await self._session.send_request(CallToolRequest(params=params), RESULT)
        except MCPError as error:
            raise self._meant(error, asking) from None
        except (ValueError, TypeError, LookupError, RuntimeError):
            raise Unanswered("sent what is no result of MCP; check it") from None
        if not isinstance(result, CallToolResult):
            raise ToolError(f"{asking.tool} wants to ask something back, and a plan cannot answer; leave it out")
        return result

    def _meant(self, error: MCPError, asking: Asking) -> Exception:
        """The server's own words stay out of it: they may say anything."""
        if self._bounds.broken == TOO_MUCH:
            return Unanswered(f"sent more than {self._access.bytes:,} bytes; ask for less, or raise `bytes`")
        if self._bounds.broken:
            return Unanswered(f"{self._bounds.broken}; check it", lost=True)
        if self._access.address and error.code in (CONNECTION_CLOSED, INVALID_REQUEST):
            self._end(STOPPED)
            return Unanswered(f"{STOPPED}; check it", lost=True)
        refused = f"refused the call (code {error.code}); check its params"
        if asking.told.reads or error.code in NEVER_RUN:
            return ToolError(f"{asking.tool}: the server {refused}")
        return Unanswered(refused)

    def _unreachable(self, bounds: Bounds) -> SourceError:
        why = bounds.broken
        if self._access.address:
            return SourceError(f"{self._name}: {self.place} cannot be reached ({why}); is the server running there?")
        return SourceError(f"{self._name}: {self.place!r} is no MCP server that runs ({why}); start it by hand to see")


def _ourselves() -> Implementation:
    return Implementation(name="groundplan", version=version("groundplan"))


def _kind(error: BaseException) -> str:
    """Of the first thing that went wrong; its text may hold anything."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"broke off: {type(error).__name__}"
