"""A model writes the workflow of a task as one graph; what is wrong with it goes back to the model by name."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from groundplan.asking.route import PlanRequest
from groundplan.asking.tasks.fill import Made, properties_of, required_of
from groundplan.asking.tasks.graph_checks import check_graph
from groundplan.asking.tasks.graph_drawing import draw, steps_of
from groundplan.asking.tasks.graph_parts import GraphOffer
from groundplan.asking.tasks.graph_reply import GraphReply
from groundplan.asking.tasks.read import analyse
from groundplan.budget import aside
from groundplan.contracts.analysis import TaskAnalysis
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import Plan, Provenance, Step
from groundplan.contracts.tool import Tool
from groundplan.llm.prompt import load_prompt
from groundplan.proposing.loop import Accepted, Faults, propose

if TYPE_CHECKING:
    from groundplan.llm.calls import Calls

TOKENS, ANALYSIS_TOKENS = 4_096, 512
MOST_FIELDS = 10  # of a tool that the prompt names
DESCRIBED = 160  # characters of a description
CONFIDENCE = (
    0.8,
    0.6,
    0.4,
)  # by attempts: at first about the share of recorded graphs with exactly the right tools; then chosen


@dataclass(frozen=True)
class NoGraph:
    """The model says that no tool does the task, or what the person has to say first."""

    cannot: str = ""
    ask: str = ""


async def write_graph(request: PlanRequest, offer: GraphOffer, calls: Calls) -> Plan | NoGraph | None:
    """The plan of the first graph that passes all checks; None if no model has one."""
    analysis = await _analysis(request, calls)
    plans = request.context.plans
    example = await plans.example(request.reading) if plans else None
    prompt = load_prompt("graph").fill(
        task=_line(request.question.text),
        analysis=analysis.model_dump_json(exclude={"intent"}),
        tools="\n".join(map(_told_tool, offer.tools)),
        inputs=", ".join(request.question.inputs) or "none",
        example=_shown(example) if example else "",
    )
    log = request.context.attempts
    begun = len(log)
    check = partial(_check, request, offer)
    found: Accepted[Plan | NoGraph] | None = await propose(calls, prompt, GraphReply, check, log, max_tokens=TOKENS)
    if found is None or isinstance(found.value, NoGraph):
        return found.value if found else None
    attempts = len(log) - begun
    provenance = Provenance(
        model=found.model,
        attempts=attempts,
        tokens=calls.usage.tokens,
        duration_ms=round(sum(attempt.seconds for attempt in log[begun:]) * 1_000, 1),
        reasoning=found.value.provenance.reasoning or found.value.reasons,
        log=tuple(
            f"attempt {place}, {attempt.model}: {'; '.join(attempt.faults) or 'accepted'}"
            for place, attempt in enumerate(log[begun:], 1)
        ),
        analysis=analysis,
    )
    confidence = CONFIDENCE[min(attempts, len(CONFIDENCE)) - 1]
    return found.value.model_copy(update={"provenance": provenance, "confidence": confidence})


async def _analysis(request: PlanRequest, calls: Calls) -> TaskAnalysis:
    """By the model, if the settings say so and it has one; otherwise by the words."""
    words, roles = analyse(request.reading), request.context.calls
    if roles is None or roles.roles.analyst == "words":
        return words

    async def check(reply: TaskAnalysis) -> TaskAnalysis | Faults:
        return reply

    prompt = load_prompt("analyse").fill(task=_line(request.question.text))
    found: Accepted[TaskAnalysis] | None = await propose(
        calls, prompt, TaskAnalysis, check, request.context.attempts, max_tokens=ANALYSIS_TOKENS
    )
    return found.value if found else words


async def _check(request: PlanRequest, offer: GraphOffer, reply: GraphReply) -> Plan | NoGraph | Faults:
    if not reply.nodes:
        said = NoGraph(reply.cannot.strip(), reply.ask.strip())
        return said if said.cannot or said.ask else Faults(("the reply has no nodes",))
    plan = await aside(partial(_drawn, offer, reply))
    if isinstance(plan, Faults):
        return plan
    issues = await request.context.check_plan(request.question.bounds.limited(plan), request.reading)
    faults = tuple(f"{issue.path or issue.step or 'graph'}: {issue.problem}; {issue.hint}" for issue in issues)
    return Faults(faults) if faults else plan


def _drawn(offer: GraphOffer, reply: GraphReply) -> Plan | Faults:
    """The graph as a plan that nothing in the words of the task speaks against."""
    drawing = draw(reply, offer)
    if drawing.faults or not drawing.made:
        return Faults(tuple(dict.fromkeys(drawing.faults)) or ("no node calls a tool",))
    checked = check_graph(drawing)
    if checked.faults:
        return Faults(checked.faults)
    used = {one.name: one for one in drawing.inputs.values()}
    return Plan(
        strategy="compose",
        steps=steps_of(drawing, checked.served),
        render="GROUPED_BULLETS",
        provenance=Provenance(reasoning=reply.reasoning),
        takes=tuple(used.values()),
    )


def _told_tool(tool: Tool) -> str:
    """`book_slot(day, slot, title?) books a slot -> number`"""
    required = required_of(tool)
    params = ", ".join(name if name in required else f"{name}?" for name in properties_of(tool))
    gives = ", ".join([*Made(Step(id="node", tool=tool.name), tool).fields][:MOST_FIELDS]) or "nothing"
    many = "list of " if tool.returns.get("x-many") else ""
    return f"{tool.name}({params}) {_line(tool.description)[:DESCRIBED]} -> {many}{gives}"


def _shown(example: Plan) -> str:
    """The calls of a plan that a person marked as good."""
    calls = [{"id": step.id, "tool": step.tool, "params": thaw(step.params)} for step in example.steps if step.tool]
    return f"\nA workflow for a similar task: {json.dumps(calls, ensure_ascii=False)[:2_000]}\n"


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
