"""What the walkthrough question costs, counted by the model's own tokenizer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Answer
from groundplan.contracts.roles import Roles
from groundplan.project import AsyncProject
from tests.asking.tables.described import SALES
from tests.llm.scripted import PROBED, says, scripted

pytest_plugins = ["tests.models"]

WALKTHROUGH = "get revenue totals by region and product type over time"
MOST = 900  # tokens of all prompts together


@pytest.mark.model
@pytest.mark.requirement("R59")
def test_all_prompts_of_the_walkthrough_together(
    qwen_tokens: Callable[[str], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))

    async def run() -> list[str]:
        script = (says(PROBED), says('{"changes": []}'))
        async with scripted(*script) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=Roles(reader="words"))
            assert isinstance(await project.ask(WALKTHROUGH, strategy="adapt"), Answer)
            return [request["messages"][0]["content"] for request in server.requests]

    prompts = asyncio.run(run())
    counted = [qwen_tokens(prompt) for prompt in prompts]
    assert len(prompts) == 2, "the probe and adapting: the words are read, and the answer is written, without a model"
    assert sum(counted) <= MOST, counted
