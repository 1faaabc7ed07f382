"""The HTTP interface. docs/how-to/serve.md shows it with curl; /openapi.json describes it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import date, datetime
from typing import Annotated, Any, Literal

from fastapi import Body, Depends, FastAPI, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator, BaseModel, Field, model_validator

from groundplan import __version__
from groundplan.asking.tables.by_hand.change import chips, last_changed
from groundplan.contracts.analysis import TaskAnalysis
from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.contracts.bounds import NO_BOUNDS, Bounds
from groundplan.contracts.contract import Contract, Scalar, StepId
from groundplan.contracts.editing import Change, Chip, Suggestion
from groundplan.contracts.explanation import Reason, WordFate
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Plan, Strategy
from groundplan.contracts.proposing import ModelAttempt
from groundplan.contracts.reading import Reading
from groundplan.contracts.run import WAITING, Run, RunEvent, RunRequest, Said, storable
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.task import Graph
from groundplan.contracts.verdict import Passed
from groundplan.errors import GroundplanError
from groundplan.result import Planned
from groundplan.service.access import Access
from groundplan.service.administration import add_administration
from groundplan.service.browser_sessions import BrowserSessions, add_session
from groundplan.service.code_flow import CodeFlow
from groundplan.service.column_settings import add_column_settings
from groundplan.service.feedback import add_feedback
from groundplan.service.mcp_endpoint import add_mcp
from groundplan.service.monitoring import add_metrics
from groundplan.service.oidc import Tokens
from groundplan.service.pages import add_pages
from groundplan.service.problems import Problem, add_handlers
from groundplan.service.projects import Projects
from groundplan.service.rollout_routes import add_rollout
from groundplan.service.runs import (
    PING,
    STOPPING,
    RunId,
    add_run,
    approve_run,
    forget,
    project_of,
    reply_to,
    run_of,
    runs_of,
    settled,
)
from groundplan.service.sign_in import add_sign_in
from groundplan.service.uploads import add_uploads
from groundplan.settings import OidcSettings, ServiceSettings
from groundplan.state.database import wait_for
from groundplan.state.keys import Keys
from groundplan.state.runs import Conflict, NoSuchRun, Runs, topic
from groundplan.state.sessions import Sessions
from groundplan.telemetry.telemetry import Telemetry
from groundplan.text.printable import csv_text

MOST_WAIT = 30.0  # seconds that `Prefer: wait` may ask for

StepPath = Annotated[str, Path(pattern=r"^[a-z][a-z0-9_]{0,63}$")]


Lifespan = Callable[[Any], AbstractAsyncContextManager[None]]


class Asked(Contract):
    """A question to plan, without running anything."""

    question: Said
    strategy: Strategy | None = None
    today: date | None = None
    timezone: Annotated[str, Field(max_length=64)] | None = None
    bounds: Bounds = NO_BOUNDS
    inputs: dict[StepId, Scalar] = {}


class PlanAsked(Contract):
    """A question to plan, or a reading with changes made by hand."""

    question: Said | None = None
    reading: Reading | None = None
    changes: Annotated[tuple[Change, ...], Field(max_length=32)] = ()
    strategy: Strategy | None = None
    today: date | None = None
    timezone: Annotated[str, Field(max_length=64)] | None = None
    bounds: Bounds = NO_BOUNDS
    inputs: dict[StepId, Scalar] = {}

    @model_validator(mode="after")
    def _is_one_of_them(self) -> PlanAsked:
        if (self.question is None) == (self.reading is None):
            raise ValueError("give a question or a reading, and not both")
        if self.changes and self.reading is None:
            raise ValueError("changes are made to a reading; give one")
        return self


class SuggestionsAsked(Contract):
    """For a part of a reading what it could be instead; without one, what of a kind could be added."""

    reading: Reading
    requirement: Annotated[str, Field(max_length=256)] | None = None
    kind: Literal["metric", "group_by", "time", "filter", "rank"] | None = None
    search: Annotated[str, Field(max_length=200), AfterValidator(storable)] = ""
    today: date | None = None


class PlanReply(BaseModel):
    """`reading` and `plan` together are the `plan` of a new run; `ended` says why there is no plan."""

    read_as: str
    reading: Reading | None
    plan: Plan | None
    fingerprint: str | None
    issues: tuple[Issue, ...] = ()
    ended: Refusal | Clarification | None
    chips: tuple[Chip, ...] = Field((), description="The parts of the reading, in words, for showing and changing.")
    graph: Graph | None = Field(None, description="The plan as nodes and edges.")
    reasoning: str = ""
    analysis: TaskAnalysis | None = Field(None, description="Of a task.")
    log: tuple[str, ...] = ()
    attempts: tuple[ModelAttempt, ...] = Field((), description="What models proposed, and what was wrong with it.")
    tokens: int = 0
    duration_ms: float = 0
    confidence: float | None = None


class Explained(BaseModel):
    read_as: str
    reasons: tuple[Reason, ...]
    words: tuple[WordFate, ...]
    ended: Refusal | Clarification | None


class Checked(BaseModel):
    passed: bool
    issues: tuple[Issue, ...]
    fingerprint: str | None = None
    missing: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class Page(BaseModel):
    runs: list[Run]
    cursor: str | None  # of the next page


class ThreadEntry(BaseModel):
    name: str
    runs: int
    updated: datetime


class TurnEntry(BaseModel):
    question: str
    read_as: str


class Approval(Contract):
    plan: str  # the fingerprint, as the event `approval.required` and the run show it
    approved: bool


class AnswerText(Contract):
    """The number of a candidate, or words."""

    text: Said | None = None
    choice: Annotated[int, Field(ge=1, le=1_000, description="The number of a candidate, from 1.")] | None = None
    remember: Annotated[
        bool, Field(description="Whether the word asked about is a name of the column from now on.")
    ] = False

    @model_validator(mode="after")
    def _is_one_of_them(self) -> AnswerText:
        if (self.text is None) == (self.choice is None):
            raise ValueError("give a text or a choice, and not both")
        return self


class Health(BaseModel):
    status: str
    version: str = __version__


def create_app(
    projects: Projects,
    tenant: str,
    keys: Keys | None = None,
    telemetry: Telemetry | None = None,
    settings: ServiceSettings | None = None,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """Without keys, all requests are those of `tenant`, from this machine, and runs are not limited."""
    settings = settings or ServiceSettings()
    errors: dict[int | str, dict[str, Any]] = {
        "4XX": {"model": Problem, "description": "A problem (RFC 9457)"},
        "5XX": {"model": Problem, "description": "A problem (RFC 9457)"},
    }
    app = FastAPI(
        title="groundplan",
        version=__version__,
        description="Ask your data in plain words.",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        responses=errors,
        lifespan=_opened(lifespan),
        separate_input_output_schemas=False,  # one type of each name for generated clients
        telemetry={"logs": False, "operation_spans": False},
    )
    tokens = Tokens(settings.oidc) if keys and settings.oidc else None
    app.state.address = settings.oidc.sign_in.url if settings.oidc and settings.oidc.sign_in else None
    sessions = _open_sign_in(app, settings.oidc, tokens, projects) if tokens and settings.oidc else None
    app.add_middleware(
        Access,
        keys=keys,
        tokens=tokens,
        sessions=sessions,
        tenant=tenant,
        upload_bytes=settings.upload_bytes,
        minute_requests=settings.minute_requests,
    )
    app.state.telemetry = telemetry or Telemetry()
    add_metrics(app, app.state.telemetry)
    add_handlers(app)
    app.state.projects, app.state.stopping = projects, False
    app.state.most_runs = settings.open_runs if keys else None
    _add_runs(app)
    _add_planning(app)
    add_uploads(app, settings)
    add_column_settings(app)
    add_feedback(app)
    add_rollout(app)
    _add_health(app)
    add_session(app, sessions)
    if keys:
        add_administration(app)
    app.state.mcp = add_mcp(app, sessions=keys is None)
    add_pages(app)
    return app


def _open_sign_in(app: FastAPI, oidc: OidcSettings, tokens: Tokens, projects: Projects) -> BrowserSessions | None:
    """The sessions of browsers, if people can sign in."""
    if oidc.sign_in is None:
        return None
    sessions = BrowserSessions(oidc.sign_in, oidc.issuer, Sessions(projects.database))
    add_sign_in(app, CodeFlow(oidc.sign_in, oidc.issuer, tokens), sessions)
    return sessions


def _opened(lifespan: Lifespan | None) -> Lifespan:
    @asynccontextmanager
    async def opened(app: FastAPI) -> AsyncIterator[None]:
        async with app.state.mcp, lifespan(app) if lifespan else nullcontext():
            yield

    return opened


Store = Annotated[Runs, Depends(runs_of)]


def _add_runs(app: FastAPI) -> None:
    @app.post("/v1/runs", status_code=202, response_model=Run, responses={200: {"model": Run}})
    async def post_run(
        body: RunRequest,
        request: Request,
        response: Response,
        runs: Store,
        idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200, pattern=r"^[!-~]+$")] = None,
        prefer: Annotated[str | None, Header(max_length=200)] = None,
    ) -> Run:
        """Ask a question, or run a plan. 200 if it has ended or waits for a reply, else 202."""
        run = await add_run(request, body, idempotency_key)
        if seconds := _wait_of(prefer):
            run = await settled(request, runs, run, seconds)
            response.headers["Preference-Applied"] = f"wait={seconds:g}"
        response.headers["Location"] = f"/v1/runs/{run.id}"
        response.status_code = 200 if run.ended or run.state in WAITING else 202
        return run

    @app.get("/v1/runs")
    async def list_runs(
        runs: Store,
        cursor: Annotated[str | None, Query(pattern=r"^[0-9a-f]{24}$")] = None,
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
    ) -> Page:
        """The newest runs first."""
        found = await runs.page(cursor, limit + 1)
        return Page(runs=found[:limit], cursor=found[limit - 1].id if len(found) > limit else None)

    @app.get("/v1/runs/{id}")
    async def get_run(id: RunId, runs: Store) -> Run:
        return await run_of(runs, id)

    @app.get(
        "/v1/runs/{id}/events",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {}}}, 204: {"description": "Nothing more will follow"}},
    )
    async def get_events(
        id: RunId,
        request: Request,
        runs: Store,
        last_event_id: Annotated[str | None, Header(pattern=r"^[0-9]{1,9}$")] = None,
    ) -> Response:
        """Server-sent events. After a lost connection, send the last id: nothing is lost, and nothing comes twice."""
        run, after = await run_of(runs, id), int(last_event_id or 0)
        if run.ended and not await runs.events(id, after):
            return Response(status_code=204)  # tells an EventSource to stop
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(_stream(request, runs, id, after), media_type="text/event-stream", headers=headers)

    @app.get(
        "/v1/runs/{id}/tables/{step}.csv",
        response_class=Response,
        responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
    )
    async def get_csv(id: RunId, step: StepPath, runs: Store) -> Response:
        """A table of the answer as CSV, safe to open in a spreadsheet."""
        outcome = (await run_of(runs, id)).outcome
        tables = outcome.tables if isinstance(outcome, Answer) else ()
        table = next((table for table in tables if table.step == step), None)
        if table is None:
            raise NoSuchRun(f"the run {id!r} has no table {step!r}")
        headers = {"Content-Disposition": f'attachment; filename="{step}.csv"'}
        return Response(csv_text(table.columns, table.rows), media_type="text/csv; charset=utf-8", headers=headers)

    @app.post("/v1/runs/{id}/cancel")
    async def cancel(id: RunId, request: Request, runs: Store) -> Run:
        """Cancel a run; its engine stops within a second. An ended run stays as it is."""
        before = await run_of(runs, id)
        run = await runs.cancel(id)
        if run.state == "cancelled" and before.state in WAITING:
            await forget(request, run)
        return run

    @app.post("/v1/runs/{id}/approval")
    async def approve(id: RunId, body: Approval, request: Request, runs: Store) -> Run:
        """Approve or decline the calls with an effect, for exactly the plan and the values of this fingerprint."""
        return await approve_run(request, runs, id, body.plan, body.approved)

    @app.post("/v1/runs/{id}/resume")
    async def resume(id: RunId, request: Request, runs: Store) -> Run:
        """Try what a run that ended as `partial` left: the calls that failed, with the values that were approved."""
        return await runs.resume(id, request.state.actor)

    @app.post("/v1/runs/{id}/answer")
    async def answer(id: RunId, body: AnswerText, request: Request, runs: Store) -> Run:
        """Reply to a clarification with the number of a candidate, or with words; yes or no to a single reading."""
        run = await run_of(runs, id)
        waiting = run.waiting
        if body.choice and isinstance(waiting, Clarification) and body.choice > len(waiting.candidates):
            raise Conflict(f"there is no choice {body.choice}; there are {len(waiting.candidates)}")
        said = body.text or str(body.choice)
        return await reply_to(request, runs, run, f"{said} remember" if body.remember else said)

    @app.get("/v1/threads")
    async def list_threads(runs: Store, limit: Annotated[int, Query(ge=1, le=100)] = 20) -> list[ThreadEntry]:
        """The conversations, last used first."""
        return [ThreadEntry(name=name, runs=count, updated=at) for name, count, at in await runs.threads(limit)]


def _add_planning(app: FastAPI) -> None:
    @app.post("/v1/plans", response_model=PlanReply)
    async def post_plan(body: PlanAsked, request: Request) -> Any:
        """Plan a question, or a reading that was changed by hand, and check the plan, without running it.

        With `Accept: text/event-stream` the stages and the attempts of models come as they are made, and last the
        reply, as the event `done`.
        """
        if body.reading is None and "text/event-stream" in request.headers.get("accept", ""):
            return StreamingResponse(_plan_events(body, request), media_type="text/event-stream")
        if body.reading is None:
            return _plan_reply(await _planned(body, request))
        async with project_of(request) as project:
            return _plan_reply(await project.change(body.reading, body.changes, today=body.today), body.changes)

    @app.post("/v1/suggestions")
    async def post_suggestions(body: SuggestionsAsked, request: Request) -> list[Suggestion]:
        """What a part of a reading could be instead, or what could be added to it."""
        async with project_of(request) as project:
            return [
                *await project.suggest(
                    body.reading, body.requirement, kind=body.kind, search=body.search, today=body.today
                )
            ]

    @app.post("/v1/explanations")
    async def post_explanation(body: Asked, request: Request) -> Explained:
        """Why these steps: each requirement with the words that ask for it, and the fate of every word."""
        planned = await _planned(body, request)
        return Explained(read_as=planned.read_as, reasons=planned.reasons, words=planned.words, ended=planned.ended)

    @app.post("/v1/checks")
    async def post_check(body: Annotated[dict[str, Any], Body()], request: Request) -> Checked:
        """Check a reading with its plan, like a linter."""
        async with project_of(request) as project:
            verdict = project.check(json.dumps(body))
        if isinstance(verdict, Passed):
            return Checked(passed=True, issues=verdict.issues, fingerprint=verdict.plan.fingerprint)
        return Checked(passed=False, issues=verdict.issues, missing=verdict.missing, remove=verdict.remove)

    @app.get("/v1/threads/{name}")
    async def get_thread(name: Annotated[str, Path(min_length=1, max_length=200)], request: Request) -> list[TurnEntry]:
        """The last turns of a conversation, oldest first."""
        from groundplan.text.read_back import read_as

        async with project_of(request) as project:
            turns = await project.turns(name)
        return [TurnEntry(question=turn.question, read_as=read_as(turn.reading)) for turn in turns]

    @app.get("/v1/sources")
    async def list_sources(request: Request) -> list[SourceSchema]:
        """The sources with their tables and columns, and what the columns mean; never rows."""
        async with project_of(request) as project:
            return [*(await project.describe()).values()]

    @app.get("/v1/values")
    async def list_values(request: Request) -> dict[str, dict[str, tuple[str, ...]]]:
        """The values of categories that have few, by table and column; none where `share_values` is off."""
        async with project_of(request) as project:
            return await project.few_values()


def _add_health(app: FastAPI) -> None:
    @app.get("/livez")
    async def live() -> Health:
        return Health(status="alive")

    @app.get("/readyz")
    async def ready() -> Health:
        """Whether the database can be reached; 503 if not."""
        database = app.state.projects.database
        async with database.transaction(writes=False) as run:
            await run("select 1")
        return Health(status="ready")


def _plan_reply(planned: Planned, changes: tuple[Change, ...] = ()) -> PlanReply:
    passed = planned.verdict.plan if isinstance(planned.verdict, Passed) else None
    issues = planned.verdict.issues if planned.verdict else ()
    if not issues and isinstance(planned.ended, Refusal):
        issues = planned.ended.issues
    parts = chips(planned.reading) if planned.reading else ()
    if changes and not passed:
        about = last_changed(planned.reading, changes) if planned.reading else None
        shown = {chip.requirement for chip in parts}
        issues = tuple(
            one if one.requirement in shown else one.model_copy(update={"requirement": about}) for one in issues
        )
    return PlanReply(
        read_as=planned.read_as,
        reading=planned.reading,
        plan=planned.plan,
        fingerprint=passed.fingerprint if passed else None,
        issues=issues,
        ended=planned.ended,
        chips=parts,
        attempts=planned.attempts,
        tokens=planned.usage.tokens,
        duration_ms=round(sum(entry.ms for entry in planned.trace), 1),
        **_how_planned(planned),
    )


def _how_planned(planned: Planned) -> dict[str, Any]:
    """Of a plan: its graph and how it came to be."""
    if planned.plan is None or planned.reading is None:
        return {}
    made = planned.response
    return {name: getattr(made, name) for name in ("graph", "reasoning", "analysis", "log", "confidence")}


async def _planned(body: Asked | PlanAsked, request: Request, **watching: Any) -> Planned:
    assert body.question is not None
    async with project_of(request) as project:
        return await project.plan(
            body.question,
            today=body.today,
            timezone=body.timezone or project.timezone,
            strategy=body.strategy,
            bounds=body.bounds,
            inputs=body.inputs,
            **watching,
        )


async def _plan_events(body: PlanAsked, request: Request) -> AsyncIterator[str]:
    """The stages and attempts as they come, then the reply."""
    events: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
    watching = {
        "on_stage": lambda stage: events.put_nowait(("stage", json.dumps({"stage": stage}))),
        "on_attempt": lambda attempt: events.put_nowait(("attempt", attempt.model_dump_json())),
    }
    planning = asyncio.create_task(_planned(body, request, **watching))
    planning.add_done_callback(lambda _: events.put_nowait(("", "")))
    try:
        while True:
            event, data = await events.get()
            if not event:
                break
            yield f"event: {event}\ndata: {data}\n\n"
        yield f"event: done\ndata: {_plan_reply(planning.result()).model_dump_json()}\n\n"
    except GroundplanError as error:
        yield f"event: failed\ndata: {json.dumps({'detail': str(error)})}\n\n"
    finally:
        planning.cancel()


def _wait_of(prefer: str | None) -> float:
    found = re.search(r"(?:^|[;,\s])wait\s*=\s*\"?(\d{1,4})", prefer or "")
    return min(float(found[1]), MOST_WAIT) if found else 0.0


async def _stream(request: Request, runs: Runs, id_: str, after: int) -> AsyncIterator[str]:
    bell = request.app.state.projects.database.bell
    with bell.heard(topic(request.state.tenant, id_), STOPPING) as rung:
        yield "retry: 1000\n\n"
        while not request.app.state.stopping:
            rung.clear()
            for event in await runs.events(id_, after):
                after = event.number
                yield _sse(event)
                if event.kind == "run.ended":
                    return
            await wait_for(rung, PING)
            if not rung.is_set():
                yield ": ping\n\n"


def _sse(event: RunEvent) -> str:
    data = json.dumps({"at": event.at.isoformat(), **event.data}, ensure_ascii=False)
    return f"id: {event.number}\nevent: {event.kind}\ndata: {data}\n\n"
