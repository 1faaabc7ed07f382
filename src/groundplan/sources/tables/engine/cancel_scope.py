"""The deadline and the cancellation of one call."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from groundplan.errors import DeadlineExceeded, WorldError

AGAIN = 0.1  # seconds between two requests to stop a query
LOOK = 0.05  # seconds between two checks while waiting for a lock


class Cancelled(WorldError):
    """The caller cancelled the call, or the source was closed."""


class Lock(Protocol):
    """A lock or a semaphore."""

    def acquire(self, blocking: bool = True, timeout: Any = None) -> bool: ...

    def release(self) -> None: ...


class CancelScope:
    """Created for each call and passed to the engine. The caller cancels it from another thread."""

    def __init__(self, seconds: float = math.inf, parent: CancelScope | None = None) -> None:
        self.seconds = seconds
        self._until: float = min(time.monotonic() + seconds, parent._until if parent else math.inf)
        self._cancelled: threading.Event = parent._cancelled if parent else threading.Event()
        self._changed: threading.Condition = parent._changed if parent else threading.Condition()

    def within(self, seconds: float) -> CancelScope:
        """A scope for a part of the work with its own time limit; it is cancelled with this one."""
        return CancelScope(seconds, self)

    @property
    def seconds_left(self) -> float:
        return max(self._until - time.monotonic(), 0.0)

    def cancel(self) -> None:
        with self._changed:
            self._cancelled.set()
            self._changed.notify_all()

    def check(self) -> None:
        """Raises if the work must stop."""
        if self._cancelled.is_set():
            raise Cancelled("the query was cancelled before it finished")
        if self.seconds_left <= 0:
            raise self.too_late()

    def too_late(self) -> DeadlineExceeded:
        return DeadlineExceeded(f"the query was cancelled after {self.seconds:.1f} s; narrow it or allow more time")

    @contextmanager
    def watch(self, stop: Callable[[], object]) -> Iterator[None]:
        """Calls `stop` when the work must stop, and repeats the call until the block ends.

        One call is not enough: an engine ignores it if the query has not started yet.
        """
        ended = False

        def stop_when_told() -> None:
            with self._changed:
                left = min(self.seconds_left, threading.TIMEOUT_MAX)
                self._changed.wait_for(lambda: ended or self._cancelled.is_set(), left)
            while not ended:
                stop()
                with self._changed:
                    self._changed.wait_for(lambda: ended, AGAIN)

        watcher = threading.Thread(target=stop_when_told, name="groundplan-watcher", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            with self._changed:
                ended = True
                self._changed.notify_all()
            watcher.join()  # so that no late request stops the next query on the connection

    @contextmanager
    def holding(self, lock: Lock) -> Iterator[None]:
        """Holds the lock in the block. Raises if the work must stop before the lock is free."""
        self.check()
        while not lock.acquire(timeout=min(self.seconds_left, LOOK)):
            self.check()
        try:
            yield
        finally:
            lock.release()
