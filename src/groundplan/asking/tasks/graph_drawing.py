"""Draws a graph that a model wrote as a plan: ids, references, conditions and routers. What cannot be drawn is a fault.

A model says what it wants to be asked when the plan runs only by quoting the task. Conditions are read as comparisons
and written as CEL by code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, cast

from groundplan.asking.tasks.fill import Made, personal, properties_of, taken, types_of
from groundplan.asking.tasks.graph_conditions import ELSE, Condition, Unreadable, read_condition
from groundplan.asking.tasks.graph_parts import CHOOSE, WORK, WRITE, GraphOffer
from groundplan.asking.tasks.graph_reply import GraphEdge, GraphNode, GraphReply, Plain
from groundplan.contracts.plan import INPUT, Route, Step, WorkflowInput
from groundplan.contracts.references import FROM, JOIN, read_reference, references
from groundplan.contracts.tool import Tool

PLACE = re.compile(r"\{\s*([A-Za-z]\w*)\.([\w.-]+)\s*\}")
_BARE = re.compile(r"\$?([A-Za-z]\w*)\.([\w.-]+?)\$?")
_NAMED = re.compile(r"\b([A-Za-z]\w*)\.\w")
_INPUT_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
KINDS: Mapping[str, Any] = {WRITE: "llm", CHOOSE: "llm", WORK: "agent"}
YES_OR_NO = ("yes", "no")
MOST_FIELDS = 12  # of a node that a model may see whole
Json = dict[str, Any]


@dataclass(frozen=True)
class Branch:
    """A condition of a router with the nodes that it leads to; None stands for `else`."""

    condition: Condition | None
    targets: tuple[str, ...]


@dataclass
class Drawing:
    """The steps that the nodes became, in an order in which they can run, and what is wrong with the others."""

    reply: GraphReply
    offer: GraphOffer
    made: dict[str, Made] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)  # the words that each node and router quotes
    branches: dict[str, list[Branch]] = field(default_factory=dict)  # by router
    inputs: dict[str, WorkflowInput] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)  # the step of each node
    order: list[str] = field(default_factory=list)  # of all nodes

    def leads_to(self, step: str) -> Iterator[tuple[str, int]]:
        """The routers that lead to a step, each with the index of the branch."""
        for router, branches in self.branches.items():
            yield from ((router, place) for place, branch in enumerate(branches) if step in branch.targets)

    def before(self, step: str) -> set[str]:
        """The steps whose facts a step takes, and those that they take theirs from."""
        found, waiting = set[str](), [step]
        while waiting:
            made = self.made.get(waiting.pop())
            new = set(_taken_by(made)) - found if made else set()
            found |= new
            waiting += new
        return found


def draw(reply: GraphReply, offer: GraphOffer) -> Drawing:
    drawing = Drawing(reply, offer)
    nodes = _named(drawing)
    named = ((_plain(one.name), one.means) for one in reply.inputs)
    drawing.inputs = {name: WorkflowInput(name=name, means=means) for name, means in named if name}
    edges = [*_edges(drawing, nodes)]
    drawing.order = _ordered(drawing, nodes, edges)
    for id_ in drawing.order:
        node = nodes[id_]
        drawing.words[id_] = node.words
        if node.kind == "router":
            drawing.branches[id_] = [*_branches(drawing, id_, edges)]
        else:
            _add(drawing, id_, node, [edge.source for edge in edges if edge.target == id_])
    _lead_on(drawing)
    return drawing


def _named(drawing: Drawing) -> dict[str, GraphNode]:
    """The nodes by the ids of their steps."""
    nodes: dict[str, GraphNode] = {}
    for node in drawing.reply.nodes:
        id_ = _plain(node.id)
        if not id_ or id_ == INPUT:
            drawing.faults.append(f"the node id {node.id!r} cannot be used; write lower-case letters, digits and _")
        elif id_ in nodes:
            drawing.faults.append(f"two nodes have the id {node.id!r}")
        else:
            nodes[id_], drawing.ids[node.id] = node, id_
    return nodes


def _plain(name: str) -> str:
    """An id or a name as steps have them; empty if it has no letters to begin with."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return plain if _INPUT_NAME.fullmatch(plain) else ""


def _edges(drawing: Drawing, nodes: Mapping[str, GraphNode]) -> Iterator[GraphEdge]:
    for edge in drawing.reply.edges:
        ends = [drawing.ids.get(end) for end in (edge.source, edge.target)]
        for name, end in zip((edge.source, edge.target), ends, strict=True):
            if end is None:
                drawing.faults.append(f"an edge names {name!r}, which is no node")
        source, target = ends
        if source and target:
            if edge.condition.strip().lower() not in ELSE and nodes[source].kind != "router":
                drawing.faults.append(f"the edge from {source!r} has a condition, but only routers choose")
            yield GraphEdge(source=source, target=target, condition=edge.condition.strip())


def _ordered(drawing: Drawing, nodes: Mapping[str, GraphNode], edges: Sequence[GraphEdge]) -> list[str]:
    """The nodes so that each comes after those it needs; a cycle is a fault."""
    needed = {id_: {edge.source for edge in edges if edge.target == id_} for id_ in nodes}
    for id_, node in nodes.items():
        said = [node.each, *(f"{fact}.x" for fact in node.facts), *texts_in([param.value for param in node.params])]
        said += [edge.condition for edge in edges if edge.source == id_]
        named = {drawing.ids.get(name) for text in said for name in (text, *_NAMED.findall(text))}
        needed[id_] |= {name for name in named if name and name != id_}
    ordered: list[str] = []
    while ready := [id_ for id_ in nodes if id_ not in ordered and needed[id_] <= {*ordered}]:
        ordered.append(ready[0])
    if stuck := [id_ for id_ in nodes if id_ not in ordered]:
        drawing.faults.append(f"the nodes {', '.join(stuck)} need each other in a circle")
    return ordered


def _branches(drawing: Drawing, router: str, edges: Sequence[GraphEdge]) -> Iterator[Branch]:
    """The conditions of a router in order, then what is left."""
    by_condition: dict[str, list[str]] = {}
    for edge in edges:
        if edge.source == router:
            condition = "" if edge.condition.lower() in ELSE else edge.condition
            by_condition.setdefault(condition, []).append(edge.target)
    rest = by_condition.pop("", [])
    if not by_condition:
        drawing.faults.append(f"the router {router!r} has no edge with a condition")
    for text, targets in by_condition.items():
        try:
            yield Branch(read_condition(text, drawing.made), tuple(targets))
        except Unreadable as error:
            drawing.faults.append(f"router {router!r}: {error}")
    if rest:
        yield Branch(None, tuple(rest))


def _add(drawing: Drawing, id_: str, node: GraphNode, after: Sequence[str]) -> None:
    tool = _tool_of(drawing, node)
    if tool is None:
        return
    params = _for_model(drawing, tool, node) if tool.name in KINDS else dict(_params(drawing, id_, node, tool))
    each = drawing.ids.get(node.each) if node.each else None
    if node.each and each is None:
        drawing.faults.append(f"node {id_!r} runs for each of {node.each!r}, which is no node")
    named = [reference.step for _, reference in references(params) if reference.step != INPUT]
    first = [one for one in after if one in drawing.made]
    needs = [*dict.fromkeys((*named, *([each] if each else []), *first))]
    step = Step.model_validate(
        {
            "id": id_,
            "kind": KINDS.get(tool.name, "tool"),
            "tool": tool.name,
            "params": params,
            "needs": needs,
            "rationale": node.words,
            "for_each": each,
        }
    )
    drawing.made[id_] = Made(step, tool)


def _tool_of(drawing: Drawing, node: GraphNode) -> Tool | None:
    """The tool by its whole name, or by its last part if only one has it."""
    tools = drawing.offer.catalog.tools
    if node.kind == "agent" or (node.kind == "llm" and not node.tool):
        name = WORK if node.kind == "agent" else CHOOSE if node.choices else WRITE
    else:
        alike = [one for one in tools if one.rsplit(".", 1)[-1] == node.tool]
        name = node.tool if node.tool in tools else alike[0] if len(alike) == 1 else node.tool
    tool = tools.get(name)
    if tool is not None and (tool.is_action or tool.name in KINDS):
        return tool
    near = get_close_matches(node.tool, [one for one in tools if tools[one].is_action], n=3, cutoff=0.4)
    hint = f"; did you mean {' or '.join(near)}?" if near else "; use the tools that are listed"
    drawing.faults.append(f"node {node.id!r} calls {name!r}, which is no tool here{hint}")
    return None


def _params(drawing: Drawing, id_: str, node: GraphNode, tool: Tool) -> Iterator[tuple[str, Any]]:
    wanted = properties_of(tool)
    for param in node.params:
        if param.name not in wanted and tool.params.get("additionalProperties") is not False and not wanted:
            yield param.name, _value(drawing, param.value, {})
        elif param.name not in wanted:
            known = ", ".join(wanted) or "none"
            drawing.faults.append(f"node {id_!r}: {tool.name} has no param {param.name!r}; it has {known}")
        elif param.value not in ("", ()):
            yield param.name, _value(drawing, param.value, wanted[param.name])


def _value(drawing: Drawing, value: Plain | tuple[Plain, ...], wanted: Mapping[str, Any]) -> Any:
    """A value as the param wants it, with references where the text names fields."""
    if isinstance(value, tuple):
        items = wanted.get("items")
        return [_value(drawing, one, items if isinstance(items, Mapping) else {}) for one in value]
    if not isinstance(value, str):
        return str(value) if types_of(wanted) == {"string"} and not isinstance(value, bool) else value
    whole = PLACE.fullmatch(value.strip()) or _bare(drawing, value)
    if whole:
        return _reference(drawing, whole[1], whole[2], wanted)
    if PLACE.search(value):
        return _joined(drawing, value)
    return _literal(personal(value, [*drawing.made.values()]), wanted)


def _bare(drawing: Drawing, value: str) -> re.Match[str] | None:
    """`find.email` without brackets, if there is such a field."""
    found = _BARE.fullmatch(value.strip())
    made = drawing.made.get(drawing.ids.get(found[1], "")) if found else None
    return found if found and made and found[2] in made.fields else None


def _reference(drawing: Drawing, name: str, given: str, wanted: Mapping[str, Any]) -> Json:
    if name == INPUT:
        return _input(drawing, given, wanted)
    step = drawing.ids.get(name, name)
    made = drawing.made.get(step)
    if made is None:
        drawing.faults.append(f"{{{name}.{given}}} names {name!r}, which is no node with results before it")
    return taken(made, given, wanted) if made and given in made.fields else {FROM: f"{step}.{given}"}


def _input(drawing: Drawing, given: str, wanted: Mapping[str, Any]) -> Json:
    """An input; its type is that of the param that takes it."""
    name = _plain(given)
    known = drawing.inputs.get(name) or WorkflowInput(name=name or "value")
    type_ = next((one for one in ("integer", "number", "boolean") if one in types_of(wanted)), known.type)
    drawing.inputs[known.name] = known.model_copy(update={"type": type_})
    return {FROM: f"{INPUT}.{known.name}"}


def _joined(drawing: Drawing, text: str) -> Json:
    parts: list[Any] = []
    at = 0
    for found in PLACE.finditer(text):
        reference = _reference(drawing, found[1], found[2], {})
        parts += [text[at : found.start()], reference]
        at = found.end()
    return {JOIN: [part for part in (*parts, text[at:]) if part != ""]}


def _literal(value: Any, wanted: Mapping[str, Any]) -> Any:
    """A text as the number, list or object that the param wants, if it is one."""
    types = types_of(wanted)
    if not isinstance(value, str) or not types or "string" in types:
        return value
    try:
        read = json.loads(value)
    except ValueError:
        return [value] if "array" in types else value
    if "array" in types and "object" not in types and not isinstance(read, list):
        return [*read.values()] if isinstance(read, dict) else [read]
    return read


def _for_model(drawing: Drawing, tool: Tool, node: GraphNode) -> Json:
    """What a model is asked is said in the words of the task; the graph only names what it sees."""
    facts = dict(_facts(drawing, node))
    words = node.words or drawing.offer.question
    if tool.name == CHOOSE:
        return {"question": words, "facts": facts, "choices": [*(node.choices or YES_OR_NO)]}
    if tool.name == WRITE:
        return {"instruction": f"Write only the text for this task: {words}"[:1_000], "facts": facts}
    names = [one.name for one in (drawing.offer.find(name) for name in node.tools) if one]
    if unknown := [name for name in node.tools if drawing.offer.find(name) is None]:
        drawing.faults.append(f"the agent {node.id!r} is given {unknown[0]!r}, which is no tool here")
    return {"instruction": words[:1_000], "facts": facts, "tools": names}


def _facts(drawing: Drawing, node: GraphNode) -> Iterator[tuple[str, Json]]:
    for fact in node.facts:
        name, _, given = fact.strip("{} $").partition(".")
        if name == INPUT and given:
            yield f"{INPUT} {_plain(given)}", _input(drawing, given, {})
            continue
        made = drawing.made.get(drawing.ids.get(name, ""))
        fields = [given] if given else [*made.fields][:MOST_FIELDS] if made else []
        if made is None or not fields:
            drawing.faults.append(f"node {node.id!r} is shown {fact!r}, which no node before it gives")
        for one in fields if made else ():
            assert made is not None
            yield f"{made.step.id} {one}", {FROM: f"{made.step.id}.{one}"}


def _lead_on(drawing: Drawing) -> None:
    """Lead a router to the changes behind its targets as well: a change waits for its condition itself."""
    for branches in drawing.branches.values():
        behind = {
            id_: {place for place, branch in enumerate(branches) if drawing.before(id_) & {*branch.targets}}
            for id_, made in drawing.made.items()
            if made.tool.effect == "write"
        }
        for place, branch in enumerate(branches):
            more = [id_ for id_, places in behind.items() if places == {place} and id_ not in branch.targets]
            branches[place] = Branch(branch.condition, (*branch.targets, *more))


def steps_of(drawing: Drawing, served: Mapping[str, Sequence[str]]) -> tuple[Step, ...]:
    """The steps with their routers before them; `served` has what each node and router is for."""
    routers = {id_: [*_routers(drawing, id_, served.get(id_, ()))] for id_ in drawing.branches}
    steps: list[Step] = []
    for id_ in drawing.order:
        if id_ in routers:
            steps += routers[id_]
        elif id_ in drawing.made:
            leading = [step.id for made in routers.values() for step in made if id_ in _targets(step)]
            step = drawing.made[id_].step
            needs = tuple(dict.fromkeys((*step.needs, *leading)))
            steps.append(step.model_copy(update={"needs": needs, "satisfies": tuple(served.get(id_, ()))}))
    return tuple(steps)


def _routers(drawing: Drawing, id_: str, served: Sequence[str]) -> Iterator[Step]:
    """One router for each further node of a branch; it has a default only if every other branch has a target."""
    branches = drawing.branches[id_]
    whens = [branch.condition.when for branch in branches if branch.condition]
    none = " && ".join(f"!({when})" for when in whens)
    needs = tuple(dict.fromkeys(step for one in branches if one.condition for step in one.condition.steps))
    outer = tuple(router for router, _ in drawing.leads_to(id_))
    for place in range(max((len(branch.targets) for branch in branches), default=0)):
        leading = [branch for branch in branches if len(branch.targets) > place]
        complete = len(leading) == len(branches)
        default = next((one.targets[place] for one in leading if one.condition is None and complete), None)
        listed = [one for one in leading if one.condition or not complete]
        skipped = [one for one in branches if one not in leading]
        yield Step(
            id=id_ if place == 0 else f"{id_[:58]}_{place + 1}",
            kind="router",
            needs=(*needs, *outer),
            routes=tuple(
                Route(when=_after(skipped, branches, one) if one.condition else none, to=one.targets[place])
                for one in listed
            ),
            default=default,
            satisfies=tuple(served),
        )


def _after(skipped: Sequence[Branch], branches: Sequence[Branch], branch: Branch) -> str:
    """The condition of a branch where none of these earlier ones holds, which lead nowhere here."""
    earlier = [one for one in branches[: branches.index(branch)] if one in skipped]
    whens = [f"!({one.condition.when})" for one in earlier if one.condition]
    return " && ".join((*whens, branch.condition.when if branch.condition else "true"))


def _targets(router: Step) -> set[str]:
    return {route.to for route in router.routes} | ({router.default} if router.default else set())


def _taken_by(made: Made) -> Iterator[str]:
    yield from (reference.step for _, reference in references(made.step.params))
    if made.step.for_each:
        yield made.step.for_each


def texts_in(value: object) -> Iterator[str]:
    """The texts inside a JSON value; references are none."""
    if read_reference(value):
        return
    if isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else cast(Sequence[object], value):
            yield from texts_in(inner)
    else:
        yield str(value)
