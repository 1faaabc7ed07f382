"""Runs and projects on behalf of a request: those of its tenant, whichever door it came through."""

from __future__ import annotations

import time
from contextlib import AbstractAsyncContextManager
from typing import Annotated

from fastapi import Path
from pydantic import ValidationError
from starlette.requests import Request

from groundplan.asking.replies import to_remember
from groundplan.asking.route import known_strategy
from groundplan.contracts.answer import Clarification
from groundplan.contracts.contract import thaw
from groundplan.contracts.reading import Reading
from groundplan.contracts.run import WAITING, Run, RunReply, RunRequest
from groundplan.project import AsyncProject
from groundplan.service.problems import MayNotChange
from groundplan.service.projects import Projects
from groundplan.state.database import wait_for
from groundplan.state.runs import NoSuchRun, Runs, settled_topic

RunId = Annotated[str, Path(pattern=r"^[0-9a-f]{24}$")]
PING = 5.0  # seconds between two signs of life on a stream
STOPPING = "stopping"  # the bell rings this when the server stops


def runs_of(request: Request) -> Runs:
    return Runs(request.app.state.projects.database.of(request.state.tenant))


def project_of(request: Request) -> AbstractAsyncContextManager[AsyncProject]:
    projects: Projects = request.app.state.projects
    return projects.of(request.state.tenant)


async def add_run(request: Request, asked: RunRequest, key: str | None = None) -> Run:
    """Queue the run; an unknown strategy is refused at once, not by a worker later."""
    if asked.strategy:
        known_strategy(asked.strategy)
    run, _ = await runs_of(request).add(_titled(asked), key, request.app.state.most_runs)
    return run


def _titled(asked: RunRequest) -> RunRequest:
    """The run of a reading that was changed by hand is called by how it reads now, not by its question."""
    from groundplan.text.read_back import read_back

    if asked.title or asked.plan is None:
        return asked
    try:
        reading = Reading.model_validate(thaw(asked.plan.get("reading")))
    except ValidationError:
        return asked  # the gate says what is wrong
    changed = reading.replaced or any(r.chosen for ask in reading.asks for r in ask.requirements)
    return asked.model_copy(update={"title": read_back(reading).removesuffix(".")}) if changed else asked


async def run_of(runs: Runs, id_: str) -> Run:
    run = await runs.find(id_)
    if run is None:
        raise NoSuchRun(f"there is no run {id_!r}")
    return run


async def settled(request: Request, runs: Runs, run: Run, seconds: float) -> Run:
    """The run when it has ended or waits, or as it is after these seconds."""
    until = time.monotonic() + seconds
    bell = request.app.state.projects.database.bell
    with bell.heard(settled_topic(request.state.tenant, run.id), STOPPING) as rung:
        while True:
            rung.clear()
            run = await run_of(runs, run.id)
            left = until - time.monotonic()
            if run.ended or run.state in WAITING or left <= 0 or request.app.state.stopping:
                return run
            await wait_for(rung, min(left, PING))


async def approve_run(request: Request, runs: Runs, id_: str, plan: str, approved: bool) -> Run:
    """Approve or decline the plan with this fingerprint; a key of the role `read` may do neither."""
    if request.state.role == "read":
        raise MayNotChange("a key with the role 'read' may not approve plans; ask somebody who may")
    if approved:
        return await runs.reply(id_, "waiting_approval", RunReply(approved=plan), plan, request.state.actor)
    run = await runs.refuse(id_, plan, request.state.actor)
    await forget(request, run)
    return run


async def reply_to(request: Request, runs: Runs, run: Run, said: str) -> Run:
    """Answer a question back. A key of the role `read` gives no column another name, which all others would read."""
    asked = run.waiting
    if request.state.role == "read" and isinstance(asked, Clarification) and to_remember(asked, said):
        raise MayNotChange("a key with the role 'read' may not have names remembered; reply without it")
    return await runs.reply(run.id, "waiting_answer", RunReply(answer=said))


async def forget(request: Request, run: Run) -> None:
    """Delete the checkpoints of a run that ended while it waited; those of a conversation stay."""
    if run.request.thread is None:
        async with project_of(request) as project:
            await project.forget(run.id)
