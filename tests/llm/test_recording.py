"""A recording plays back exactly, and says when a test no longer asks what was recorded."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.errors import StateInvalid
from groundplan.llm.client import Model
from groundplan.llm.recording import RecordingDiffers, recording, replaying
from groundplan.llm.reply import Reply, UnusableReply
from groundplan.settings import Endpoint
from tests.llm.scripted import PROBED, RIPE, Fruit, says, scripted, sends

SILENT = Endpoint(name="scripted", url="http://127.0.0.1:9/v1", model="m")


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    file = tmp_path / "recording.json"

    async def run() -> None:
        async with scripted(says(PROBED), sends(500, "broken"), says(RIPE)) as server:
            with recording(file) as transport:
                async with Model.open(server.endpoint(), transport) as model:
                    await model.ask("Which?", Fruit)

    asyncio.run(run())
    return file


def replay(file: Path, *prompts: str) -> list[Reply[Fruit] | UnusableReply]:
    async def run() -> list[Reply[Fruit] | UnusableReply]:
        with replaying(file) as transport:
            async with Model.open(SILENT, transport) as model:
                return [await model.ask(prompt, Fruit) for prompt in prompts]

    return asyncio.run(run())


def test_the_same_questions_give_the_same_answers_without_a_server(recorded: Path) -> None:
    [told] = replay(recorded, "Which?")
    assert isinstance(told, Reply)
    assert told.value.fruit == "plum"
    assert told.attempts == 2
    assert told.usage.calls == 2


@pytest.mark.parametrize("prompts", [("What?",), ("Which?", "Which?")], ids=["another", "one too many"])
def test_a_request_that_was_not_recorded_fails_at_once(recorded: Path, prompts: tuple[str, ...]) -> None:
    with pytest.raises(RecordingDiffers, match="was not recorded"):
        replay(recorded, *prompts)


def test_a_reply_that_is_never_asked_for_fails(recorded: Path) -> None:
    with pytest.raises(RecordingDiffers, match="3 recorded replies were not used"):
        replay(recorded)


def test_a_file_that_is_no_recording_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[{}]")
    with pytest.raises(StateInvalid, match=r"x\.json is not a recording"):
        replay(tmp_path / "x.json", "Which?")
