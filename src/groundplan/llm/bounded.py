"""Limits what a model's server may send: so many bytes, and none of them compressed."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from groundplan.llm.reply import ModelError

MOST_BYTES = 8_000_000  # of one response
PLAIN = {"Accept-Encoding": "identity"}


async def bound(response: httpx2.Response) -> None:
    """A hook for each response before it is read. Compression is refused: kilobytes of it can become gigabytes."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        await response.aclose()
        raise ModelError("the model's server compresses its answers although the request forbids it")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _Counted(response.stream)


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            if size > MOST_BYTES:
                raise ModelError(f"the model's server sent more than {MOST_BYTES:,} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
