"""What a conversation was about, turn by turn: what a follow-up may take over. No rows, no answers, no secrets.

A turn is one JSON document, `contracts.conversation.Turn`: `{"format": 1, "reading": …, "plan": …}`. Of a plan the
steps and limits are kept, not how it came to be nor what it answered. Whatever does not read as exactly that, because
another version or another program wrote it, is passed over.
"""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path

from pydantic import ValidationError

from groundplan.contracts.conversation import Turn
from groundplan.contracts.plan import Plan, Provenance
from groundplan.contracts.reading import Reading
from groundplan.state.sqlite_file import opened

FILE = "threads.sqlite"
TURNS = 10  # of one thread; a follow-up goes back one, and people seldom come back to more than a few
TROUBLE = "{file} holds no conversations ({error}); move it away to begin anew"
LAYOUT = """
create table if not exists turns (place integer primary key autoincrement, thread text not null, turn text not null);
create index if not exists turns_of on turns (thread, place);
"""
FORGET = """
delete from turns where thread = ?1
and place not in (select place from turns where thread = ?1 order by place desc limit ?2)
"""


class Threads:
    """One SQLite file in a folder; the last turns of each thread are kept."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    def turns(self, thread: str) -> tuple[Turn, ...]:
        """The oldest first; nothing for a new thread."""
        query = "select turn from turns where thread = ? order by place"
        with self._open() as stored:
            rows = stored.execute(query, (thread,)).fetchall()
        return tuple(turn for (text,) in rows if (turn := _turn(text)))

    def keep(self, thread: str, reading: Reading, plan: Plan) -> None:
        """Behind the turns before; the oldest goes when there are too many."""
        turn = Turn(format=1, reading=reading, plan=_only_the_work(plan))
        with self._open() as stored:
            stored.execute("insert into turns (thread, turn) values (?, ?)", (thread, turn.model_dump_json()))
            stored.execute(FORGET, (thread, TURNS))

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        return opened(self._file, LAYOUT, TROUBLE)


def _only_the_work(plan: Plan) -> Plan:
    """Without what a model thought, and without the text of an answer."""
    fields = {name: getattr(plan, name) for name in Plan.model_fields}
    return Plan(**fields | {"answer": "", "provenance": Provenance(template=plan.provenance.template)})


def _turn(text: object) -> Turn | None:
    try:
        return Turn.model_validate_json(text) if isinstance(text, str | bytes) else None
    except ValidationError:
        return None
