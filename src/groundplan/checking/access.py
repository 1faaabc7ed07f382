"""Effects and models only where they were asked for and can be had."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.checking.draft import Draft
from groundplan.contracts.issue import Issue


def unasked_write(draft: Draft) -> Iterator[Issue]:
    """A step that changes something serves a goal; a question about data never writes.

    Such a step also waits for a person's approval: the checked plan lists it under `writes`.

    Fails: a plan for "revenue by region" sends an e-mail.
    """
    for index, step, tool in draft.tool_steps():
        goals = [id_ for id_ in step.satisfies if id_ in draft.requirements and draft.requirements[id_].kind == "goal"]
        if tool.effect == "write" and not goals:
            yield Issue(
                code="access/unasked-write",
                step=step.id,
                path=f"steps.{index}.tool",
                problem=f"step {step.id!r} calls {tool.name!r}, which changes something, and serves no goal",
                hint="remove the step",
            )


def no_model(draft: Draft) -> Iterator[Issue]:
    """Steps of kind `llm` and `agent` need a model, and none is set up here.

    Fails: a plan with an `llm` step is checked in a project without a model.
    """
    for index, step in enumerate(draft.plan.steps):
        if step.kind in ("llm", "agent"):
            yield Issue(
                code="access/no-model",
                step=step.id,
                path=f"steps.{index}.kind",
                problem=f"step {step.id!r} is of kind {step.kind!r}, and this project has no model",
                hint="use tool steps only",
            )


RULES = (unasked_write, no_model)
