"""The transport for a server at an address: limited answers, no redirects to other hosts, no unsolicited stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from groundplan.sources.mcp.bounds import TOO_MUCH, Bounds


class TooMuch(httpx2.StreamError):
    """An answer exceeds its limit; the SDK treats it as a broken stream."""


class Bounded(httpx2.AsyncBaseTransport):
    """Counts the bytes of every answer while it is read; refuses compression, which could hide a huge answer."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds, self._inner = bounds, httpx2.AsyncHTTPTransport(verify=httpx2.create_ssl_context())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET" and "last-event-id" not in request.headers:
            return httpx2.Response(405, request=request)  # refuse the stream for unsolicited messages
        response = await self._inner.handle_async_request(request)
        if response.status_code in (401, 403):
            self._bounds.end(f"refused the token, HTTP {response.status_code}")
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            self._bounds.end("compresses its answers although the request forbids it")
            return httpx2.Response(502, request=request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        counted = _Counted(response.stream, self._bounds)
        return httpx2.Response(response.status_code, headers=response.headers, stream=counted, request=request)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, bounds: Bounds) -> None:
        self._stream, self._bounds = stream, bounds

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            self._bounds.take(size)
            if self._bounds.broken:
                raise TooMuch(TOO_MUCH)
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def http_streams(address: str, headers: Mapping[str, str], seconds: float, bounds: Bounds) -> AsyncIterator[Any]:
    """Connect to the address. The token is sent only there: the SDK follows no redirects to other hosts."""
    async with (
        httpx2.AsyncClient(
            transport=Bounded(bounds),
            headers={**headers, "Accept-Encoding": "identity"},
            timeout=seconds,
            trust_env=False,  # no proxy, and no password from .netrc
        ) as client,
        streamable_http_client(address, http_client=client, max_sse_event_size=bounds.largest) as streams,
    ):
        yield streams
