"""Conversations with a knowledge base and a model that replies as a script says, contract by contract."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groundplan.contracts.answer import Answer, Outcome
from groundplan.contracts.reading import IntentAsked
from groundplan.contracts.roles import Roles
from groundplan.project import AsyncProject
from tests.asking.lookup.test_read_with_model import plan_of
from tests.llm.scripted import PROBED, Behaviour, says, scripted

TESTS = Path(__file__).parents[1]
DEVELOPER, PORTFOLIO = TESTS / "knowledge" / "developer", TESTS.parent / "examples" / "portfolio"
Talk = tuple[list[Outcome], list[str]]


def plans(*calls: tuple[str, str | None], **said: Any) -> Behaviour:
    return says(json.dumps(plan_of(*calls, **said)))


def drafts(*sentences: str) -> Behaviour:
    return says(json.dumps({"sentences": sentences}))


def talk(folder: Path, questions: Sequence[str], *script: Behaviour, **roles: Any) -> Talk:
    """The outcome of each question of one conversation, and the prompts that the model was sent."""

    async def run() -> Talk:
        async with scripted(says(PROBED), *script) as server:
            project = await AsyncProject.open(folder, models=[server.endpoint()], roles=Roles(**roles))
            thread = uuid.uuid4().hex
            try:
                asked = [await project.ask(question, thread=thread) for question in questions]
            finally:
                await project.close()
            assert len(server.script) <= 1, "the script has replies that were not asked for"
            return asked, [request["messages"][0]["content"] for request in server.requests[1:]]

    return asyncio.run(run())


def looked_up(outcome: Outcome) -> list[tuple[str, str | None]]:
    assert isinstance(outcome, Answer), outcome
    assert outcome.reading
    values = (requirement.value for requirement in outcome.reading.requirements)
    return [(value.intent, value.entity) for value in values if isinstance(value, IntentAsked)]
