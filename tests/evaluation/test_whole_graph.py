"""The benchmark that has a model write the whole graph: what it may refer to, what goes back, and how it is counted."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from benchmarks.whole_graph import FLOORED, STEPWISE, WHOLE, Scored, lines, measure, schema_of

from groundplan.contracts.tool import Tool
from groundplan.evaluation.suites import workflow_files
from tests.evaluation import test_workflow as suite
from tests.llm.scripted import PROBED, says, scripted

TIDE = suite.asked(
    "tide", "coast", "Get the tide at the harbour 'Dover'.", suite.node("c0", "getTide", harbour="Dover")
)
FOUND = {"tool": "find_customer", "params": {"name": "Ann Lee"}}


def invoice(amount: float | None) -> str:
    sent = {"tool": "send_invoice", "params": {"email": {"$from": "s1.email"}, "amount": amount}}
    return json.dumps({"steps": {"s1": FOUND, "s2": sent, "s3": None}})


def tide(harbour: str) -> str:
    return json.dumps({"steps": {"s1": {"tool": "getTide", "params": {"harbour": harbour}}, "s2": None}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    suite.lines(tmp_path / "tools.jsonl", suite.TOOLS)
    suite.lines(tmp_path / "requests.jsonl", [suite.INVOICED, TIDE])
    return tmp_path


def measured(folder: Path, *graphs: str) -> tuple[dict[str, list[Scored]], list[dict[str, Any]]]:
    """With a model that says these graphs one after the other, and nothing of use about a single part."""
    left = [*graphs]

    async def run() -> tuple[dict[str, list[Scored]], list[dict[str, Any]]]:
        async def answer(writer: asyncio.StreamWriter) -> None:
            named = server.requests[-1]["response_format"]["json_schema"]["name"]
            said = left.pop(0) if named == "Written" else PROBED if named == "Probe" else "fine weather"
            await says(said)(writer)

        async with scripted(answer) as server:
            scored = await measure(folder, server.endpoint(), None)
            asked = [one["response_format"]["json_schema"] | one for one in server.requests]
            return scored, [one for one in asked if one["name"] == "Written"]

    scored, asked = asyncio.run(run())
    assert not left
    return scored, asked


def test_what_the_gate_finds_goes_back_with_the_graph_and_the_attempt(folder: Path) -> None:
    scored, asked = measured(folder, invoice(None), invoice(250), tide("Dover"))
    first, second, _ = (one["messages"][0]["content"] for one in asked)
    assert first.endswith("Attempt 1. Before: nothing\nThe check says: nothing is wrong")
    behind = second.rpartition("Attempt 2. Before: ")[2]
    previous, _, errors = behind.partition("\nThe check says: ")
    assert json.loads(previous)["steps"]["s1"] == FOUND
    assert errors.startswith("s2.params")
    assert "'amount'" in errors
    linked, alone = scored[WHOLE]
    assert (linked.attempts, linked.usage.calls, alone.attempts, alone.usage.calls) == (2, 2, 1, 1)
    assert linked.graph
    assert alone.graph
    assert all((*linked.arguments, *alone.arguments))


def test_a_graph_that_never_passes_misses_everything_and_the_words_stand_behind_it(folder: Path) -> None:
    """`Brest` is not in the task: the value is left out, and the gate asks for it each time."""
    scored, _ = measured(folder, invoice(250), tide("Brest"), tide("Brest"), tide("Brest"))
    refused, floored = scored[WHOLE][1], scored[FLOORED][1]
    assert (refused.attempts, refused.tools.common, refused.tools.wanted, refused.usage.calls) == (None, 0, 1, 3)
    assert (floored.graph, floored.usage.calls) == (True, 3)
    assert scored[FLOORED][0] is scored[WHOLE][0]
    assert all(one.graph for one in scored[STEPWISE])


def test_an_answer_that_is_no_graph_costs_an_attempt(folder: Path) -> None:
    scored, asked = measured(folder, "no", invoice(250), tide("Dover"))
    assert scored[WHOLE][0].attempts == 2
    assert "Attempt 2. Before: nothing\nThe check says: nothing is wrong" not in asked[1]["messages"][0]["content"]


@pytest.mark.requirement("R61")
def test_measures_stand_side_by_side_with_the_difference_last(folder: Path) -> None:
    scored, _ = measured(folder, invoice(250), tide("Brest"), tide("Brest"), tide("Brest"))
    told = {line[:18].strip(): line[18:].split("]") for line in lines(scored)}
    # three nodes are wanted; step by step gives all of them, the whole graph two: 2 · 2 / (3 + 2)
    assert [cell.split("[")[0].strip() for cell in told["node_f1"]][:5] == ["1.00", "0.80", "1.00", "1.00", "-0.20"]
    assert [cell.split("[")[0].strip() for cell in told["valid, third"]][:5] == [
        "1.00",
        "0.50",
        "1.00",
        "1.00",
        "-0.50",
    ]
    assert next(lines(scored)) == "requests: 2, with edges: 1"
    assert told["failed calls"][0].split() == ["0", "0", "0", "0"]


def test_a_step_refers_only_to_fields_of_places_before_it(folder: Path) -> None:
    tools: list[Tool] = [*workflow_files.catalog_of(workflow_files.load_tools(folder)).tools.values()]
    schema: Any = schema_of("Find Ann Lee and send an invoice to her email", tools, 3)
    places = schema["properties"]["steps"]["properties"]
    taken = {
        place: {text for text in json.dumps(steps).split('"') if text.endswith(".email")}
        for place, steps in places.items()
    }
    assert taken == {"s1": set(), "s2": {"s1.email"}, "s3": {"s1.email", "s2.email"}}
    assert {"type": "null"} not in places["s1"]["anyOf"]
    assert {"type": "null"} in places["s2"]["anyOf"]
