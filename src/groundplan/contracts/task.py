"""The response of the workflow planner: the plan as a graph, and how it came to be."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import Field, JsonValue

from groundplan.contracts.analysis import TaskAnalysis
from groundplan.contracts.contract import Contract, JsonObject, StepId, Text, thaw
from groundplan.contracts.plan import Plan, Proposal
from groundplan.contracts.proposing import ModelAttempt


class NodeConfig(Contract):
    """For an executor: mode, tool and params. For a router: the default target."""

    mode: Literal["tool", "llm", "agent"] | None = None
    tool: str | None = None
    params: JsonObject = {}
    for_each: StepId | None = None  # the node whose list it runs over
    default: StepId | None = None


class Node(Contract):
    id: StepId
    type: Literal["executor", "router"]
    config: NodeConfig


class Edge(Contract):
    """An edge between two nodes; edges from a router have a condition."""

    source: StepId
    target: StepId
    condition: str | None = None


class Graph(Contract):
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def of(cls, plan: Plan) -> Graph:
        """A plan as nodes and edges."""
        conditions = {(step.id, route.to): route.when for step in plan.steps for route in step.routes}
        nodes = tuple(
            Node(
                id=step.id,
                type="router" if step.kind == "router" else "executor",
                config=NodeConfig(
                    mode=None if step.kind == "router" else step.kind,
                    tool=step.tool,
                    params=cast(dict[str, JsonValue], thaw(step.params)),
                    for_each=step.for_each,
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
    """A proposal with details on how it was planned; `check` and `run` accept it like any proposal."""

    graph: Graph
    reasoning: Text = ""
    analysis: TaskAnalysis | None = None
    log: tuple[str, ...] = ()
    attempts: tuple[ModelAttempt, ...] = ()  # what models proposed, and what was wrong with it
    tokens: int = 0
    duration_ms: float = 0
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
