"""What a server can do is found out by trying, and where it cannot, its text is read instead."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from groundplan.llm.reply import Reply, UnusableReply
from tests.llm.scripted import PROBED, RIPE, Behaviour, Fruit, says, scripted, sends

CHOICES = {"fruit": ["plum", "fig"]}


def ask(*script: Behaviour) -> tuple[Reply[Fruit] | UnusableReply, list[dict[str, Any]]]:
    async def run() -> tuple[Reply[Fruit] | UnusableReply, list[dict[str, Any]]]:
        async with scripted(*script) as server, Model.open(server.endpoint()) as model:
            return await model.ask("Which fruit?", Fruit, CHOICES, max_tokens=99), server.requests

    return asyncio.run(run())


@pytest.mark.requirement("R7")
def test_a_server_that_enforces_gets_the_names_in_a_strict_schema() -> None:
    told, (_, request) = ask(says(PROBED), says(RIPE))
    assert isinstance(told, Reply)
    sent = request["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["properties"]["fruit"] == {"type": "string", "enum": ["plum", "fig"]}
    assert request["messages"] == [{"role": "user", "content": "Which fruit?"}]
    assert (request["temperature"], request["max_tokens"]) == (0, 99)
    assert not request.get("stream")


@pytest.mark.parametrize(
    "probed", [says("Hello there!"), says('{"word": "hello"}'), sends(400, "response_format is not supported")]
)
def test_a_server_that_ignores_the_schema_is_found_out_and_its_text_is_read(probed: Behaviour) -> None:
    told, (_, request) = ask(probed, says(f"Sure! Here it is:\n```json\n{RIPE}\n```\nAnything else?"))
    assert isinstance(told, Reply)
    assert told.value.fruit == "plum"
    assert not told.repaired
    assert "response_format" not in request
    assert request["messages"][0]["content"].startswith("Which fruit?")
    assert '"enum": ["plum", "fig"]' in request["messages"][0]["content"]


def test_a_repaired_answer_is_flagged() -> None:
    told, _ = ask(says("Hello there!"), says("{'fruit': 'plum', 'ripe': True, 'size': None,}"))
    assert isinstance(told, Reply)
    assert told.repaired


@pytest.mark.requirement("R7")
@pytest.mark.parametrize("probed", [says(PROBED), says("Hello there!")])
def test_an_invented_name_is_refused_whatever_the_server_promised(probed: Behaviour) -> None:
    untold, _ = ask(probed, says(RIPE.replace("plum", "durian")))
    assert isinstance(untold, UnusableReply)
    assert untold.reason == "wrong_shape"
    assert "durian" in untold.problem


def test_the_probe_is_sent_once() -> None:
    async def run() -> int:
        async with scripted(says(PROBED), says(RIPE)) as server, Model.open(server.endpoint()) as model:
            await asyncio.gather(*(model.ask("Which?", Fruit) for _ in range(4)))
            return len(server.requests)

    assert asyncio.run(run()) == 5


@pytest.mark.requirement("R28")
def test_the_next_model_is_asked_only_after_a_refusal() -> None:
    async def run() -> tuple[int, int, bool]:
        async with (
            scripted(says(PROBED), says(RIPE)) as small,
            scripted(says(PROBED), says(RIPE.replace("plum", "fig"))) as large,
            Model.open(small.endpoint()) as first,
            Model.open(large.endpoint()) as second,
        ):
            turn: Cascade | None = Cascade((first, second))
            asked_of_large_before = -1
            while turn:
                told = await turn.model.ask("Which?", Fruit, CHOICES)
                if isinstance(told, Reply) and told.value.fruit == "fig":  # the gate's verdict stands here
                    break
                asked_of_large_before = len(large.requests)
                turn = turn.next()
            assert turn is not None
            return asked_of_large_before, len(large.requests), turn.next() is None

    assert asyncio.run(run()) == (0, 2, True)
