"""A task to its workflow, the stages between reading and running: search, compose, check, and what goes back.

task ─ read ─ search for each part ─ compose ─ check ─ approve ─ run
                                        ▲         └ refused: with a model, the parts concerned are chosen anew
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from groundplan.asking.tasks.choose import Choose, by_words
from groundplan.asking.tasks.plan import ATTEMPTS, Composed, Uncomposed, compose, confidence_of
from groundplan.catalog.search.parts import search_parts
from groundplan.checking.gate import check
from groundplan.context import Planned, Trace, World, told, tools_of
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import CheckedPlan, Plan, Provenance
from groundplan.contracts.reading import Reading
from groundplan.contracts.verdict import Passed, Refused
from groundplan.state.plans import key_of


async def plan_task(reading: Reading, world: World, trace: Trace) -> Planned:
    """The workflow for a task. With a model what the gate finds goes back to it; the words are the floor."""
    kept = _remembered(reading, world, trace)
    if kept:
        return kept
    search, last = search_parts(world.retriever, world.catalog), Planned(reading)
    for choose in _choosers(reading, world, trace):
        problems: dict[str, str] = {}
        for attempt in range(1, ATTEMPTS + 1):
            composed = await compose(reading, world.catalog, search, choose, problems)
            if isinstance(composed, Uncomposed):
                trace.stage("compose", composed.problem)
                question = Clarification(text=f"{composed.problem}; {composed.hint}.", missing=composed.part)
                last = replace(last, ended=trace.ended(question))
                break
            plan = _with_story(composed, attempt, trace)
            trace.stage("compose", tools_of(plan))
            verdict = check(plan, reading, world.catalog, world.schemas)
            trace.stage("check", told(verdict))
            last = Planned(reading, plan=plan, verdict=verdict)
            if isinstance(verdict, Passed):
                world.keep(plan, reading)
                return last
            problems = _problems(verdict, plan)
            if choose is by_words or trace.calls is None:
                break  # the same words would say the same again
            trace.calls.escalate()
    return last


def _choosers(reading: Reading, world: World, trace: Trace) -> Iterator[Choose]:
    """A model first, where there is one."""
    if trace.calls is not None:
        from groundplan.asking.tasks.choose_with_model import ByModel

        yield ByModel(trace.calls, world.store.example(reading) if world.store else None)
    yield by_words


def _remembered(reading: Reading, world: World, trace: Trace) -> Planned | None:
    plan = world.store.find(key_of(reading, world.schema, world.catalog.version)) if world.store else None
    verdict = check(plan, reading, world.catalog, world.schemas) if plan else None
    if plan is None or not isinstance(verdict, Passed):
        return None
    trace.stage("remember", tools_of(plan))
    return Planned(reading, plan=plan, verdict=verdict)


def _with_story(composed: Composed, attempt: int, trace: Trace) -> Plan:
    """The plan with how it came to be."""
    spent = trace.usage
    attempts = max(attempt, composed.attempts)
    provenance = Provenance(
        model=spent.models[-1] if spent.models else None,
        attempts=attempts,
        tokens=spent.prompt_tokens + spent.completion_tokens,
        duration_ms=round(sum(entry.ms for entry in trace.entries), 1),
        reasoning=composed.plan.reasons,
        log=composed.log,
    )
    confidence = confidence_of(composed.sure, attempts)
    return composed.plan.model_copy(update={"provenance": provenance, "confidence": confidence})


def _problems(refused: Refused, plan: Plan) -> dict[str, str]:
    """What the gate found, by the part of the task that it concerns."""
    cited = {step.id: step.satisfies for step in plan.steps}
    found: dict[str, str] = {}
    for issue in refused.issues:
        for id_ in (issue.requirement,) if issue.requirement else cited.get(issue.step or "", ()):
            found.setdefault(id_, f"{issue.path or ''} {issue.problem}".strip())
    return found


def unapproved(plan: CheckedPlan, reading: Reading) -> Refusal:
    """The plan is right, and nobody has said yes to what it changes."""
    issues = tuple(
        Issue(
            code="access/unapproved",
            step=step.id,
            problem=f"step {step.id!r} calls {step.tool!r}, which changes something",
            hint="look at the plan, then approve it: --approve",
        )
        for step in plan.steps
        if step.id in plan.writes
    )
    text = f"Nothing was done: {len(issues)} of {len(plan.steps)} steps change something, and nobody has approved them."
    proposed = Plan.model_validate({name: getattr(plan, name) for name in Plan.model_fields})
    return Refusal(text=text, issues=issues, reading=reading, plan=proposed)
