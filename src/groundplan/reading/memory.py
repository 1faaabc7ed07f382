"""What a conversation was about, turn by turn: the little that a clear follow-up may take over. No rows, no answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pydantic import ValidationError

from groundplan.contracts.knowledge import Conversation
from groundplan.contracts.reading import Reading
from groundplan.errors import StateInvalid

FILE = "threads.sqlite"
SECONDS = 10.0  # to wait for another process that writes
LAYOUT = "create table if not exists turn (thread text primary key, spoken text not null)"


class Threads:
    """One SQLite file in a folder; the last turn of each thread is kept."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    def last(self, thread: str) -> Conversation | None:
        """The turn before; None for a new thread, and where what is stored is no turn."""
        with self._open() as turns:
            row = turns.execute("select spoken from turn where thread = ?", (thread,)).fetchone()
        try:
            return Conversation.model_validate_json(row[0]) if row else None
        except ValidationError:
            return None

    def keep(self, thread: str, reading: Reading) -> None:
        intents = tuple(intent.name for intent in reading.intents)
        spoken = Conversation(question=reading.question, entities=reading.entities, intents=intents)
        with self._open() as turns:
            turns.execute("insert or replace into turn values (?, ?)", (thread, spoken.model_dump_json()))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._file, timeout=SECONDS)) as turns, turns:
                turns.execute(LAYOUT)
                yield turns
        except sqlite3.DatabaseError as error:
            raise StateInvalid(f"{self._file} holds no conversations ({error}); move it away to begin anew") from error
