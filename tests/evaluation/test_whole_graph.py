"""The benchmark of the two ways in which a model plans a task: what is counted of each."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from benchmarks.whole_graph import PARTS, WHOLE, WORDS, Scored, lines, measure

from tests.asking.tasks.written import step
from tests.evaluation import test_workflow as suite
from tests.llm.scripted import PROBED, says, scripted

TIDE = suite.asked(
    "tide", "coast", "Get the tide at the harbour 'Dover'.", suite.node("c0", "getTide", harbour="Dover")
)
FOUND = step("g1", "find_customer", name="Ann Lee")


def invoice(amount: float) -> str:
    sent = step("g2", "send_invoice", email={"$from": "s1.email"}, amount=amount)
    return json.dumps({"steps": {"s1": FOUND, "s2": sent, "s3": None, "s4": None}})


def tide(tool: str) -> str:
    return json.dumps({"steps": {"s1": step("g1", tool, harbour="Dover"), "s2": None}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    suite.lines(tmp_path / "tools.jsonl", suite.TOOLS)
    suite.lines(tmp_path / "requests.jsonl", [suite.INVOICED, TIDE])
    return tmp_path


def measured(folder: Path, *graphs: str) -> tuple[dict[str, list[Scored]], list[str]]:
    """With a model that says these graphs one after the other, and nothing of use about a single part."""
    left = [*graphs]

    async def run() -> tuple[dict[str, list[Scored]], list[dict[str, Any]]]:
        async def answer(writer: asyncio.StreamWriter) -> None:
            named = server.requests[-1]["response_format"]["json_schema"]["name"]
            said = left.pop(0) if named == "WrittenGraph" else PROBED if named == "Probe" else "fine weather"
            await says(said)(writer)

        async with scripted(answer) as server:
            return await measure(folder, server.endpoint(), None), server.requests

    scored, asked = asyncio.run(run())
    assert not left
    graphs_asked = [one for one in asked if one["response_format"]["json_schema"]["name"] == "WrittenGraph"]
    return scored, [one["messages"][0]["content"] for one in graphs_asked]


def test_a_graph_in_one_call_is_told_from_one_by_parts(folder: Path) -> None:
    scored, asked = measured(folder, invoice(250), tide("getTide"))
    assert len(asked) == 2
    assert [one.is_whole for one in scored[WHOLE]] == [True, True]
    assert [one.is_whole for one in (*scored[PARTS], *scored[WORDS])] == [False] * 4
    assert all(one.graph and all(one.arguments) for one in scored[WHOLE])


def test_what_the_one_call_never_gets_right_is_planned_by_parts(folder: Path) -> None:
    half = json.dumps({"steps": {"s1": FOUND, "s2": None, "s3": None, "s4": None}})
    scored, asked = measured(folder, half, half, half, tide("getTide"))
    assert len(asked) == 4
    assert [one.is_whole for one in scored[WHOLE]] == [False, True]
    assert scored[WHOLE][0].graph


@pytest.mark.requirement("R61")
def test_measures_stand_side_by_side_with_the_difference_last(folder: Path) -> None:
    scored, _ = measured(folder, invoice(250), tide("getTide"))
    told = {line[:18].strip(): line[18:].split("]") for line in lines(scored)}
    assert [cell.split("[")[0].strip() for cell in told["by the whole"]][:4] == ["0.00", "1.00", "0.00", "1.00"]
    assert [cell.split("[")[0].strip() for cell in told["node_f1"]][:4] == ["1.00", "1.00", "1.00", "0.00"]
    assert next(lines(scored)) == "requests: 2, with edges: 1"
    assert told["failed calls"][0].split() == ["0", "0", "0"]
