"""A key is named in the settings and read where it is sent; nothing we keep, say or log ever holds it."""

from __future__ import annotations

import asyncio
import logging
import traceback
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.errors import GroundplanError, UsageError
from groundplan.llm.client import Model
from groundplan.llm.recording import recording
from groundplan.llm.secret import HIDDEN, hide
from tests.llm.scripted import PROBED, RIPE, Behaviour, Fruit, says, scripted, sends

CANARY = "sk-canary-5f1c9d"


@pytest.mark.requirement("R55")
@pytest.mark.parametrize(("kept_in", "recorded"), [("environment", False), ("file", True)])
@pytest.mark.parametrize(
    "behaviour",
    [
        says(RIPE),
        says(f'{{"fruit": "{CANARY}"}}'),
        says(f"your key is {CANARY}"),
        sends(200, f"{CANARY} is no completion"),
        sends(400, f"bad key {CANARY}"),
        sends(401, f"unknown key {CANARY}", www_authenticate=CANARY),
        sends(429, f"{CANARY} is over its quota", retry_after="900"),
    ],
    ids=["answer", "echo in a field", "echo in text", "echo in no completion", "400", "401", "429"],
)
def test_the_canary_is_sent_and_shows_up_nowhere(
    behaviour: Behaviour,
    kept_in: str,
    recorded: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "key").write_text(f"{CANARY}\n")
    monkeypatch.setenv("CANARY_KEY", CANARY)
    settings = {"api_key_env": "CANARY_KEY"} if kept_in == "environment" else {"api_key_file": str(tmp_path / "key")}
    seen: list[str] = []

    async def run() -> list[str]:
        async with scripted(says(PROBED), behaviour) as server:
            endpoint = server.endpoint(**settings)
            with recording(tmp_path / "recording.json") as transport:
                async with Model.open(endpoint, transport if recorded else None) as model:
                    await model.enforces_schema()
                    try:
                        seen.append(repr(await model.ask("Which?", Fruit, seconds=2)))
                    except GroundplanError as error:
                        seen.extend(traceback.format_exception(error))
                        seen.append(repr((error.__context__, error.__cause__, vars(error))))
                    seen.append(repr((model, vars(model), endpoint, endpoint.model_dump())))
            return server.headers

    with caplog.at_level(logging.DEBUG):
        headers = asyncio.run(run())
    assert all(f"Bearer {CANARY}" in head for head in headers), "the key must reach the server"
    kept = [*seen, caplog.text, (tmp_path / "recording.json").read_text()]
    assert len(caplog.text) > 100
    assert not [text for text in kept if CANARY in text]


@pytest.mark.requirement("R55")
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"api_key_env": "NO_SUCH_KEY"}, "environment variable NO_SUCH_KEY"),
        ({"api_key_file": "no/such/file"}, "file no/such/file"),
        ({"api_key_env": "A", "api_key_file": "b"}, "not both"),
    ],
)
def test_a_key_that_is_not_there_is_said_before_anything_is_sent(settings: dict[str, str], said: str) -> None:
    async def run() -> None:
        async with scripted(says(PROBED)) as server, Model.open(server.endpoint(**settings)):
            pass

    with pytest.raises(UsageError, match=said):
        asyncio.run(run())


@pytest.mark.requirement("R55")
def test_a_key_that_was_not_named_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)

    async def run() -> list[str]:
        async with scripted(says(PROBED)) as server, Model.open(server.endpoint()) as model:
            await model.enforces_schema()
            return server.headers

    assert CANARY not in "".join(asyncio.run(run()))


def test_a_stand_in_for_a_key_does_not_spoil_answers() -> None:
    assert hide("the box is EMPTY", "EMPTY") == "the box is EMPTY"
    assert hide(f"key {CANARY}.", CANARY) == f"key {HIDDEN}."
