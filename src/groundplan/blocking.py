"""Bridges between threads and event loops: an event loop for sync callers, and worker threads for blocking calls."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from groundplan.errors import UsageError

T = TypeVar("T")
CLOSING_SECONDS = 5.0  # how long to wait for cancelled work


class Portal:
    """An event loop in its own thread, for sync callers and for work that outlives the caller's loop."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine from sync code and return its result. Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    async def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Await a coroutine from another event loop. Cancelling the caller cancels it."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    @property
    def runs(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


class Workers:
    """A thread pool that belongs to one owner, so slow work delays only that owner."""

    def __init__(self, name: str, threads: int) -> None:
        self._name = name
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"groundplan-{name}")
        self._running: dict[Future[Any], Callable[[], object]] = {}
        self._closed = False

    async def run(self, work: Callable[[], T], cancel: Callable[[], object] = lambda: None) -> T:
        """Run blocking work in a thread. If the caller is cancelled, `cancel` is called and must stop the work soon."""
        try:
            future = self._pool.submit(contextvars.copy_context().run, work)
        except RuntimeError as error:
            raise UsageError(f"{self._name} is closed; open it again") from error
        self._running[future] = cancel
        future.add_done_callback(self._running.pop)
        try:
            return await asyncio.wrap_future(future)
        finally:
            if not future.done():
                cancel()

    async def close(self, last: Callable[[], object] = lambda: None) -> None:
        """Cancel running work, run `last` and stop the threads."""
        if self._closed:
            return
        self._closed = True
        running = self._running.copy()
        for cancel in running.values():
            cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
                await asyncio.gather(*map(asyncio.wrap_future, running), return_exceptions=True)
        await self.run(last)
        self._pool.shutdown(wait=False)
