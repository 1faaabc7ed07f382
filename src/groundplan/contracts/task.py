"""A task before it is planned, and what planning it gave: the shapes that a planner of workflows answers with."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import Field, JsonValue

from groundplan.contracts.contract import Contract, JsonObject, StepId, Text, thaw
from groundplan.contracts.plan import Plan, Proposal


class TaskAnalysis(Contract):
    """What a task is like, by its words."""

    complexity: Literal["simple", "moderate", "complex"]
    requires_tools: bool
    requires_routing: bool
    suggested_node_types: tuple[Literal["executor", "router"], ...]
    key_entities: tuple[str, ...] = ()
    intent: Text = ""


class NodeConfig(Contract):
    """Of an executor how it works and on what; of a router where it goes when nothing holds."""

    mode: Literal["tool", "llm", "agent"] | None = None
    tool: str | None = None
    params: JsonObject = {}
    default: StepId | None = None


class Node(Contract):
    id: StepId
    type: Literal["executor", "router"]
    config: NodeConfig


class Edge(Contract):
    """From one node to another; of a router with the condition under which it is taken."""

    source: StepId
    target: StepId
    condition: str | None = None


class Graph(Contract):
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def of(cls, plan: Plan) -> Graph:
        """The same workflow as a plan, as nodes and edges."""
        conditions = {(step.id, route.to): route.when for step in plan.steps for route in step.routes}
        nodes = tuple(
            Node(
                id=step.id,
                type="router" if step.kind == "router" else "executor",
                config=NodeConfig(
                    mode=None if step.kind == "router" else step.kind,
                    tool=step.tool,
                    params=cast(dict[str, JsonValue], thaw(step.params)),
                    default=step.default,
                ),
            )
            for step in plan.steps
        )
        edges = tuple(
            Edge(source=need, target=step.id, condition=conditions.get((need, step.id)))
            for step in plan.steps
            for need in step.needs
        )
        return cls(nodes=nodes, edges=edges)


class PlanResponse(Proposal):
    """A proposal with all that is known of how it came to be; `check` and `run` read it as they read a proposal."""

    graph: Graph
    reasoning: Text = ""
    analysis: TaskAnalysis | None = None
    log: tuple[str, ...] = ()
    tokens: int = 0
    duration_ms: float = 0
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
