"""The stages, in order: read, narrow, plan, check, run, answer. Read this first; each stage is a package of its own.

question ─ read ─ narrow ─ plan ─ check ─ run ─ answer
             └ unclear or not in the data: a question back, or a refusal that says what is missing
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from groundplan.answering.answer import answer, refuse
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal, ShownTable, TraceEntry
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import CheckedPlan, Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.shortlist import Shortlist
from groundplan.contracts.verdict import Passed, Refused, Verdict
from groundplan.narrowing.narrow import Retriever, narrow
from groundplan.planning import rules
from groundplan.planning.template import load_templates
from groundplan.reading.lexical import read
from groundplan.reading.meaning import Meaning
from groundplan.sources.interface import Source


@dataclass(frozen=True)
class World:
    """What the stages work with."""

    catalog: Catalog
    sources: Mapping[str, Source]
    schemas: Mapping[str, SourceSchema]
    retriever: Retriever
    meaning: Meaning | None = None  # embeddings, where they are set up


@dataclass
class Trace:
    """How long each stage took, and the thought behind it."""

    on_stage: Callable[[str], None] = lambda _: None
    entries: list[TraceEntry] = field(default_factory=list)
    _since: float = field(default_factory=time.perf_counter)

    def stage(self, name: str, detail: str = "") -> None:
        now = time.perf_counter()
        self.entries.append(TraceEntry(stage=name, ms=round((now - self._since) * 1000, 1), detail=detail))
        self._since = now
        self.on_stage(name)


@dataclass(frozen=True)
class Planned:
    """A question with its checked plan, or how it ended before one."""

    reading: Reading | None = None
    shortlist: Shortlist | None = None
    plan: Plan | None = None
    verdict: Verdict | None = None
    ended: Refusal | Clarification | None = None

    @property
    def why(self) -> str:
        return self.ended.text if self.ended else ""


async def plan_for(question: str, world: World, trace: Trace, *, today: date, timezone: str) -> Planned:
    """A question to a checked plan; nothing runs but the look-up of values that the question names."""
    source, schema = next(iter(world.sources.values())), next(iter(world.schemas.values()))
    values = await source.values(question)
    reading = read(question, schema, values, today=today, timezone=timezone, meaning=world.meaning)
    if not isinstance(reading, Reading):
        trace.stage("read", reading.kind)
        return Planned(ended=reading.model_copy(update={"trace": tuple(trace.entries)}))
    trace.stage("read", ", ".join(r.id for r in reading.requirements))
    template = load_templates()[reading.intents[0].name]
    shortlist = narrow(reading, world.catalog, world.retriever, rules.tools_of(template, reading))
    trace.stage("narrow", ", ".join(shortlist.names))
    plan = rules.propose(reading, schema)
    trace.stage("plan", ", ".join(step.tool or step.kind for step in plan.steps))
    verdict = check(plan, reading, world.catalog, world.schemas)
    trace.stage("check", "refused" if isinstance(verdict, Refused) else "passed")
    if isinstance(verdict, Refused):
        return Planned(reading, shortlist, plan, verdict, refuse(plan, verdict.issues, trace.entries))
    return Planned(reading, shortlist, plan, verdict)


async def ask(question: str, world: World, trace: Trace, *, today: date, timezone: str, **running: Any) -> Outcome:
    """A question to an answer that traces to facts, or to what is missing."""
    planned = await plan_for(question, world, trace, today=today, timezone=timezone)
    if planned.ended:
        return planned.ended
    assert isinstance(planned.verdict, Passed)
    assert planned.reading is not None
    return await _run(planned.verdict.plan, planned.reading, world, trace, **running)


async def carry_out(plan: Plan, reading: Reading, world: World, trace: Trace, **running: Any) -> Answer | Refusal:
    """A plan from elsewhere to an answer: it goes through the same gate."""
    verdict = check(plan, reading, world.catalog, world.schemas)
    trace.stage("check", "refused" if isinstance(verdict, Refused) else "passed")
    if isinstance(verdict, Refused):
        return refuse(plan, verdict.issues, trace.entries)
    return await _run(verdict.plan, reading, world, trace, **running)


async def _run(
    plan: CheckedPlan, reading: Reading, world: World, trace: Trace, *, approve: bool = False, **running: Any
) -> Answer | Refusal:
    """Nothing runs that the gate has not passed, and only facts are answered from."""
    from groundplan.running.run import run  # LangGraph is heavy: only when something runs

    facts = await run(plan, world.sources, approved=plan.writes if approve else (), **running)
    trace.stage("run", ", ".join(step.id for step in plan.steps))
    shown = await _fetch_shown(facts, world.sources, plan)
    trace.stage("fetch", ", ".join(shown))
    written = answer(plan, facts, shown, (), language=reading.language)
    trace.stage("answer", "written from the facts, verified against them")
    return written.model_copy(update={"reading": reading, "trace": tuple(trace.entries)})


async def _fetch_shown(facts: Facts, sources: Mapping[str, Source], plan: CheckedPlan) -> dict[str, ShownTable]:
    """The rows of every table and chart that a person gets to see, by step."""
    refs = facts.tables | {step: chart.table for step, chart in facts.charts.items()}
    limits = plan.limits
    return {step: await sources[ref.source].fetch(ref, limits.rows, limits.step_seconds) for step, ref in refs.items()}
