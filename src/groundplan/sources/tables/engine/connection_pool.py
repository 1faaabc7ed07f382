"""A pool of connections to one database, each used by one query at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from groundplan.sources.tables.engine.cancel_scope import CancelScope

Connection = TypeVar("Connection")


class ConnectionPool(Generic[Connection]):
    """Opens a connection if none is idle. A connection that is not `usable` after its query is discarded."""

    def __init__(
        self, connect: Callable[[], Connection], most: int, usable: Callable[[Connection], bool] = lambda _: True
    ) -> None:
        self._connect, self._usable = connect, usable
        self._slots = threading.BoundedSemaphore(most)
        self._guard = threading.Lock()
        self.idle: list[Connection] = []

    @contextmanager
    def lend(self, scope: CancelScope) -> Iterator[Connection]:
        with scope.holding(self._slots):
            with self._guard:
                connection = self.idle.pop() if self.idle else None
            if connection is None:
                connection = self._connect()
            try:
                yield connection
            finally:
                if self._usable(connection):
                    with self._guard:
                        self.idle.append(connection)
