"""Records which effects were started and which finished, so that each happens once even if processes are killed.

A step with an effect is recorded before its call, and its outcome after it. A process that resumes the run sees
which of the two records is missing.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from groundplan.contracts.step_outcome import StepOutcome
from groundplan.errors import StateInvalid
from groundplan.state.database import Database

LAYOUT = """
create table if not exists effects (
    tenant text, key text, at text default current_timestamp, outcome text, primary key (tenant, key)
);
"""


class Effects:
    """A record is on disk before the call it describes is made."""

    def __init__(self, folder: Path, tenant: str = "") -> None:
        self._database, self._tenant = Database(folder, LAYOUT), tenant

    async def begin(self, key: str) -> StepOutcome | Literal["new", "begun", "other"]:
        """Record the start. Returns `new`, the recorded outcome, or `begun` if another process recorded none.

        `other`: this step of this run was already called for another plan or with other params; nothing is recorded.
        """
        place = key.rpartition("/")[0]  # RUN/STEP; the rest of the key is a hash of plan and params

        def record(entries: sqlite3.Connection) -> tuple[str | None, str | None]:
            # `0` follows `/`: every key at this place, whatever was called there
            at_place = (self._tenant, place, f"{place}/", f"{place}0")
            row = entries.execute(
                "select key, outcome from effects where tenant = ? and (key = ? or (key >= ? and key < ?))", at_place
            ).fetchone()
            if row is None:
                entries.execute("insert into effects (tenant, key) values (?, ?)", (self._tenant, key))
            return row or (None, None)

        known, outcome = await self._database.run(record, immediate=True)
        if known is None:
            return "new"
        if known != key:
            return "other"
        return "begun" if outcome is None else self._read(outcome)

    async def end(self, key: str, outcome: StepOutcome) -> None:
        values = (outcome.model_dump_json(), self._tenant, key)
        update = "update effects set outcome = ? where tenant = ? and key = ?"
        await self._database.run(lambda entries: entries.execute(update, values))

    def _read(self, text: str) -> StepOutcome:
        try:
            return StepOutcome.model_validate_json(text)
        except ValidationError as error:
            file = self._database.file
            raise StateInvalid(f"{file} has an unreadable effect record; check by hand what was done") from error
