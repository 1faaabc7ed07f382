"""A server's reply is limited while it is read, and never unpacked."""

from __future__ import annotations

import asyncio
import gzip
import resource
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from groundplan.errors import SourceError
from groundplan.llm.client import Model
from groundplan.llm.reply import ModelError
from groundplan.settings import Endpoint
from groundplan.sources.http.client import Request, Server
from groundplan.sources.http.tracker import Access
from tests.llm.scripted import Fruit

MOST_GROWTH = 300  # MB


def bomb() -> bytes:
    """About 1 MB that becomes 1 GB."""
    one = gzip.compress(b" " * 50_000_000)
    return one * 20


@asynccontextmanager
async def server(head: str, pieces: Callable[[], list[bytes]], times: int = 1) -> AsyncIterator[str]:
    """Answers any request with this head and these pieces."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n{head}\r\n".encode())
        try:
            for piece in pieces():
                for _ in range(times):
                    writer.write(piece)
                    await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    served = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{served.sockets[0].getsockname()[1]}"
    finally:
        served.close()


def grown(work: Callable[[], None]) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024


async def ask_model(url: str) -> None:
    async with Model.open(Endpoint(name="m", url=f"{url}/v1", model="m")) as model:
        await model.ask("which fruit?", Fruit, seconds=30)


async def ask_tracker(url: str) -> None:
    tracker = Server(Access(url=url))
    try:
        await tracker.ask(Request("GET", "/x"), tracker.budget(30))
    finally:
        await tracker.close()


ASKED = [(ask_model, ModelError), (ask_tracker, SourceError)]


@pytest.mark.parametrize(("ask", "error"), ASKED)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "gzip, gzip", "identity, gzip"])
def test_a_compressed_reply_is_refused_unread(
    ask: Callable[[str], Awaitable[None]], error: type[Exception], encoding: str
) -> None:
    async def meet() -> None:
        async with server(f"Content-Encoding: {encoding}\r\n", lambda: [bomb()]) as url:
            with pytest.raises(error, match="compresses its answers"):
                await ask(url)

    assert grown(lambda: asyncio.run(meet())) < MOST_GROWTH


@pytest.mark.parametrize(("ask", "error"), ASKED)
def test_an_endless_reply_is_cut(ask: Callable[[str], Awaitable[None]], error: type[Exception]) -> None:
    async def meet() -> None:
        async with server("", lambda: [b" " * 1_000_000], times=5_000) as url:
            with pytest.raises(error, match="sent more than"):
                await ask(url)

    assert grown(lambda: asyncio.run(meet())) < MOST_GROWTH
