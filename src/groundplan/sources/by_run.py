"""What runs keep for their later steps: the rows they have read, the tables they were handed."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

RUNS = 256
ITEMS = 100  # of one run
BYTES = 128 * 1024 * 1024  # of all runs
SECONDS = 3_600  # the longest that a run may take: after that it asks for nothing more

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
    """No run finds what another has kept. The run that was used longest ago is forgotten first, as a whole."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, _Run[Key, Value]] = OrderedDict()
        self._guard = threading.Lock()

    def keep(self, run: str, key: Key, value: Value, size: int) -> list[Value]:
        """Returns what was forgotten to make room for it."""
        with self._guard:
            this = self._use(run)
            before = this.items.pop(key, None)
            this.items[key] = value, size
            forgotten = [before[0]] if before else []
            while len(this.items) > ITEMS:
                forgotten.append(this.items.popitem(last=False)[1][0])
            return [*forgotten, *self._forget()]

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

    def _forget(self) -> list[Value]:
        """All runs but the latest, where they are too old, too many or too large."""
        forgotten: list[Value] = []
        size = sum(run.size for run in self._runs.values())
        too_old = time.monotonic() - SECONDS
        for name, run in [*self._runs.items()][:-1]:
            if run.used >= too_old and size <= BYTES and len(self._runs) <= RUNS:
                break
            size -= run.size
            del self._runs[name]
            forgotten += [value for value, _ in run.items.values()]
        return forgotten
