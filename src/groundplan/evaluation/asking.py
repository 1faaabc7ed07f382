"""How a suite asks its questions: with which models, and how far their readings are believed."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from groundplan.contracts.answer import Clarification, Outcome
from groundplan.contracts.plan import Proposal
from groundplan.contracts.roles import Roles
from groundplan.project import AsyncProject
from groundplan.settings import Endpoint
from groundplan.state.database import SQLite

if TYPE_CHECKING:
    from groundplan.evaluation.replies import Tape


@dataclass(frozen=True)
class Asked:
    """How a question ended, and how it ends if a person confirms the one reading that is asked back."""

    outcome: Outcome
    confirmed: Outcome | None
    seconds: float


@dataclass(frozen=True)
class Asking:
    models: Sequence[Endpoint] = ()
    strategy: str | None = None
    roles: Roles | None = None
    tape: Tape | None = None  # replays or records what the models reply

    @asynccontextmanager
    async def open(self, where: Any) -> AsyncIterator[AsyncProject]:
        """The project, with a state of its own: no plan or example of an earlier question helps."""
        with TemporaryDirectory() as state:
            project = await AsyncProject.open(
                where, models=self.models, roles=self.roles, database=SQLite(Path(state)), transport=self.tape
            )
            try:
                yield project
            finally:
                await project.close()

    async def ask(self, project: AsyncProject, id: str, question: str, today: date) -> Asked:
        if self.tape:
            self.tape.asks(id, question)
        began = time.perf_counter()
        outcome = await project.ask(question, today=today, strategy=self.strategy)
        seconds = time.perf_counter() - began
        return Asked(outcome, await _confirmed(project, outcome, today), seconds)


async def _confirmed(project: AsyncProject, outcome: Outcome, today: date) -> Outcome | None:
    """The outcome of the reading that a person is asked to confirm; None if nothing or several are asked."""
    if not isinstance(outcome, Clarification) or len(outcome.readings) != 1:
        return None
    planned = await project.change(outcome.readings[0], today=today)
    if planned.plan is None or planned.reading is None:
        return planned.ended
    return await project.run(Proposal(reading=planned.reading, plan=planned.plan))


NO_MODEL = Asking(strategy="rules")
