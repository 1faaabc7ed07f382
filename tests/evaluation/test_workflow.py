"""The `workflow` suite: its arithmetic on six tasks whose workflows can be judged by eye, and what a model adds."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.suites import registry as suites
from benchmarks.suites.workflow import evaluate
from benchmarks.suites.workflow_files import Node, Request, catalog_of, load_tools
from benchmarks.suites.workflow_graphs import Overlap, has_arguments, proposed_graph, wanted_graph

from groundplan.contracts.plan import Step
from groundplan.errors import UsageError
from groundplan.evaluation.report import Report
from tests.llm.scripted import PROBED, says, scripted

ROOT = Path(__file__).parents[2]
BENCHMARK = Path(os.environ.get("GROUNDPLAN_BENCHMARKS") or ROOT.parent / "shared/benchmarks") / "workflow_dag"

needs_the_benchmark = pytest.mark.skipif(
    not BENCHMARK.exists(), reason="the benchmark is not on this machine; GROUNDPLAN_BENCHMARKS names its folder"
)


def listed(catalog: str, name: str, description: str, takes: dict[str, str], gives: dict[str, str]) -> dict[str, Any]:
    inputs = {param: {"type": kind, "description": "", "required": True} for param, kind in takes.items()}
    outputs = {field: {"type": kind, "description": ""} for field, kind in gives.items()}
    return {"tool": name, "catalog": catalog, "description": description, "inputs": inputs, "outputs": outputs}


def node(id_: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"id": id_, "tool": tool, "arguments": arguments}


def asked(id_: str, source: str, request: str, *nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": id_, "source": source, "request": request, "nodes": nodes, "edges": [], "tools_missing": [], **more}


TOOLS = [
    listed("shop", "find_customer", "Find a customer by name.", {"name": "String"}, {"email": "str"}),
    listed("shop", "send_invoice", "Send an invoice by email.", {"email": "str", "amount": "float"}, {"number": "str"}),
    listed("shop", "ring bell", "Ring.", {"times": "int"}, {}),
    listed("coast", "getTide", "Get the tide at a harbour.", {"harbour": "str"}, {"height": "float"}),
    listed("coast", "getWind", "Get the wind at a harbour.", {"harbour": "str"}, {"speed": "Knots"}),
]
INVOICED = asked(
    "linked",
    "shop-first",
    "Find the customer named 'Ann Lee'. Then send an invoice of 250 to her email.",
    node("v1", "find_customer", name="ann lee"),
    node("v2", "send_invoice", email="$v1.email$", amount="250"),
    edges=[{"source": "v1", "field": "email", "target": "v2"}],
)
REQUESTS = [
    INVOICED,
    asked("tide", "coast", "Get the tide at the harbour 'Dover'.", node("c0", "getTide", harbour="Dover")),
    asked("bell", "shop-second", "Ring the bell.", node("v1", "ring bell", times=3)),
    asked(
        "sum",
        "shop-second",
        "Send an invoice of 30 to 'bo@example.org'.",
        node("v1", "send_invoice", email="bo@example.org", amount=31),
    ),
    asked("other", "coast", "Get the wind at the harbour 'Brest'.", node("c0", "getTide", harbour="Brest")),
    asked("gone", "coast", "Get the fog at 'Brest'.", node("c0", "getFog"), tools_missing=["getFog"]),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "benchmarks/workflows"
    folder.mkdir(parents=True)
    lines(folder / "tools.jsonl", TOOLS)
    lines(folder / "requests.jsonl", REQUESTS)
    return folder


def lines(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("\n".join(json.dumps(row) for row in rows))


def silent(done: int, total: int) -> None:
    assert 0 < done <= total


def scored(folder: Path, sample: int | None = None, on_progress: Callable[[int, int], None] = silent) -> Report:
    return asyncio.run(evaluate(folder, sample, semantic=False, on_progress=on_progress))


@pytest.mark.requirement("R59")
def test_tools_edges_and_arguments_are_scored_as_one_would_by_hand(folder: Path) -> None:
    """Six nodes are wanted and five given, four of them rightly: all but the bell and the tide at Brest."""
    report = scored(folder)
    assert (report.suite, report.n, report.usage.calls) == ("workflow", 5, 0)
    assert report.extra.keys() == {"seconds_per_question", "repaired", "tools"}
    of_all = {name: score for name, score in report.scores.items() if not name.startswith(("shop_", "coast_"))}
    assert of_all == {
        "composed": 0.8,
        "valid": 1.0,
        "first": 0.8,
        "second": 0.8,
        "third": 0.8,
        "shortlist": 1.0,
        "all": 0.4,
        "node_f1": 0.7273,  # 2 · 4 / (6 + 5)
        "node_f1_mean": 0.6,
        "baseline_node_f1": 0.8571,  # 2 · 6 / (6 + 8): with the wind beside each tide
        "edge_f1": 1.0,
        "edge_f1_mean": 1.0,
        "baseline_edge_f1": 1.0,
        "edge_f1_all": 1.0,
        "graph": 0.6,
        "arguments": 0.5,  # Ann Lee, her invoice, and the tide at Dover
        "graph_arguments": 0.75,  # and the invoice of 30 that should be of 31
    }


def test_each_part_is_scored_alone_and_edges_only_where_some_are_wanted(folder: Path) -> None:
    scores = scored(folder).scores
    assert (scores["shop_node_f1"], scores["shop_node_f1_mean"]) == (0.8571, 0.6667)  # 2 · 3 / (4 + 3)
    assert (scores["coast_node_f1"], scores["coast_graph"], scores["coast_arguments"]) == (0.5, 0.5, 0.5)
    assert scores["shop_edge_f1"] == scores["coast_edge_f1_all"] == 1
    assert not {"coast_edge_f1", "coast_edge_f1_mean", "coast_baseline_edge_f1"} & scores.keys()


def test_the_baseline_chains_the_first_three_of_the_requests_own_catalog(tmp_path: Path) -> None:
    """Both of two are found by words, in an order that has the one edge wanted, with no word for a third."""
    lines(tmp_path / "tools.jsonl", TOOLS)
    lines(tmp_path / "requests.jsonl", [INVOICED | {"request": "the customer, name and customer again, by invoice"}])
    scores = scored(tmp_path).scores
    assert (scores["baseline_node_f1"], scores["baseline_edge_f1"]) == (1.0, 1.0)


def test_a_miss_names_the_first_thing_that_is_wrong(folder: Path) -> None:
    misses = {miss.id: miss for miss in scored(folder).misses}
    assert misses.keys() == {"bell", "sum", "other"}
    assert misses["bell"].why.startswith("no plan: ring_bell needs 'times'")
    assert misses["bell"].got == []
    assert (misses["sum"].why, misses["other"].why) == ("arguments", "tools")
    assert misses["other"].expected == [node("c0", "getTide", harbour="Brest")]
    assert misses["other"].got == [{"id": "get_wind", "tool": "getWind", "arguments": {"harbour": "Brest"}}]


def test_an_edge_that_nobody_wants_counts_where_all_requests_do(folder: Path) -> None:
    unlinked = [INVOICED | {"id": "unlinked", "edges": []}, INVOICED]
    lines(folder / "requests.jsonl", unlinked)
    report = scored(folder)
    assert report.scores["edge_f1"] == 1
    assert report.scores["edge_f1_all"] == 0.6667  # 2 · 1 / (1 + 2)
    assert [(miss.id, miss.why) for miss in report.misses] == [("unlinked", "edges")]


def test_tools_of_the_folder_beside_it_are_distractors_for_one_measure_alone(folder: Path) -> None:
    before = scored(folder)
    beside = folder.parent / "tool_narrowing"
    beside.mkdir()
    said = "Get the tide at the harbour Dover, or at the harbour Brest."
    tides = [{"name": f"harbour_tide_{n}", "description": said, "tool_id": f"x:{n}", "catalog": "x"} for n in range(9)]
    same = {"name": "getTide", "description": "Get the tide.", "tool_id": "x:t", "catalog": "x"}
    lines(beside / "tools.jsonl", [*tides, same])
    after = scored(folder)
    assert after.extra["tools_merged"] == 14
    assert after.scores.pop("shortlist_merged") == 0.6  # neither tide is among the first eight any more
    assert after.scores == before.scores


def test_a_sample_is_spread_and_progress_told_by_request(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    report = scored(folder, 2, lambda done, total: told.append((done, total)))
    assert [miss.id for miss in report.misses] == ["bell"]
    assert told == [(1, 2), (2, 2)]


def test_tools_become_contracts_with_names_and_types_that_are_known(folder: Path) -> None:
    tools = catalog_of(load_tools(folder)).tools
    assert [*tools] == ["find_customer", "getTide", "getWind", "ring_bell", "send_invoice"]
    assert tools["send_invoice"].params["properties"] == {"email": {"type": "string"}, "amount": {"type": "number"}}
    assert tools["getWind"].returns["properties"] == {"speed": {}}
    assert {tool.effect for tool in tools.values()} == {"read"}


@pytest.mark.parametrize(
    ("wanted", "given", "same"),
    [
        ("Dover ", "dover", True),
        (3, "3", True),
        ("3.0", 3, True),
        (True, "true", True),
        (True, 1, False),
        ([1, "A"], ["1", "a"], True),
        ("$v1.height$", {"$from": "tide.height"}, True),
        ("API_call_0", {"$from": "tide.height"}, True),
        ("$v1.height$ m", {"$join": [{"$from": "tide.height"}, " m"]}, True),
        ([{"by": "$v1.height$"}], [{"by": {"$from": "tide.height"}}], True),
        ("$v1.height$", "Dover", False),
        ("from $5.00 to $6.00", {"$join": ["from ", {"$from": "tide.height"}, "6.00"]}, False),
    ],
)
def test_arguments_are_compared_loosely_and_references_as_such(wanted: Any, given: Any, same: bool) -> None:
    step = Step(id="a", tool="getWind", params={"harbour": given})
    assert has_arguments(Node(id="c0", tool="getWind", arguments={"harbour": wanted}), [step]) is same
    assert not has_arguments(Node(id="c0", tool="getTide", arguments={"harbour": wanted}), [step])
    assert not has_arguments(Node(id="c0", tool="getWind", arguments={"harbour": wanted, "x": 1}), [step])


def test_a_tool_counts_as_often_as_it_is_called_and_a_router_not_at_all() -> None:
    steps = [
        Step(id="a", tool="getTide", params={"harbour": "Dover"}),
        Step(id="b", tool="getTide", params={"harbour": {"$join": ["near ", {"$from": "a.height"}]}}),
        Step(id="c", kind="router", needs=("b",)),
    ]
    tides = (node("c0", "getTide"), node("c1", "getTide"), node("c2", "getTide"))
    wanted = wanted_graph(Request.model_validate(asked("r", "coast", "tides", *tides)))
    assert proposed_graph(steps).overlap(wanted) == (Overlap(2, 3, 2), Overlap(0, 0, 1))


@pytest.mark.requirement("R59")
def test_a_model_that_says_nothing_of_use_costs_tokens_and_no_score(folder: Path) -> None:
    pytest.importorskip("openai", reason="needs the extra `llm`")

    async def run() -> tuple[Report, int]:
        async with scripted(says(PROBED), says("I would rather talk about the weather.")) as server:
            report = await evaluate(folder, None, False, silent, [server.endpoint()])
            return report, len(server.requests)

    report, requests = asyncio.run(run())
    assert report.scores == scored(folder).scores
    assert 0 < report.usage.calls <= requests
    assert report.extra["calls_per_question"] == report.usage.calls / 5
    assert report.extra["tokens_per_question"] == 10 * report.usage.calls / 5


def test_a_strategy_is_refused_and_a_wrong_folder_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has only one strategy; omit --strategy"):
        suites.evaluate("workflow", folder, None, silent, strategy="rules")
    with pytest.raises(UsageError, match=r"name a folder with tools.jsonl and requests.jsonl"):
        suites.evaluate("workflow", tmp_path, None, silent)


@needs_the_benchmark
@pytest.mark.requirement("R60")
def test_words_alone_compose_most_tasks_over_thousands_of_tools() -> None:
    report = scored(BENCHMARK, 60)
    assert report.extra["tools"] > 2_500
    assert report.scores["composed"] >= 0.8
    assert report.scores["valid"] >= 0.95
    assert report.scores["node_f1"] >= 0.55
    assert report.scores["shortlist"] >= 0.7
