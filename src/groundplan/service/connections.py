"""Connections that send no whole request are closed: thousands of them would use up the descriptors of the process."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 15.0  # from the first byte of a request, or from the connection, to the end of its headers
MOST_CONNECTIONS, SPARE = 5_000, 200  # of one process, at once; descriptors that are kept for files and databases


def most_connections() -> int:
    """More get 503: a process that has no descriptor left logs that without end."""
    with suppress(ImportError, ValueError, OSError):  # not on Windows
        import resource

        return max(min(MOST_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE), SPARE)
    return MOST_CONNECTIONS


class TimedConnection(H11Protocol):
    """uvicorn ends connections that are idle between requests, but waits for the end of a request that has begun."""

    _headers: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unwatch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._unwatch()
        elif self._headers is None and not self.transport.is_closing():
            self._headers = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _unwatch(self) -> None:
        if self._headers is not None:
            self._headers.cancel()
            self._headers = None
