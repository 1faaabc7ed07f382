"""The whole graph in one call against step by step: both ways of writing a workflow, with the same model.

    python benchmarks/whole_graph.py FOLDER --model URL [--sample 20]

FOLDER is that of the suite `workflow`. Step by step is what the product does: a call for each part of a task that the
words leave open, and the words where no plan of the model's passes. The whole graph is written in one call: the tools
of all parts at once, a closed schema in which a step refers only to earlier places, and what the gate finds goes back
with the graph it was found in, three attempts in all. Search (by words), gate and deadline are the same for both, and
so is what becomes of a value that the task does not say; the deadline is so long that no slow machine decides.

The ways differ in more than their calls. For the whole graph: each of its steps counts as being for every part, so that
the gate never misses one, and references are not cut to a few. Against it: words fill in no param that its model left
out. One column has the words where it fails, as step by step has them, and one the words alone: what they settle is no
merit of a model. A plan by the words counts as valid at their own attempt, as the suite counts it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from groundplan.asking.tasks import plan as compose
from groundplan.asking.tasks.choose import PartRequest
from groundplan.asking.tasks.choose_with_model import Call, _as_reference, _params, _pointed, _told
from groundplan.asking.tasks.fill import Made, choices_of, compatible, linked, properties_of
from groundplan.asking.tasks.read import read_task
from groundplan.asking.tasks.words import glossed, stems
from groundplan.catalog.search.parts import search_parts
from groundplan.checking.gate import check
from groundplan.context import Context
from groundplan.contracts.answer import Usage
from groundplan.contracts.contract import Contract, thaw
from groundplan.contracts.plan import Plan, Provenance, Step
from groundplan.contracts.question import Question
from groundplan.contracts.reading import Reading
from groundplan.contracts.references import FROM, read_reference, references
from groundplan.contracts.said import is_said
from groundplan.contracts.tool import Tool
from groundplan.contracts.verdict import Passed, Refused
from groundplan.evaluation.comparing.intervals import Array, Estimate, bootstrap
from groundplan.evaluation.suites.sampling import spread
from groundplan.evaluation.suites.workflow import TODAY, TRIES, _bench
from groundplan.evaluation.suites.workflow_files import Request, catalog_of, load_requests, load_tools
from groundplan.evaluation.suites.workflow_graphs import Overlap, has_arguments, proposed_graph, wanted_graph
from groundplan.llm.calls import Failed
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import UnusableReply
from groundplan.llm.schema import Schema, closed
from groundplan.result import Planned, plan_for
from groundplan.settings import Endpoint, load_models

PROMPTS = Path(__file__).with_name("whole_graph_prompts")
STEPWISE, WHOLE, FLOORED, WORDS = "step by step", "whole graph", "whole, else words", "words alone"
MOST_TOOLS = 12
MOST_FIELDS = 8  # of a tool that the prompt names, as for an earlier step
TOKENS_A_STEP = 160
MOST_ISSUES, LONGEST = 5, 200  # that go back, and the characters of one
SECONDS = 1_800.0  # for the calls of one request: a slow machine shall not decide which way is better

Way = Callable[[str, Context], Awaitable[Planned]]


class Written(Contract):
    """A graph by its places s1, s2, …; null for those that are left over."""

    steps: dict[str, Call | None]


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
    """Each request is written both ways, one after the other."""
    requests, listed = spread(load_requests(folder), sample), load_tools(folder)
    scored: dict[str, list[Scored]] = {STEPWISE: [], WHOLE: [], FLOORED: [], WORDS: []}
    async with AsyncExitStack() as opened:
        asked = await opened.enter_async_context(Model.open(endpoint))
        if not await asked.enforces_schema():
            print(f"{endpoint.url} does not hold its model to a schema: it goes into the prompts", file=sys.stderr)
        catalog = catalog_of(listed)
        modelled = _bench(listed, catalog, None, None, Cascade((asked,)))
        wordy = _bench(listed, catalog, None, None, None)
        for place, request in enumerate(requests, 1):
            stepwise = await score(step_by_step, request, modelled.context_for(request, SECONDS))
            whole = await score(whole_graph, request, modelled.context_for(request, SECONDS))
            words = await score(step_by_step, request, wordy.context_for(request))
            scored[STEPWISE].append(stepwise)
            scored[WHOLE].append(whole)
            scored[FLOORED].append(floored(whole, words))
            scored[WORDS].append(words)
            print(f"{place} of {len(requests)}", file=sys.stderr)
    return scored


async def score(way: Way, request: Request, context: Context) -> Scored:
    """By the plan that passed the gate; without one everything is missed."""
    began = time.perf_counter()
    planned = await way(request.request, context)
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
    )


def floored(whole: Scored, words: Scored) -> Scored:
    """The words' plan where the model has none: as the product does it step by step."""
    if whole.attempts is not None:
        return whole
    return replace(words, usage=whole.usage, failures=whole.failures, seconds=whole.seconds + words.seconds)


async def step_by_step(task: str, context: Context) -> Planned:
    return await plan_for(Question(text=task, today=TODAY, strategy="compose"), context)


async def whole_graph(task: str, context: Context) -> Planned:
    """One call, and one more for each graph that the gate refuses or that is none."""
    reading, calls = read_task(task), context.calls.of("plan") if context.calls else None
    tools, places = offered_for(reading, context), len(reading.requirements) + 1
    planned, before = Planned(reading), {"previous": "nothing", "errors": "nothing is wrong"}
    if calls is None or not tools:
        return planned
    schema, known = schema_of(task, tools, places), {"task": " ".join(task.split()), "tools": _listed(tools)}
    for attempt in range(1, compose.ATTEMPTS + 1):
        prompt = load_prompt("graph", PROMPTS).fill(**known, **before, attempt=str(attempt))
        told = await calls.ask(prompt, Written, schema=schema, max_tokens=TOKENS_A_STEP * places)
        if isinstance(told, Failed):
            break
        if isinstance(told, UnusableReply):
            before["errors"] = told.problem[:LONGEST]
            continue
        plan = drawn(told.value, reading, tools, attempt)
        verdict = check(plan, reading, context.catalog, context.schemas)
        planned = replace(planned, plan=plan, verdict=verdict)
        if isinstance(verdict, Passed):
            break
        before = {"previous": _as_json(plan), "errors": "\n".join(_errors(verdict, plan))}
    return planned


def offered_for(reading: Reading, context: Context) -> tuple[Tool, ...]:
    """Those of every part; the best of each before the second best of any."""
    search = search_parts(context.retriever, context.catalog)
    found = [search(glossed(part.evidence.text), compose.OFFERED) for part in reading.requirements]
    ranked = dict.fromkeys(name for rank in zip_longest(*found) for name in rank if name)
    return tuple(context.catalog.tools[name] for name in [*ranked][:MOST_TOOLS])


def schema_of(task: str, tools: Sequence[Tool], places: int) -> Schema:
    """One property for each place, so that what a step may refer to is known there: any field, of places before it."""
    steps: Schema = {}
    for place in range(1, places + 1):
        earlier = [Made(Step(id=f"s{n}", tool=tool.name), tool) for n in range(1, place) for tool in tools]
        calls: list[Any] = [
            closed({"tool": {"enum": [tool.name]}, "params": closed(dict(_closed_params(tool, task, earlier)))})
            for tool in tools
        ]
        steps[f"s{place}"] = {"anyOf": [*calls, {"type": "null"}] if steps else calls}
    return closed({"steps": closed(steps)})


def _closed_params(tool: Tool, task: str, earlier: Sequence[Made]) -> Iterator[tuple[str, Schema]]:
    """As step by step, but for references: there they are cut to a few, which would leave only the last places."""
    said, wanted = set(stems(task)), properties_of(tool)
    for name, schema in _params(tool, PartRequest(task, (tool,), ())):
        branches: Any = schema["anyOf"]
        fields: list[Any] = [*dict.fromkeys(_fields(name, wanted[name], said, earlier))]
        yield name, {"anyOf": [*branches, closed({FROM: {"enum": fields}})] if fields else branches}


def _fields(name: str, wanted: Mapping[str, Any], said: set[str], earlier: Sequence[Made]) -> Iterator[str]:
    """What a param may take from earlier places: nothing where it has a list of its own."""
    for made in () if choices_of(wanted) else earlier:
        for given, told in made.fields.items():
            field = f"{made.step.id}.{given}"
            close = linked(name, True, given, made, said) > 0 or _pointed(given, said)
            if close and compatible(told, wanted) and read_reference({FROM: field}):
                yield field


def drawn(written: Written, reading: Reading, tools: Sequence[Tool], attempt: int) -> Plan:
    """The graph as a plan: values that the task does not say are left out, as they are step by step."""
    known, made = {tool.name: tool for tool in tools}, list[Made]()
    for place in range(1, len(written.steps) + 1):
        call = written.steps[f"s{place}"]
        if call is None:
            continue
        params = dict(_kept(call, known[call.tool], PartRequest(reading.question, (), tuple(made))))
        step = Step(
            id=f"s{place}",
            tool=call.tool,
            params=params,
            needs=tuple(dict.fromkeys(reference.step for _, reference in references(params))),
            satisfies=tuple(requirement.id for requirement in reading.requirements),
        )
        made.append(Made(step, known[call.tool]))
    steps = tuple(one.step for one in made)
    return Plan(strategy="compose", steps=steps, provenance=Provenance(attempts=attempt))


def _kept(call: Call, tool: Tool, asked: PartRequest) -> Iterator[tuple[str, Any]]:
    wanted = properties_of(tool)
    for name, value in call.params.items():
        told = thaw(value)
        if told not in (None, "", []) and is_said(told, asked.part):
            yield name, _as_reference(told, wanted[name], asked)


def _listed(tools: Sequence[Tool]) -> str:
    """`book_slot(day, slot, title?) books a slot -> number`, a line for each."""
    gives = [[*Made(Step(id="s1", tool=tool.name), tool).fields][:MOST_FIELDS] for tool in tools]
    return "\n".join(f"{_told(tool)} -> {', '.join(f) or 'nothing'}" for tool, f in zip(tools, gives, strict=True))


def _as_json(plan: Plan) -> str:
    """As it was checked: without the values that nobody said, or the errors would not fit it."""
    calls = {step.id: {"tool": step.tool, "params": thaw(step.params)} for step in plan.steps}
    return json.dumps({"steps": calls}, ensure_ascii=False, separators=(",", ":"))


def _errors(refused: Refused, plan: Plan) -> Iterator[str]:
    """`s2.params.amount: what is wrong; what to do`"""
    for issue in [issue for issue in refused.issues if issue.severity == "error"][:MOST_ISSUES]:
        path = re.sub(r"^steps\.(\d+)", lambda found: plan.steps[int(found[1])].id, issue.path or issue.step or "graph")
        yield f"{path}: {issue.problem}; {issue.hint}"[:LONGEST]


def lines(scored: Mapping[str, Sequence[Scored]]) -> Iterator[str]:
    """A line for each measure, a column for each way, 95 % intervals in brackets; last the whole graph's difference."""
    stepwise, whole = scored[STEPWISE], scored[WHOLE]
    yield f"requests: {len(whole)}, with edges: {sum(one.edges.wanted > 0 for one in whole)}"
    yield _row("", [*scored, "whole less step"])
    for one in MEASURES:
        yield _row(one.name, [*(_shown(one, ones) for ones in scored.values()), _shown(one, stepwise, whole)])
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
