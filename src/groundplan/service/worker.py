"""A worker claims runs, runs them and writes how they ended. Any number of workers share one database."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from groundplan.asking.route import strategies
from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal
from groundplan.contracts.contract import thaw
from groundplan.contracts.issue import Issue
from groundplan.contracts.progress import Progress
from groundplan.contracts.reading import Reading
from groundplan.contracts.run import EventKind, State
from groundplan.errors import Crashed, GroundplanError, StateInvalid, StoreUnavailable, UsageError
from groundplan.project import AsyncProject
from groundplan.service.leases import Leases
from groundplan.service.projects import Projects
from groundplan.service.retention import delete_ended
from groundplan.service.shadow import Shadow
from groundplan.service.trials import Trial
from groundplan.settings import ServiceSettings
from groundplan.state.database import wait_for
from groundplan.state.runs import CANCEL, MANY, QUEUE, TRIES, Claim, Events, Fenced, Runs
from groundplan.telemetry.logs import MORE, RUN
from groundplan.telemetry.observing import Attributes, observing
from groundplan.telemetry.telemetry import Telemetry
from groundplan.text.read_back import read_as

AT_ONCE = 4  # runs of one worker
LOOK = 1.0  # seconds between two looks at the queue, if nobody rings
PAUSES = (0.1, 0.3, 1.0, 2.0)  # seconds before each try to give back a run
TIDY = 600.0  # seconds between two deletions of old runs
MOMENT = 0.1  # seconds between two writes of a run's events
GRACE = 5.0  # seconds that runs have to end when the worker stops

log = logging.getLogger("groundplan.worker")


class Worker:
    """Serves the tenant of its database, as on a laptop, or all tenants."""

    def __init__(
        self,
        projects: Projects,
        at_once: int = AT_ONCE,
        telemetry: Telemetry | None = None,
        settings: ServiceSettings | None = None,
        shadow: Shadow | None = None,
    ) -> None:
        self._projects, self._database = projects, projects.database
        self._telemetry, self._settings, self._shadow = telemetry or Telemetry(), settings, shadow
        self._runs, self._bell = Runs(projects.database), projects.database.bell
        self._slots, self._at_once = asyncio.Semaphore(at_once), at_once
        self._tasks: dict[Claim, asyncio.Task[None]] = {}
        self._to_cancel: set[Claim] = set()
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Claim nothing more; runs have a few seconds to end and are then left to another worker."""
        self._stopping.set()
        self._slots.release()  # it may be waiting for one
        self._bell.ring(QUEUE)

    async def work(self) -> None:
        """Work until `stop`."""
        async with Leases(self._database, self._tasks.copy, self._stop_if_told):
            await self._work()

    async def _work(self) -> None:
        minding = [asyncio.create_task(self._mind()), asyncio.create_task(self._tidy())]
        try:
            with self._bell.heard(QUEUE) as rung:
                while not self._stopping.is_set():
                    await self._slots.acquire()
                    rung.clear()
                    claim = None if self._stopping.is_set() else await self._claimed()
                    if claim is None:
                        self._slots.release()
                        await self._begin_shadow()
                        if not self._stopping.is_set():
                            await wait_for(rung, LOOK)
                    else:
                        self._start(claim)
                        if self._shadow and len(self._tasks) >= self._at_once:
                            await self._shadow.give_way()
            if self._tasks:
                await asyncio.wait(self._tasks.values(), timeout=GRACE)
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
            for task in minding:
                task.cancel()
            if self._shadow:
                await self._shadow.end()

    async def _claimed(self) -> Claim | None:
        try:
            return await self._runs.claim(self._settings.active_runs if self._settings else MANY, self._filling())
        except GroundplanError as error:
            log.warning("no run can be claimed: %s", error)
            await asyncio.sleep(LOOK)
            return None

    async def _begin_shadow(self) -> None:
        """Nobody waits for an answer: the slot is spare."""
        try:
            if self._shadow and not self._stopping.is_set():
                await self._shadow.begin()
        except GroundplanError as error:
            log.warning("no question of the shadow can be taken: %s", error)

    def _filling(self) -> str | None:
        """The tenant that has all slots but one: the last is for others, so that slow data delays its tenant only."""
        tenants = {claim.tenant for claim in self._tasks}
        fills = self._settings and len(self._tasks) == self._at_once - 1 and len(tenants) == 1
        return tenants.pop() if fills else None

    def _start(self, claim: Claim) -> None:
        task = asyncio.create_task(self._take(claim), name=f"run {claim.id}")
        self._tasks[claim] = task

        def ended(_: asyncio.Task[None]) -> None:
            del self._tasks[claim]
            self._to_cancel.discard(claim)
            self._slots.release()
            self._bell.ring(QUEUE)  # a run of this tenant may be taken again

        task.add_done_callback(ended)

    async def _mind(self) -> None:
        """Stop the runs that are to be cancelled as soon as somebody says so."""
        with self._bell.heard(CANCEL) as rung:
            while True:
                await rung.wait()
                rung.clear()
                with suppress(GroundplanError):
                    for claim, cancelled in (await self._runs.renew(self._tasks.copy())).items():
                        self._stop_if_told(claim, cancelled)

    async def _tidy(self) -> None:
        """Delete old runs from time to time. Several workers may do so at once."""
        days = self._settings.keep_days if self._settings else None
        while days is not None:
            try:
                if deleted := await delete_ended(self._database, days):
                    log.info("deleted %d ended runs", deleted)
            except GroundplanError as error:
                log.warning("ended runs cannot be deleted: %s", error)
            await asyncio.sleep(TIDY)

    def _stop_if_told(self, claim: Claim, cancelled: bool | None) -> None:
        task = self._tasks.get(claim)
        if task and cancelled is not False and claim not in self._to_cancel:
            if cancelled:
                self._to_cancel.add(claim)
            task.cancel()

    async def _take(self, claim: Claim) -> None:
        """Run a claim to its end. If the database is lost, another worker takes it up when the claim has expired."""
        RUN.set(claim.id)
        waited = time.monotonic() - claim.since if claim.attempt == 1 else None
        self._telemetry.metrics.claimed(waited, again=claim.tries > 1)
        runs = Runs(self._database.of(claim.tenant))
        try:
            if claim.cancelled:
                await self._end(runs, claim, "cancelled")
            elif claim.tries > TRIES:
                problem = _problem("given-up", f"{TRIES} workers have stopped in it")
                await self._end(runs, claim, "failed", problem=problem)
            else:
                await self._observed(claim, runs)
        except asyncio.CancelledError:
            with suppress(GroundplanError):
                if claim in self._to_cancel:
                    await self._forget(claim)
                    await self._end(runs, claim, "cancelled")
                elif self._stopping.is_set():
                    await runs.write(claim, [("run.queued", {})], state="queued", tries=0)
        except Fenced as error:
            log.warning("%s", error)
        except StoreUnavailable as error:
            log.warning("%s", error)
            await self._give_back(runs, claim)
        except Exception as error:  # noqa: BLE001 - the worker goes on with other runs
            log.error("run %s: %s", claim.id, Crashed.by(error))  # noqa: TRY400 - a traceback may quote data

    async def _give_back(self, runs: Runs, claim: Claim) -> None:
        """Queue a run whose database was lost. If that fails for long, its claim expires instead."""
        for pause in PAUSES:
            await asyncio.sleep(pause)
            with suppress(StoreUnavailable):
                with suppress(Fenced):  # its last write was committed, after all
                    await runs.write(claim, [("run.queued", {})], state="queued", tries=claim.tries - 1)
                return

    async def _observed(self, claim: Claim, runs: Runs) -> None:
        told: Attributes = {"run": claim.id, "attempt": claim.attempt}
        if self._telemetry.questions and claim.request.question:
            told["question"] = claim.request.question
        with observing(self._telemetry), self._telemetry.traced("run", told):
            await self._run(claim, runs)

    async def _run(self, claim: Claim, runs: Runs) -> None:
        telling = _Telling(runs, claim)
        telling("run.started", {"attempt": claim.attempt})
        trial = Trial(self._projects, self._telemetry.metrics, claim, runs)
        try:
            async with telling:
                outcome = await trial.outcome(lambda project: _outcome(project, claim, telling))
        except (Fenced, StoreUnavailable):
            raise
        except GroundplanError as error:
            code = "usage" if isinstance(error, UsageError) else "crashed" if isinstance(error, Crashed) else "world"
            await self._end(runs, claim, "failed", telling.left, problem=_problem(code, str(error)), **trial.unwritten)
            return
        shown = outcome.model_dump(mode="json")
        if isinstance(outcome, Clarification):
            events: Events = [*telling.left, ("question", shown)]
            await runs.write(claim, events, state="waiting_answer", waiting=outcome, reply=None, **trial.unwritten)
            self._telemetry.metrics.waits(outcome)
        elif isinstance(outcome, Refusal) and _waits_for_approval(outcome):
            asked = {"plan": outcome.to_approve, "text": outcome.text}
            events = [*telling.left, ("approval.required", asked)]
            await runs.write(claim, events, state="waiting_approval", waiting=outcome, reply=None, **trial.unwritten)
            self._telemetry.metrics.waits(outcome)
        else:
            state: State = "refused"
            if isinstance(outcome, Answer):
                state = "partial" if outcome.partial else "succeeded"
            await self._end(runs, claim, state, [*telling.left, ("outcome", shown)], outcome=outcome, **trial.unwritten)
            self._telemetry.metrics.outcome(outcome, strategies())

    async def _end(self, runs: Runs, claim: Claim, state: State, events: Events = (), **changes: Any) -> None:
        problem = changes.get("problem")
        told = {"state": state, **({"problem": problem.model_dump(mode="json")} if problem else {})}
        await runs.write(claim, [*events, ("run.ended", told)], state=state, reply=None, **changes)
        code, seconds = problem.code if problem else None, time.monotonic() - claim.since
        self._telemetry.metrics.ended(state, seconds, code)
        said = {"state": state, "attempt": claim.attempt, "seconds": round(seconds, 3), "code": code}
        log.info("run ended", extra={MORE: {key: value for key, value in said.items() if value is not None}})

    async def _forget(self, claim: Claim) -> None:
        if claim.request.thread is None:
            async with self._projects.of(claim.tenant) as project:
                await project.forget(claim.id)


async def _outcome(
    project: AsyncProject, claim: Claim, tell: Callable[[EventKind, Mapping[str, Any]], None]
) -> Outcome:
    """Continue where the last worker stopped, or begin if none has left a checkpoint."""
    request, reply = claim.request, claim.reply
    approved = reply.approved if reply else None
    options: dict[str, Any] = {
        "approve": (lambda asked: asked.fingerprint == approved) if approved else False,
        "on_stage": lambda stage: tell("stage", {"stage": stage}),
        "on_update": lambda _, update: _tell_update(update, tell),
        "on_progress": lambda progress: tell("step", _step(progress)),
    }
    if claim.attempt > 1:
        with suppress(StateInvalid):
            answer, to = (reply.answer, reply.to) if reply else (None, None)
            return await project.resume(claim.id, thread=request.thread, reply=answer, reply_to=to, **options)
    if request.plan is not None:
        return await project.run(
            json.dumps(thaw(request.plan)),
            run_id=claim.id,
            thread=request.thread,
            bounds=request.bounds,
            inputs=request.inputs,
            **options,
        )
    assert request.question is not None
    return await project.ask(
        request.question,
        today=request.today,
        timezone=request.timezone or project.timezone,
        strategy=request.strategy or project.strategy,
        thread=request.thread,
        run_id=claim.id,
        bounds=request.bounds,
        inputs=request.inputs,
        **options,
    )


def _tell_update(update: Mapping[str, Any], tell: Callable[[EventKind, Mapping[str, Any]], None]) -> None:
    if update.get("reading"):
        tell("reading", {"text": read_as(Reading.model_validate(update["reading"])), "reading": update["reading"]})
    if update.get("plan"):
        tell("plan", {"plan": update["plan"]})


def _step(progress: Progress) -> dict[str, Any]:
    return progress.model_dump(mode="json", exclude={"run"})


def _waits_for_approval(refusal: Refusal) -> bool:
    return bool(refusal.plan) and {issue.code for issue in refusal.issues} == {"access/unapproved"}


def _problem(code: str, text: str) -> Issue:
    return Issue(code=f"service/{code}", problem=text)


class _Telling:
    """Writes the events of a run in order while it goes on: the first at once, then all that came within a moment.

    What is not written when the block ends is `left` for the last transaction.
    """

    def __init__(self, runs: Runs, claim: Claim) -> None:
        self._runs, self._claim = runs, claim
        self.left: list[tuple[EventKind, Mapping[str, Any]]] = []
        self._told, self._ended = asyncio.Event(), asyncio.Event()

    def __call__(self, kind: EventKind, data: Mapping[str, Any]) -> None:
        self.left.append((kind, data))
        self._told.set()

    async def __aenter__(self) -> None:
        self._writing = asyncio.create_task(self._write())

    async def __aexit__(self, *_: object) -> None:
        self._ended.set()
        self._told.set()
        await self._writing  # never cancelled: nobody would know what it has written

    async def _write(self) -> None:
        while not self._ended.is_set():
            self._told.clear()
            events, self.left = self.left, []
            if events:
                await self._runs.write(self._claim, events)
            await wait_for(self._ended, MOMENT)
            await self._told.wait()
