"""A cache with a section for each run: rows and tables that later steps of the run use again."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

RUNS = 256
ITEMS = 100  # per run
BYTES = 128 * 1024 * 1024  # for all runs together
SECONDS = 3_600  # the longest a run may take; after that its items are not needed

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass
class _Run(Generic[Key, Value]):
    items: OrderedDict[Key, tuple[Value, int]] = field(default_factory=OrderedDict)
    used: float = 0.0

    @property
    def size(self) -> int:
        return sum(size for _, size in self.items.values())


class ByRun(Generic[Key, Value]):
    """Runs do not share items. When space runs out, the least recently used run is dropped as a whole."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, _Run[Key, Value]] = OrderedDict()
        self._guard = threading.Lock()

    def keep(self, run: str, key: Key, value: Value, size: int) -> list[Value]:
        """Store the value and return the values dropped to make room."""
        with self._guard:
            this = self._use(run)
            before = this.items.pop(key, None)
            this.items[key] = value, size
            dropped = [before[0]] if before else []
            while len(this.items) > ITEMS:
                dropped.append(this.items.popitem(last=False)[1][0])
            return [*dropped, *self._drop_runs()]

    def find(self, run: str, key: Key) -> Value | None:
        with self._guard:
            if run not in self._runs or key not in self._runs[run].items:
                return None
            this = self._use(run)
            this.items.move_to_end(key)
            return this.items[key][0]

    def _use(self, run: str) -> _Run[Key, Value]:
        this = self._runs.setdefault(run, _Run())
        this.used = time.monotonic()
        self._runs.move_to_end(run)
        return this

    def _drop_runs(self) -> list[Value]:
        """Drop the oldest runs while there are too many, too large or too old ones; never the current run."""
        dropped: list[Value] = []
        size = sum(run.size for run in self._runs.values())
        too_old = time.monotonic() - SECONDS
        for name, run in [*self._runs.items()][:-1]:
            if run.used >= too_old and size <= BYTES and len(self._runs) <= RUNS:
                break
            size -= run.size
            del self._runs[name]
            dropped += [value for value, _ in run.items.values()]
        return dropped
