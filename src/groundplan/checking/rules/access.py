"""Steps with effects must be asked for, and model steps need a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groundplan.checking.draft import Draft
from groundplan.checking.rules.shape import MODEL_KINDS
from groundplan.contracts.issue import Issue
from groundplan.contracts.references import references
from groundplan.contracts.tool import Tool

FROM_FACTS = frozenset({"facts", "choices"})  # the params of a model's tools that other steps may fill


def unasked_write(draft: Draft) -> Iterator[Issue]:
    """A step that changes something serves a goal; a question about data never writes.

    Such a step also needs approval: the checked plan lists it under `writes`.

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
    """Steps of kind `llm` and `agent` need a model.

    Fails: a plan with an `llm` step is checked in a project without a model.
    """
    if any(name in draft.catalog.tools for name in MODEL_KINDS):
        return
    for index, step in enumerate(draft.plan.steps):
        if step.kind in ("llm", "agent"):
            yield Issue(
                code="access/no-model",
                step=step.id,
                path=f"steps.{index}.kind",
                problem=f"step {step.id!r} is of kind {step.kind!r}, and this project has no model",
                hint="name one with --model, or use tool steps only",
            )


def agent_tools(draft: Draft) -> Iterator[Issue]:
    """The tools of an agent exist, only read, and have no params that the gate must check before they run.

    The gate checks tables, columns and entities in the plan, but the calls of an agent are not known yet. An agent
    cannot call model tools either.

    Fails: an agent is given `send_mail`, which changes something; or `aggregate`, which works on a table.
    """
    for index, step, tool in draft.tool_steps():
        named = step.params.get("tools") if MODEL_KINDS.get(tool.name) == "agent" else ()
        for place, name in enumerate(named if isinstance(named, list | tuple) else ()):
            problem = _unfit_for_agents(draft, name) if isinstance(name, str) else ""
            if problem:
                yield Issue(
                    code="access/agent-tools",
                    step=step.id,
                    path=f"steps.{index}.params.tools.{place}",
                    problem=f"the agent {step.id!r} may not have {name!r}, which {problem}",
                    hint="give it tools that look up facts; use separate steps for everything else",
                )


def _unfit_for_agents(draft: Draft, name: object) -> str:
    tool = draft.catalog.tools.get(str(name))
    if tool is None:
        return "the catalog does not list"
    if tool.effect != "read":
        return "changes something"
    if tool.name in MODEL_KINDS:
        return "calls a model itself"
    return "works on tables or entities that the gate must check" if _is_proven(tool) else ""


def _is_proven(tool: Tool) -> bool:
    return bool(tool.inputs) or any(_names_what_is_there(schema) for schema in _schemas(tool.params))


def _names_what_is_there(schema: Mapping[str, object]) -> bool:
    return "x-column" in schema or schema.get("x-names") == "entity"


def _schemas(schema: object) -> Iterator[Mapping[str, object]]:
    if isinstance(schema, Mapping):
        yield schema
        for inner in schema.values():
            yield from _schemas(inner)


def facts_as_instruction(draft: Draft) -> Iterator[Issue]:
    """The plan contains a model's instructions; other steps may fill only its `facts` and `choices`.

    So no text from a source can instruct a model or choose its tools.

    Fails: `model.write` has `instruction: {$from: mail.text}`.
    """
    for index, step, tool in draft.tool_steps():
        if tool.name not in MODEL_KINDS:
            continue
        for path, reference in references(step.params):
            if path.split(".")[1] not in FROM_FACTS:
                yield Issue(
                    code="access/facts-as-instruction",
                    step=step.id,
                    path=f"steps.{index}.{path}",
                    problem=f"step {step.id!r} takes {str(reference)!r} as {path.split('.')[1]!r}, which takes none",
                    hint="write it into the plan, and pass the results of other steps as `facts`",
                )


def forbidden_tool(draft: Draft) -> Iterator[Issue]:
    """A plan calls only tools that the caller allows, and gives agents no others.

    Fails: the caller forbids `shop.send_email`, and a step calls it.
    """
    for index, step, tool in draft.tool_steps():
        given = step.params.get("tools") if MODEL_KINDS.get(tool.name) == "agent" else ()
        listed = [draft.catalog.tools.get(str(name)) for name in given] if isinstance(given, list | tuple) else []
        for one in (tool, *(found for found in listed if found)):
            if not draft.bounds.allows(one):
                yield Issue(
                    code="access/forbidden-tool",
                    step=step.id,
                    path=f"steps.{index}.tool",
                    problem=f"step {step.id!r} uses {one.name!r}, which the caller does not allow",
                    hint="use another tool, or allow this one",
                )


RULES = (unasked_write, no_model, forbidden_tool, agent_tools, facts_as_instruction)
