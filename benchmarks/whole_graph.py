"""The whole graph in one call against part by part: both ways in which the product plans a task, with the same model.

    python -m benchmarks.whole_graph FOLDER --model URL [--sample 20]

FOLDER is that of the suite `workflow`. Part by part is `composer = "parts"`: a call for each part of a task that the
words leave open. The whole graph is `composer = "whole"`: one call, and one more for each graph that the gate refuses,
then part by part, then the words. `by the whole` counts the plans that came from the one call. Search (by words), gate
and deadline are the same for both; the deadline is so long that no slow machine decides. One column has the words
alone: what they settle is no merit of a model. A plan by the words counts as valid at their own attempt, as the suite
counts it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.suites.workflow import TODAY, TRIES, Bench, _bench
from benchmarks.suites.workflow_files import Request, catalog_of, load_requests, load_tools
from benchmarks.suites.workflow_graphs import Overlap, has_arguments, proposed_graph, wanted_graph

from groundplan.asking.tasks.planners import WHOLE as BY_THE_WHOLE
from groundplan.context import Context
from groundplan.contracts.answer import Usage
from groundplan.contracts.question import Question
from groundplan.contracts.roles import Composer
from groundplan.contracts.verdict import Passed
from groundplan.evaluation.comparing.intervals import Array, Estimate, bootstrap
from groundplan.evaluation.suites.sampling import spread
from groundplan.llm.calls import CallsByRole
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from groundplan.result import plan_for
from groundplan.settings import Endpoint, load_models

PARTS, WHOLE, WORDS = "part by part", "whole graph", "words alone"
SECONDS = 1_800.0  # for the calls of one request: a slow machine shall not decide which way is better


@dataclass(frozen=True)
class Scored:
    """One request, written one way."""

    tools: Overlap
    edges: Overlap
    arguments: tuple[bool, ...]
    attempts: int | None  # None: no plan passed
    usage: Usage
    failures: int  # calls that no answer came to: they say nothing of a way
    seconds: float
    is_whole: bool  # whether the plan came from the one call for the whole graph

    @property
    def graph(self) -> bool:
        return self.tools.exact and self.edges.exact

    def passed_within(self, attempts: int) -> bool:
        return self.attempts is not None and self.attempts <= attempts


@dataclass(frozen=True)
class Measure:
    """A sum over a sum: of requests, what is counted and out of how much."""

    name: str
    of: Callable[[Scored], tuple[float, float]]
    counts: Callable[[Scored], bool] = lambda _: True


MEASURES = (
    Measure("node_f1", lambda one: _f1(one.tools)),
    Measure("edge_f1", lambda one: _f1(one.edges), lambda one: one.edges.wanted > 0),
    Measure("edge_f1_all", lambda one: _f1(one.edges)),
    Measure("graph", lambda one: (one.graph, 1)),
    Measure("arguments", lambda one: (sum(one.arguments), len(one.arguments))),
    Measure("valid, first", lambda one: (one.passed_within(TRIES["first"]), 1)),
    Measure("valid, second", lambda one: (one.passed_within(TRIES["second"]), 1)),
    Measure("valid, third", lambda one: (one.passed_within(TRIES["third"]), 1)),
    Measure("by the whole", lambda one: (one.is_whole, 1)),
    Measure("calls", lambda one: (one.usage.calls, 1)),
    Measure("prompt tokens", lambda one: (one.usage.prompt_tokens, 1)),
    Measure("completion tokens", lambda one: (one.usage.completion_tokens, 1)),
    Measure("seconds", lambda one: (one.seconds, 1)),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="tools.jsonl and requests.jsonl, as the suite `workflow` reads them")
    parser.add_argument("--model", required=True, help="the address of a model's server, up to /v1")
    parser.add_argument("--sample", type=int, help="so many requests, evenly spread")
    arguments = parser.parse_args()
    endpoint = load_models(Path.cwd(), arguments.model)[0]
    scored = asyncio.run(measure(arguments.folder, endpoint, arguments.sample))
    print("\n".join(lines(scored)))
    return 0


async def measure(folder: Path, endpoint: Endpoint, sample: int | None) -> dict[str, list[Scored]]:
    """Each request is planned both ways, one after the other, and by words."""
    requests, listed = spread(load_requests(folder), sample), load_tools(folder)
    scored: dict[str, list[Scored]] = {PARTS: [], WHOLE: [], WORDS: []}
    async with AsyncExitStack() as opened:
        asked = await opened.enter_async_context(Model.open(endpoint))
        if not await asked.enforces_schema():
            print(f"{endpoint.url} does not hold its model to a schema: it goes into the prompts", file=sys.stderr)
        catalog = catalog_of(listed)
        modelled = _bench(listed, catalog, None, None, Cascade((asked,)))
        wordy = _bench(listed, catalog, None, None, None)
        for place, request in enumerate(requests, 1):
            scored[PARTS].append(await score(request, context_for(modelled, request, "parts")))
            scored[WHOLE].append(await score(request, context_for(modelled, request, "whole")))
            scored[WORDS].append(await score(request, wordy.context_for(request)))
            print(f"{place} of {len(requests)}", file=sys.stderr)
    return scored


def context_for(bench: Bench, request: Request, composer: Composer) -> Context:
    """The context of a request in which tasks are planned this way."""
    context = bench.context_for(request, SECONDS)
    assert bench.cascade is not None
    assert context.calls is not None
    roles = context.calls.roles.model_copy(update={"composer": composer})
    return replace(context, calls=CallsByRole(bench.cascade, roles))


async def score(request: Request, context: Context) -> Scored:
    """By the plan that passed the gate; without one everything is missed."""
    began = time.perf_counter()
    planned = await plan_for(Question(text=request.request, today=TODAY, strategy="compose"), context)
    seconds = time.perf_counter() - began
    plan = planned.plan if isinstance(planned.verdict, Passed) else None
    steps = plan.steps if plan else ()
    tools, edges = proposed_graph(steps).overlap(wanted_graph(request))
    return Scored(
        tools=tools,
        edges=edges,
        arguments=tuple(has_arguments(node, steps) for node in request.nodes),
        attempts=plan.provenance.attempts if plan else None,
        usage=context.calls.usage if context.calls else Usage(),
        failures=len(context.calls.failures) if context.calls else 0,
        seconds=seconds,
        is_whole=plan is not None and plan.provenance.template == BY_THE_WHOLE,
    )


def lines(scored: Mapping[str, Sequence[Scored]]) -> Iterator[str]:
    """A line for each measure, a column for each way, 95 % intervals in brackets; last the whole graph's difference."""
    parts, whole = scored[PARTS], scored[WHOLE]
    yield f"requests: {len(whole)}, with edges: {sum(one.edges.wanted > 0 for one in whole)}"
    yield _row("", [*scored, "whole less parts"])
    for one in MEASURES:
        yield _row(one.name, [*(_shown(one, ones) for ones in scored.values()), _shown(one, parts, whole)])
    yield _row("failed calls", [str(sum(one.failures for one in ones)) for ones in scored.values()])


def _shown(measure: Measure, *ways: Sequence[Scored]) -> str:
    """Of one way, or of the second less the first: the same requests are drawn again for both."""
    pairs = [ones for ones in zip(*ways, strict=True) if measure.counts(ones[0])]
    if not pairs:
        return "-"
    rows = [[float(number) for one in ones for number in measure.of(one)] for ones in pairs]
    found: Estimate = bootstrap(rows, [str(place) for place in range(len(rows))], _difference)
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def _difference(rows: Array) -> float:
    """1 where nothing was wanted and nothing given, as for a single graph."""
    shares = [counted / out_of if out_of else 1.0 for counted, out_of in rows.sum(axis=0).reshape(-1, 2).tolist()]
    return float(shares[-1] - shares[0]) if len(shares) > 1 else float(shares[0])


def _f1(overlap: Overlap) -> tuple[float, float]:
    return 2 * overlap.common, overlap.wanted + overlap.given


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<18}" + "".join(f"{cell:>28}" for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
