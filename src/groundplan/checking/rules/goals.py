"""A task's own rules: what hangs on a condition waits for it, and what nobody said is shown."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.checking.draft import Draft
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Step
from groundplan.contracts.reading import Goal
from groundplan.contracts.said import is_said

MOST_SHOWN = 60  # characters of a value


def unconditional(draft: Draft) -> Iterator[Issue]:
    """A step that changes something for a goal with a condition stands behind a router that looks at that condition.

    On the side that the goal says: a route leads to what is done when it holds; to what is done otherwise leads the
    default, or a route whose condition holds a negation.

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
    """A value of a step that changes something is in the words of the task, or comes from an earlier step.

    A warning: a person sees it before approving. What people write into a plan themselves is theirs.

    Fails: a model fills in a recipient that the task does not name.
    """
    if draft.plan.strategy == "hand":
        return
    for index, step, tool in draft.tool_steps():
        for name, value in step.params.items() if tool.effect == "write" else ():
            if not is_said(value, draft.reading.question):
                yield Issue(
                    code="coverage/unsaid-value",
                    severity="warning",
                    step=step.id,
                    path=f"steps.{index}.params.{name}",
                    problem=f"nobody said {str(value)[:MOST_SHOWN]!r}, the {name} of step {step.id!r}",
                    hint="look at it before you approve the plan",
                )


RULES = (unconditional, unsaid_value)
