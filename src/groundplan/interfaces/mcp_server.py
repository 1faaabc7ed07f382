"""The MCP server over stdio: tools that ask a project in this process. Needs the extra `mcp`.

A plan that changes something is refused, and the refusal says how a person approves it.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any

from mcp.server.mcpserver import Context, MCPServer

from groundplan.contracts.answer import Outcome, Refusal
from groundplan.contracts.feedback import Feedback
from groundplan.contracts.verdict import Verdict
from groundplan.contracts.verification import Verification
from groundplan.project import AsyncProject
from groundplan.result import Planned
from groundplan.service.tools import READS, Told, told
from groundplan.service.tools import create_server as create_tools
from groundplan.settings import state_folder
from groundplan.state.asked import keep_asked
from groundplan.state.database import SQLite
from groundplan.state.feedback import Ratings


def create_server(opening: Any, approving: str) -> MCPServer[AsyncProject]:
    """`opening` is awaited once for the project; `approving` is the command that approves a run, without its id."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[AsyncProject]) -> AsyncIterator[AsyncProject]:
        project = await opening()
        try:
            yield project
        finally:
            await project.close()

    return create_tools(_Asking(approving), READS, lifespan=lifespan)


@dataclass(frozen=True)
class _Asking:
    approving: str

    async def ask(
        self, ctx: Context[Any], question: str, thread: str | None, today: date | None, strategy: str | None
    ) -> Told:
        run = uuid.uuid4().hex[:12]
        run_id = None if thread else run
        asked = await _project(ctx).ask(question, today=today, strategy=strategy, thread=thread, run_id=run_id)
        await keep_asked(SQLite(state_folder()), run, question, asked, today)
        return self._told(asked, run_id).model_copy(update={"run": run})

    async def run(self, ctx: Context[Any], proposal: dict[str, Any]) -> Told:
        run = uuid.uuid4().hex[:12]
        return self._told(await _project(ctx).run(json.dumps(proposal), run_id=run), run)

    async def plan(self, ctx: Context[Any], question: str, today: date | None, strategy: str | None) -> Planned:
        return await _project(ctx).plan(question, today=today, strategy=strategy)

    async def check(self, ctx: Context[Any], proposal: dict[str, Any]) -> Verdict:
        return _project(ctx).check(json.dumps(proposal))

    async def verify(self, ctx: Context[Any], question: str, sql: str, today: date | None) -> Verification:
        return await _project(ctx).verify(question, sql, today=today)

    async def feedback(self, ctx: Context[Any], run: str, given: Feedback) -> None:
        await Ratings(_project(ctx).database).give(run, given)

    def _told(self, outcome: Outcome, run: str | None) -> Told:
        issues = outcome.issues if isinstance(outcome, Refusal) else ()
        waits = run and any(issue.code == "access/unapproved" for issue in issues)
        return told(outcome).model_copy(update={"approve_with": f"{self.approving} {run}" if waits else None})


def _project(ctx: Context[Any]) -> AsyncProject:
    project: AsyncProject = ctx.request_context.lifespan_context
    return project
