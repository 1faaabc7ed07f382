"""The structure of a plan: ids, needs, inputs, routers, fallbacks."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.checking.draft import Draft
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Step

MODEL_KINDS = {"model.write": "llm", "model.choose": "llm", "model.work": "agent"}
"""The model tools, and the kind of step that calls each."""


def duplicate_id(draft: Draft) -> Iterator[Issue]:
    """Step ids are unique.

    Fails: two steps have the id `total`.
    """
    seen: set[str] = set()
    for index, step in enumerate(draft.plan.steps):
        if step.id in seen:
            yield Issue(
                code="shape/duplicate-id",
                step=step.id,
                path=f"steps.{index}.id",
                problem=f"two steps are called {step.id!r}",
                hint="give one of them another id",
            )
        seen.add(step.id)


def unknown_need(draft: Draft) -> Iterator[Issue]:
    """A step needs only earlier steps, so plans have no cycles.

    Fails: the first step needs `total`, which comes after it, or a step that does not exist.
    """
    position = draft.wiring.position
    for index, step in enumerate(draft.plan.steps):
        for place, need in enumerate(step.needs):
            if need in position and position[need] < position[step.id]:
                continue
            why = "comes later" if need in position and need != step.id else "is itself"
            yield Issue(
                code="shape/unknown-need",
                step=step.id,
                path=f"steps.{index}.needs.{place}",
                problem=f"step {step.id!r} needs {need!r}, which {why if need in position else 'does not exist'}",
                hint="move the step after the steps it needs",
            )


def step_kind(draft: Draft) -> Iterator[Issue]:
    """A tool step has a tool and no routes; a router has routes and no tool.

    Only steps of kind `llm` call `model.write` or `model.choose`, and only steps of kind `agent` call `model.work`, so
    that readers of a plan see where it uses a model.

    Fails: a step of kind `tool` names no tool; an `llm` step calls `find_customer`.
    """
    for index, step in enumerate(draft.plan.steps):
        faults = {
            "names no tool": step.kind != "router" and not step.tool,
            f"calls {step.tool!r}": step.kind != "router" and bool(step.tool) and step.kind != _kind_of(step),
            "has routes, which only a router has": step.kind != "router" and bool(step.routes or step.default),
            "is a router without routes": step.kind == "router" and not step.routes,
            "is a router that calls a tool": step.kind == "router" and bool(step.tool),
        }
        for fault, found in faults.items():
            if found:
                yield Issue(
                    code="shape/step-kind",
                    step=step.id,
                    path=f"steps.{index}",
                    problem=f"step {step.id!r} of kind {step.kind!r} {fault}",
                    hint="a tool step has `tool`; a router has `routes` and `default`; an llm step calls `model.write` "
                    "or `model.choose`, an agent `model.work`",
                )


def _kind_of(step: Step) -> str:
    """The kind that a step must have to call its tool."""
    return MODEL_KINDS.get(step.tool or "", "tool")


def unbound_input(draft: Draft) -> Iterator[Issue]:
    """Every input of a tool is filled exactly once: by an earlier step, or by a param that names a source's table.

    Needs that exclude each other, as the branches of one router do, fill one input together.

    Fails: `aggregate` has neither a need nor a `table`; or it needs two steps though it takes one table.
    """
    for index, step, tool in draft.tool_steps():
        filled = draft.wiring.inputs(step, tool)
        for port in tool.inputs:
            if port.name not in filled:
                yield Issue(
                    code="shape/unbound-input",
                    step=step.id,
                    path=f"steps.{index}.needs",
                    problem=f"nothing fills the input {port.name!r} of step {step.id!r}",
                    hint=f"add an earlier step to needs, or name a table in params.{port.name}",
                )
        for need in draft.wiring.surplus(step, tool):
            yield Issue(
                code="shape/unbound-input",
                step=step.id,
                path=f"steps.{index}.needs",
                problem=f"step {step.id!r} needs {need!r}, but {step.tool!r} has no input left for it",
                hint=f"{step.tool!r} takes {len(tool.inputs)} input(s); drop the need or join the tables first",
            )


def broken_route(draft: Draft) -> Iterator[Issue]:
    """A router leads to later steps that need it.

    Fails: a route leads to `mail`, and `mail` does not have the router in its needs.
    """
    for index, step in enumerate(draft.plan.steps):
        if step.kind != "router":
            continue
        targets = [*((f"routes.{i}.to", route.to) for i, route in enumerate(step.routes))]
        targets += [("default", step.default)] if step.default else []
        for path, target in targets:
            found = draft.wiring.by_id.get(target)
            if found is None or step.id not in found.needs:
                yield Issue(
                    code="shape/broken-route",
                    step=step.id,
                    path=f"steps.{index}.{path}",
                    problem=f"router {step.id!r} leads to {target!r}, which "
                    + ("does not exist" if found is None else "does not need it"),
                    hint="name a later step, and put the router into that step's needs",
                )


def stray_branch(draft: Draft) -> Iterator[Issue]:
    """A step that needs a router is one of the router's targets; otherwise it would never run.

    Fails: `mail` needs the router `tier`, but no route of `tier` leads to `mail`.
    """
    for index, step in enumerate(draft.plan.steps):
        for need in step.needs:
            router = draft.wiring.by_id.get(need)
            if router is None or router.kind != "router":
                continue
            if step.id not in {route.to for route in router.routes} | {router.default}:
                yield Issue(
                    code="shape/stray-branch",
                    step=step.id,
                    path=f"steps.{index}.needs",
                    problem=f"step {step.id!r} needs the router {need!r}, which never leads to it",
                    hint=f"add a route to {step.id!r}, or drop the need",
                )


def broken_fallback(draft: Draft) -> Iterator[Issue]:
    """A fallback's steps exist, and no other step needs them.

    Fails: the fallback lists `search`, which is not a step of the plan.
    """
    fallback = draft.plan.fallback
    if fallback is None:
        return
    for place, name in enumerate(fallback.steps):
        if name not in draft.wiring.by_id:
            yield Issue(
                code="shape/broken-fallback",
                path=f"fallback.steps.{place}",
                problem=f"the fallback lists {name!r}, which is not a step",
                hint="list ids of steps of this plan",
            )
    for step in draft.plan.steps:
        waits = [need for need in step.needs if need in fallback.steps]
        if waits and step.id not in fallback.steps:
            yield Issue(
                code="shape/broken-fallback",
                step=step.id,
                problem=f"step {step.id!r} needs {waits[0]!r}, which runs only as a fallback",
                hint=f"add {step.id!r} to the fallback's steps",
            )


RULES = (duplicate_id, unknown_need, step_kind, unbound_input, broken_route, stray_branch, broken_fallback)
