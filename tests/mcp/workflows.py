"""Steps written by hand, made a proposal and run over an MCP server."""

from __future__ import annotations

import json
from typing import Any

from groundplan.contracts.answer import Answer, Refusal
from groundplan.project import AsyncProject


def proposal(steps: list[dict[str, Any]], words: str = "write to them") -> dict[str, Any]:
    goal = {"id": "goal:g1", "value": {"kind": "goal", "text": words}, "evidence": {"text": words}}
    reading = {"question": words, "requirements": [goal]}
    cited = [{**step, "satisfies": ["goal:g1"]} for step in steps]
    return {"reading": reading, "plan": {"strategy": "hand", "steps": cited}}


async def run(command: str, plan: dict[str, Any], **options: Any) -> Answer | Refusal:
    project = await AsyncProject.open({"shop": {"mcp": command}})
    try:
        return await project.run(json.dumps(plan), **options)
    finally:
        await project.close()
