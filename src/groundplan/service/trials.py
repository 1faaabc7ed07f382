"""Answers a run by the side it belongs to, falls back to the current variant, and keeps how it went."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from groundplan.contracts.answer import Outcome
from groundplan.contracts.rollout import Fallback, Measured, Rollout, RunSide
from groundplan.errors import GroundplanError, StoreUnavailable
from groundplan.project import AsyncProject
from groundplan.rollout.assigning import Before, bucket, side_of
from groundplan.rollout.measuring import failed, measured
from groundplan.service.projects import Projects
from groundplan.state.rollouts import Rollouts
from groundplan.state.runs import Claim, Fenced, Runs
from groundplan.telemetry.metrics import Metrics

Answering = Callable[[AsyncProject], Awaitable[Outcome]]

log = logging.getLogger("groundplan.rollout")


class Trial:
    """One run while a variant may be on trial."""

    def __init__(self, projects: Projects, metrics: Metrics, claim: Claim, runs: Runs) -> None:
        self._projects, self._metrics, self._claim, self._runs = projects, metrics, claim, runs
        self._rollouts = Rollouts(projects.database.of(claim.tenant))
        self.unwritten: dict[str, RunSide] = {}  # what the run's next change has to record

    async def outcome(self, answering: Answering) -> Outcome:
        """The outcome by this run's side. It is kept before the run ends, so that a worker's death loses nothing."""
        standing = await self._rollouts.standing()
        rollout, began = standing.rollout, time.monotonic()
        if rollout is None or self._claim.request.question is None:
            return await self._by(standing.current, answering)
        side = await self._side(rollout)
        try:
            outcome, side = await self._by_side(rollout, side, answering)
        except GroundplanError as error:
            if not isinstance(error, Fenced | StoreUnavailable):
                code = type(error).__name__.lower()
                await self._keep(rollout, failed(self._claim.id, side, time.monotonic() - began, code))
            raise
        told = measured(self._claim.id, side.side, side.share, outcome, time.monotonic() - began)
        casts_shadow = rollout.share == 0 and self._is_shadowed(rollout)
        await self._keep(rollout, told.model_copy(update={"fell_back": side.fell_back}), casts_shadow)
        return outcome

    async def _by_side(self, rollout: Rollout, side: RunSide, answering: Answering) -> tuple[Outcome, RunSide]:
        if side.side == "trial" and side.fell_back is None:
            found = await self._tried(rollout, answering)
            if not isinstance(found, str):
                return found, side
            side = side.model_copy(update={"fell_back": found})
            await self._runs.write(self._claim, rollout=side)
        return await self._by(rollout.current, answering), side

    async def _tried(self, rollout: Rollout, answering: Answering) -> Outcome | Fallback:
        """The trial's outcome, or why the current variant has to answer.

        Once a person has approved an effect, nobody else starts over: the effect may have happened.
        """
        approved = bool(self._claim.reply and self._claim.reply.approved)
        tokens, _ = await self._rollouts.spent(rollout.id, "trial")
        if tokens >= rollout.limits.day_tokens and not approved:
            return "budget"
        try:
            async with asyncio.timeout(None if approved else rollout.limits.timeout):
                outcome = await self._by(rollout.variant, answering)
        except TimeoutError:
            return "timeout"
        except (Fenced, StoreUnavailable):
            raise
        except GroundplanError as error:
            if approved:
                raise
            log.warning("the variant on trial failed (%s); the current one answers", type(error).__name__)
            return "error"
        return "model" if outcome.usage.failed and not approved else outcome

    async def _by(self, variant: str, answering: Answering) -> Outcome:
        async with self._projects.of(self._claim.tenant, variant) as project:
            return await answering(project)

    async def _side(self, rollout: Rollout) -> RunSide:
        """The side of an earlier attempt of this run, or that of its conversation; written into the run's record.

        In the shadow all are of one side, and nobody waits for that to be written.
        """
        before = self._claim.rollout
        if before and before.rollout == rollout.id:
            return before
        thread = self._claim.request.thread
        found = await self._rollouts.before(thread, self._claim.id) if thread else Before()
        side = side_of(rollout, self._claim.tenant, thread or self._claim.id, found)
        if rollout.share == 0:
            self.unwritten = {"rollout": side}
        else:
            await self._runs.write(self._claim, rollout=side)
        return side

    async def _keep(self, rollout: Rollout, told: Measured, casts_shadow: bool = False) -> None:
        why = await self._rollouts.keep(rollout, told, casts_shadow)
        self._metrics.tried(told)
        if why:
            self._metrics.stopped()
            log.warning("the trial of the variant %s stops: %s", rollout.variant, why)

    def _is_shadowed(self, rollout: Rollout) -> bool:
        return bucket("shadow", rollout.id, self._claim.id) < rollout.limits.shadowed * 100
