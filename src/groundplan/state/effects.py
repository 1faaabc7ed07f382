"""Records which effects were started and which finished, so that each happens once even if processes are killed.

A step with an effect is recorded before its call, and its outcome after it. A process that resumes the run sees
which of the two records is missing.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ValidationError

from groundplan.contracts.step_outcome import StepOutcome
from groundplan.errors import StateInvalid
from groundplan.state.database import Database

AT_PLACE = "select key, outcome from effects where tenant = ? and (key = ? or (key >= ? and key < ?))"


class Effects:
    """A record is on disk before the call it describes is made."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    async def begin(self, key: str) -> StepOutcome | Literal["new", "begun", "other"]:
        """Record the start. Returns `new`, the recorded outcome, or `begun` if another process recorded none.

        `other`: this step of this run was already called for another plan or with other params; nothing is recorded.
        """
        place = key.rpartition("/")[0]  # RUN/STEP or RUN/STEP.ITEM; the rest of the key is a hash of plan and params
        async with self._database.transaction() as run:
            await run.lock(f"effect/{self._tenant}/{place}")
            # `0` follows `/`: every key at this place, whatever was called there
            found = await run(AT_PLACE, self._tenant, place, f"{place}/", f"{place}0")
            if not found:
                await run("insert into effects (tenant, key) values (?, ?)", self._tenant, key)
                return "new"
        known, outcome = found[0]
        if known != key:
            return "other"
        return "begun" if outcome is None else _read(outcome)

    async def reopen(self, key: str) -> None:
        """It is called once more: until its outcome is recorded again, it counts as begun."""
        async with self._database.transaction() as run:
            await run("update effects set outcome = null where tenant = ? and key = ?", self._tenant, key)

    async def end(self, key: str, outcome: StepOutcome) -> None:
        update = "update effects set outcome = ? where tenant = ? and key = ?"
        async with self._database.transaction() as run:
            await run(update, outcome.model_dump_json(), self._tenant, key)


def _read(text: str) -> StepOutcome:
    try:
        return StepOutcome.model_validate_json(text)
    except ValidationError as error:
        raise StateInvalid("there is an unreadable effect record; check by hand what was done") from error
