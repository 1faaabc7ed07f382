"""What was begun and what was done, step by step: so that an effect happens once, whatever is killed in between.

Before a step that changes something is called, that is written down; what it gave is written down behind it. Whoever
goes on with the run sees which of the two is missing.
"""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from groundplan.contracts.step_outcome import StepOutcome
from groundplan.errors import StateInvalid
from groundplan.state.sqlite_file import opened

TROUBLE = "{file} does not tell what was done ({error}); see what it holds first"
LAYOUT = """
pragma synchronous = full;
create table if not exists effects (key text primary key, at text default current_timestamp, outcome text);
"""


class Effects:
    """One SQLite file; every entry is on the disk before the call that it is about."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def begin(self, key: str) -> StepOutcome | Literal["new", "begun"]:
        """`new`, and now it is written down; `begun` by somebody who never said how it ended; or how it ended."""
        with self._open() as entries:
            fresh = entries.execute("insert or ignore into effects (key) values (?)", (key,)).rowcount
            row = entries.execute("select outcome from effects where key = ?", (key,)).fetchone()
        if fresh:
            return "new"
        return "begun" if row[0] is None else _read(row[0], self._file)

    def end(self, key: str, outcome: StepOutcome) -> None:
        with self._open() as entries:
            entries.execute("update effects set outcome = ? where key = ?", (outcome.model_dump_json(), key))

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        return opened(self._file, LAYOUT, TROUBLE)


def _read(text: str, file: Path) -> StepOutcome:
    try:
        return StepOutcome.model_validate_json(text)
    except ValidationError as error:
        raise StateInvalid(f"{file} holds an entry that is no outcome; see what was done before going on") from error
