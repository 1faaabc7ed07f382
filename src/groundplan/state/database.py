"""One SQLite file shared between processes. Each use is one transaction, run in a worker thread."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from groundplan.errors import StateInvalid

FILE = "state.sqlite"
SECONDS = 10.0  # to wait while another process writes

T = TypeVar("T")


class Database:
    """`layout` is the SQL that creates a store's tables if they do not exist."""

    def __init__(self, folder: Path, layout: str) -> None:
        self.file = folder / FILE
        self._layout = layout

    async def run(self, work: Callable[[sqlite3.Connection], T], immediate: bool = False) -> T:
        """Run `work` in one transaction and return its result; an `immediate` one excludes other writers throughout."""
        return await asyncio.to_thread(self._run, work, immediate)

    def _run(self, work: Callable[[sqlite3.Connection], T], immediate: bool) -> T:
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with closing(sqlite3.connect(self.file, timeout=SECONDS)) as connection, connection:
                connection.execute("pragma journal_mode = wal")  # readers do not wait for a writer
                connection.executescript(self._layout)
                if immediate:
                    connection.execute("begin immediate")
                return work(connection)
        except (sqlite3.DatabaseError, OSError) as error:
            raise StateInvalid(
                f"{self.file} cannot be read or written ({error}); check what unfinished runs have already done, then "
                "move the file away to start with an empty one"
            ) from error
