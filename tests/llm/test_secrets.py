"""A key is named in the settings and read where it is sent; nothing we keep, say or log ever holds it."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.errors import UsageError
from groundplan.llm.client import Model
from groundplan.llm.secret import HIDDEN, hide
from tests.llm.scripted import PROBED, says, scripted

CANARY = "sk-canary-5f1c9d"


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
