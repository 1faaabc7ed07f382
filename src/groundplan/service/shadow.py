"""Has questions read with the variant on trial after the current one has answered them, in spare slots only."""

from __future__ import annotations

import asyncio
import logging

from groundplan.contracts.rollout import Rollout
from groundplan.errors import Crashed, StoreUnavailable
from groundplan.service.data import Data
from groundplan.service.shadow_process import ShadowProcess
from groundplan.state.database import Database
from groundplan.state.rollouts import Due, Rollouts
from groundplan.state.runs import QUEUE, Runs
from groundplan.telemetry.metrics import Metrics

log = logging.getLogger("groundplan.rollout")


class Shadow:
    """Takes one question at a time and keeps what its child process measured. There is one while it may be needed."""

    def __init__(self, data: Data, database: Database, metrics: Metrics) -> None:
        self._database, self._metrics = database, metrics
        self._process = ShadowProcess(data, database, metrics.opened)
        self._reading: asyncio.Task[None] | None = None
        self._changing: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """A slot is spare: take up a question that is due, unless one is being read."""
        if any(task and not task.done() for task in (self._reading, self._changing)):
            return
        wanted = await Rollouts(self._database).casts_shadow()
        if not wanted or not self._process.is_ready:
            self._changing = asyncio.create_task(self._process.start() if wanted else self._process.end())
        elif due := await Rollouts(self._database).take_due():
            self._reading = asyncio.create_task(self._read(due), name=f"shadow of {due.run}")
            self._reading.add_done_callback(lambda _: self._database.bell.ring(QUEUE))  # the next may begin

    async def give_way(self) -> None:
        """Stop reading: every slot is needed for questions that somebody waits for."""
        if self._reading:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def end(self) -> None:
        await self.give_way()
        if self._changing:
            self._changing.cancel()
            await asyncio.gather(self._changing, return_exceptions=True)
        await self._process.end()

    async def _read(self, due: Due) -> None:
        rollouts = Rollouts(self._database.of(due.tenant))
        try:
            rollout = (await rollouts.standing()).rollout
            run = await Runs(self._database.of(due.tenant)).find(due.run)
            if run and run.state in ("queued", "running"):  # its answer is being written, or its worker has died
                await rollouts.postpone(due)
                return
            wanted = rollout and rollout.id == due.rollout and run and run.ended and run.outcome
            if not wanted or rollout is None or not await _is_affordable(rollouts, rollout):
                await rollouts.drop(due)
                return
            told = await self._process.measured(due.tenant, rollout, due.run)
            if told is None:
                await rollouts.give_back(due)
                return
            await rollouts.keep(rollout, told)
            self._metrics.tried(told)
        except asyncio.CancelledError:
            await rollouts.postpone(due)
            raise
        except StoreUnavailable as error:
            log.warning("%s", error)
        except Exception as error:  # noqa: BLE001 - the worker goes on with other questions
            log.error("the shadow of run %s: %s", due.run, Crashed.by(error))  # noqa: TRY400 - a traceback may quote data
            await rollouts.give_back(due)


async def _is_affordable(rollouts: Rollouts, rollout: Rollout) -> bool:
    tokens, seconds = await rollouts.spent(rollout.id, "shadow")
    return tokens < rollout.limits.day_tokens and seconds < rollout.limits.day_seconds
