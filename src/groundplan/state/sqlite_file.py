"""A small SQLite file that processes share: opened for each use, its changes written together."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from groundplan.errors import StateInvalid

SECONDS = 10.0  # to wait for another process that writes


@contextmanager
def opened(file: Path, layout: str, trouble: str) -> Iterator[sqlite3.Connection]:
    """A connection with these tables; `trouble` says what a file that is none means: `{file} … ({error}) …`."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(file, timeout=SECONDS)) as connection, connection:
            connection.executescript(layout)
            yield connection
    except (sqlite3.DatabaseError, OSError) as error:
        raise StateInvalid(trouble.format(file=file, error=error)) from error
