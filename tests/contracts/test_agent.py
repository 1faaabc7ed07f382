"""An agent that breaks its declaration is stopped, and each execution leaves an entry."""

from __future__ import annotations

import pytest

from groundplan.contracts.retrieval import Reasoning, Retrieval, TrackerIntent
from groundplan.telemetry.audit import AgentBroke, AgentContract, Capabilities, Execution, agent

SMALL = AgentContract(
    id="small",
    version="0.1.0",
    needs=("reasoning",),
    gives=("retrieval.plans",),
    capabilities=Capabilities(parallel=True, retry=False, needs_model=False, deterministic=True, expected_ms=1),
)


def reasoned() -> Reasoning:
    return Reasoning(intents=(TrackerIntent(type="query_commits", confidence=0.9),))


@pytest.mark.requirement("R63")
def test_an_agent_that_changes_its_input_is_stopped() -> None:
    @agent(SMALL)
    def careless(reasoning: Reasoning) -> Retrieval:
        object.__setattr__(reasoning, "intents", ())
        return Retrieval()

    with pytest.raises(AgentBroke, match="small: it modified its input"):
        careless(reasoned())


@pytest.mark.requirement("R63")
def test_an_agent_that_does_not_give_what_it_declares_is_stopped() -> None:
    @agent(SMALL)
    def idle(reasoning: Reasoning) -> Reasoning:
        return reasoning

    with pytest.raises(AgentBroke, match=r"declares 'retrieval.plans' but did not return it"):
        idle(reasoned())


def test_a_contract_over_a_parameter_that_is_not_there_is_refused_when_declared() -> None:
    with pytest.raises(TypeError, match="no such parameter"):
        agent(SMALL)(lambda other: other)


@pytest.mark.requirement("R63")
def test_an_agent_that_raises_is_in_the_audit_trail_as_failed() -> None:
    @agent(SMALL)
    def failing(reasoning: Reasoning) -> Retrieval:
        raise RuntimeError("inside")

    trail: list[Execution] = []
    with pytest.raises(RuntimeError, match="inside"):
        failing.execute(trail, reasoned())
    assert [(entry.status, entry.output, entry.problem) for entry in trail] == [("failed", None, "it raised an error")]


@pytest.mark.requirement("R63")
def test_equal_inputs_have_equal_fingerprints_and_others_differ() -> None:
    @agent(SMALL)
    def steady(reasoning: Reasoning) -> Retrieval:
        return Retrieval()

    trail: list[Execution] = []
    for reasoning in (reasoned(), reasoned(), Reasoning()):
        steady.execute(trail, reasoning)
    first, second, other = trail
    assert (first.input, first.output) == (second.input, second.output)
    assert first.input != other.input
