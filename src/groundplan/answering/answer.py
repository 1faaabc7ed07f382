"""Builds an answer from facts and the rows they refer to, and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from groundplan.answering.verifying.verify import verify
from groundplan.answering.writing.cells import with_cells
from groundplan.answering.writing.render import render
from groundplan.answering.writing.steps import step_sentences
from groundplan.answering.writing.subjects import headings
from groundplan.answering.writing.text import text_of
from groundplan.answering.writing.write import write, write_remarks
from groundplan.charts.picture import retitled, with_data
from groundplan.contracts.answer import Answer, Citation, Refusal, ShownTable, TraceEntry
from groundplan.contracts.contract import Language
from groundplan.contracts.facts import Facts
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import CheckedPlan, Plan

RENDERED = "written from the facts, verified against them"  # for the trace


def answer(
    plan: CheckedPlan,
    facts: Facts,
    shown: Mapping[str, ShownTable],
    trace: Sequence[TraceEntry],
    language: Literal["en", "ru", "other"] = "en",
) -> Answer | Refusal:
    """An answer if anything was found, or if the facts show that there is nothing to find; otherwise a refusal."""
    broken = tuple(failure.issue for failure in facts.failures if failure.issue)
    if broken and not _brought_something(facts):
        return Refusal(text=_why(broken), issues=broken, plan=plan.unchecked, facts=facts, trace=tuple(trace))
    told: Language = "ru" if language == "ru" else "en"
    text, citations, doubts = _verified(plan, facts, shown, told)
    named = headings(plan, facts, shown, told)
    counted = {
        column: name for told_of in named.values() if "previous" not in told_of for column, name in told_of.items()
    }
    return Answer(
        text=text,
        tables=tuple(
            shown[step].model_copy(update={"step": step, "headings": named.get(step, {})}) for step in facts.tables
        ),
        charts=tuple(
            _of_step(step, with_data(retitled(chart.spec, counted), shown[step].columns, shown[step].rows))
            for step, chart in facts.charts.items()
        ),
        files=facts.files,
        partial=_is_partial(plan, facts),
        citations=with_cells(citations, shown),
        plan=plan.unchecked,
        coverage=facts.coverage,
        repairs=facts.repairs,
        issues=(*broken, *doubts),
        facts=facts,
        trace=tuple(trace),
    )


def _of_step(step: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {**spec, "usermeta": {**spec.get("usermeta", {}), "step": step}}


def refuse(plan: Plan | None, issues: Sequence[Issue], trace: Sequence[TraceEntry]) -> Refusal:
    return Refusal(text=_why(issues), issues=tuple(issues), plan=plan, trace=tuple(trace))


def _verified(
    plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable], language: Language
) -> tuple[str, tuple[Citation, ...], tuple[Issue, ...]]:
    """The text if it is verified; otherwise the plain facts, and the issues."""
    text, citations = write(plan, facts, shown, language)
    doubts = verify(text, facts, shown, citations, plan)
    if not doubts:
        return text, citations, ()
    warnings = tuple(doubt.model_copy(update={"severity": "warning"}) for doubt in doubts)
    steps, _ = text_of(list(step_sentences(facts, plan.limits, language)), language)
    rest = render(facts, shown, plan.render, plan.limits, language), write_remarks(plan, facts, shown, language)
    parts = (steps, *rest)
    return "\n\n".join(filter(None, parts)), (), warnings


def _brought_something(facts: Facts) -> bool:
    """Whether there is anything to report; a change counts even if it returned nothing."""
    done = any(end.effect == "write" and end.status == "finished" for end in facts.steps)
    return done or bool(facts.tables or facts.charts or facts.groups or facts.items)


def _is_partial(plan: CheckedPlan, facts: Facts) -> bool:
    """Whether a change that was asked for was not made, or a step failed for some of its items."""
    stopped = {failure.step for failure in facts.failures if failure.status != "skipped"}
    return any(step.id in stopped and (step.id in plan.writes or step.for_each) for step in plan.steps)


def _why(issues: Sequence[Issue]) -> str:
    count = f"{len(issues)} problem" + ("s" if len(issues) != 1 else "")
    return "\n".join([f"The plan was not completed: {count}.", *(f"- {issue.problem}" for issue in issues)])
