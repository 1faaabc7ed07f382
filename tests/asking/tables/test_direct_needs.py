"""What a query's builder fetches: only what it was not given, side by side, once, in two rounds at most."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.asking.tables.direct.plan_with_model import Offered, Unbuilt
from groundplan.catalog.catalog import Catalog
from groundplan.contracts.plan import Plan
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import SourceError
from tests.asking.tables.building import BY_MONTH, MONTHLY, Session, answers, prompts_of, schema_of
from tests.asking.tables.described import Known
from tests.llm.scripted import Behaviour, Scripted


@pytest.fixture
def monthly(sales: Known, catalog: Catalog) -> Session:
    """With a word that nothing explains: otherwise nothing is offered at once."""
    session = Session(BY_MONTH, sales, catalog)
    session.reading = session.reading.model_copy(update={"unresolved": ("gizmo",)})
    return session


def needing(*needs: str) -> Behaviour:
    return answers({"needs": needs, **MONTHLY})


def counted(times: Counter[str], name: str, value: Any) -> Callable[[], Awaitable[Any]]:
    async def fetch() -> Any:
        times[name] += 1
        if isinstance(value, Exception):
            raise value
        return value

    return fetch


def offered_needs(server: Scripted, place: int) -> list[str]:
    needs = schema_of(server, place)["properties"].get("needs")
    return list(needs["items"]["enum"]) if needs else []


@pytest.mark.requirement("R24")
def test_a_schema_that_is_given_is_never_fetched_and_one_that_is_not_once(monthly: Session) -> None:
    times: Counter[str] = Counter()
    tools = Offered(schema=counted(times, "schema", monthly.schema))
    built, server = monthly.build(answers(MONTHLY), tools=tools)
    assert isinstance(built, Plan)
    assert (times["schema"], offered_needs(server, -1)) == (0, [])
    twice = [{"tools": tools, "schema": None}] * 2
    both, server = monthly.build_each([answers(MONTHLY)], twice)
    assert [isinstance(plan, Plan) for plan in both] == [True, True]
    assert (times["schema"], len(prompts_of(server))) == (1, 2), "kept for the question, and no call is spent on it"


@pytest.mark.requirement("R24")
def test_what_is_needed_is_fetched_side_by_side_and_shown(monthly: Session) -> None:
    both = asyncio.Barrier(2)

    async def metadata() -> str:
        await both.wait()
        return "Sales of\nfive regions"

    async def prior() -> Plan | None:
        await both.wait()
        return monthly.by_rules

    tools = Offered(metadata=metadata, prior_query=prior)
    built, server = monthly.build(needing("metadata", "prior_query"), answers(MONTHLY), tools=tools, seconds=5)
    assert isinstance(built, Plan), "one after the other they would wait for each other"
    assert tools.found.problems == {}
    assert offered_needs(server, 1) == ["metadata", "prior_query"]
    assert offered_needs(server, 2) == []
    _, shown = prompts_of(server)
    assert 'About the data: "Sales of\\nfive regions"' in shown
    assert 'Query of an earlier question: TRUNC_MONTH of "date", GROUP of "channel", AVG of "revenue"' in shown
    assert "fetched metadata, prior_query" in built.provenance.log[0]


@pytest.mark.requirement("R24")
def test_words_that_are_all_explained_need_nothing_until_an_attempt_has_failed(sales: Known, catalog: Catalog) -> None:
    session, times = Session(BY_MONTH, sales, catalog), Counter[str]()
    tools = Offered(metadata=counted(times, "metadata", "text"))
    _, server = session.build(answers(MONTHLY), tools=tools)
    assert offered_needs(server, -1) == []
    _, server = session.build(answers(MONTHLY), tools=tools, attempt=2)
    assert offered_needs(server, -1) == ["metadata"]


@pytest.mark.requirement("R24")
def test_needs_are_met_in_two_rounds_at_most_and_each_once(monthly: Session) -> None:
    times: Counter[str] = Counter()
    tools = Offered(
        metadata=counted(times, "metadata", "text"), prior_query=counted(times, "prior_query", monthly.by_rules)
    )
    greedy = [needing("metadata", "metadata"), needing("prior_query")]
    first, server = monthly.build(*greedy, answers(MONTHLY), tools=tools)
    assert isinstance(first, Plan)
    assert len(prompts_of(server)) == 3
    assert [offered_needs(server, place) for place in (1, 2, 3)] == [["metadata", "prior_query"], ["prior_query"], []]
    again, server = monthly.build(answers(MONTHLY), tools=tools, attempt=2, last=first)
    assert isinstance(again, Plan)
    assert times == {"metadata": 1, "prior_query": 1}
    assert "About the data" in prompts_of(server)[0]


@pytest.mark.requirement("R24", "R25")
def test_an_earlier_query_that_is_given_is_shown_and_not_looked_for(monthly: Session) -> None:
    times: Counter[str] = Counter()
    tools = Offered(prior_query=counted(times, "prior_query", None))
    _, server = monthly.build(answers(MONTHLY), tools=tools, prior=monthly.by_rules)
    assert (offered_needs(server, -1), times) == ([], {})
    assert "Query of an earlier question" in prompts_of(server)[0]


@pytest.mark.requirement("R24", "R40")
def test_a_tool_that_fails_is_told_and_ends_nothing(monthly: Session) -> None:
    times: Counter[str] = Counter()
    gone = SourceError("tableau is gone; is it running?")
    tools = Offered(schema=counted(times, "schema", gone), metadata=counted(times, "metadata", gone))
    built, server = monthly.build(needing("metadata"), answers(MONTHLY), tools=tools)
    assert isinstance(built, Plan)
    assert "metadata cannot be had" in prompts_of(server)[1]
    built, server = monthly.build(answers(MONTHLY), tools=tools, schema=None)
    assert (built, server.requests) == (Unbuilt("tableau is gone; is it running?"), [])
    built, _ = monthly.build(answers(MONTHLY), schema=None)
    assert isinstance(built, Unbuilt)
    assert "no schema is given" in built.problem


async def slow() -> SourceSchema:
    await asyncio.sleep(30)
    raise AssertionError("nobody waits so long")


def test_a_tool_has_no_more_time_than_the_question(monthly: Session) -> None:
    built, _ = monthly.build(answers(MONTHLY), tools=Offered(schema=slow), schema=None, seconds=0.2)
    assert isinstance(built, Unbuilt)
    assert "took longer" in built.problem
