"""Document B with recorded replies: what is lost between a large model's calls and checked plans."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import add
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from benchmarks.suites.workflow import TODAY, _bench
from benchmarks.suites.workflow_files import Request, catalog_of, load_requests, load_tools, safe_name
from benchmarks.suites.workflow_graphs import Graph, Overlap, proposed_graph, wanted_graph

from groundplan.contracts.question import Question
from groundplan.contracts.verdict import Passed
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from groundplan.result import Planned, plan_for
from tests.documents.mending import Mender
from tests.llm.scripted import PROBED, says, scripted

ROOT = Path(__file__).parents[2]
BENCHMARKS = Path(os.environ.get("GROUNDPLAN_BENCHMARKS") or ROOT.parent / "shared/benchmarks")
RECORDED = BENCHMARKS / "large_model/workflow.jsonl"
NONE = Overlap(0, 0, 0)

pytestmark = pytest.mark.skipif(not RECORDED.exists(), reason="the recorded replies are not on this machine")
Calls = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Outcome:
    """A request with its bare calls, and what became of them."""

    request: Request
    calls: Calls
    planned: Planned

    @property
    def attempts(self) -> int:
        """At which attempt the model's graph passed; 0: at none."""
        plan = self.planned.plan
        passed = isinstance(self.planned.verdict, Passed) and plan is not None and plan.provenance.model is not None
        return plan.provenance.attempts if passed and plan else 0

    @property
    def bare(self) -> Overlap:
        tools = Counter(safe_name(call["tool"]) for call in self.calls)
        return Graph(tools, frozenset()).overlap(wanted_graph(self.request))[0]

    @property
    def ours(self) -> Overlap:
        steps = self.planned.plan.steps if self.planned.plan and self.attempts else ()
        return proposed_graph(steps).overlap(wanted_graph(self.request))[0]


@cache
def outcomes() -> tuple[Outcome, ...]:
    return asyncio.run(_planned())


async def _planned() -> tuple[Outcome, ...]:
    rows = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
    calls: dict[str, Calls] = {row["id"]: row["nodes"] for row in rows}
    folder = BENCHMARKS / "workflow_dag"
    requests, listed = [one for one in load_requests(folder) if one.id in calls], load_tools(folder)
    async with scripted(says(PROBED)) as server:
        server.replies["GraphReply"] = Mender(server, {one.request: calls[one.id] for one in requests})
        async with Model.open(server.endpoint()) as model:
            bench = _bench(listed, catalog_of(listed), None, None, Cascade((model,)))
            made = []
            for request in requests:
                question = Question(text=request.request, today=TODAY, strategy="compose")
                made.append(Outcome(request, calls[request.id], await plan_for(question, bench.context_for(request))))
            return tuple(made)


def valid_within(attempts: int) -> float:
    return sum(0 < one.attempts <= attempts for one in outcomes()) / len(outcomes())


@pytest.mark.requirement("R20")
@pytest.mark.parametrize(("attempts", "share"), [(1, 0.85), (2, 0.95), (3, 0.98)])
def test_graphs_are_valid_as_the_document_asks(attempts: int, share: float) -> None:
    assert len(outcomes()) == 60
    assert valid_within(attempts) >= share


@pytest.mark.requirement("R20")
def test_checked_plans_call_the_same_tools_as_the_bare_replies() -> None:
    ours = reduce(add, (one.ours for one in outcomes()), NONE).f1
    bare = reduce(add, (one.bare for one in outcomes()), NONE).f1
    assert ours >= bare - 0.02
