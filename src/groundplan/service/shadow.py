"""Reads and plans questions with the variant on trial after the current one has answered them, in spare slots only."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence

from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.contracts.conversation import Turn
from groundplan.contracts.plan import Proposal
from groundplan.contracts.rollout import Measured, Rollout, Status
from groundplan.contracts.run import Run
from groundplan.contracts.verdict import Passed
from groundplan.errors import Crashed, GroundplanError, StoreUnavailable
from groundplan.project import AsyncProject
from groundplan.result import Planned
from groundplan.rollout.measuring import agree, shows_the_same
from groundplan.service.projects import Projects
from groundplan.state.rollouts import SHADOW_LEASE, Due, Rollouts
from groundplan.state.runs import QUEUE, Runs
from groundplan.telemetry.metrics import Metrics

log = logging.getLogger("groundplan.rollout")


class Shadow:
    """Takes one question at a time. Nothing that it does has an effect, and no plan of it is stored."""

    def __init__(self, projects: Projects, metrics: Metrics) -> None:
        self._projects, self._metrics = projects, metrics
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Take up a question that is due, unless one is being read."""
        if self._task is not None and not self._task.done():
            return
        due = await Rollouts(self._projects.database).take_due()
        if due is not None:
            self._task = asyncio.create_task(self._read(due), name=f"shadow of {due.run}")
            self._task.add_done_callback(lambda _: self._projects.database.bell.ring(QUEUE))  # the next may begin

    async def give_way(self) -> None:
        """Stop reading: every slot is needed for questions that somebody waits for."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self, due: Due) -> None:
        rollouts = Rollouts(self._projects.database.of(due.tenant))
        try:
            rollout = (await rollouts.standing()).rollout
            run = await Runs(self._projects.database.of(due.tenant)).find(due.run)
            if run and run.state in ("queued", "running"):  # its answer is being written, or its worker has died
                await rollouts.postpone(due)
                return
            wanted = rollout and rollout.id == due.rollout and run and run.ended and run.outcome
            if not wanted or rollout is None or run is None or not await _is_affordable(rollouts, rollout):
                await rollouts.drop(due)
                return
            told = await self._measured(rollout, run, due.tenant)
            await rollouts.keep(rollout, told)
            self._metrics.tried(told)
        except asyncio.CancelledError:
            await rollouts.give_back(due)
            raise
        except StoreUnavailable as error:
            log.warning("%s", error)
        except Exception as error:  # noqa: BLE001 - the worker goes on with other questions
            log.error("the shadow of run %s: %s", due.run, Crashed.by(error))  # noqa: TRY400 - a traceback may quote data
            await rollouts.give_back(due)

    async def _measured(self, rollout: Rollout, run: Run, tenant: str) -> Measured:
        began = time.monotonic()
        told = Measured(run=run.id, side="shadow", share=0, status="failed")
        try:
            async with asyncio.timeout(min(rollout.limits.timeout, SHADOW_LEASE)):
                async with self._projects.of(tenant, rollout.variant) as project:
                    return await _beside(project, run)
        except TimeoutError:
            return told.model_copy(update={"code": "timeout", "seconds": round(time.monotonic() - began, 3)})
        except StoreUnavailable:
            raise
        except GroundplanError as error:
            code = type(error).__name__.lower()
            return told.model_copy(update={"code": code, "seconds": round(time.monotonic() - began, 3)})


async def _is_affordable(rollouts: Rollouts, rollout: Rollout) -> bool:
    tokens, seconds = await rollouts.spent(rollout.id, "shadow")
    return tokens < rollout.limits.day_tokens and seconds < rollout.limits.day_seconds


async def _beside(project: AsyncProject, run: Run) -> Measured:
    """Read and plan as the current variant did, then compare; rows are fetched only by plans that change nothing."""
    assert run.outcome is not None
    assert run.request.question is not None
    began = time.monotonic()
    planned = await project.plan_beside(
        run.request.question,
        today=run.request.today or run.created.date(),
        timezone=run.request.timezone or project.timezone,
        strategy=run.request.strategy or project.strategy,
        turns=await _turns_before(project, run),
        bounds=run.request.bounds,
        inputs=run.request.inputs,
    )
    seconds = round(time.monotonic() - began, 3)
    return Measured(
        run=run.id,
        side="shadow",
        share=0,
        status=_status(planned),
        attempts=len(planned.attempts),
        tokens=planned.usage.tokens,
        seconds=seconds,
        code=_code(planned),
        same_meaning=agree(planned.reading, None if isinstance(run.outcome, Clarification) else run.outcome.reading),
        same_rows=await _same_rows(project, planned, run),
    )


def _status(planned: Planned) -> Status:
    if planned.usage.failed:
        return "failed"
    return "asked" if isinstance(planned.ended, Clarification) else "refused" if planned.ended else "answered"


def _code(planned: Planned) -> str:
    if planned.usage.failed:
        return "model"
    return planned.ended.issues[0].code if isinstance(planned.ended, Refusal) and planned.ended.issues else ""


async def _same_rows(project: AsyncProject, planned: Planned, run: Run) -> bool | None:
    """Whether both plans show the same rows; None if one has none, or the trial's would change something."""
    if not (isinstance(run.outcome, Answer) and isinstance(planned.verdict, Passed) and planned.reading):
        return None
    plan = planned.verdict.plan
    if plan.fingerprint == run.outcome.plan.fingerprint:
        return True
    if plan.writes or any(step.kind in ("llm", "agent") for step in plan.steps):
        return None
    proposal = Proposal(reading=planned.reading, plan=plan.unchecked)
    shown = await project.run(proposal, bounds=run.request.bounds)
    return shows_the_same(shown, run.outcome) if isinstance(shown, Answer) else None


async def _turns_before(project: AsyncProject, run: Run) -> Sequence[Turn]:
    """The turns of the conversation before this question."""
    if run.request.thread is None:
        return ()
    turns = await project.turns(run.request.thread)
    own = run.outcome.reading if isinstance(run.outcome, Answer | Refusal) else None
    place = next((place for place, turn in enumerate(turns) if turn.reading == own), len(turns))
    return turns[:place]
