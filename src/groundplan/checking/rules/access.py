"""Effects and models only where they were asked for and can be had."""

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
    """The tools of an agent exist, only read, and take nothing that must be proven before they run.

    Tables, columns and entities are proven for the step that names them; what an agent says is not known yet. And an
    agent has no other model to ask.

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
                    hint="give it tools that look facts up; make what else it needs a step of its own",
                )


def _unfit_for_agents(draft: Draft, name: object) -> str:
    tool = draft.catalog.tools.get(str(name))
    if tool is None:
        return "the catalog does not list"
    if tool.effect != "read":
        return "changes something"
    if tool.name in MODEL_KINDS:
        return "asks a model itself"
    return "works on tables or entities that the gate must know" if _is_proven(tool) else ""


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
    """What a model is told to do is written in the plan; other steps fill its `facts` and `choices` only.

    So no text that lies in a source can tell a model what to do, or which tools it may call.

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
                    problem=f"step {step.id!r} takes {str(reference)!r} as {path.split('.')[1]!r}, which is no fact",
                    hint="write it into the plan, and give what other steps found as `facts`",
                )


RULES = (unasked_write, no_model, agent_tools, facts_as_instruction)
