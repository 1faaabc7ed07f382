"""The suite `workflow`: tasks with known workflows, scored by tools, data flow and arguments. Nothing is run.

The plan that passed the gate is scored as it was proposed; a task without a plan misses everything. If the folder of
the suite `tools` is next to this one, a further measure tells whether the right tools are found among its tools too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import date
from functools import reduce
from operator import add
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from benchmarks.suites.cost import took, usage_of
from benchmarks.suites.workflow_files import (
    ListedTool,
    Request,
    catalog_of,
    homes_of,
    load_distractors,
    load_requests,
    load_tools,
)
from benchmarks.suites.workflow_graphs import Overlap, chain, has_arguments, proposed_graph, wanted_graph
from pydantic import JsonValue

from groundplan.asking.tasks.plan import OFFERED
from groundplan.asking.tasks.read import parts_of
from groundplan.asking.tasks.task_words import glossed
from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.documents import documents
from groundplan.catalog.search.index import build_index, open_index
from groundplan.catalog.search.parts import search_parts
from groundplan.catalog.search.queries import COMBINED, Queries, Query
from groundplan.catalog.search.search import Search
from groundplan.catalog.search.vectors import Embedder, SentenceEmbedder
from groundplan.context import Context
from groundplan.contracts.plan import Plan
from groundplan.contracts.question import Question
from groundplan.contracts.roles import Role, Roles
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool
from groundplan.contracts.verdict import Passed
from groundplan.evaluation.report import Miss, Report
from groundplan.evaluation.suites.sampling import spread
from groundplan.result import Planned, plan_for
from groundplan.running.model.tools import TOOLS as MODEL_TOOLS
from groundplan.settings import Endpoint, cache_folder

if TYPE_CHECKING:
    from groundplan.llm.cascade import Cascade

BASELINE = 3  # tools that the baseline uses
TRIES = {"first": 1, "second": 2, "third": 3}
MODEL_SECONDS = 120.0  # for all calls of one request
TODAY = date(2026, 1, 1)  # fixed, so that runs are reproducible

SearchTools = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True)
class Bench:
    """The contexts for planning requests, and the tool searches."""

    contexts: Mapping[str, Context]  # one per catalog, by the name of any tool in it
    cascade: Cascade | None
    parts: SearchTools
    merged: SearchTools | None  # includes the distractors
    own: Mapping[str, Search]  # word search in a tool's own catalog, by the tool's name

    def context_for(self, request: Request, seconds: float = MODEL_SECONDS) -> Context:
        context = replace(self.contexts[request.nodes[0].name], calls=None, notes=[], trail=[])
        if self.cascade is None:
            return context
        from groundplan.llm.calls import CallsByRole

        return replace(context, calls=CallsByRole(self.cascade, Roles(seconds=seconds, plan=Role(seconds=seconds))))


@dataclass(frozen=True)
class Scored:
    """One request: its plan, which parts are correct, and the baseline's result."""

    request: Request
    planned: Planned
    seconds: float
    tools: Overlap
    edges: Overlap
    arguments: tuple[bool, ...]  # for each node of the gold
    baseline: tuple[Overlap, Overlap]  # tools and edges
    offered: bool
    offered_merged: bool | None  # None if there are no distractors

    @property
    def passed(self) -> bool:
        return isinstance(self.planned.verdict, Passed)

    @property
    def graph(self) -> bool:
        return self.tools.exact and self.edges.exact

    def passed_within(self, attempts: int) -> bool:
        plan = self.planned.plan
        return self.passed and plan is not None and plan.provenance.attempts <= attempts


async def evaluate(
    folder: Path,
    sample: int | None,
    semantic: bool,
    on_progress: Callable[[int, int], None],
    models: Sequence[Endpoint] = (),
    embeddings: str | None = None,
) -> Report:
    """Score every request whose tools are all listed, or an evenly spread `sample`."""
    requests, listed, distractors = spread(load_requests(folder), sample), load_tools(folder), load_distractors(folder)
    catalog, merged = catalog_of(listed), catalog_of([*listed, *distractors]) if distractors else None
    async with AsyncExitStack() as opened:
        cascade = await _opened(opened, models) if models else None
        embedder = SentenceEmbedder(embeddings) if semantic else None
        bench = _bench(listed, catalog, merged, embedder, cascade)
        began, scored = time.perf_counter(), list[Scored]()
        for place, request in enumerate(requests):
            scored.append(await _score(request, bench))
            on_progress(place + 1, len(requests))
    counted = {"tools": len(catalog.tools)} | ({"tools_merged": len(merged.tools)} if merged else {})
    return Report(
        suite="workflow",
        n=len(requests),
        scores={name: round(score, 4) for name, score in _scores(scored)},
        misses=tuple(_miss(one, why) for one in scored if (why := _fault(one))),
        usage=usage_of([one.planned for one in scored]),
        seconds=round(time.perf_counter() - began, 2),
        extra=_took(scored, with_a_model=bool(models)) | counted,
    )


async def _opened(stack: AsyncExitStack, models: Sequence[Endpoint]) -> Cascade:
    from groundplan.llm.cascade import Cascade
    from groundplan.llm.client import Model

    return Cascade(tuple([await stack.enter_async_context(Model.open(endpoint)) for endpoint in models]))


def _bench(
    listed: Sequence[ListedTool],
    catalog: Catalog,
    merged: Catalog | None,
    embedder: Embedder | None,
    cascade: Cascade | None,
) -> Bench:
    schema = SourceSchema(source="listed", engine="none", tables=())
    retriever = Search(open_index(catalog, cache_folder(), embedder), embedder)
    wider = Search(open_index(merged, cache_folder(), embedder), embedder) if merged else None
    homes = homes_of(listed)
    contexts = {
        home: _context(
            [tool for name, tool in catalog.tools.items() if homes[name] == home], schema, embedder, cascade is not None
        )
        for home in set(homes.values())
    }
    return Bench(
        contexts={name: contexts[home] for name, home in homes.items()},
        cascade=cascade,
        parts=search_parts(retriever, catalog),
        merged=search_parts(wider, merged) if wider and merged else None,
        own=_own(homes, catalog),
    )


def _context(tools: Sequence[Tool], schema: SourceSchema, embedder: Embedder | None, with_model: bool) -> Context:
    found = Catalog.of(tools)
    retriever = Search(open_index(found, cache_folder(), embedder), embedder)
    known = Catalog.of([*tools, *MODEL_TOOLS]) if with_model else found
    return Context(known, {schema.source: schema}, retriever)


def _own(homes: Mapping[str, str], catalog: Catalog) -> dict[str, Search]:
    known = documents(catalog)
    searches = {
        home: Search(build_index([document for document in known if homes[document.id] == home]))
        for home in set(homes.values())
    }
    return {name: searches[home] for name, home in homes.items()}


async def _score(request: Request, bench: Bench) -> Scored:
    began = time.perf_counter()
    context = bench.context_for(request)
    planned = await plan_for(Question(text=request.request, today=TODAY, strategy="compose"), context)
    seconds = time.perf_counter() - began
    steps = planned.plan.steps if planned.plan and isinstance(planned.verdict, Passed) else ()
    wanted, needed = wanted_graph(request), {node.name for node in request.nodes}
    tools, edges = proposed_graph(steps).overlap(wanted)
    return Scored(
        request=request,
        planned=planned,
        seconds=seconds,
        tools=tools,
        edges=edges,
        arguments=tuple(has_arguments(node, steps) for node in request.nodes),
        baseline=chain(_first_by_words(request, bench.own)).overlap(wanted),
        offered=needed <= _offered(request, bench.parts),
        offered_merged=needed <= _offered(request, bench.merged) if bench.merged else None,
    )


def _first_by_words(request: Request, own: Mapping[str, Search]) -> list[str]:
    """The first tools found by word search in the request's own catalog."""
    hits = own[request.nodes[0].name].search(Queries(Query(COMBINED, request.request)), BASELINE)
    return [hit.tool for hit in hits]


def _offered(request: Request, search: SearchTools) -> set[str]:
    """The tools from which the planner chooses for the parts of the task."""
    return {name for part in parts_of(request.request) for name in search(glossed(part.text), OFFERED)}


def _scores(scored: Sequence[Scored]) -> Iterator[tuple[str, float]]:
    """The scores of all requests, then the graph scores by part."""
    yield "composed", _share(one.planned.plan is not None for one in scored)
    yield "valid", _share(one.passed for one in scored if one.planned.plan)
    for name, attempts in TRIES.items():
        yield name, _share(one.passed_within(attempts) for one in scored)
    yield "shortlist", _share(one.offered for one in scored)
    merged = [one.offered_merged for one in scored if one.offered_merged is not None]
    if merged:
        yield "shortlist_merged", _share(merged)
    yield "all", _share(one.graph and all(one.arguments) for one in scored)
    yield from _graphs(scored, "")
    for part in sorted({one.request.part for one in scored}):
        yield from _graphs([one for one in scored if one.request.part == part], f"{part}_")


def _graphs(scored: Sequence[Scored], prefix: str) -> Iterator[tuple[str, float]]:
    """F1 is pooled over requests, and `_mean` averages it per request; edges count only for requests with edges."""
    linked = [one for one in scored if one.edges.wanted]
    yield f"{prefix}node_f1", _pooled(one.tools for one in scored)
    yield f"{prefix}node_f1_mean", fmean(one.tools.f1 for one in scored)
    yield f"{prefix}baseline_node_f1", _pooled(one.baseline[0] for one in scored)
    if linked:
        yield f"{prefix}edge_f1", _pooled(one.edges for one in linked)
        yield f"{prefix}edge_f1_mean", fmean(one.edges.f1 for one in linked)
        yield f"{prefix}baseline_edge_f1", _pooled(one.baseline[1] for one in linked)
    yield f"{prefix}edge_f1_all", _pooled(one.edges for one in scored)
    yield f"{prefix}graph", _share(one.graph for one in scored)
    yield f"{prefix}arguments", _share(right for one in scored for right in one.arguments)
    drawn = [one for one in scored if one.graph]
    if drawn:
        yield f"{prefix}graph_arguments", _share(right for one in drawn for right in one.arguments)


def _pooled(overlaps: Iterable[Overlap]) -> float:
    return reduce(add, overlaps, Overlap(0, 0, 0)).f1


def _share(found: Iterable[bool]) -> float:
    """The share of true values; 0 if empty."""
    counted = [*map(float, found)]
    return fmean(counted) if counted else 0.0


def _took(scored: Sequence[Scored], with_a_model: bool) -> dict[str, float]:
    plans = [one.planned for one in scored]
    measures = took(plans, [one.seconds for one in scored], with_a_model)
    if with_a_model:
        measures["calls_per_question"] = round(usage_of(plans).calls / len(plans), 4)
    return measures


def _fault(scored: Scored) -> str | None:
    """The first fault, or None."""
    if not scored.passed:
        return f"no plan: {scored.planned.why}"
    if not scored.tools.exact:
        return "tools"
    if not scored.edges.exact:
        return "edges"
    return None if all(scored.arguments) else "arguments"


def _miss(scored: Scored, why: str) -> Miss:
    request = scored.request
    wanted: list[JsonValue] = [node.model_dump(mode="json") for node in request.nodes]
    return Miss(id=request.id, question=request.request, expected=wanted, got=_steps(scored.planned.plan), why=why)


def _steps(plan: Plan | None) -> list[JsonValue]:
    """The steps in the format of the gold data."""
    told = [step.model_dump(mode="json") for step in plan.steps] if plan else []
    return [{"id": step["id"], "tool": step["tool"], "arguments": step["params"]} for step in told]
