"""The stages, in order: read, narrow, plan, check, run, answer. Read this first; each stage is a package of its own.

question ─ read ─ narrow ─ plan ─ check ─ run ─ answer
             │               ▲      └ refused: with a model, what is missing goes back, three times at most
             └ unclear or not in the data: a question back, or a refusal that says what is missing

Words and rules come first. A model is asked where they leave something open, and what it says goes the same way:
the same doubts, the same gate, the same verification. Without an answer from it the words and the rules stand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from groundplan.answering.answer import answer, refuse
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal, ShownTable, TraceEntry, Usage
from groundplan.contracts.facts import Facts
from groundplan.contracts.issue import Issue
from groundplan.contracts.knowledge import Conversation
from groundplan.contracts.plan import CheckedPlan, Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.shortlist import Shortlist
from groundplan.contracts.verdict import Passed, Refused, Verdict
from groundplan.narrowing.narrow import Retriever, narrow
from groundplan.planning import lookup, rules
from groundplan.planning.store import PlanStore, key_of
from groundplan.reading.entities import Registry
from groundplan.reading.followup import goes_on
from groundplan.reading.lexical import read
from groundplan.reading.lookup import read_lookup
from groundplan.reading.meaning import Meaning
from groundplan.sources.interface import Source

if TYPE_CHECKING:
    from groundplan.llm.calls import Calls  # a model's client is heavy: only where a model is asked
    from groundplan.llm.cascade import Cascade

Asking = Literal["rules", "adapt"]
Ended = TypeVar("Ended", bound=Answer | Refusal | Clarification)
ATTEMPTS = 3  # of a model at one plan
MODEL_SECONDS = 120.0  # for all that models are asked for one question


@dataclass(frozen=True)
class Asked:
    """A question, and the clock and the way it is asked with."""

    question: str
    today: date
    timezone: str = "UTC"
    strategy: Asking | None = None  # None: words and rules first, a model where they leave something open
    context: Conversation | None = None  # the turn before, for a clear follow-up


@dataclass(frozen=True)
class World:
    """What the stages work with."""

    catalog: Catalog
    sources: Mapping[str, Source]
    schemas: Mapping[str, SourceSchema]
    retriever: Retriever
    meaning: Meaning | None = None  # embeddings, where they are set up
    models: Cascade | None = None
    store: PlanStore | None = None  # checked plans that a model made
    registry: Registry | None = None  # the names of a knowledge base

    @property
    def schema(self) -> SourceSchema:
        return next(iter(self.schemas.values()))

    def calls(self) -> Calls | None:
        """What one question may ask of models; None without one."""
        if self.models is None:
            return None
        from groundplan.llm.calls import Calls

        return Calls(self.models, MODEL_SECONDS)


@dataclass
class Trace:
    """How long each stage took, what it asked of models, and the thought behind it."""

    on_stage: Callable[[str], None] = lambda _: None
    entries: list[TraceEntry] = field(default_factory=list)
    calls: Calls | None = None
    notes: list[str] = field(default_factory=list)
    _since: float = field(default_factory=time.perf_counter)

    def stage(self, name: str, detail: str = "") -> None:
        now, tokens = time.perf_counter(), self.usage.prompt_tokens + self.usage.completion_tokens
        spent = tokens - sum(entry.tokens for entry in self.entries)
        ms = round((now - self._since) * 1000, 1)
        self.entries.append(TraceEntry(stage=name, ms=ms, tokens=spent, detail=detail))
        self._since = now
        self.on_stage(name)

    @property
    def usage(self) -> Usage:
        return self.calls.usage if self.calls else Usage()

    def ended(self, outcome: Ended) -> Ended:
        """The outcome with what led to it."""
        led = {"trace": tuple(self.entries), "usage": self.usage, "notes": tuple(dict.fromkeys(self.notes))}
        return cast(Ended, outcome.model_copy(update=led))


@dataclass(frozen=True)
class Planned:
    """A question with its checked plan, or how it ended before one."""

    reading: Reading | None = None
    shortlist: Shortlist | None = None
    plan: Plan | None = None
    verdict: Verdict | None = None
    ended: Refusal | Clarification | None = None
    notes: tuple[str, ...] = ()  # what a model said that was not taken, or why it said nothing
    usage: Usage = field(default_factory=Usage)
    trace: tuple[TraceEntry, ...] = ()

    @property
    def why(self) -> str:
        return self.ended.text if self.ended else ""


async def plan_for(asked: Asked, world: World, trace: Trace) -> Planned:
    """A question to a checked plan; nothing runs but the look-up of values that the question names."""
    trace.calls = world.calls()
    reading = await _read(asked, world, trace)
    if not isinstance(reading, Reading):
        trace.stage("read", reading.kind)
        return _with_trace(Planned(ended=trace.ended(reading)), trace)
    trace.stage("read", ", ".join(r.id for r in reading.requirements))
    planned = await _plan(reading, world, trace)
    if isinstance(planned.verdict, Refused):
        planned = replace(planned, ended=trace.ended(refuse(planned.plan, planned.verdict.issues, ())))
    return _with_trace(planned, trace)


def _with_trace(planned: Planned, trace: Trace) -> Planned:
    return replace(planned, usage=trace.usage, trace=tuple(trace.entries), notes=tuple(trace.notes))


async def _read(asked: Asked, world: World, trace: Trace) -> Reading | Clarification | Refusal:
    """By words; with a model where they leave something open."""
    clock: dict[str, Any] = {"today": asked.today, "timezone": asked.timezone}
    always, calls = asked.strategy == "adapt", trace.calls
    if world.schema.knowledge and world.registry:
        known: tuple[Any, ...] = (asked.question, world.schema.knowledge, world.registry)
        clock |= {"context": asked.context}
        if calls is None:
            return read_lookup(*known, **clock)
        from groundplan.reading.lookup_modelled import read_lookup_with

        found, notes = await read_lookup_with(calls, *known, always=always, **clock)
    else:
        if asked.context and goes_on(asked.question):
            text = "A follow-up about tables is not understood yet. Please ask the whole question."
            return Clarification(text=text, missing="the whole question")
        values = await next(iter(world.sources.values())).values(asked.question)
        known = (asked.question, world.schema, values)
        clock |= {"meaning": world.meaning}
        if calls is None:
            return read(*known, **clock)
        from groundplan.reading.modelled import read_with

        found, notes = await read_with(calls, *known, always=always, **clock)
    trace.notes += notes
    return found


async def _plan(reading: Reading, world: World, trace: Trace) -> Planned:
    """The template filled by rules; adapted by a model where the gate refuses that."""
    knowledge = world.schema.knowledge
    always = lookup.TOOLS if knowledge else rules.tools_of(reading)
    shortlist = narrow(reading, world.catalog, world.retriever, always)
    trace.stage("narrow", ", ".join(shortlist.names))
    plan = lookup.propose(reading, knowledge) if knowledge else rules.propose(reading, world.schema)
    trace.stage("plan", _tools(plan))
    verdict = check(plan, reading, world.catalog, world.schemas)
    trace.stage("check", _told(verdict))
    by_rules = Planned(reading, shortlist, plan, verdict)
    if trace.calls is None or knowledge or isinstance(verdict, Passed):
        return by_rules
    return _remembered(by_rules, world, trace) or await _adapted(by_rules, world, trace)


def _remembered(by_rules: Planned, world: World, trace: Trace) -> Planned | None:
    """The plan that a model made for the same requirements; the gate looks at it again."""
    reading = by_rules.reading
    assert reading is not None
    plan = world.store.find(key_of(reading, world.schema, world.catalog)) if world.store else None
    if plan is None:
        return None
    verdict = check(plan, reading, world.catalog, world.schemas)
    trace.stage("remember", _tools(plan))
    return replace(by_rules, plan=plan, verdict=verdict) if isinstance(verdict, Passed) else None


async def _adapted(by_rules: Planned, world: World, trace: Trace) -> Planned:
    """The gate's issues go back to the model, the net is cast wider, the next model takes over; rules are the floor."""
    from groundplan.planning.adapt import Unadapted, propose

    calls, reading = trace.calls, by_rules.reading
    assert calls is not None
    assert reading is not None
    example = world.store.example(reading) if world.store else None
    now = _wider(by_rules, world)
    for attempt in range(1, ATTEMPTS + 1):
        assert now.plan is not None
        assert now.shortlist is not None
        refused = now.verdict if isinstance(now.verdict, Refused) else None
        adapted = await propose(
            now.plan,
            reading,
            now.shortlist,
            world.catalog,
            world.schema,
            calls,
            attempt=attempt,
            refused=refused,
            example=example,
        )
        if isinstance(adapted, Unadapted):
            trace.notes.append(adapted.problem)
            trace.stage("adapt", adapted.problem)
            if not calls.escalate() and calls.failures:
                break
            continue
        trace.stage("adapt", _tools(adapted))
        verdict = check(adapted, reading, world.catalog, world.schemas)
        trace.stage("check", _told(verdict))
        if isinstance(verdict, Passed):
            _keep(adapted, reading, world)
            return replace(now, plan=adapted, verdict=verdict)
        trace.notes.append(f"attempt {attempt}: {'; '.join(issue.problem for issue in verdict.issues[:3])}")
        now = _wider(replace(now, plan=adapted, verdict=verdict), world)
        calls.escalate()
    return by_rules


def _wider(planned: Planned, world: World) -> Planned:
    """With a shortlist in which the tools for what is missing come first."""
    if not isinstance(planned.verdict, Refused) or not planned.verdict.missing:
        return planned
    assert planned.reading is not None
    assert planned.plan is not None
    named = (step.tool for step in planned.plan.steps)
    used = tuple(dict.fromkeys(tool for tool in named if tool and tool in world.catalog.tools))
    shortlist = narrow(planned.reading, world.catalog, world.retriever, used, planned.verdict.missing)
    return replace(planned, shortlist=shortlist)


def _keep(plan: Plan, reading: Reading, world: World) -> None:
    if world.store:
        world.store.keep(key_of(reading, world.schema, world.catalog), reading.question, reading, plan)


def _tools(plan: Plan) -> str:
    return ", ".join(step.tool or step.kind for step in plan.steps)


def _told(verdict: Verdict) -> str:
    return "refused" if isinstance(verdict, Refused) else "passed"


async def ask(asked: Asked, world: World, trace: Trace, **running: Any) -> Outcome:
    """A question to an answer that traces to facts, or to what is missing."""
    planned = await plan_for(asked, world, trace)
    if planned.ended:
        return planned.ended
    assert isinstance(planned.verdict, Passed)
    assert planned.reading is not None
    outcome = await _run(planned.verdict.plan, planned.reading, world, trace, **running)
    if isinstance(outcome, Answer) or trace.calls is None or world.schema.knowledge:
        return outcome
    again = await _adapted(replace(planned, verdict=Refused(issues=outcome.issues)), world, trace)
    if not isinstance(again.verdict, Passed):
        return trace.ended(outcome)
    return await _run(again.verdict.plan, planned.reading, world, trace, **running)


async def carry_out(plan: Plan, reading: Reading, world: World, trace: Trace, **running: Any) -> Answer | Refusal:
    """A plan from elsewhere to an answer: it goes through the same gate."""
    verdict = check(plan, reading, world.catalog, world.schemas)
    trace.stage("check", _told(verdict))
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
    if plan.strategy == "lookup" and not facts.found and not facts.failures:
        return trace.ended(_unknown(world.schema))
    shown = await _fetch_shown(facts, world.sources, plan)
    trace.stage("fetch", ", ".join(shown))
    written = await _written(plan, facts, shown, reading, trace)
    trace.notes += [failure.problem for failure in trace.calls.failures] if trace.calls else []
    trace.stage("answer", "written from the facts, verified against them")
    return trace.ended(written.model_copy(update={"reading": reading}))


def _unknown(schema: SourceSchema) -> Refusal:
    """Neither a relation nor a document says it."""
    kinds = ", ".join(kind.name for kind in schema.knowledge.types) if schema.knowledge else ""
    problem, hint = "neither the graph nor the documents say anything about this", f"it knows of: {kinds}"
    issue = Issue(code="lookup/nothing", problem=problem, hint=hint)
    return Refusal(text=f"{problem[0].upper()}{problem[1:]}; {hint}.", issues=(issue,))


async def _written(
    plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable], reading: Reading, trace: Trace
) -> Answer | Refusal:
    if trace.calls is None:
        return answer(plan, facts, shown, (), language=reading.language)
    from groundplan.answering.choosing import answer_with

    return await answer_with(plan, facts, shown, (), reading.question, trace.calls, language=reading.language)


async def _fetch_shown(facts: Facts, sources: Mapping[str, Source], plan: CheckedPlan) -> dict[str, ShownTable]:
    """The rows of every table and chart that a person gets to see, by step."""
    refs = facts.tables | {step: chart.table for step, chart in facts.charts.items()}
    limits = plan.limits
    return {step: await sources[ref.source].fetch(ref, limits.rows, limits.step_seconds) for step, ref in refs.items()}
