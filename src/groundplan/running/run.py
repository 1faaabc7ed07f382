"""Runs a checked plan on LangGraph.

All steps start as tasks in plan order, and each waits for the steps it needs. So no step waits for an unrelated one,
and on resume LangGraph matches finished steps by their position in the plan (docs/decisions/0007).
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.config import get_stream_writer
from langgraph.func import entrypoint, task
from langgraph.pregel import Pregel

from groundplan.contracts.approval import EffectCall
from groundplan.contracts.contract import Language
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import CheckedPlan, Step
from groundplan.contracts.progress import Progress
from groundplan.contracts.step_outcome import SKIPPED, StepOutcome, failed
from groundplan.errors import StateInvalid, UsageError
from groundplan.running.each import items_of, keeps_for, together
from groundplan.running.facts import collect
from groundplan.running.readiness import fallback_is_due, hindrance
from groundplan.running.references import referred
from groundplan.running.routing import route
from groundplan.running.step import Handles, execute_once
from groundplan.sources.interface import Call, Source
from groundplan.state.effects import Effects
from groundplan.telemetry.audit import Execution
from groundplan.telemetry.observing import counted, observed
from groundplan.telemetry.untraced import untraced

if TYPE_CHECKING:
    from asyncio import Future

State = dict[str, Any]
OnProgress = Callable[[Progress], None]


async def run(
    plan: CheckedPlan,
    sources: Mapping[str, Source],
    *,
    run_id: str | None = None,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    resume: bool = False,
    approved: Collection[str] = (),
    values: Collection[EffectCall] | None = None,
    output: Path | None = None,
    on_progress: OnProgress = lambda _: None,
    effects: Effects | None = None,
    trail: list[Execution] | None = None,
    language: Language = "en",
    known: Mapping[str, StepOutcome] = MappingProxyType({}),
    each_step: bool = False,
) -> Facts:
    """Run a checked plan within its time limit and return its facts. Failures of steps are part of the facts.

    Inside another graph, the steps are checkpointed and resumed with that graph. Otherwise pass a `checkpointer`;
    `resume` then continues where an earlier process stopped, without repeating finished steps. With `effects`, a step
    with an effect is called only once per run, even if processes are killed. `values` are the calls that a person saw
    and approved: no step with an effect is called with others. `trail` collects audit records. `known` has the outcomes
    of steps that ran before the effects were approved. `each_step` reports how each step ended.
    """
    unapproved = [step for step in plan.writes if step not in approved]
    if unapproved:
        raise UsageError(f"step {unapproved[0]!r} changes something and is not approved; approve it first")
    this = _Run(plan, sources, run_id or uuid.uuid4().hex, output, effects, language, known, values)
    graph = _graph(this, checkpointer)
    config: RunnableConfig | None = {"configurable": {"thread_id": this.id}} if checkpointer else None
    start = None if resume else {"plan": plan.fingerprint}
    if resume and config and (done := await _finished_before(graph, config)) is not None:
        return collect.execute([] if trail is None else trail, this.id, plan, _outcomes(done), each_step)
    outcomes = await _walked(graph, start, config, on_progress, durable=checkpointer is not None)
    return collect.execute([] if trail is None else trail, this.id, plan, outcomes, each_step)


async def run_some(
    plan: CheckedPlan,
    sources: Mapping[str, Source],
    steps: Collection[str],
    *,
    run_id: str,
    values: Collection[EffectCall],
    known: Mapping[str, StepOutcome],
    output: Path | None = None,
    on_progress: OnProgress = lambda _: None,
    effects: Effects | None = None,
    language: Language = "en",
) -> dict[str, StepOutcome]:
    """Run only these steps of a checked plan and return their outcomes; those with an effect with `values` only."""
    others = {step.id: SKIPPED for step in plan.steps if step.id not in steps}
    this = _Run(plan, sources, run_id, output, effects, language, {**others, **known}, values)
    outcomes = await _walked(_graph(this, None), {"plan": plan.fingerprint}, None, on_progress, durable=False)
    return {step: outcomes[step] for step in steps}


async def _walked(
    graph: Pregel[Any, Any, Any, Any],
    start: State | None,
    config: RunnableConfig | None,
    on_progress: OnProgress,
    *,
    durable: bool,
) -> dict[str, StepOutcome]:
    state: State = {}
    events = graph.astream(start, config, stream_mode=["custom", "values"], durability="sync" if durable else None)
    with untraced():
        async for mode, event in events:
            if mode == "custom":
                on_progress(Progress.model_validate(event))
            else:
                state = cast(State, event)
    return _outcomes(state)


async def _finished_before(graph: Pregel[Any, Any, Any, Any], config: RunnableConfig) -> State | None:
    snapshot = await graph.aget_state(config)
    if not snapshot.created_at:
        raise StateInvalid(f"there is no run {config['configurable']['thread_id']!r} to resume")
    return None if snapshot.next else snapshot.values


def _outcomes(state: State) -> dict[str, StepOutcome]:
    return {step: StepOutcome.model_validate(outcome) for step, outcome in state.items()}


@dataclass
class _Run:
    """The state that the steps of one run share."""

    plan: CheckedPlan
    sources: Mapping[str, Source]
    id: str
    output: Path | None
    effects: Effects | None
    language: Language
    known: Mapping[str, StepOutcome]
    values: Collection[EffectCall] | None
    began: float = field(default_factory=time.monotonic)
    handles: Handles = field(init=False)
    ended: dict[str, Future[StepOutcome]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.handles = Handles(self.plan, self.sources, self.id)

    @property
    def seconds_left(self) -> float:
        return self.plan.limits.seconds - (time.monotonic() - self.began)

    async def outcomes_of(self, steps: Collection[str]) -> dict[str, StepOutcome]:
        return {step: await asyncio.shield(self.ended[step]) for step in steps}


def _graph(this: _Run, checkpointer: BaseCheckpointSaver[Any] | None) -> Pregel[Any, Any, Any, Any]:
    steps = {step.id: step for step in this.plan.steps}

    @task
    async def take(step_id: str) -> State:
        return (await _take(this, steps[step_id])).model_dump(mode="json")

    @entrypoint(checkpointer=checkpointer)
    async def walk(start: State) -> State:
        if start["plan"] != this.plan.fingerprint:
            raise StateInvalid(f"run {this.id!r} belongs to another plan; resume it with its original plan")
        loop = asyncio.get_running_loop()
        this.ended = {step: loop.create_future() for step in steps}

        async def settle(step: str, result: Any) -> None:
            this.ended[step].set_result(StepOutcome.model_validate(await result))

        calls = [(step, take(step)) for step in steps]
        await asyncio.gather(*(settle(step, result) for step, result in calls))
        return {step: future.result().model_dump(mode="json") for step, future in this.ended.items()}

    return walk


async def _take(this: _Run, step: Step) -> StepOutcome:
    """Take one step from waiting to its outcome, and report its progress."""
    if step.id in this.known:
        return this.known[step.id]
    waited = await this.outcomes_of(step.needs)
    if this.plan.fallback and step.id in this.plan.fallback.steps:
        others = await this.outcomes_of([s.id for s in this.plan.steps if s.id not in this.plan.fallback.steps])
        if not fallback_is_due(this.plan, others):
            return _report(this, step, SKIPPED)
    hindered = hindrance(step, this.plan, waited)
    if hindered:
        return _report(this, step, hindered)
    if step.kind == "router":
        return _report(this, step, route(step, waited))
    began = time.monotonic()
    _emit(this, step, "started", detail=step.tool or "")
    outcome = await (_call_each if step.for_each else _call)(this, step, waited)
    return _report(this, step, outcome, ms=(time.monotonic() - began) * 1000)


async def _call_each(this: _Run, step: Step, waited: Mapping[str, StepOutcome]) -> StepOutcome:
    """Call the tool for one item after the other; a failure for one does not keep it from the others."""
    items = items_of(step, waited, this.plan.limits)
    if isinstance(items, StepOutcome):
        return items
    calls: list[StepOutcome] = []
    for place, item in enumerate(items):
        outcome = await _call(this, step, {**waited, step.for_each or "": item}, place)
        unnamed = outcome.facts is None and not outcome.given and item.facts is not None
        calls.append(outcome.with_given(item.facts.first) if unnamed and item.facts else outcome)
    return together(step, calls)


async def _call(this: _Run, step: Step, waited: Mapping[str, StepOutcome], item: int | None = None) -> StepOutcome:
    seconds = min(this.plan.limits.step_seconds, this.seconds_left)
    if seconds <= 0:
        return failed("deadline", step.id, f"the run's time limit of {this.plan.limits.seconds:g} s is over")
    tool = this.plan.tools[step.tool or ""]
    ports = {port.name for port in tool.inputs}
    params = referred(step, tool, waited)
    if isinstance(params, StepOutcome):
        return params
    call = Call(
        run=this.id,
        step=step.id,
        tool=tool,
        params={name: value for name, value in params.items() if name not in ports},
        inputs=this.handles.inputs(step, waited),
        limits=this.plan.limits,
        seconds=seconds,
        output=this.output,
        language=this.language,
        plan=this.plan.fingerprint,
        keep=keeps_for(step, this.plan),
        item=item,
    )

    if tool.effect == "write" and this.values is not None and _as_effect(call) not in this.values:
        problem = f"step {step.id!r} would call {tool.name!r} with values that nobody has approved"
        return failed("unapproved", step.id, problem, "nothing was done; run the plan again to see the values")

    def on_retry(detail: str) -> None:
        counted("step_retries", source=tool.source)
        _emit(this, step, "retrying", detail=detail)

    with observed("step", tool=tool.name, source=tool.source) as told:
        outcome, handle = await execute_once(this.sources[tool.source], call, seconds, on_retry, this.effects)
        told["status"] = outcome.status
    this.handles.keep(step.id, handle)
    return outcome.with_given(call.params) if tool.effect == "write" or item is not None else outcome


def _as_effect(call: Call) -> EffectCall:
    return EffectCall(step=call.step, tool=call.tool.name, params=call.params, item=call.item)


def _report(this: _Run, step: Step, outcome: StepOutcome, ms: float | None = None) -> StepOutcome:
    detail = outcome.issue.problem if outcome.issue else (outcome.to or "")
    _emit(this, step, outcome.status, ms, detail)
    return outcome


def _emit(this: _Run, step: Step, status: str, ms: float | None = None, detail: str = "") -> None:
    event = Progress.model_validate({"run": this.id, "step": step.id, "status": status, "ms": ms, "detail": detail})
    get_stream_writer()(event.model_dump(mode="json"))
