"""Reads and plans a question with the variant on trial, and compares that with what the current one answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.contracts.conversation import Turn
from groundplan.contracts.plan import Proposal
from groundplan.contracts.rollout import Measured, Status
from groundplan.contracts.run import Run
from groundplan.contracts.verdict import Passed
from groundplan.errors import GroundplanError, StoreUnavailable
from groundplan.project import AsyncProject
from groundplan.result import Planned
from groundplan.rollout.measuring import agree, shows_the_same
from groundplan.service.projects import Projects
from groundplan.state.runs import Runs


async def read_beside(projects: Projects, tenant: str, variant: str, run_id: str, seconds: float) -> Measured:
    """Nothing that this does has an effect, and nothing is stored."""
    run = await Runs(projects.database.of(tenant)).find(run_id)
    assert run is not None
    told, began = Measured(run=run_id, side="shadow", share=0, status="failed"), time.monotonic()
    try:
        async with asyncio.timeout(seconds), projects.of(tenant, variant) as project:
            return await _beside(project, run)
    except TimeoutError:
        return told.model_copy(update={"code": "timeout", "seconds": round(time.monotonic() - began, 3)})
    except StoreUnavailable:
        raise
    except GroundplanError as error:
        code = type(error).__name__.lower()
        return told.model_copy(update={"code": code, "seconds": round(time.monotonic() - began, 3)})


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
