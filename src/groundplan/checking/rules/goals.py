"""Rules for tasks: conditional goals wait for their condition, and invented values are reported."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.checking.draft import Draft
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Step
from groundplan.contracts.reading import Goal
from groundplan.contracts.said import is_said

MOST_SHOWN = 60  # characters of a value


def unconditional(draft: Draft) -> Iterator[Issue]:
    """A step with an effect that serves a conditional goal runs only behind a router for that condition.

    It is on the side that the goal names: a route leads to steps for when the condition holds; the default, or a route
    with a negated condition, leads to steps for when it does not.

    Fails: "if she is a member, send a mail", and the step that sends it runs for everyone.
    """
    for index, step, tool in draft.tool_steps():
        if tool.effect != "write":
            continue
        for goal in (draft.requirements[id_].value for id_ in step.satisfies if id_ in draft.requirements):
            if isinstance(goal, Goal) and goal.when and not _waits(draft, step, goal):
                yield Issue(
                    code="coverage/unconditional",
                    step=step.id,
                    path=f"steps.{index}.needs",
                    problem=f"step {step.id!r} changes something whether or not {goal.when!r} holds",
                    hint=f"put it behind a router that cites {goal.when!r}",
                )


def _waits(draft: Draft, step: Step, goal: Goal) -> bool:
    for router in (draft.wiring.by_id.get(need) for need in step.needs):
        if router is None or router.kind != "router" or goal.when not in router.satisfies:
            continue
        held = [route.when for route in router.routes if route.to == step.id]
        if goal.holds and any(held):
            return True
        if not goal.holds and (router.default == step.id or any("!" in when for when in held)):
            return True
    return False


def unsaid_value(draft: Draft) -> Iterator[Issue]:
    """A value in a step with an effect occurs in the words of the task, or comes from an earlier step.

    This is a warning, shown before approval. Plans written by hand are exempt.

    Fails: a model fills in a recipient that the task does not name.
    """
    if draft.plan.is_by_hand:
        return
    for index, step, tool in draft.tool_steps():
        for name, value in step.params.items() if tool.effect == "write" else ():
            if not is_said(value, draft.reading.question):
                yield Issue(
                    code="coverage/unsaid-value",
                    severity="warning",
                    step=step.id,
                    path=f"steps.{index}.params.{name}",
                    problem=f"the task does not mention {str(value)[:MOST_SHOWN]!r}, the {name} of step {step.id!r}",
                    hint="check it before you approve the plan",
                )


RULES = (unconditional, unsaid_value)
