"""Plans with steps that ask a model, over a real shop and a real server that answers as scripted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groundplan.contracts.answer import Answer, Refusal
from groundplan.project import AsyncProject
from groundplan.settings import Endpoint
from groundplan.sources.interface import Call, Result, Source
from tests.llm.scripted import PROBED, Behaviour, says, scripted
from tests.mcp.workflows import proposal
from tests.sources.mcp.calling import rows, shop_command

OUTBOX = "select recipient, subject, body from outbox"
FOUND = {"id": "customer", "tool": "shop.find_customer", "params": {"email": "ada@example.org"}}


def write(instruction: str = "Thank the customer by name.", **step: Any) -> dict[str, Any]:
    params = {"instruction": instruction, "facts": {"customer": {"$from": "customer.name"}}}
    return {"id": "note", "kind": "llm", "tool": "model.write", "needs": ["customer"], "params": params, **step}


def agent(tools: Sequence[str] = ("shop.find_customer", "shop.get_orders"), **params: Any) -> dict[str, Any]:
    told = {"instruction": "What did Ada order?", "tools": [*tools], **params}
    return {"id": "clerk", "kind": "agent", "tool": "model.work", "params": told}


def mail(body: object, **step: Any) -> dict[str, Any]:
    params = {"to": {"$from": "customer.email"}, "subject": "Hello", "body": body}
    return {"id": "mail", "tool": "shop.send_email", "params": params, "needs": ["customer", "note"], **step}


def told(value: object) -> Behaviour:
    return says(json.dumps(value, ensure_ascii=False))


def calls(tool: str, **params: Any) -> Behaviour:
    return told({"next": {"tool": tool, "params": params}})


DONE = told({"next": {"done": True}})


class Watched:
    """A source as it is, with the names of the tools that were called."""

    def __init__(self, source: Source) -> None:
        self._source, self.called = source, list[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    async def call(self, call: Call) -> Result:
        self.called.append(call.tool.name)
        return await self._source.call(call)


@dataclass
class Ended:
    outcome: Answer | Refusal
    requests: list[dict[str, Any]]
    called: list[str]
    outbox: list[tuple[Any, ...]] = field(default_factory=list)

    @property
    def prompts(self) -> list[str]:
        """Without the probe."""
        return [request["messages"][0]["content"] for request in self.requests[1:]]

    @property
    def problems(self) -> str:
        failures = self.outcome.facts.failures if isinstance(self.outcome, Answer) and self.outcome.facts else ()
        issues = [*self.outcome.issues, *(failure.issue for failure in failures if failure.issue)]
        return "\n".join(f"{issue.code}: {issue.problem}; {issue.hint}" for issue in issues)


async def at_work(
    folder: Path, steps: Sequence[dict[str, Any]], *script: Behaviour, more: Sequence[Endpoint] = (), **options: Any
) -> Ended:
    """A run of these steps, with what was asked of the model and of the shop."""
    database, limits = folder / "shop.sqlite", options.pop("limits", {})
    roles = options.pop("roles", None)
    plan = proposal([*steps])
    plan["plan"]["limits"] = limits
    async with scripted(says(PROBED), *script) as server:
        models = [server.endpoint(), *more]
        project = await AsyncProject.open({"shop": {"mcp": shop_command(database)}}, models=models, roles=roles)
        watched = Watched(project.sources["shop"])
        project.sources["shop"] = watched  # type: ignore[assignment]
        try:
            outcome = await project.run(json.dumps(plan), approve=True, **options)
        finally:
            await project.close()
        return Ended(outcome, server.requests, watched.called, rows(database, OUTBOX))
