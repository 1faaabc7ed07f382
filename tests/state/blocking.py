"""A store for tests that do not await."""

from __future__ import annotations

import asyncio
from typing import Any


class Blocking:
    """Its methods return what those of the store give when they are awaited."""

    def __init__(self, store: object) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        return lambda *given: asyncio.run(method(*given))
