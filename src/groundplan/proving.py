"""What readers may ask of the later stages about a reading: can it be planned, and does another give the same rows?

Readers do not import planners, the gate or the runner; the pipeline hands them these functions with the context.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

from groundplan.asking.route import Declined, PlanRequest, planners_for
from groundplan.budget import aside
from groundplan.context import Context
from groundplan.contracts.answer import ShownTable
from groundplan.contracts.bounds import Bounds
from groundplan.contracts.facts import Facts
from groundplan.contracts.issue import Issue
from groundplan.contracts.matching_rows import Rows, tell_the_same
from groundplan.contracts.plan import CheckedPlan, Plan
from groundplan.contracts.question import Question
from groundplan.contracts.reading import OutputAsked, Reading
from groundplan.contracts.verdict import Passed, Verdict
from groundplan.running.run import run
from groundplan.running.step import with_tables
from groundplan.sources.interface import Source

TABLES = "tables"
FAILED = Issue(code="planning/failed", problem="this query was sent before, and failed", hint="write another one")
Check = Callable[[Plan, Reading, Bounds], Verdict]


def with_proofs(
    context: Context,
    sources: Mapping[str, Source],
    question: Question,
    verdict_on: Check,
    failed: Collection[str] = (),
) -> Context:
    """The context with functions that plan, check and compare readings for this question.

    `failed` are the fingerprints of plans that have run and failed: a reading that leads to one is no other reading.
    """

    async def find_issues(reading: Reading) -> tuple[Issue, ...]:
        proven = await _proven(context, question, reading, verdict_on)
        if not isinstance(proven, CheckedPlan):
            return proven
        return (FAILED,) if proven.fingerprint in failed else ()

    async def same_rows(one: Reading, other: Reading) -> bool:
        if len(one.asks) != len(other.asks):
            return False
        for pair in zip(one.asks, other.asks, strict=True):
            first = await _rows(context, sources, question, pair[0], verdict_on)
            second = await _rows(context, sources, question, pair[1], verdict_on) if first is not None else None
            if first is None or second is None or not tell_the_same(first, second):
                return False
        return True

    async def check_plan(plan: Plan, reading: Reading) -> tuple[Issue, ...]:
        verdict = await aside(partial(verdict_on, plan, reading, question.bounds))
        return () if isinstance(verdict, Passed) else tuple(i for i in verdict.issues if i.severity == "error")

    return replace(context, find_issues=find_issues, check_plan=check_plan, same_rows=same_rows)


async def fetch_shown(facts: Facts, sources: Mapping[str, Source], plan: CheckedPlan) -> dict[str, ShownTable]:
    """The rows of every table and chart of a run, by step."""
    refs = facts.tables | {step: chart.table for step, chart in facts.charts.items()}
    rows, seconds = plan.limits.rows, plan.limits.step_seconds
    shown = {
        step: await with_tables(sources[ref.source]).fetch(ref, facts.run, rows, seconds) for step, ref in refs.items()
    }
    return {step: table.model_copy(update={"title": _title(step, plan)}) for step, table in shown.items()}


def _title(step: str, plan: CheckedPlan) -> str:
    """What the question calls the measure, of a table whose columns do not say it."""
    called = {one.id: str(one.params.get("called", "")) for one in plan.steps}
    behind = (name for binding in plan.inputs.get(step, {}).values() for name in binding.steps)
    return next(filter(None, (called[name] for name in behind)), "")


async def _proven(
    context: Context, question: Question, reading: Reading, verdict_on: Check
) -> CheckedPlan | tuple[Issue, ...]:
    """The checked plan of the first planner without a model that has one, or why there is none."""
    issues: tuple[Issue, ...] = ()
    for planner in planners_for(TABLES, question, context):
        if not planner.proves:
            continue
        proposed = await planner.propose(PlanRequest(question, reading, context))
        if isinstance(proposed, Declined):
            issues = issues or ((proposed.issue,) if proposed.issue else ())
            continue
        plan = question.bounds.limited(proposed)
        verdict = verdict_on(plan, reading, question.bounds)
        if isinstance(verdict, Passed):
            return verdict.plan
        issues = verdict.issues
    return issues


async def _rows(
    context: Context, sources: Mapping[str, Source], question: Question, reading: Reading, verdict_on: Check
) -> Rows | None:
    """The one table of a reading, without its chart; None if there is none, it would change something, or fails."""
    drawn = [r for r in reading.requirements if isinstance(r.value, OutputAsked) and r.value.label == "chart"]
    kept = tuple(r for r in reading.requirements if r not in drawn)
    plan = await _proven(context, question, reading.model_copy(update={"requirements": kept}), verdict_on)
    if not isinstance(plan, CheckedPlan) or plan.writes or not sources:
        return None
    facts = await run(plan, sources, run_id=f"compared-{uuid.uuid4().hex[:12]}")
    if facts.failures:
        return None
    shown = [*(await fetch_shown(facts, sources, plan)).values()]
    return shown[0].rows if len(shown) == 1 else None
