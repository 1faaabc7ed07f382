"""A server at an address: bounded answers, no redirects to elsewhere, nothing but what was asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from groundplan.sources.mcp.bounds import TOO_MUCH, Bounds


class TooMuch(httpx2.StreamError):
    """An answer broke its bounds; the SDK takes it for a broken stream."""


class Bounded(httpx2.AsyncBaseTransport):
    """Every answer is counted while it is read, and comes as it is: unpacking could make much of little."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds, self._inner = bounds, httpx2.AsyncHTTPTransport(verify=httpx2.create_ssl_context())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET" and "last-event-id" not in request.headers:
            return httpx2.Response(405, request=request)  # a stream of messages that nobody here waits for
        response = await self._inner.handle_async_request(request)
        if response.status_code in (401, 403):
            self._bounds.end(f"refused the token, HTTP {response.status_code}")
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            self._bounds.end("packs its answers, though it was asked not to")
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
async def reached(address: str, headers: Mapping[str, str], seconds: float, bounds: Bounds) -> AsyncIterator[Any]:
    """The token in the headers travels to this address alone; the SDK follows no redirect away from it."""
    async with (
        httpx2.AsyncClient(
            transport=Bounded(bounds),
            headers={**headers, "Accept-Encoding": "identity"},
            timeout=seconds,
            trust_env=False,  # no proxy, and no password of a .netrc
        ) as client,
        streamable_http_client(address, http_client=client, max_sse_event_size=bounds.largest) as streams,
    ):
        yield streams
