"""What is wrong with a proposal goes back by name a few times, then the next model is asked, then the floor decides."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.contract import Contract
from groundplan.contracts.proposing import LONGEST_PROPOSAL, ModelAttempt
from groundplan.contracts.roles import Role
from groundplan.llm.calls import Calls
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from groundplan.proposing.loop import Accepted, Faults, propose
from tests.llm.scripted import PROBED, Behaviour, hangs_up, says, scripted

PROMPT = "Name a fruit that is in season."


class Named(Contract):
    name: str
    sure: bool = True


async def in_season(named: Named) -> str | Faults:
    return named.name.upper() if named.name == "plum" else Faults((f"{named.name!r} is not in season", "try another"))


def proposed(*scripts: list[Behaviour], attempts: int = 3) -> tuple[Any, list[ModelAttempt], list[list[str]], Calls]:
    """The outcome, the log, the prompts that each model got, and the calls."""

    async def run() -> tuple[Any, list[ModelAttempt], list[list[str]], Calls]:
        log: list[ModelAttempt] = []
        async with AsyncExitStack() as opened:
            servers = [await opened.enter_async_context(scripted(says(PROBED), *script)) for script in scripts]
            endpoints = [
                server.endpoint().model_copy(update={"name": f"model{place}"}) for place, server in enumerate(servers)
            ]
            models = [await opened.enter_async_context(Model.open(endpoint)) for endpoint in endpoints]
            calls = Calls(Cascade(tuple(models)), 20.0, limits=Role(attempts=attempts))
            found = await propose(calls, PROMPT, Named, in_season, log, max_tokens=200)
        prompts = [[request["messages"][0]["content"] for request in server.requests[1:]] for server in servers]
        return found, log, prompts, calls

    return asyncio.run(run())


def test_a_proposal_that_passes_is_taken_at_once() -> None:
    found, log, prompts, calls = proposed([says('{"name": "plum", "sure": false}')])
    assert found == Accepted("PLUM", "model0")
    assert prompts == [[PROMPT]]
    assert [(one.model, one.number, one.proposal, one.faults) for one in log] == [
        ("model0", 1, '{"name":"plum","sure":false}', ())
    ]
    assert log[0].role == "read"
    assert 0 < log[0].tokens <= calls.usage.tokens


@pytest.mark.requirement("R81", part="faults")
@pytest.mark.parametrize(
    ("reply", "named"),
    [
        ("a plum, I think", "the reply is no JSON object"),
        ('{"name": 7}', "the reply has the wrong shape: $.name"),
        ('{"fruit": "plum"}', "the reply has the wrong shape"),
        ('{"name": "kiwi"}', "'kiwi' is not in season"),
    ],
)
def test_what_is_wrong_goes_back_by_name_with_the_proposal_and_the_number(reply: str, named: str) -> None:
    found, log, prompts, _ = proposed([says(reply), says('{"name": "plum"}')])
    assert found == Accepted("PLUM", "model0")
    first, second = prompts[0]
    assert first == PROMPT
    assert second.startswith(PROMPT)
    assert named in second
    assert "attempt 2 of 3" in second
    assert log[0].proposal in second
    assert named in log[0].faults[0]
    assert [one.faults for one in log[1:]] == [()]


def test_a_field_with_a_default_may_be_left_out() -> None:
    found, log, _, _ = proposed([says('{"name": "plum"}')])
    assert found == Accepted("PLUM", "model0")
    assert len(log) == 1


@pytest.mark.requirement("R81", part="next model")
def test_after_the_attempts_the_next_model_is_asked_afresh() -> None:
    wrong = [says(f'{{"name": "kiwi{number}"}}') for number in range(3)]
    found, log, prompts, _ = proposed(wrong, [says('{"name": "plum"}')])
    assert found == Accepted("PLUM", "model1")
    assert [(one.model, one.number) for one in log] == [("model0", 1), ("model0", 2), ("model0", 3), ("model1", 1)]
    assert prompts[1] == [PROMPT]


@pytest.mark.requirement("R81", part="floor")
def test_after_the_last_model_the_floor_decides() -> None:
    found, log, prompts, _ = proposed([says('{"name": "kiwi"}'), says('{"name": "lime"}')], attempts=2)
    assert found is None
    assert [one.number for one in log] == [1, 2]
    assert len(prompts[0]) == 2


def test_a_model_that_repeats_itself_is_not_asked_a_third_time() -> None:
    found, log, _, _ = proposed([says('{"name": "kiwi"}')])
    assert found is None
    assert len(log) == 2


def test_a_server_that_is_gone_costs_one_attempt() -> None:
    found, log, _, calls = proposed([hangs_up], [says('{"name": "plum"}')])
    assert found == Accepted("PLUM", "model1")
    assert [(one.model, one.proposal) for one in log] == [("model0", ""), ("model1", '{"name":"plum"}')]
    assert "cannot be reached" in log[0].faults[0]
    assert len(calls.failures) == 1


def test_a_long_proposal_is_cut_in_the_log_and_in_what_goes_back() -> None:
    long = "x" * 9_000
    _, log, prompts, _ = proposed([says(long), says('{"name": "plum"}')])
    assert log[0].proposal == long[:LONGEST_PROPOSAL]
    assert len(prompts[0][1]) < 2 * LONGEST_PROPOSAL
