"""Runs a server as a child process: JSON-RPC line by line, with a limit on line length and a clean shutdown.

It replaces the SDK's own transport, which accepts lines of any length, passes on more environment variables, and
waits seconds for a server that hangs.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter

from groundplan.sources.mcp.bounds import STOPPED, TOO_MUCH, Bounds

PATIENCE = 0.5  # seconds to wait for the server to exit, after closing stdin and again after SIGTERM
Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def process_streams(
    command: Sequence[str], environment: Mapping[str, str], bounds: Bounds
) -> AsyncIterator[Streams]:
    """Start the command. Raises OSError if that fails."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,  # otherwise the server could write to the terminal
        env=dict(environment),
        limit=bounds.largest,
        start_new_session=True,
    )
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with received, sent, anyio.create_task_group() as tasks:
            tasks.start_soon(_read, process, incoming, bounds)
            tasks.start_soon(_write, process, outgoing)
            yield received, sent
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _stop(process, at_once=bool(bounds.broken))


async def _read(process: Process, incoming: Incoming, bounds: Bounds) -> None:
    """Read messages until the server exits or breaks a limit; the stream is then closed."""
    assert process.stdout
    async with incoming:
        while not bounds.broken:
            try:
                line = await process.stdout.readuntil(b"\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                bounds.end(STOPPED)
                return
            except asyncio.LimitOverrunError:
                bounds.end(TOO_MUCH)
                return
            message = _message(line, bounds)
            if message is not None:
                await incoming.send(SessionMessage(message))


def _message(line: bytes, bounds: Bounds) -> JSONRPCMessage | None:
    """The message in this line; None for notifications and other text, which are ignored."""
    bounds.take(len(line))
    if bounds.broken:
        return None
    if not line.startswith(b"{"):
        bounds.unasked()
        return None
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        bounds.end("sent an invalid MCP message")
        return None
    if isinstance(message, JSONRPCNotification | JSONRPCRequest):
        bounds.unasked()
    return None if isinstance(message, JSONRPCNotification) else message


async def _write(process: Process, outgoing: Outgoing) -> None:
    assert process.stdin
    async with outgoing:
        async for message in outgoing:
            with suppress(ConnectionError):  # the server is gone; the reader reports that
                process.stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await process.stdin.drain()


async def _stop(process: Process, *, at_once: bool) -> None:
    """Close stdin, then send SIGTERM, then SIGKILL, to the whole process group."""
    assert process.stdin
    process.stdin.close()
    for last in (signal.SIGTERM, signal.SIGKILL):
        if not at_once and await _has_left(process):
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL if at_once else last)
    await _has_left(process)
    await _empty(process)


async def _empty(process: Process) -> None:
    """Read what a killed server left in the pipe: unread, it keeps the pipe open beyond the end of the event loop."""
    assert process.stdout
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while await process.stdout.read(65_536):
                pass


async def _has_left(process: Process) -> bool:
    """Polls, because `wait` would also wait for children that hold the pipes."""
    for _ in range(int(PATIENCE / 0.01)):
        if process.returncode is not None:
            return True
        await asyncio.sleep(0.01)
    return False
