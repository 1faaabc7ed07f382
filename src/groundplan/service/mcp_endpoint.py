"""MCP over HTTP at /mcp. What a tool asks or runs is a run like any other: queued, kept, counted and audited.

A run that waits for a person is put to them by elicitation if the client can, and is otherwise returned with the link
to its page. The newer protocol sends the question as the reply to the call and is called again with the answer, at any
server. The older one asks during the call, which needs a session: only a service for one person keeps sessions.
"""

from __future__ import annotations

import base64
import json
from contextlib import AbstractAsyncContextManager
from datetime import date
from typing import Any

from fastapi import FastAPI
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.request_state import InvalidRequestState, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least
from pydantic import Field, ValidationError
from starlette.requests import Request
from starlette.routing import Route

from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.contract import Contract, thaw
from groundplan.contracts.feedback import Feedback
from groundplan.contracts.run import WAITING, Run, RunRequest
from groundplan.contracts.verdict import Verdict
from groundplan.contracts.verification import Verification
from groundplan.result import Planned
from groundplan.service.access import MOST_BYTES, Receive, Scope, Send
from groundplan.service.feedback import give_feedback
from groundplan.service.runs import add_run, approve_run, project_of, reply_to, run_of, runs_of, settled
from groundplan.service.tools import MAY_CHANGE, Told, create_server, told
from groundplan.settings import LOOPBACK
from groundplan.text.printable import printable

PATH = "/mcp"
LONGEST = 600.0  # seconds that a call waits for its run
REPLY = "reply"  # the name of the one question of a result
ASKS_BY_RESULT = "2026-07-28"  # the first protocol whose results can ask
KEPT = 7 * 24 * 3_600.0  # seconds in which a question can be answered


def add_mcp(app: FastAPI, sessions: bool) -> AbstractAsyncContextManager[None]:
    """Add the endpoint; it works while the returned context is open."""
    state = RequestStateSecurity(codec=_Unsealed(), ttl=KEPT)
    server = create_server(_Running(), MAY_CHANGE, request_state_security=state, subscriptions=False)
    manager = StreamableHTTPSessionManager(
        server._lowlevel_server,
        stateless=not sessions,
        max_request_body_size=MOST_BYTES,
    )
    app.router.routes.append(Route(PATH, _Endpoint(manager)))
    return manager.run()


class _Endpoint:
    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


class _Asked(Contract):
    """What a result asked for; the client sends it back with the answer."""

    run: str = Field(pattern=r"^[0-9a-f]{24}$")
    about: str


class _Unsealed:
    """Writes `_Asked` as it is, so that any server can read it.

    It needs no seal: the run is looked up among those of the tenant, and answered only if it still asks the same.
    """

    def seal(self, payload: bytes) -> str:
        return base64.urlsafe_b64encode(payload).decode()

    def unseal(self, token: str) -> bytes:
        try:
            return base64.urlsafe_b64decode(token)
        except ValueError as error:
            raise InvalidRequestState("malformed") from error


class _Running:
    """The verbs as runs of the tenant that calls."""

    async def ask(
        self, ctx: Context[Any], question: str, thread: str | None, today: date | None, strategy: str | None
    ) -> Told | InputRequiredResult:
        asked = _requested(question=question, thread=thread, today=today, strategy=strategy)
        if ctx.request_state is None and thread and (waiting := await runs_of(_request(ctx)).asking_in(thread)):
            return await _followed(ctx, await _answered(ctx, waiting, question))
        return await _ran(ctx, asked)

    async def run(self, ctx: Context[Any], proposal: dict[str, Any]) -> Told | InputRequiredResult:
        return await _ran(ctx, _requested(plan=proposal))

    async def plan(self, ctx: Context[Any], question: str, today: date | None, strategy: str | None) -> Planned:
        async with project_of(_request(ctx)) as project:
            return await project.plan(question, today=today, strategy=strategy)

    async def check(self, ctx: Context[Any], proposal: dict[str, Any]) -> Verdict:
        async with project_of(_request(ctx)) as project:
            return project.check(json.dumps(proposal))

    async def verify(self, ctx: Context[Any], question: str, sql: str, today: date | None) -> Verification:
        async with project_of(_request(ctx)) as project:
            return await project.verify(question, sql, today=today)

    async def feedback(self, ctx: Context[Any], run: str, given: Feedback) -> None:
        await give_feedback(_request(ctx), run, given)


def _request(ctx: Context[Any]) -> Request:
    request = ctx.request_context.request
    assert isinstance(request, Request)
    return request


def _requested(**asked: Any) -> RunRequest:
    try:
        return RunRequest(**asked)
    except ValidationError as error:
        raise ToolError(error.errors()[0]["msg"]) from error


async def _ran(ctx: Context[Any], asked: RunRequest) -> Told | InputRequiredResult:
    """Add a run and follow it, or go on with the run that an earlier result asked about."""
    if ctx.request_state is not None:
        return await _continued(ctx, ctx.request_state)
    request = _request(ctx)
    return await _followed(ctx, await add_run(request, asked))


async def _continued(ctx: Context[Any], state: str) -> Told | InputRequiredResult:
    """Give the run the reply to what was asked, unless it no longer asks it."""
    try:
        asked = _Asked.model_validate_json(state)
    except ValidationError as error:
        raise ToolError("this request state is not from here; call the tool without it") from error
    run = await run_of(runs_of(_request(ctx)), asked.run)
    if run.state not in WAITING or _about(run) != asked.about:
        return await _followed(ctx, run)
    reply = (ctx.input_responses or {}).get(REPLY)
    taken = await _taken(ctx, run, reply) if isinstance(reply, ElicitResult) else None
    return await _followed(ctx, taken) if taken else _told(_request(ctx), run)


async def _followed(ctx: Context[Any], run: Run) -> Told | InputRequiredResult:
    """How the run ends. Where it waits for a person, they are asked; if they do not reply, it waits on."""
    request = _request(ctx)
    while True:
        run = await settled(request, runs_of(request), run, LONGEST)
        if run.state not in WAITING or not _can_ask(ctx):
            return _told(request, run)
        form = _form(run, _link(request, run))
        if _asks_by_result(ctx):
            state = _Asked(run=run.id, about=_about(run)).model_dump_json()
            return InputRequiredResult(input_requests={REPLY: ElicitRequest(params=form)}, request_state=state)
        reply = await ctx.session.elicit_form(form.message, form.requested_schema, ctx.request_id)
        taken = await _taken(ctx, run, reply)
        if taken is None:
            return _told(request, run)
        run = taken


def _can_ask(ctx: Context[Any]) -> bool:
    can = ctx.client_capabilities.elicitation if ctx.client_capabilities else None
    if can is None or (can.url is not None and can.form is None):
        return False
    return _asks_by_result(ctx) or ctx.session.can_send_request


def _asks_by_result(ctx: Context[Any]) -> bool:
    return is_version_at_least(ctx.protocol_version or "", ASKS_BY_RESULT)


def _about(run: Run) -> str:
    """What a waiting run waits for."""
    return run.approve or (run.waiting.text if run.waiting else "")


def _form(run: Run, link: str) -> ElicitRequestFormParams:
    """What a person is asked: to confirm a reading, to reply to a clarification, or to approve a plan."""
    field: dict[str, Any]
    if isinstance(run.waiting, Clarification) and run.waiting.confirms:
        [reading] = run.waiting.candidates
        message = run.waiting.text if reading in run.waiting.text else f"{run.waiting.text}\n{reading}"
        field = {"type": "boolean", "title": "Run it", "default": True}
    elif isinstance(run.waiting, Clarification):
        message, field = run.waiting.text, {"type": "string", "title": "Reply"}
        field |= {"enum": [*run.waiting.candidates]} if run.waiting.candidates else {}
    else:
        message, field = _changes(run, link), {"type": "boolean", "title": "Approve", "default": False}
    schema = {"type": "object", "properties": {REPLY: field}, "required": [REPLY]}
    return ElicitRequestFormParams(message=message, requested_schema=schema)


def _changes(run: Run, link: str) -> str:
    """The calls to approve, value by value."""
    assert isinstance(run.waiting, Refusal)
    calls = run.waiting.effects
    lines = (f"{call.tool} {json.dumps(thaw(call.params), ensure_ascii=False)}" for call in calls)
    return printable("\n".join(["These steps change something:", *lines, f"The whole plan: {link}", "Approve them?"]))


async def _taken(ctx: Context[Any], run: Run, reply: ElicitResult) -> Run | None:
    """The run with a person's reply; None if they gave none, so that it still waits."""
    said = (reply.content or {}).get(REPLY) if reply.action == "accept" else None
    if run.state == "waiting_answer":
        said = {True: "yes", False: "no"}[said] if isinstance(said, bool) else said
        return await _answered(ctx, run, said) if isinstance(said, str) and said else None
    if reply.action == "cancel" or run.approve is None:
        return None
    request = _request(ctx)
    return await approve_run(request, runs_of(request), run.id, run.approve, said is True)


async def _answered(ctx: Context[Any], run: Run, text: str) -> Run:
    said, request = _requested(question=text).question, _request(ctx)
    assert said is not None
    return await reply_to(request, runs_of(request), run, said)


def _link(request: Request, run: Run) -> str:
    """By the address that is configured; the header `Host` is believed on this machine only."""
    own = request.app.state.address or (str(request.base_url) if request.url.hostname in LOOPBACK else "")
    return f"{own.rstrip('/')}/runs/{run.id}"


def _told(request: Request, run: Run) -> Told:
    link = _link(request, run)
    if run.problem:
        raise ToolError(f"{run.problem.problem}; see {link}")
    if run.state == "cancelled":
        raise ToolError(f"the run was cancelled; see {link}")
    shown = run.outcome or run.waiting
    if shown is None:
        return Told(kind="running", text="It takes longer. The page of the run shows the answer.", link=link)
    return told(shown).model_copy(update={"run": run.id, "link": link})
