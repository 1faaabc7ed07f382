"""Whatever a server does, a question ends typed, in time, and after at most three tries."""

from __future__ import annotations

import asyncio
import time

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.errors import GroundplanError
from groundplan.llm.client import Model
from groundplan.llm.reply import Reply, UnusableReply
from tests.llm.scripted import (
    PROBED,
    RIPE,
    Behaviour,
    Fruit,
    Scripted,
    hangs_up,
    says,
    scripted,
    sends,
)

SECONDS = 5.0
HALF = '{"object": "chat.completion", "choices": [{"mess'


async def ask(*script: Behaviour) -> tuple[Reply[Fruit] | UnusableReply | GroundplanError, Scripted, float]:
    """The outcome after the probe has passed, what the server saw, and the seconds it took."""
    async with scripted(says(PROBED), *script) as server, Model.open(server.endpoint()) as model:
        assert await model.enforces_schema()
        begun = time.monotonic()
        try:
            outcome: Reply[Fruit] | UnusableReply | GroundplanError = await model.ask("Which?", Fruit, seconds=SECONDS)
        except GroundplanError as error:
            outcome = error
        return outcome, server, time.monotonic() - begun


@pytest.mark.requirement("R40")
def test_a_server_that_recovers_is_asked_again() -> None:
    outcome, _, _ = asyncio.run(ask(sends(500, "broken"), hangs_up, says(RIPE)))
    assert isinstance(outcome, Reply)
    assert outcome.value == Fruit(fruit="plum", ripe=True, size=None)
    assert outcome.attempts == 3


@pytest.mark.requirement("R40")
def test_the_wait_is_the_one_the_server_asks_for() -> None:
    outcome, _, seconds = asyncio.run(ask(sends(429, "busy", retry_after="1"), says(RIPE)))
    assert isinstance(outcome, Reply)
    assert seconds >= 1


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        pytest.param(says('{"fruit": "pl', "length"), "length", id="cut off"),
        pytest.param(says(RIPE, "length"), "length", id="cut off behind a whole object"),
        pytest.param(says(None, refusal="I will not"), "refused", id="declined"),
        pytest.param(says(RIPE, "content_filter"), "refused", id="filtered"),
        pytest.param(says(""), "not_json", id="nothing said"),
        pytest.param(says('{"fruit": "plum", "fruit": "fig", "ripe": true, "size": null}'), "not_json", id="key twice"),
        pytest.param(says('{"fruit": "plum", "ripe": true}'), "wrong_shape", id="field left out"),
        pytest.param(says('{"fruit": "plum", "ripe": "yes", "size": null}'), "wrong_shape", id="another type"),
        pytest.param(says(RIPE.replace("}", ', "why": 1}')), "wrong_shape", id="a field too many"),
    ],
)
def test_an_answer_that_cannot_be_used_says_why_and_what_it_cost(behaviour: Behaviour, reason: str) -> None:
    outcome, server, _ = asyncio.run(ask(behaviour))
    assert isinstance(outcome, UnusableReply)
    assert outcome.reason == reason
    assert outcome.problem
    assert outcome.usage.completion_tokens == 3
    assert len(server.requests) == 2


@pytest.mark.requirement("R27")
def test_the_first_question_carries_the_cost_of_the_probe_too() -> None:
    async def run() -> list[Reply[Fruit] | UnusableReply]:
        async with scripted(says(PROBED), says(RIPE)) as server, Model.open(server.endpoint()) as model:
            return [await model.ask("Which?", Fruit), await model.ask("Which?", Fruit)]

    first, second = asyncio.run(run())
    assert (first.usage.calls, first.usage.prompt_tokens, first.usage.completion_tokens) == (2, 14, 6)
    assert (second.usage.calls, second.usage.prompt_tokens, second.usage.completion_tokens) == (1, 7, 3)
    assert first.model == "scripted"
    assert first.ms > 0
