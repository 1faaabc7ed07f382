"""Limits on the cost and time of a plan, and those of the engine."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.checking.draft import Draft
from groundplan.contracts.issue import Issue
from groundplan.contracts.needs import needs

MOST_COST = 2_000


def too_costly(draft: Draft) -> Iterator[Issue]:
    """The catalog costs of a plan's tools add up to at most 2,000.

    Fails: thirty steps that each cost 100.
    """
    cost = sum(tool.cost for _, _, tool in draft.tool_steps())
    if cost > MOST_COST:
        yield Issue(
            code="limits/too-costly",
            problem=f"the plan's tools cost {cost:,}; at most {MOST_COST:,} are allowed",
            hint="use fewer or cheaper steps",
        )


def step_outlives_run(draft: Draft) -> Iterator[Issue]:
    """One step may not take longer than the whole run.

    Fails: `step_seconds` is 120 and `seconds` is 60.
    """
    limits = draft.plan.limits
    if limits.step_seconds > limits.seconds:
        yield Issue(
            code="limits/step-outlives-run",
            path="limits.step_seconds",
            problem=f"a step may take {limits.step_seconds:g} s, the whole run only {limits.seconds:g} s",
            hint="lower step_seconds or raise seconds",
        )


def too_many_steps(draft: Draft) -> Iterator[Issue]:
    """A plan has at most as many steps as the caller allows.

    Fails: the caller allows one step, and the plan has two.
    """
    most = draft.bounds.steps
    if most is not None and len(draft.plan.steps) > most:
        yield Issue(
            code="limits/too-many-steps",
            problem=f"the plan has {len(draft.plan.steps)} steps; the caller allows {most}",
            hint="use fewer steps, or allow more",
        )


def beyond_bounds(draft: Draft) -> Iterator[Issue]:
    """The limits of a plan are within those that the caller allows.

    Fails: the caller allows 10 seconds, and the plan's `seconds` is 120.
    """
    limits, bounds = draft.plan.limits, draft.bounds
    for name, value, most in (("seconds", limits.seconds, bounds.seconds), ("each", limits.each, bounds.items)):
        if most is not None and value > most:
            yield Issue(
                code="limits/beyond-bounds",
                path=f"limits.{name}",
                problem=f"the plan's limits.{name} is {value:g}; the caller allows {most:g}",
                hint=f"lower limits.{name}, or allow more",
            )


def too_many_calls(draft: Draft) -> Iterator[Issue]:
    """A plan for a look-up calls a knowledge base at most as often as its description allows (`limits.tool_calls`).

    Fails: a question names six projects, and each needs a look-up; five calls are allowed.
    """
    looks_up = any(requirement.kind == "intent" for requirement in draft.reading.requirements)
    for name, schema in draft.schemas.items() if looks_up else ():
        most = schema.knowledge.limits.tool_calls if schema.knowledge else MOST_COST
        calls = sum(tool.source == name for _, _, tool in draft.tool_steps())
        if calls > most:
            yield Issue(
                code="limits/too-many-calls",
                problem=f"this takes {calls} calls of {name!r}; at most {most} are allowed",
                hint="ask for fewer things at once, or raise limits.tool_calls in knowledge.yaml",
            )


def engine_lacks(draft: Draft) -> Iterator[Issue]:
    """A step needs nothing that the engine of its tables lacks; the schema of a source lists that.

    Fails: a standard deviation, and the engine has none.
    """
    for _, step, tool in draft.tool_steps():
        schema = draft.schemas.get(tool.source)
        lacking = (need for need in needs(tool.name, step.params) if schema and need in schema.lacks)
        for need in dict.fromkeys(lacking):
            assert schema is not None
            yield Issue(
                code="limits/engine-lacks",
                step=step.id,
                problem=f"{schema.engine}, the engine of these tables, lacks {need!r}, which step {step.id!r} needs",
                hint="ask for something else, or load the tables into an engine that has it, such as DuckDB",
            )


RULES = (too_costly, step_outlives_run, too_many_steps, beyond_bounds, too_many_calls, engine_lacks)
