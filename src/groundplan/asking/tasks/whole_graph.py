"""A large model writes the whole workflow in one call, within a schema of existing parts, tools and fields.

What it writes is drawn as a plan by `graph_drawing`, and the gate checks that plan like any other. What the gate finds
goes back to the model with the graph, as often as the settings of the role `plan` allow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from groundplan.asking.tasks.choose import PartRequest
from groundplan.asking.tasks.choose_with_model import DESCRIBED, param_schemas
from groundplan.asking.tasks.fill import Made, properties_of, required_of
from groundplan.asking.tasks.graph_parts import WORK, GraphOffer, GraphPart, fields_for
from groundplan.contracts.contract import Contract, JsonObject, thaw
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.reading import Goal
from groundplan.contracts.references import FROM, renamed
from groundplan.contracts.tool import Tool
from groundplan.contracts.verdict import Refused
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import Reply
from groundplan.llm.schema import Schema, closed, or_null

if TYPE_CHECKING:
    from groundplan.llm.calls import Calls

TOKENS_A_STEP = 160
MOST_FIELDS = 8  # of a tool that the prompt names
MOST_FACTS, MOST_AGENT_TOOLS = 12, 4
MOST_ISSUES, LONGEST = 5, 200  # issues that go back, and characters of one
NOTHING = "nothing"


class WrittenStep(Contract):
    part: str
    tool: str
    for_each: str | None = None
    params: JsonObject = {}


class WrittenGraph(Contract):
    """A graph by its places s1, s2, …; null for places that are left over."""

    steps: dict[str, WrittenStep | None]


async def write_graph(
    offer: GraphOffer, calls: Calls, attempt: int = 1, last: Plan | None = None, refused: Refused | None = None
) -> WrittenGraph | str:
    """The graph, or why there is none. `last` and `refused` are the previous attempt and what the gate found in it."""
    prompt = load_prompt("graph").fill(
        parts="\n".join(_told_part(part) for part in offer.parts),
        tools="\n".join(_told_tool(tool) for tool in (*offer.tools, *offer.model_tools)),
        attempt=str(attempt),
        previous=_as_json(last) if last else NOTHING,
        errors="\n".join(_errors(refused, last)) if last and refused else NOTHING,
    )
    most = TOKENS_A_STEP * offer.places
    told = await calls.ask(prompt, WrittenGraph, schema=graph_schema(offer), max_tokens=most)
    return told.value if isinstance(told, Reply) else told.problem


def graph_schema(offer: GraphOffer) -> Schema:
    """One property for each place, so that a step can refer only to fields of places before it."""
    labels: list[Any] = [part.label for part in offer.parts]
    places: Schema = {}
    for place in range(1, offer.places + 1):
        earlier = [Made(Step(id=f"s{n}", tool=t.name), t) for n in range(1, place) for t in offer.tools]
        before: list[Any] = [f"s{number}" for number in range(1, place)]
        each: Schema = or_null({"enum": before}) if before else {"type": "null"}
        calls: list[Any] = [
            closed(
                {
                    "part": {"enum": labels},
                    "tool": {"enum": [tool.name]},
                    "for_each": each if tool in offer.tools else {"type": "null"},
                    "params": closed(dict(_params(tool, offer, earlier))),
                }
            )
            for tool in (*offer.tools, *(offer.model_tools if place > 1 else ()))
        ]
        places[f"s{place}"] = {"anyOf": [*calls, {"type": "null"}] if place > 1 else calls}
    return closed({"steps": closed(places)})


def _params(tool: Tool, offer: GraphOffer, earlier: Sequence[Made]) -> Iterator[tuple[str, Schema]]:
    """The schema of each param: its own type, a fitting reference, or null. Of a model tool, only what it may see."""
    if tool in offer.model_tools:
        fields: list[Any] = [*dict.fromkeys(f"{made.step.id}.{given}" for made in earlier for given in made.fields)]
        if fields:
            yield "facts", {"type": "array", "items": {"enum": fields}, "maxItems": MOST_FACTS}
        if tool.name == WORK:
            names: list[Any] = [one.name for one in offer.looking_up]
            yield "tools", {"type": "array", "items": {"enum": names}, "minItems": 1, "maxItems": MOST_AGENT_TOOLS}
        return
    wanted = properties_of(tool)
    for name, schema in param_schemas(tool, PartRequest(offer.question, (tool,), ())):
        branches: Any = schema["anyOf"]
        references: list[Any] = [*dict.fromkeys(fields_for(name, wanted[name], offer.question, earlier))]
        yield name, {"anyOf": [*branches, closed({FROM: {"enum": references}})] if references else branches}


def _told_part(part: GraphPart) -> str:
    """`g2 (if c1 holds): send her a note`"""
    value = part.value
    hangs = f"if {value.when.rpartition(':')[2]} {'holds' if value.holds else 'does not hold'}" if value.when else ""
    kind = "" if isinstance(value, Goal) else "condition"
    notes = ", ".join(filter(None, (kind, hangs)))
    return f"{part.label}{f' ({notes})' if notes else ''}: {_line(part.text)}"


def _told_tool(tool: Tool) -> str:
    """`book_slot(day, slot, title?) books a slot -> number`"""
    required = required_of(tool)
    params = ", ".join(name if name in required else f"{name}?" for name in properties_of(tool))
    gives = ", ".join([*Made(Step(id="s1", tool=tool.name), tool).fields][:MOST_FIELDS]) or NOTHING
    many = "list of " if tool.returns.get("x-many") else ""
    return f"{tool.name}({params}) {_line(tool.description)[:DESCRIBED]} -> {many}{gives}"


def _as_json(plan: Plan) -> str:
    """The calls as they were checked, by the places that they would have now."""
    places = _places(plan)
    calls = {
        places[step.id]: {
            "tool": step.tool,
            "for_each": places.get(step.for_each or ""),
            "params": thaw(renamed(step.params, places)),
        }
        for step in plan.steps
        if step.id in places
    }
    return json.dumps({"steps": calls}, ensure_ascii=False, separators=(",", ":"))


def _errors(refused: Refused, plan: Plan) -> Iterator[str]:
    """`s2: what is wrong; what to do`"""
    places = _places(plan)
    for issue in [issue for issue in refused.issues if issue.severity == "error"][:MOST_ISSUES]:
        told = f"{places.get(issue.step or '', 'graph')}: {issue.problem}; {issue.hint}"
        yield re.sub(r"(?<=')([a-z]\w*)(?=['.])", lambda found: places.get(found[1], found[1]), told)[:LONGEST]


def _places(plan: Plan) -> dict[str, str]:
    steps = [step.id for step in plan.steps if step.kind != "router"]
    return {step: f"s{number}" for number, step in enumerate(steps, 1)}


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
