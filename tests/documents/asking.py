"""A task with a scripted model over the shop's real MCP server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from groundplan.contracts.answer import Outcome
from groundplan.contracts.roles import Roles
from groundplan.project import AsyncProject
from groundplan.result import Planned
from tests.llm.scripted import PROBED, Behaviour, Scripted, says, scripted
from tests.sources.mcp.calling import shop_command

ADA, BORIS, CHEN, FEMI = "ada@example.org", "boris@example.org", "chen@example.org", "femi@example.org"
FIND, SEND, LIST, ORDERS = "shop.find_customer", "shop.send_email", "shop.list_customers", "shop.get_orders"


def in_turn(*replies: str) -> Behaviour:
    """One reply after the other, the last one for ever."""
    left = [says(reply) for reply in replies]

    async def behave(writer: asyncio.StreamWriter) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(writer)

    return behave


async def _with(
    database: Path, replies: dict[str, Behaviour], use: Callable[[AsyncProject, Scripted], Any], roles: Roles | None
) -> Any:
    async with scripted(says(PROBED)) as server:
        server.replies |= replies
        where = {"shop": {"mcp": shop_command(database)}}
        project = await AsyncProject.open(where, models=(server.endpoint(),), roles=roles)
        try:
            return await use(project, server)
        finally:
            await project.close()


def asked(database: Path, task: str, *graphs: str, roles: Roles | None = None, **more: Any) -> Outcome:
    """The outcome; `more` has what the model replies at run time, and options of `ask`."""
    replies = {name: more.pop(name) for name in [*more] if name in ("Written", "Turn", "TaskAnalysis", "Decided")}

    async def use(project: AsyncProject, _: Scripted) -> Outcome:
        return await project.ask(task, **{"approve": True, **more})

    found: Outcome = asyncio.run(_with(database, {"GraphReply": in_turn(*graphs), **replies}, use, roles))
    return found


def planned(
    database: Path, task: str, *graphs: str, roles: Roles | None = None, **more: Any
) -> tuple[Planned, list[str]]:
    """The plan, and the prompts that the model got for it."""
    replies = {name: more.pop(name) for name in [*more] if name == "TaskAnalysis"}

    async def use(project: AsyncProject, server: Scripted) -> tuple[Planned, list[str]]:
        found = await project.plan(task, **more)
        return found, [json.dumps(one["messages"], ensure_ascii=False) for one in server.requests[1:]]

    made: tuple[Planned, list[str]] = asyncio.run(
        _with(database, {"GraphReply": in_turn(*graphs), **replies}, use, roles)
    )
    return made
