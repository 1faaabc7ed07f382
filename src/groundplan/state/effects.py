"""Which effects were begun and which were done, so that each happens once even if processes are killed.

Before a step with an effect is called, that is recorded; its outcome is recorded after it. A process that resumes the
run sees which of the two is missing.
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
    """Every record is on disk before the call that it is about."""

    def __init__(self, folder: Path, tenant: str = "") -> None:
        self._database, self._tenant = Database(folder, LAYOUT), tenant

    async def begin(self, key: str) -> StepOutcome | Literal["new", "begun"]:
        """`new`: recorded now. `begun`: another process started it and did not record the outcome. Or the outcome."""

        def record(entries: sqlite3.Connection) -> tuple[bool, str | None]:
            where = (self._tenant, key)
            fresh = entries.execute("insert or ignore into effects (tenant, key) values (?, ?)", where).rowcount > 0
            row = entries.execute("select outcome from effects where tenant = ? and key = ?", where).fetchone()
            return fresh, row[0]

        fresh, outcome = await self._database.run(record)
        if fresh:
            return "new"
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
            raise StateInvalid(f"{file} holds an effect that cannot be read; check what was done first") from error
