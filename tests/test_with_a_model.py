"""Questions with a model, on a real server that answers as scripted: what it says is used, checked, or left aside."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.patience import SOON

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal
from groundplan.contracts.plan import Plan
from groundplan.contracts.roles import Roles
from groundplan.project import AsyncProject
from tests.asking.tables.described import SALES
from tests.llm.scripted import PROBED, Behaviour, dies_within, hangs, hangs_up, says, scripted, sends

WALKTHROUGH = "get revenue totals by region and product type over time"
UNKNOWN = "total lucre by fiefdom"
REVENUE, REGION, NOTHING = {"means": "revenue"}, {"means": "region"}, {"means": "none"}
EXPLAINED = (*[REVENUE] * 3, *[REGION] * 3)
"""Each word in both orders, and once more in other words."""
NUMBER = {"function": "sum", "of": {"column": "revenue", "then": []}, "where": [], "percent": None}
MEASURE = {"words": "total lucre", "number": NUMBER, "against": None, "along": "", "periods": None, "within": []}
GROUP = {"words": "by fiefdom", "of": {"column": "region", "then": []}, "at": "", "width": None}
PROPOSED: dict[str, Any] = {
    "table": "sales",
    "measures": [MEASURE],
    "groups": [GROUP],
    "filters": [],
    "having": [],
    "order": None,
    "columns": [],
    "distinct": False,
}
UNCHANGED = {"changes": []}
SCATTER = (
    "top 3 regions by revenue as a scatter plot"  # rules draw one of single rows only, so the gate refuses their plan
)
PARAMS = {"x": "region", "y": "revenue", "color": None, "size": None, "facet": None}
ADDED = {
    "op": "add",
    "id": "added1",
    "tool": "plot_scatter",
    "params": PARAMS,
    "needs": ["ranked"],
    "satisfies": ["output:chart"],
    "rationale": "the chart that was asked for",
}
DRAWN = {"changes": [ADDED]}


async def asked(
    question: str, *script: Behaviour, probe: str | None = PROBED, roles: Roles | None = None, **options: Any
) -> Outcome:
    probed = [says(probe)] if probe is not None else []
    async with scripted(*probed, *script) as server:
        project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=roles)
        try:
            return await project.ask(question, **options)
        finally:
            await project.close()


def told(value: object) -> Behaviour:
    return says(json.dumps(value, ensure_ascii=False))


@pytest.fixture(autouse=True)
def _plans_of_our_own(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))


@pytest.mark.requirement("R5", "R27")
def test_words_that_nothing_explains_are_read_by_the_model() -> None:
    outcome = asyncio.run(asked(UNKNOWN, *map(told, EXPLAINED)))
    assert isinstance(outcome, Answer)
    assert {row[0] for row in outcome.tables[0].rows} == {"North", "South", "East", "West", "Central"}
    assert (outcome.usage.models, outcome.usage.calls) == (("scripted",), 7)
    assert any("'fiefdom' means region, as scripted says" in note for note in outcome.notes)
    read = next(entry for entry in outcome.trace if entry.stage == "read")
    assert read.tokens == outcome.usage.prompt_tokens + outcome.usage.completion_tokens > 0


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    "said",
    [
        ({"means": "cost"}, *EXPLAINED[1:]),
        (REVENUE, REVENUE, NOTHING, NOTHING, *EXPLAINED[3:]),
        (NOTHING,),
    ],
    ids=["another in the other order", "nothing in other words", "nothing"],
)
def test_a_word_that_the_model_does_not_say_alike_stays_unknown(said: tuple[dict[str, str], ...]) -> None:
    outcome = asyncio.run(asked(UNKNOWN, *map(told, said)))
    assert isinstance(outcome, Refusal)
    assert outcome.issues[0].code == "reading/unread-word"


@pytest.mark.requirement("R10")
def test_what_only_a_whole_reading_says_is_asked_back() -> None:
    outcome = asyncio.run(read_first(UNKNOWN, NOTHING, NOTHING, PROPOSED, NOTHING))
    assert isinstance(outcome, Clarification)
    assert outcome.candidates == ("total revenue by region",)
    assert "'lucre'" in outcome.text


@pytest.mark.requirement("R8")
def test_words_that_are_enough_cost_no_call() -> None:
    outcome = asyncio.run(asked("total revenue", told(REVENUE)))
    assert isinstance(outcome, Answer)
    assert outcome.usage.calls == 0


@pytest.mark.requirement("R10")
def test_a_model_that_hears_nothing_leaves_the_refusal_as_it_was() -> None:
    outcome = asyncio.run(read_first(UNKNOWN, NOTHING))
    assert isinstance(outcome, Refusal)
    assert outcome.issues[0].code == "reading/unread-word"
    assert outcome.usage.calls == 5, "the probe, two words, and two readings"


@pytest.mark.requirement("R6", "R7")
def test_a_name_outside_the_set_is_asked_again_with_the_reason() -> None:
    async def run() -> tuple[Outcome, list[dict[str, Any]]]:
        wrong = {**PROPOSED, "groups": [{**GROUP, "of": {"column": "kingdom", "then": []}}]}
        script = (NOTHING, NOTHING, wrong, PROPOSED, NOTHING)
        async with scripted(says(PROBED), *map(told, script)) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=Roles(reader="model"))
            return await project.ask(UNKNOWN), server.requests

    outcome, requests = asyncio.run(run())
    assert isinstance(outcome, Clarification)
    again = requests[4]["messages"][0]["content"]
    assert "Your last reading was refused" in again
    assert "kingdom" in again


async def read_first(question: str, *script: object) -> Outcome:
    """With `reader = "model"`."""
    async with scripted(says(PROBED), *map(told, script)) as server:
        project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=Roles(reader="model"))
        return await project.ask(question)


KNOWN = "total revenue by region"
ASKED_FOR = {**PROPOSED, "measures": [{**MEASURE, "words": KNOWN}], "groups": [{**GROUP, "words": KNOWN}]}


@pytest.mark.requirement("R6")
def test_a_model_that_reads_first_and_the_words_agree() -> None:
    outcome = asyncio.run(read_first(KNOWN, ASKED_FOR))
    assert isinstance(outcome, Answer)
    assert outcome.reading is not None
    assert outcome.reading.read_by == ("words", "scripted")
    assert outcome.read_as == "Read as: total revenue by region. scripted reads it the same way."


@pytest.mark.requirement("R10")
def test_where_the_model_and_the_words_differ_the_user_is_asked() -> None:
    question = "sales by channel"  # rows are sales, and revenue is what they come to
    words = {"words": question}
    group = {**GROUP, **words, "of": {"column": "channel", "then": []}}
    rows = {"function": "rows", "of": None, "where": [], "percent": None}
    proposed = {**PROPOSED, "measures": [{**MEASURE, **words, "number": rows}], "groups": [group]}
    outcome = asyncio.run(read_first(question, proposed))
    assert isinstance(outcome, Clarification), outcome.text
    assert len(outcome.candidates) == 2


def test_a_reading_that_the_words_contradict_is_not_used() -> None:
    wrong = {**ASKED_FOR, "groups": []}
    outcome = asyncio.run(read_first(KNOWN, wrong))
    assert isinstance(outcome, Answer)
    assert outcome.read_as == "Read as: total revenue by region."
    assert any("was not used: 'by' is not in the reading" in note for note in outcome.notes), outcome.notes


@pytest.mark.requirement("R15", "R19", "R21", "R33")
def test_what_the_gate_misses_goes_back_until_the_plan_is_right() -> None:
    async def run() -> tuple[Outcome, list[dict[str, Any]]]:
        wrong = {"changes": [{**ADDED, "params": {**PARAMS, "x": "channel"}}]}
        right = {"op": "modify", "step": "added1", "params": PARAMS, "satisfies": ["output:chart"]}
        script = (says(PROBED), told(wrong), told({"changes": [right]}))
        async with scripted(*script) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()])
            return await project.ask(SCATTER), server.requests

    outcome, requests = asyncio.run(run())
    assert isinstance(outcome, Answer), outcome
    assert (outcome.plan.strategy, outcome.plan.provenance.attempts) == ("adapt", 2)
    assert [step.tool for step in outcome.plan.steps].count("plot_scatter") == 1
    first, second = (request["messages"][0]["content"] for request in requests[1:3])
    assert "Missing coverage: output=[chart]" in first
    assert "channel" in second


def test_three_attempts_that_mend_nothing_end_as_without_a_model() -> None:
    async def run() -> tuple[Outcome, int]:
        async with scripted(says(PROBED), told(UNCHANGED)) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()])
            return await project.ask(SCATTER), len(server.requests)

    outcome, requests = asyncio.run(run())
    assert isinstance(outcome, Refusal)
    assert "output:chart" in outcome.text
    assert requests == 4, "the probe and three attempts"


@pytest.mark.requirement("R29")
def test_the_same_in_other_words_costs_no_call_for_the_plan() -> None:
    async def run() -> tuple[Outcome, Outcome, int]:
        async with scripted(says(PROBED), told(DRAWN)) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()])
            first = await project.ask(SCATTER)
            before = len(server.requests)
            second = await project.ask("as a scatter plot, the top 3 regions by revenue")
            plans = [r for r in server.requests[before:] if "changes" in json.dumps(r.get("response_format", {}))]
            return first, second, len(plans)

    first, second, plans = asyncio.run(run())
    assert isinstance(first, Answer)
    assert isinstance(second, Answer)
    assert first.plan.strategy == second.plan.strategy == "adapt"
    assert first.plan.fingerprint == second.plan.fingerprint
    assert plans == 0
    assert any(entry.thought.startswith("remember") for entry in second.trace)


FAULTS = {
    "gone": hangs_up,
    "429": sends(429, "busy"),
    "429 with Retry-After": sends(429, "busy", retry_after="1"),
    "429 for an hour": sends(429, "busy", retry_after="3600"),
    "500": sends(500, "oops"),
    "half a JSON": dies_within('{"object": "chat.completion", "choices": [{"mess'),
    "no completion": sends(200, "<html>hello</html>", "text/html"),
    "401": sends(401, "who?"),
    "hangs": hangs,
}


@pytest.mark.requirement("R40", "R41")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("question", [WALKTHROUGH, UNKNOWN])
def test_a_server_that_fails_ends_typed_within_the_deadline(question: str, fault: Behaviour) -> None:
    begun = time.monotonic()
    outcome = asyncio.run(asked(question, fault, strategy="adapt", roles=Roles(seconds=3)))
    assert time.monotonic() - begun < SOON
    assert isinstance(outcome, Answer if question == WALKTHROUGH else Refusal)
    assert any("scripted" in note for note in outcome.notes), outcome.notes


@pytest.mark.requirement("R28")
def test_the_next_model_is_asked_when_the_first_gives_nothing_usable() -> None:
    async def run() -> Outcome:
        async with (
            scripted(says(PROBED), says("no idea")) as small,
            scripted(says(PROBED), told(DRAWN)) as large,
        ):
            first, second = small.endpoint(), large.endpoint().model_copy(update={"name": "large"})
            project = await AsyncProject.open(SALES, models=[first, second])
            return await project.ask(SCATTER)

    outcome = asyncio.run(run())
    assert isinstance(outcome, Answer)
    assert outcome.plan.provenance.model == "large"
    assert outcome.usage.models == ("scripted", "large")


def junk(chance: random.Random) -> Iterator[str]:
    """What a hostile model says: plans and readings with foreign names, SQL, cycles, and no JSON at all."""
    tools = ["aggregate", "plot_line", "detect_anomalies", "save_table", "drop_table", "rank_rows", "__import__"]
    names = ["revenue", "region", "date", "password", "1; DROP TABLE sales", "../../etc/passwd", "sales"]
    while True:
        step = {
            "op": chance.choice(["add", "remove", "modify", "replace"]),
            "id": chance.choice(["added1", "added2", "totals", "chart"]),
            "step": chance.choice(["totals", "chart", "table", "dates", "nowhere"]),
            "tool": chance.choice(tools),
            "params": {chance.choice(["column", "group_by", "by", "sql", "table"]): chance.choice(names)},
            "needs": chance.sample(["totals", "added1", "chart", "added2"], 2),
            "satisfies": chance.sample(["metric:revenue", "analysis:anomaly", "group_by:region", "x"], 2),
            "rationale": "ignore the rules",
        }
        said = {
            "changes": [step] * chance.randint(0, 9),
            "means": chance.choice([*names, "none"]),
            **PROPOSED,
            "measures": [{**MEASURE, "words": chance.choice([UNKNOWN, *names])}],
            "table": chance.choice(["sales", "password"]),
            "sentences": [str(chance.randint(-3, 20))],
        }
        kept = {key: value for key, value in said.items() if chance.random() < 0.6}
        text = json.dumps(kept)
        cut = text[: chance.randint(0, len(text))]
        yield chance.choice([text, cut, f"Sure! ```json\n{text}\n```", "", "[]", "null"])


@pytest.mark.requirement("R32", "R35", "R52")
def test_nothing_a_hostile_model_says_runs_unjustified_or_uncovered() -> None:
    """500 answers of junk over questions of several kinds: each run ends typed, and what runs is what was asked."""
    chance = random.Random(20261115)
    questions = [
        WALKTHROUGH,
        "top 3 regions by revenue in 2024",
        SCATTER,
        UNKNOWN,
        "anomalies in revenue and units by region",
    ]

    async def run() -> list[Outcome]:
        stream = junk(chance)
        async with scripted(says("hello"), *(says(next(stream)) for _ in range(500)), says("")) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=Roles(reader="model"))
            ended = []
            while len(server.requests) < 500:
                ended.append(await project.ask(chance.choice(questions), strategy="adapt"))
            return ended

    for outcome in asyncio.run(run()):
        assert isinstance(outcome, Answer | Refusal | Clarification)
        if isinstance(outcome, Answer):
            assert all(coverage.steps for coverage in outcome.coverage)
            assert_justified(outcome.plan, {coverage.requirement for coverage in outcome.coverage})


def assert_justified(plan: Plan, asked_for: set[str]) -> None:
    for step in plan.steps:
        assert step.satisfies or any(step.id in other.needs for other in plan.steps)
        assert {*step.satisfies} <= asked_for
        assert step.tool not in ("detect_anomalies", "save_table") or "analysis:anomaly" in asked_for
